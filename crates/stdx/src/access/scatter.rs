//! Random offsets that are not independent or not uniform: each block once per pass, some blocks more often than
//! others, or blocks in a prescribed order.

use super::permutation::Permutation;
use super::regions::{Regions, Walk};
use super::sequence::Sequence;
use crate::Rng;

/// How random offsets are chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Offsets {
    /// Independent and uniform.
    #[default]
    Independent,
    /// Every block once per pass, in an order that differs from pass to pass.
    OncePerPass,
    /// The block of rank `r` is chosen with a probability proportional to `r` to the power of minus theta. The ranks
    /// are scattered over the span.
    Zipf {
        /// Theta in thousandths.
        theta_milli: u32,
    },
    /// Self-similar: a fraction `h` of the blocks gets a fraction `1 - h` of the I/Os, and the same applies within
    /// that fraction. The blocks are scattered over the span.
    Pareto {
        /// `h` in thousandths.
        h_milli: u32,
    },
    /// Normally distributed around the middle of the span.
    Normal {
        /// Standard deviation in percent of the span.
        deviation_percent: u8,
    },
    /// Writes in regions of the physical capacity, in which some blocks are written again.
    Regions(Regions),
}

impl Offsets {
    /// Returns why the parameter of the distribution is invalid; `None` if it is valid.
    pub(super) fn problem(self) -> Option<&'static str> {
        match self {
            Self::Zipf { theta_milli: 0 | 100_001.. } => {
                Some("theta of a Zipf distribution must be from 0.001 to 100")
            }
            Self::Pareto { h_milli: 0 | 1000.. } => {
                Some("h of a Pareto distribution must be between 0 and 1")
            }
            Self::Normal { deviation_percent: 0 | 101.. } => {
                Some("the deviation of a normal distribution must be from 1 to 100 percent")
            }
            _ => None,
        }
    }
}

/// Chooses blocks.
#[derive(Debug, Clone)]
pub(super) struct Scatter {
    blocks: u64,
    order: Permutation,
    choice: Choice,
}

#[derive(Debug, Clone)]
enum Choice {
    Pass {
        next: u64,
    },
    Zipf(Zipf),
    Pareto {
        exponent: f64,
    },
    Normal {
        deviation: f64,
    },
    /// With the number of writes and of reads so far.
    Sequence {
        sequence: Sequence,
        accesses: [u64; 2],
    },
    Regions(Walk),
}

impl Scatter {
    /// Returns `None` for independent offsets.
    pub(super) fn new(
        offsets: Offsets,
        sequence: Option<&Sequence>,
        blocks: u64,
        rng: &mut Rng,
    ) -> Option<Self> {
        let choice = match sequence {
            Some(sequence) => Choice::Sequence { sequence: sequence.clone(), accesses: [0; 2] },
            None => Self::choice(offsets, blocks)?,
        };
        Some(Self { blocks, order: Permutation::new(blocks, rng.next_u64()), choice })
    }

    fn choice(offsets: Offsets, blocks: u64) -> Option<Choice> {
        Some(match offsets {
            Offsets::Independent => return None,
            Offsets::OncePerPass => Choice::Pass { next: 0 },
            Offsets::Zipf { theta_milli } => Choice::Zipf(Zipf::new(blocks, f64::from(theta_milli) / 1e3)),
            Offsets::Pareto { h_milli } => {
                let h = f64::from(h_milli) / 1e3;
                Choice::Pareto { exponent: h.ln() / (1.0 - h).ln() }
            }
            Offsets::Normal { deviation_percent } => {
                Choice::Normal { deviation: blocks as f64 * f64::from(deviation_percent) / 100.0 }
            }
            Offsets::Regions(regions) => Choice::Regions(Walk::new(regions, blocks)),
        })
    }

    /// Returns the block of the next access, which is a read or a write.
    pub(super) fn next(&mut self, read: bool, rng: &mut Rng) -> u64 {
        let rank = match &mut self.choice {
            Choice::Pass { next } => {
                if *next == self.blocks {
                    (*next, self.order) = (0, Permutation::new(self.blocks, rng.next_u64()));
                }
                *next += 1;
                *next - 1
            }
            Choice::Zipf(zipf) => zipf.draw(rng) - 1,
            Choice::Pareto { exponent } => {
                (((self.blocks - 1) as f64 * fraction(rng).powf(*exponent)) as u64).min(self.blocks - 1)
            }
            Choice::Normal { deviation } => return normal(self.blocks, *deviation, rng),
            Choice::Regions(walk) => return walk.next(self.order),
            Choice::Sequence { sequence, accesses } => {
                let accesses = &mut accesses[usize::from(read)];
                *accesses += 1;
                // Accesses that are drawn in advance may be beyond the last one to be issued.
                return sequence.block(*accesses - 1) % self.blocks;
            }
        };
        self.order.of(rank)
    }
}

/// Returns a number in (0, 1].
fn fraction(rng: &mut Rng) -> f64 {
    ((rng.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
}

/// Draws a normally distributed block; draws again if it is outside the span.
fn normal(blocks: u64, deviation: f64, rng: &mut Rng) -> u64 {
    loop {
        let radius = (-2.0 * fraction(rng).ln()).sqrt();
        let off = radius * (std::f64::consts::TAU * fraction(rng)).cos() * deviation;
        let block = blocks as f64 / 2.0 + off;
        if block >= 0.0 && block < blocks as f64 {
            return (block as u64).min(blocks - 1);
        }
    }
}

/// The Zipf distribution by rejection-inversion (Hörmann and Derflinger, 1996), which needs no table.
#[derive(Debug, Clone, Copy)]
struct Zipf {
    count: u64,
    theta: f64,
    first: f64,
    last: f64,
    shift: f64,
}

impl Zipf {
    fn new(count: u64, theta: f64) -> Self {
        let mut zipf = Self { count, theta, first: 0.0, last: 0.0, shift: 0.0 };
        zipf.first = zipf.integral(1.5) - 1.0;
        zipf.last = zipf.integral(count as f64 + 0.5);
        zipf.shift = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.density(2.0));
        zipf
    }

    /// Draws a rank; ranks start at 1.
    fn draw(&self, rng: &mut Rng) -> u64 {
        loop {
            let area = self.last + fraction(rng) * (self.first - self.last);
            let x = self.inverse(area);
            let rank = ((x + 0.5) as u64).clamp(1, self.count);
            let k = rank as f64;
            if k - x <= self.shift || area >= self.integral(k + 0.5) - self.density(k) {
                return rank;
            }
        }
    }

    fn density(&self, x: f64) -> f64 {
        (-self.theta * x.ln()).exp()
    }

    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        let t = (1.0 - self.theta) * log;
        // (exp(t) - 1) / t, whose limit at 0 is 1.
        log * if t.abs() > 1e-8 { t.exp_m1() / t } else { 1.0 + t / 2.0 }
    }

    fn inverse(&self, area: f64) -> f64 {
        let t = (area * (1.0 - self.theta)).max(-1.0);
        let ratio = if t.abs() > 1e-8 { t.ln_1p() / t } else { 1.0 - t / 2.0 };
        (ratio * area).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use proptest::prelude::*;

    fn draws(offsets: Offsets, blocks: u64, count: usize) -> Vec<u64> {
        let mut rng = Rng::from_seed_and_stream(3, 0);
        let mut scatter = Scatter::new(offsets, None, blocks, &mut rng).expect("not independent");
        (0..count).map(|_| scatter.next(false, &mut rng)).collect()
    }

    /// Returns how often each block was drawn, the most frequent first.
    fn popularity(offsets: Offsets, blocks: u64, count: usize) -> Vec<u64> {
        let mut counts = vec![0; blocks as usize];
        draws(offsets, blocks, count).into_iter().for_each(|block| counts[block as usize] += 1);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts
    }

    #[test]
    fn passes_visit_each_block_once_in_different_orders() {
        for blocks in [1, 2, 3, 1000, 4096, 10_007] {
            let two = draws(Offsets::OncePerPass, blocks, 2 * blocks as usize);
            let (one, other) = two.split_at(blocks as usize);
            for pass in [one, other] {
                let mut sorted = pass.to_vec();
                sorted.sort_unstable();
                assert!(sorted.into_iter().eq(0..blocks), "{blocks}");
            }
            assert!(blocks < 1000 || one != other);
        }
        // Consecutive accesses are far apart: the mean distance between two random blocks is a third of the span.
        let pass = draws(Offsets::OncePerPass, 100_000, 100_000);
        let mean = pass.windows(2).map(|pair| pair[0].abs_diff(pair[1]) as f64).sum::<f64>() / 1e5;
        assert!((mean / 33_333.0 - 1.0).abs() < 0.05, "{mean}");
    }

    #[test]
    fn zipf_has_the_probabilities_of_its_definition() {
        const BLOCKS: u64 = 1000;
        const COUNT: usize = 1_000_000;
        for theta_milli in [500, 1000, 1200, 2500] {
            let theta = f64::from(theta_milli) / 1e3;
            let weight: f64 = (1..=BLOCKS).map(|rank| (rank as f64).powf(-theta)).sum();
            let seen = popularity(Offsets::Zipf { theta_milli }, BLOCKS, COUNT);
            for rank in [1, 2, 5] {
                let expected = COUNT as f64 * f64::from(rank).powf(-theta) / weight;
                let off = (seen[rank as usize - 1] as f64 - expected).abs();
                // Six standard deviations.
                assert!(
                    off < 6.0 * expected.sqrt(),
                    "theta {theta}, rank {rank}: {} for {expected}",
                    seen[0]
                );
            }
        }
    }

    #[test]
    fn pareto_accesses_few_blocks_most_often() {
        let seen = popularity(Offsets::Pareto { h_milli: 200 }, 10_000, 1_000_000);
        let share = seen[..2000].iter().sum::<u64>() as f64 / 1e6;
        assert!((share - 0.8).abs() < 0.01, "{share}");
    }

    #[test]
    fn normal_stays_around_the_middle() {
        let seen = draws(Offsets::Normal { deviation_percent: 10 }, 1_000_000, 100_000);
        let mean = seen.iter().map(|block| *block as f64).sum::<f64>() / 1e5;
        assert!((mean / 500_000.0 - 1.0).abs() < 0.01, "{mean}");
        let within = seen.iter().filter(|block| block.abs_diff(500_000) <= 100_000).count() as f64 / 1e5;
        assert!((within - 0.6827).abs() < 0.01, "{within}");
    }

    #[test]
    fn impossible_distributions_are_named() {
        for offsets in [
            Offsets::Zipf { theta_milli: 0 },
            Offsets::Pareto { h_milli: 1000 },
            Offsets::Normal { deviation_percent: 0 },
        ] {
            assert!(offsets.problem().is_some(), "{offsets:?}");
        }
        assert_eq!(Offsets::OncePerPass.problem(), None);
    }

    proptest! {
        #[test]
        fn every_block_is_within_the_span(blocks in 1u64..1 << 40, theta_milli in 1u32..5000, h_milli in 1u32..1000, deviation_percent in 1u8..101) {
            for offsets in [
                Offsets::OncePerPass,
                Offsets::Zipf { theta_milli },
                Offsets::Pareto { h_milli },
                Offsets::Normal { deviation_percent },
            ] {
                prop_assert!(draws(offsets, blocks, 20).into_iter().all(|block| block < blocks));
            }
        }
    }
}
