//! A wire that carries one transfer at a time: the host link or a flash channel.
//!
//! Bookings do not come in the order of their times, because a read behind a busy die asks for the
//! wire far ahead. A single next-free time would block the gap before it; so time is cut into
//! buckets of about one map unit's transfer, and each bucket remembers how much of it is taken.

use std::ops::Range;

const BUCKETS: usize = 2048;

#[derive(Debug, Clone, Copy, Default)]
struct Bucket {
    number: u64,
    used_ns: u64,
}

#[derive(Clone)]
pub(crate) struct Lane {
    buckets: Vec<Bucket>,
    shift: u32,
    /// Buckets known to be full, so that a long backlog is not walked again for every transfer.
    full: Range<u64>,
}

impl Lane {
    /// `typical_ns` is the usual length of a transfer; buckets are the next power of two.
    pub(crate) fn new(typical_ns: u64) -> Self {
        let shift = typical_ns.clamp(256, 1 << 30).next_power_of_two().trailing_zeros();
        Self { buckets: vec![Bucket::default(); BUCKETS], shift, full: 0..0 }
    }

    /// Takes `need_ns` from `at_ns` on, in the first gaps there are, and returns when it is over.
    #[inline]
    pub(crate) fn book(&mut self, at_ns: u64, need_ns: u64) -> u64 {
        let width = 1u64 << self.shift;
        let first = at_ns >> self.shift;
        let known = self.full.contains(&first) || first == self.full.end;
        let mut number = if known { self.full.end } else { first };
        let mut left = need_ns;
        loop {
            let bucket = &mut self.buckets[number as usize & (BUCKETS - 1)];
            if bucket.number < number {
                *bucket = Bucket { number, used_ns: 0 };
            }
            // A later bucket has taken this one's place: so far ahead, this one counts as full.
            let free = if bucket.number == number { width - bucket.used_ns } else { 0 };
            let take = left.min(free);
            bucket.used_ns += take;
            left -= take;
            if left == 0 && free > 0 {
                let end = (number << self.shift) + bucket.used_ns;
                if number > first {
                    self.full = if known { self.full.start..number } else { first..number };
                }
                return (at_ns + need_ns).max(end);
            }
            number += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carries_no_more_than_its_rate() {
        let mut lane = Lane::new(1000);
        let ends: Vec<u64> = (0..1000).map(|_| lane.book(5000, 1000)).collect();
        assert!(ends.is_sorted());
        let last = *ends.last().unwrap();
        assert!((1_000_000..=1_006_000).contains(&last), "{last}");
    }

    #[test]
    fn a_backlog_beyond_the_ring_keeps_the_rate() {
        let mut lane = Lane::new(1000);
        let last = (0..100).map(|_| lane.book(0, 100_000)).max().unwrap();
        assert!((10_000_000..=10_100_000).contains(&last), "{last}");
    }

    #[test]
    fn a_far_booking_leaves_the_gap_before_it() {
        let mut lane = Lane::new(1000);
        lane.book(500_000, 1000);
        assert_eq!(lane.book(10_000, 1000), 11_000);
    }
}
