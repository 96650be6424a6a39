//! A drive's speeds, and the resulting workload rates.

use std::collections::BTreeMap;

use record::{Access, Workload};
use stdx::units::KIB;

/// Block size for which IOPS are commonly quoted.
pub(super) const SMALL: u32 = 4 * KIB as u32;

/// A drive's speeds.
#[derive(Debug, Clone, PartialEq)]
pub struct Assumed {
    /// Sequential I/O with large blocks.
    pub sequential: Rates,
    /// Random I/O of a preconditioned drive with many I/Os outstanding, by block size in bytes; never empty.
    pub random: BTreeMap<u32, Rates>,
    /// The composite of ECW and CBW with many I/Os outstanding.
    pub composite: Rates,
    /// A single random 4 KiB I/O at a time.
    pub alone: Alone,
    /// A single composite I/O at a time.
    pub composite_alone: Alone,
    /// Behaviour of a purged drive under random writes.
    pub saturation: Saturation,
}

/// Throughput of one kind of I/O.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Bytes per second with writes only.
    pub write: f64,
    /// Bytes per second with reads only.
    pub read: f64,
    /// Mutual interference of reads and writes: the time per byte in a 50/50 mix in excess of what the harmonic
    /// law predicts, as a fraction of the time per written byte. Negative if reads and writes speed each other
    /// up.
    pub coupling: f64,
}

/// Response times with one I/O outstanding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alone {
    /// Response time of a write in seconds.
    pub write_seconds: f64,
    /// Response time of a read in seconds.
    pub read_seconds: f64,
}

/// Speeds of random 4 KiB writes, starting with a fresh drive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Saturation {
    /// Bytes per second on the fresh drive.
    pub fresh: f64,
    /// Number of capacities written at the fresh rate, assuming that all later writes run at the steady rate.
    pub fills: f64,
    /// Bytes per second on the saturated drive.
    pub steady: f64,
    /// Number of bytes that can again be written at the fresh rate, per second of idle time.
    pub idle_gain_bytes_per_second: f64,
}

/// State in which earlier writes left the drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Purged and not yet full.
    Fresh,
    /// Filled by random writes only.
    Saturated,
    /// Filled by sequential writes before the random writes.
    Preconditioned,
}

impl Rates {
    /// Returns the bytes per second of an R/W mix.
    pub(super) fn mixed(&self, read_percent: u8) -> f64 {
        let share = f64::from(read_percent) / 100.0;
        let plain = (1.0 - share) / self.write + share / self.read;
        let coupled = plain + 4.0 * share * (1.0 - share) * self.coupling / self.write;
        1.0 / coupled.max(1.0 / (self.write + self.read))
    }

    pub(super) fn between(&self, other: &Self, share: f64) -> Self {
        let line = |from: f64, to: f64| from + (to - from) * share;
        Self {
            write: line(self.write, other.write),
            read: line(self.read, other.read),
            coupling: line(self.coupling, other.coupling),
        }
    }
}

/// The speeds that data sheets give.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figures {
    /// Sequential writes in bytes per second.
    pub sequential_write: f64,
    /// Sequential reads in bytes per second.
    pub sequential_read: f64,
    /// 4 KiB random write IOPS on the saturated drive.
    pub random_write_iops: f64,
    /// 4 KiB random read IOPS.
    pub random_read_iops: f64,
    /// 4 KiB random write IOPS on the purged drive.
    pub fresh_write_iops: f64,
}

impl Assumed {
    /// Returns the speeds that data sheets give.
    #[must_use]
    pub fn figures(&self) -> Figures {
        let small = f64::from(SMALL);
        Figures {
            sequential_write: self.sequential.write,
            sequential_read: self.sequential.read,
            random_write_iops: self.saturation.steady / small,
            random_read_iops: self.random_of(small).read / small,
            fresh_write_iops: self.saturation.fresh / small,
        }
    }

    /// Returns a workload's bytes per second, reads and writes combined.
    pub(crate) fn bytes_per_second(&self, workload: &Workload, state: State) -> f64 {
        let block = workload.mean_block_bytes();
        let rates = match workload.access {
            Access::Sequential => self.sequential,
            Access::Random if workload.kinds.is_empty() => self.plain_in(state, block),
            Access::Random => self.composite_in(state, block),
        };
        let held_up = f64::from(workload.outstanding()) * block / self.alone_seconds(workload, block);
        rates.mixed(workload.read_percent).min(held_up)
    }

    fn plain_in(&self, state: State, block: f64) -> Rates {
        let rates = self.random_of(block);
        let write = match state {
            State::Preconditioned => rates.write,
            State::Saturated => rates.write * self.saturation.steady / self.random_of(f64::from(SMALL)).write,
            State::Fresh => self.fresh_write(block),
        };
        Rates { write, ..rates }
    }

    /// Returns the rates of the composite. Most of the composite's cost is due to I/Os that are not aligned to
    /// the drive's mapping units, whether the drive is fresh or full.
    fn composite_in(&self, state: State, block: f64) -> Rates {
        let Saturation { fresh, steady, .. } = self.saturation;
        let faster = if state == State::Fresh { (fresh / steady).max(1.0) } else { 1.0 };
        Rates { write: (self.composite.write * faster).min(self.fresh_write(block)), ..self.composite }
    }

    /// Assumes the IOPS of 4 KiB writes, limited by sequential write throughput.
    fn fresh_write(&self, block: f64) -> f64 {
        (self.saturation.fresh * (block / f64::from(SMALL)))
            .min(self.sequential.write.max(self.saturation.fresh))
    }

    /// Returns the rates of random I/Os of `block` bytes each.
    pub(super) fn random_of(&self, block: f64) -> Rates {
        let above = self.random.iter().find(|(size, _)| f64::from(**size) >= block);
        let below = self.random.iter().rev().find(|(size, _)| f64::from(**size) < block);
        match (below, above) {
            (Some((small, from)), Some((large, to))) => {
                let (small, large) = (f64::from(*small), f64::from(*large));
                from.between(to, (block / small).ln() / (large / small).ln())
            }
            (Some((_, largest)), None) => *largest,
            (None, Some((size, smallest))) => {
                let share = block / f64::from(*size);
                Rates { write: smallest.write * share, read: smallest.read * share, ..*smallest }
            }
            (None, None) => self.sequential,
        }
    }

    /// Returns the response time of one of the workload's I/Os if no others are outstanding.
    fn alone_seconds(&self, workload: &Workload, block: f64) -> f64 {
        let reads = f64::from(workload.read_percent) / 100.0;
        let (alone, further) = if workload.kinds.is_empty() {
            (self.alone, (block - f64::from(SMALL)).max(0.0))
        } else {
            (self.composite_alone, 0.0)
        };
        (1.0 - reads) * (alone.write_seconds + further / self.sequential.write)
            + reads * (alone.read_seconds + further / self.sequential.read)
    }

    /// Sets the random 4 KiB IOPS and scales other sizes by the same factor, up to the sequential speed.
    #[must_use]
    pub fn with_random_iops(mut self, write: Option<f64>, read: Option<f64>) -> Self {
        let small = self.random_of(f64::from(SMALL));
        let factor = |iops: Option<f64>, known: f64| iops.map_or(1.0, |iops| iops * f64::from(SMALL) / known);
        let (writes, reads) = (factor(write, small.write), factor(read, small.read));
        let change = |rates: &mut Rates, sequential: Rates| {
            rates.write = (rates.write * writes).min(sequential.write.max(small.write * writes));
            rates.read = (rates.read * reads).min(sequential.read.max(small.read * reads));
        };
        self.random
            .values_mut()
            .chain([&mut self.composite])
            .for_each(|rates| change(rates, self.sequential));
        if write.is_some() {
            self.saturation.steady = small.write * writes;
            self.saturation.fresh = self.saturation.fresh.max(self.saturation.steady);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn usual() -> Assumed {
        Assumed::usual(500e6, 500e6)
    }

    #[test]
    pub(super) fn between_known_sizes_rates_are_between() {
        let mut drive = usual();
        let of = |write| Rates { write, read: 400e6, coupling: 0.0 };
        drive.random = [(4096, of(40e6)), (16384, of(80e6))].into();
        let writes = |block| drive.random_of(block).write;
        assert!((writes(8192.0) - 60e6).abs() < 1.0);
        assert_eq!((writes(512.0), writes(4096.0), writes(1e6)), (5e6, 40e6, 80e6));
    }

    #[test]
    fn a_mix_is_harmonic_and_its_coupling_hinders() {
        let plain = Rates { write: 100.0, read: 400.0, coupling: 0.0 };
        assert!((plain.mixed(50) - 160.0).abs() < 1e-9);
        assert_eq!((plain.mixed(0), plain.mixed(100)), (100.0, 400.0));
        let hindered = Rates { coupling: 0.1, ..plain };
        assert!((1.0 / hindered.mixed(50) - 1.0 / 160.0 - 0.001).abs() < 1e-12);
        assert!(Rates { coupling: -9.0, ..plain }.mixed(50) <= 500.0, "not faster than the sum of both");
    }

    #[test]
    fn known_iops_scale_all_sizes_equally() {
        let drive = usual().with_random_iops(Some(5_000.0), Some(90_000.0));
        let (small, large) = (drive.random_of(4096.0), drive.random_of(131_072.0));
        assert!((small.write - 5_000.0 * 4096.0).abs() < 1.0 && (small.read - 90_000.0 * 4096.0).abs() < 1.0);
        let factor = usual().random_of(131_072.0).write / usual().random_of(4096.0).write;
        assert!((large.write / small.write - factor).abs() < 1e-9);
        assert!((large.read - 500e6).abs() < 1.0, "no more than sequential");
        assert!((drive.saturation.steady - small.write).abs() < 1.0);
    }

    proptest! {
        #[test]
        fn rates_are_positive_and_rise_with_the_speed(block in 512u32..(2 << 20), read in 0u8..=100) {
            let (slow, fast) = (Assumed::usual(100e6, 100e6), usual());
            let of = |drive: &Assumed| drive.random_of(f64::from(block)).mixed(read);
            prop_assert!(of(&slow) > 0.0 && of(&slow) < of(&fast));
        }
    }
}
