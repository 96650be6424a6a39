//! A wire that carries one transfer at a time: the host link or a flash channel.
//!
//! Bookings do not come in the order of their times, because a read behind a busy die asks for the
//! wire far ahead. A single next-free time would block the gap before it; so time is cut into
//! buckets of about one map unit's transfer, and each bucket remembers how much of it is taken.

const BUCKETS: usize = 1024;

#[derive(Debug, Clone, Copy, Default)]
struct Bucket {
    number: u32,
    used_ns: u32,
}

#[derive(Clone)]
pub(crate) struct Lane {
    buckets: Vec<Bucket>,
    shift: u32,
}

impl Lane {
    /// `typical_ns` is the usual length of a transfer; buckets are the next power of two.
    pub(crate) fn new(typical_ns: u64) -> Self {
        let shift = typical_ns.clamp(256, 1 << 30).next_power_of_two().trailing_zeros();
        Self { buckets: vec![Bucket::default(); BUCKETS], shift }
    }

    /// Takes `need_ns` from `at_ns` on, in the first gaps there are, and returns when it is over.
    #[inline]
    pub(crate) fn book(&mut self, at_ns: u64, need_ns: u64) -> u64 {
        let width = 1u64 << self.shift;
        let mut number = at_ns >> self.shift;
        let mut left = need_ns;
        loop {
            let bucket = &mut self.buckets[number as usize & (BUCKETS - 1)];
            if bucket.number != number as u32 {
                *bucket = Bucket { number: number as u32, used_ns: 0 };
            }
            let take = left.min(width - u64::from(bucket.used_ns));
            bucket.used_ns += take as u32;
            left -= take;
            if left == 0 {
                return (at_ns + need_ns).max((number << self.shift) + u64::from(bucket.used_ns));
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
    fn a_far_booking_leaves_the_gap_before_it() {
        let mut lane = Lane::new(1000);
        lane.book(500_000, 1000);
        assert_eq!(lane.book(10_000, 1000), 11_000);
    }
}
