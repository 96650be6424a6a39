//! Random writes that leave a drive in the state of a drive that has been written at random for a long time, although they
//! write little more than its physical capacity: fio's `sprandom`.
//!
//! The drive is assumed to store data in the order of the writes. The writes are divided into regions of equal size. In
//! each region, some of the blocks of the region before are written again, so that its share of valid data is that of
//! the steady state. According to P. Desnoyers (Analytic Models of SSD Write Performance, 2012), in a steady state, the
//! share of valid data times the part of the drive that has this share is constant.

use std::collections::VecDeque;

use super::permutation::Permutation;

/// Shares are in ten-thousandths, as in fio.
const WHOLE: u64 = 10_000;

/// The regions of the physical capacity of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Regions {
    /// Number of regions.
    pub count: u32,
    /// Over-provisioning: the spare capacity in thousandths of the capacity.
    pub spare_milli: u32,
    /// Whether blocks are written again at the end of the next region instead of its beginning, so that both writes are not
    /// in the cache of the drive at the same time.
    pub deferred: bool,
}

impl Regions {
    /// Maximum number of regions.
    pub const MOST: u32 = 100_000;

    /// Returns why the writes to a span of `blocks` blocks are impossible; `None` if they are possible.
    pub(super) fn problem(self, blocks: u64) -> Option<String> {
        if !(1..=Self::MOST).contains(&self.count) || !(1..1000).contains(&self.spare_milli) {
            return Some(format!(
                "the number of regions must be from 1 to {}, and the over-provisioning between 0 and 1",
                Self::MOST
            ));
        }
        let too_small = self.writes_per_region(blocks) == 0;
        too_small.then(|| format!("{} regions are more than the {blocks} blocks of the range", self.count))
    }

    /// Returns the number of blocks that the drive can store.
    fn physical_blocks(self, blocks: u64) -> u64 {
        blocks + (u128::from(blocks) * u128::from(self.spare_milli) / 1000) as u64
    }

    /// Returns the number of blocks in each region.
    #[must_use]
    pub fn writes_per_region(self, blocks: u64) -> u64 {
        self.physical_blocks(blocks) / u64::from(self.count.max(1))
    }

    /// Returns the share of each region that is written again, in ten-thousandths. The first region has the share of valid
    /// data at which a drive reclaims a region, and the last one is completely valid.
    fn invalid(self) -> Vec<u64> {
        let amplification = 0.5 / (f64::from(self.spare_milli) / 1000.0) + 0.7;
        let reclaimed = 1.0 - 1.0 / amplification;
        let last = f64::from(self.count) - 1.0;
        // The parts of the drive with evenly spaced shares of valid data.
        let step = if self.count > 1 { (reclaimed - 1.0) / last } else { 0.0 };
        let valid: Vec<f64> = (0..self.count).map(|index| 1.0 + f64::from(index) * step).collect();
        let mut end = 0.0;
        let ends: Vec<f64> = valid
            .iter()
            .map(|valid| {
                end += 1.0 / valid;
                end
            })
            .collect();
        // The shares of parts of equal size.
        let step = if self.count > 1 { (end - ends[0]) / last } else { 0.0 };
        let resampled =
            (0..self.count).map(|index| interpolated(ends[0] + f64::from(index) * step, &ends, &valid));
        resampled.rev().map(|valid| ((1.0 - valid) * WHOLE as f64).round().max(0.0) as u64).collect()
    }

    /// Returns the number of writes to a span of `blocks` blocks. They end when each block has been written.
    #[must_use]
    pub fn accesses(self, blocks: u64) -> u64 {
        let per_region = self.writes_per_region(blocks);
        let (mut total, mut fresh, mut again) = (0, 0, 0);
        for share in self.invalid().into_iter().chain([0]) {
            let left = blocks - fresh;
            if per_region - again > left {
                let repeated = if left > 0 || self.deferred { again } else { 0 };
                return (total + left + repeated).min(self.physical_blocks(blocks));
            }
            fresh += per_region - again;
            total += per_region;
            again = per_region * share / WHOLE;
        }
        total.min(self.physical_blocks(blocks))
    }
}

/// Returns the value at `x` of the curve through these points; `xs` ascend.
fn interpolated(x: f64, xs: &[f64], ys: &[f64]) -> f64 {
    let right = xs.partition_point(|known| *known < x);
    match right {
        0 => ys[0],
        right if right == xs.len() => ys[right - 1],
        right => {
            let (left_x, left_y) = (xs[right - 1], ys[right - 1]);
            left_y + (ys[right] - left_y) * ((x - left_x) / (xs[right] - left_x))
        }
    }
}

/// The writes of one thread.
#[derive(Debug, Clone)]
pub(super) struct Walk {
    blocks: u64,
    per_region: u64,
    deferred: bool,
    /// The share of each region that is written again.
    shares: Vec<u64>,
    region: usize,
    /// Number of writes in the region so far.
    inside: u64,
    /// Number of blocks that have been written.
    fresh: u64,
    /// Blocks of the region before, and of this region, that are to be written again.
    again: VecDeque<u64>,
    next_again: VecDeque<u64>,
}

impl Walk {
    pub(super) fn new(regions: Regions, blocks: u64) -> Self {
        let (shares, per_region) = (regions.invalid(), regions.writes_per_region(blocks));
        let most = (per_region * shares.first().copied().unwrap_or(0) / WHOLE + 1) as usize;
        Self {
            blocks,
            per_region,
            deferred: regions.deferred,
            shares,
            region: 0,
            inside: 0,
            fresh: 0,
            again: VecDeque::with_capacity(most),
            next_again: VecDeque::with_capacity(most),
        }
    }

    /// Returns the next block. New blocks are written in this order.
    pub(super) fn next(&mut self, order: Permutation) -> u64 {
        if self.inside == self.per_region {
            (self.region, self.inside) = (self.region + 1, 0);
            std::mem::swap(&mut self.again, &mut self.next_again);
        }
        let is_turn = match self.deferred {
            // As in fio, the first write of a region is to a new block.
            false => self.inside > 0,
            true => self.fresh == self.blocks || self.again.len() as u64 >= self.per_region - self.inside,
        };
        let block = match if is_turn { self.again.pop_front() } else { None } {
            Some(block) => block,
            None => {
                self.fresh += 1;
                // Accesses that are drawn in advance may be beyond the last one to be issued.
                order.of((self.fresh - 1) % self.blocks)
            }
        };
        let share = self.shares.get(self.region).copied().unwrap_or(0);
        if (self.inside + 1) * share / WHOLE > self.inside * share / WHOLE {
            self.next_again.push_back(block);
        }
        self.inside += 1;
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn regions(count: u32, spare_milli: u32) -> Regions {
        Regions { count, spare_milli, deferred: false }
    }

    /// Computed with the functions of fio's `sprandom.c`.
    #[test]
    fn shares_are_those_of_fio() {
        for (spare_milli, expected) in [
            (70, [1275, 1142, 1007, 869, 730, 588, 445, 299, 150, 0]),
            (150, [2479, 2237, 1988, 1730, 1464, 1190, 906, 614, 312, 0]),
            (280, [4023, 3671, 3300, 2907, 2491, 2049, 1581, 1084, 557, 0]),
        ] {
            assert_eq!(regions(10, spare_milli).invalid(), expected, "{spare_milli}");
        }
        let hundred = regions(100, 150).invalid();
        let every_twentieth: Vec<u64> = hundred.iter().step_by(20).copied().collect();
        assert_eq!((every_twentieth, hundred[99]), (vec![2479, 2034, 1562, 1062, 532], 0));
        assert_eq!(regions(1, 150).invalid(), [0]);
        assert_eq!(regions(2, 150).invalid(), [2479, 0]);
    }

    #[test]
    fn regions_become_as_invalid_as_intended() {
        const BLOCKS: u64 = 100_000;
        for deferred in [false, true] {
            let regions = Regions { deferred, ..regions(20, 150) };
            let (per_region, accesses) = (regions.writes_per_region(BLOCKS), regions.accesses(BLOCKS));
            assert!((114_000..=115_000).contains(&accesses), "{accesses}");
            let (order, mut walk) = (Permutation::new(BLOCKS, 5), Walk::new(regions, BLOCKS));
            let written: Vec<u64> = (0..accesses).map(|_| walk.next(order)).collect();
            let last: HashMap<u64, usize> =
                written.iter().copied().enumerate().map(|(at, block)| (block, at)).collect();
            assert_eq!(last.len() as u64, BLOCKS, "every block is written");
            // What is written again leaves an invalid copy in its region.
            for (region, share) in regions.invalid().into_iter().enumerate().take(18) {
                let range = region * per_region as usize..(region + 1) * per_region as usize;
                let invalid = range.filter(|at| last[&written[*at]] != *at).count() as u64;
                let expected = per_region * share / WHOLE;
                assert!(invalid.abs_diff(expected) <= 1, "region {region}: {invalid} instead of {expected}");
            }
        }
    }

    #[test]
    fn the_writes_end_when_each_block_has_been_written() {
        for deferred in [false, true] {
            for (count, spare_milli, blocks) in
                [(1, 150, 1000), (10, 70, 1000), (100, 150, 1024), (7, 999, 50), (100, 150, 100), (3, 1, 5)]
            {
                let regions = Regions { deferred, ..regions(count, spare_milli) };
                let (accesses, most) = (regions.accesses(blocks), regions.physical_blocks(blocks));
                let (order, mut walk) = (Permutation::new(blocks, 5), Walk::new(regions, blocks));
                let mut end = 0;
                // As in fio, the writes end before a block that is not left would be written, or another region.
                while end < most {
                    walk.next(order);
                    if walk.fresh > blocks || walk.region > count as usize {
                        break;
                    }
                    end += 1;
                }
                assert_eq!(accesses, end, "{regions:?} of {blocks} blocks");
            }
        }
    }

    #[test]
    fn impossible_regions_are_named() {
        for (count, spare_milli) in [(0, 150), (10, 0), (10, 1000), (200, 150)] {
            assert!(regions(count, spare_milli).problem(100).is_some(), "{count} {spare_milli}");
        }
        assert_eq!(regions(100, 150).problem(100), None);
    }
}
