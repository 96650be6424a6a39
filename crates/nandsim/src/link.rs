//! A link that carries one transfer at a time: the host link or a flash channel.
//!
//! Transfers are not scheduled in time order, because a read on a busy die schedules its transfer far ahead. If a link
//! recorded only when it is next free, the idle time before such a transfer would be lost. Time is therefore divided
//! into buckets of about one map unit's transfer, and each bucket records how much of it is in use.

use std::ops::Range;

const BUCKETS: usize = 2048;
/// Number of full stretches to remember. More than one is needed, because a lagging thread's transfers in the
/// past alternate with transfers in the present.
const STRETCHES: usize = 4;

#[derive(Clone)]
pub(crate) struct Link {
    /// A ring buffer. Each bucket is filled from its start and stores the time up to which it is filled. A time
    /// before the bucket's start is left over from an earlier lap, and the bucket is empty. A time after the
    /// bucket's end means that a later lap has reused the bucket; for a transfer that far back, it counts as
    /// full.
    filled_ns: Box<[u64; BUCKETS]>,
    /// Length of a bucket, a power of two.
    width_ns: u64,
    /// Binary logarithm of a bucket's length.
    shift: u32,
    /// Stretches that are known to be full, most recently used first, each from the start of its first bucket
    /// to the end of its last one. Thanks to them, transfers need not search a long backlog again.
    full: [Range<u64>; STRETCHES],
}

impl Link {
    /// `typical_ns` is the usual length of a transfer; it is rounded up to a power of two.
    pub(crate) fn new(typical_ns: u64) -> Self {
        let shift = typical_ns.clamp(256, 1 << 30).next_power_of_two().trailing_zeros();
        Self {
            filled_ns: Box::new([0; BUCKETS]),
            width_ns: 1 << shift,
            shift,
            full: [const { 0..0 }; STRETCHES],
        }
    }

    /// Reserves `need_ns` in the first gaps at or after `at_ns`, and returns the end of the transfer.
    #[inline]
    pub(crate) fn book(&mut self, at_ns: u64, need_ns: u64) -> u64 {
        // Most transfers fit in their first bucket.
        let start = at_ns & !(self.width_ns - 1);
        let limit = start + self.width_ns;
        let filled = &mut self.filled_ns[(at_ns >> self.shift) as usize % BUCKETS];
        let from = start.max(*filled);
        let end = from + need_ns;
        if end <= limit && from < limit {
            *filled = end;
            return end.max(at_ns + need_ns);
        }
        self.book_on(start, need_ns).max(at_ns + need_ns)
    }

    /// Reserves `need_ns` in the bucket that starts at `first` and in later ones. Returns the end.
    fn book_on(&mut self, first: u64, need_ns: u64) -> u64 {
        let known = self.full.iter().position(|full| full.contains(&first) || first == full.end);
        let mut start = known.map_or(first, |known| self.full[known].end);
        let mut place = (start >> self.shift) as usize;
        let mut left = need_ns;
        loop {
            let filled = &mut self.filled_ns[place % BUCKETS];
            let (from, limit) = (start.max(*filled), start + self.width_ns);
            let end = from + left;
            if end <= limit && from < limit {
                *filled = end;
                self.remember(known, first..start, need_ns);
                return end;
            }
            left -= limit.saturating_sub(from);
            *filled = from.max(limit);
            (start, place) = (limit, place + 1);
        }
    }

    /// Records the full stretch `full`, which extends the one at `known`, if there is one.
    fn remember(&mut self, known: Option<usize>, full: Range<u64>, need_ns: u64) {
        let place = match known {
            Some(known) => {
                self.full[known].end = full.end;
                known
            }
            // Such a short stretch is not worth remembering: searching it is just as fast.
            None if full.end - full.start < 2 * need_ns => return,
            None => {
                self.full[STRETCHES - 1] = full;
                STRETCHES - 1
            }
        };
        self.full[..=place].rotate_right(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_carries_no_more_than_its_rate() {
        let mut link = Link::new(1000);
        let ends: Vec<u64> = (0..1000).map(|_| link.book(5000, 1000)).collect();
        assert!(ends.is_sorted());
        let last = *ends.last().unwrap();
        assert!((1_000_000..=1_006_000).contains(&last), "{last}");
    }

    #[test]
    fn a_backlog_beyond_the_ring_keeps_the_rate() {
        let mut link = Link::new(1000);
        let last = (0..100).map(|_| link.book(0, 100_000)).max().unwrap();
        assert!((10_000_000..=10_100_000).contains(&last), "{last}");
    }

    #[test]
    fn a_far_booking_leaves_the_gap_before_it() {
        let mut link = Link::new(1000);
        link.book(500_000, 1000);
        assert_eq!(link.book(10_000, 1000), 11_000);
    }

    /// Remembered stretches only speed up the search: they do not change any transfers, even if a lagging
    /// thread schedules one far in the past.
    #[test]
    fn remembered_stretches_change_no_time() {
        let mut rng = stdx::rng::Rng::from_seed(7);
        let mut link = Link::new(1000);
        let (mut now_ns, mut remembered) = (0, 0);
        for _ in 0..20_000 {
            now_ns += rng.below(3000);
            let at_ns = if rng.percent(30) { now_ns - rng.below(now_ns.min(3_000_000) + 1) } else { now_ns };
            let need_ns = if rng.percent(10) { 1 + rng.below(20_000) } else { 1 + rng.below(1000) };
            let mut forgetful = Link { full: [const { 0..0 }; STRETCHES], ..link.clone() };
            remembered += u32::from(link.full.iter().any(|full| full.contains(&at_ns)));
            assert_eq!(link.book(at_ns, need_ns), forgetful.book(at_ns, need_ns));
            assert_eq!(link.filled_ns, forgetful.filled_ns);
        }
        assert!(remembered > 1000, "{remembered}");
    }
}
