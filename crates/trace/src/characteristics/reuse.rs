//! Reuse distance: how much other data is accessed before the same data is accessed again.
//!
//! Blocks are sampled by a hash of their address. When more than a fixed number of blocks is tracked, the sampled share is
//! reduced, so memory is bounded (Waldspurger et al., "Efficient MRC Construction with SHARDS", FAST 2015).

use std::collections::{BTreeSet, HashMap};

use stdx::rng::split_mix;

use crate::Io;

const BLOCK_BYTES: u64 = 4096;
/// Maximum number of tracked blocks.
const MOST_BLOCKS: usize = 8192;
/// Number of accesses after which the tracked blocks are renumbered.
const PLACES: usize = 4 * MOST_BLOCKS;
/// All hashes are below this number; blocks with a hash below the threshold are tracked.
const HASHES: u64 = 1 << 32;

/// How often data is accessed again, by the amount of other data in between.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reuse {
    /// Estimated number of 4 KiB accesses to data that was not accessed before.
    pub first: f64,
    /// Estimated number of other accesses, by n: those with a distance above 2^(n-1) and up to 2^n blocks of 4 KiB.
    pub again: Vec<f64>,
}

impl Reuse {
    /// Returns the share of accesses with a distance of at most 2^n blocks, by n.
    #[must_use]
    pub fn cumulative(&self) -> Vec<f64> {
        let all = self.first + self.again.iter().sum::<f64>();
        let mut sum = 0.0;
        let add = |count: &f64| {
            sum += count;
            if all > 0.0 { sum / all } else { 0.0 }
        };
        self.again.iter().map(add).collect()
    }
}

/// Counts the marked positions up to a given position, in logarithmic time.
struct Marks(Vec<u32>);

impl Marks {
    fn change(&mut self, place: usize, by: i32) {
        let mut index = place + 1;
        while index < self.0.len() {
            self.0[index] = self.0[index].wrapping_add_signed(by);
            index += index & index.wrapping_neg();
        }
    }

    /// Returns the number of marks at or before this position.
    fn up_to(&self, place: usize) -> u32 {
        let (mut index, mut sum) = (place + 1, 0u32);
        while index > 0 {
            sum = sum.wrapping_add(self.0[index]);
            index &= index - 1;
        }
        sum
    }
}

pub struct ReuseDistances {
    threshold: u64,
    /// Position of the last access to each tracked block.
    latest: HashMap<u64, usize>,
    by_hash: BTreeSet<(u64, u64)>,
    marks: Marks,
    next: usize,
    reuse: Reuse,
}

impl Default for ReuseDistances {
    fn default() -> Self {
        Self {
            threshold: HASHES,
            latest: HashMap::new(),
            by_hash: BTreeSet::new(),
            marks: Marks(vec![0; PLACES + 1]),
            next: 0,
            reuse: Reuse::default(),
        }
    }
}

fn hash(block: u64) -> u64 {
    split_mix(&mut (block ^ 0x5851_f42d_4c95_7f2d)) % HASHES
}

impl ReuseDistances {
    pub fn add(&mut self, io: &Io) {
        let last = io.end_bytes().saturating_sub(1) / BLOCK_BYTES;
        for block in io.offset_bytes / BLOCK_BYTES..=last {
            let hash = hash(block);
            if hash < self.threshold {
                self.access(block, hash);
            }
        }
    }

    fn access(&mut self, block: u64, hash: u64) {
        if self.next == PLACES {
            self.renumber();
        }
        let one_in = HASHES as f64 / self.threshold as f64;
        match self.latest.insert(block, self.next) {
            None => {
                self.reuse.first += one_in;
                self.by_hash.insert((hash, block));
            }
            Some(place) => {
                let others = self.latest.len() as u32 - self.marks.up_to(place);
                let distance = (f64::from(others) * one_in).max(1.0);
                let slot = distance.log2().ceil() as usize;
                if self.reuse.again.len() <= slot {
                    self.reuse.again.resize(slot + 1, 0.0);
                }
                self.reuse.again[slot] += one_in;
                self.marks.change(place, -1);
            }
        }
        self.marks.change(self.next, 1);
        self.next += 1;
        while self.latest.len() > MOST_BLOCKS {
            self.lower();
        }
    }

    /// Stops tracking the blocks with the largest hash.
    fn lower(&mut self) {
        let Some((hash, block)) = self.by_hash.pop_last() else { return };
        self.threshold = hash;
        if let Some(place) = self.latest.remove(&block) {
            self.marks.change(place, -1);
        }
        while let Some(&(same, block)) = self.by_hash.last().filter(|(other, _)| *other == hash) {
            self.by_hash.remove(&(same, block));
            if let Some(place) = self.latest.remove(&block) {
                self.marks.change(place, -1);
            }
        }
    }

    /// Numbers the last accesses from 0, in the same order.
    fn renumber(&mut self) {
        let mut order: Vec<(usize, u64)> =
            self.latest.iter().map(|(block, place)| (*place, *block)).collect();
        order.sort_unstable();
        self.marks.0.fill(0);
        for (place, (_, block)) in order.into_iter().enumerate() {
            self.latest.insert(block, place);
            self.marks.change(place, 1);
        }
        self.next = self.latest.len();
    }

    pub fn finish(self) -> Reuse {
        self.reuse
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Op;

    fn of(blocks: impl Iterator<Item = u64>) -> Reuse {
        let mut distances = ReuseDistances::default();
        for block in blocks {
            let offset_bytes = block * BLOCK_BYTES;
            let io = Io { issue_ns: 0, response_ns: None, offset_bytes, length_bytes: 4096, op: Op::Read };
            distances.add(&io);
        }
        distances.finish()
    }

    #[test]
    fn distances_count_other_blocks() {
        // A loop over 100 blocks: each is accessed again after 99 others, a distance of at most 128.
        let reuse = of((0..100).cycle().take(50_000));
        assert_eq!(reuse.first, 100.0);
        assert_eq!(reuse.again.iter().sum::<f64>(), 49_900.0);
        assert_eq!(reuse.again[7], 49_900.0);
        // Between repeated accesses to one block, there are no other accesses.
        assert_eq!(of([5, 5, 5].into_iter()).again, [2.0]);
    }

    #[test]
    fn large_working_sets_are_estimated_from_a_sample() {
        // A loop over 100,000 blocks, of which at most 8192 are tracked.
        let reuse = of((0..100_000).cycle().take(400_000));
        assert!((reuse.first / 100_000.0 - 1.0).abs() < 0.1, "{}", reuse.first);
        let far = reuse.again[17] / reuse.again.iter().sum::<f64>();
        assert!(far > 0.7, "{:?}", reuse.again);
    }
}
