//! A log-linear histogram of nanoseconds. It counts every value; none is clipped.
//!
//! Each value below 128 ns has its own slot. Above that, each power of two is split into 128 equal slots, up
//! to `u64::MAX`. A value is read back as the middle of its slot, which is within 1/256 (0.4 %) of the
//! recorded value; minimum, maximum and sum are exact.
//!
//! Only the slots between the smallest and the largest value use memory while values are recorded, because most values
//! of a histogram lie within a few powers of two. A histogram that was read from a file stores only the non-empty slots
//! until it is changed: a run that takes several days has tens of thousands of histograms.

pub mod coarse;
pub mod stored;

use std::sync::Arc;

use crate::Packed;

const SUB_BITS: u32 = 7;
const SUB_SLOTS: usize = 1 << SUB_BITS;
/// Number of slots: 128 for the values below 2^7, and 128 for each power of two above.
pub const SLOTS: usize = (64 - SUB_BITS as usize + 1) * SUB_SLOTS;

/// Counts of values in nanoseconds, with exact count, sum, minimum and maximum.
#[derive(Clone)]
pub struct Histogram {
    /// Counts of the slots starting at `first`; all other slots are empty.
    slots: Vec<u64>,
    first: usize,
    /// All counts, if `slots` is empty; at most one of the two contains slots. Copies share memory, because a replay
    /// copies every result of a run.
    filled: Option<Arc<Filled>>,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

/// The slots that are not empty, in ascending order.
#[derive(Clone, Default)]
struct Filled {
    /// The distance of each slot from the previous slot; for the first slot, its number.
    distances: Packed,
    counts: Packed,
}

impl Filled {
    fn iter(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let numbers = self.distances.iter().scan(0, |slot, distance| {
            *slot += distance as usize;
            Some(*slot)
        });
        numbers.zip(&self.counts)
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self { slots: Vec::new(), first: 0, filled: None, count: 0, sum: 0, min: u64::MAX, max: 0 }
    }
}

/// Equality ignores spare capacity.
impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        (self.count, self.sum, self.min, self.max) == (other.count, other.sum, other.min, other.max)
            && self.filled().eq(other.filled())
    }
}

impl Eq for Histogram {}

impl std::fmt::Debug for Histogram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Histogram")
            .field("count", &self.count)
            .field("min", &self.min())
            .field("mean", &self.mean())
            .field("max", &self.max())
            .finish()
    }
}

/// Returns the slot of `value_ns`.
#[inline]
#[must_use]
pub const fn slot_of(value_ns: u64) -> usize {
    if value_ns < SUB_SLOTS as u64 {
        return value_ns as usize;
    }
    let exponent = 63 - value_ns.leading_zeros();
    let shift = exponent - SUB_BITS;
    ((shift as usize + 1) << SUB_BITS) + ((value_ns >> shift) as usize - SUB_SLOTS)
}

/// Returns the first and the last value, both inclusive, of `slot`.
///
/// # Panics
/// Panics if `slot` is not below [`SLOTS`].
#[must_use]
pub const fn slot_bounds(slot: usize) -> (u64, u64) {
    assert!(slot < SLOTS, "slot out of range");
    if slot < SUB_SLOTS {
        return (slot as u64, slot as u64);
    }
    let shift = (slot >> SUB_BITS) - 1;
    let first = ((slot & (SUB_SLOTS - 1)) + SUB_SLOTS) as u64;
    let low = first << shift;
    (low, low + ((1u64 << shift) - 1))
}

impl Histogram {
    /// Creates an empty histogram.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one value.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        let slot = slot_of(value_ns);
        match self.slots.get_mut(slot.wrapping_sub(self.first)) {
            Some(count) => *count += 1,
            None => self.record_outside(slot),
        }
        self.count += 1;
        self.sum += u128::from(value_ns);
        self.min = self.min.min(value_ns);
        self.max = self.max.max(value_ns);
    }

    /// Grows by whole groups of slots, so that it is rarely called.
    #[cold]
    fn record_outside(&mut self, slot: usize) {
        let group = slot & !(SUB_SLOTS - 1);
        self.make_room(group, group + SUB_SLOTS - 1);
        self.slots[slot - self.first] += 1;
    }

    /// Extends the allocated slots to include `first` to `last`.
    fn make_room(&mut self, first: usize, last: usize) {
        if let Some(filled) = self.filled.take() {
            self.make_room(slot_of(self.min), slot_of(self.max));
            filled.iter().for_each(|(slot, count)| self.slots[slot - self.first] = count);
        }
        if self.slots.is_empty() {
            self.first = first;
        }
        if first < self.first {
            self.slots.splice(0..0, std::iter::repeat_n(0, self.first - first));
            self.first = first;
        }
        let end = last + 1 - self.first;
        if end > self.slots.len() {
            self.slots.reserve_exact(end - self.slots.len());
            self.slots.resize(end, 0);
        }
    }

    /// Adds all counts of `other`, as if every value had been recorded here.
    pub fn merge(&mut self, other: &Self) {
        if other.count > 0 {
            self.make_room(slot_of(other.min), slot_of(other.max));
        }
        for (slot, count) in other.filled() {
            self.slots[slot - self.first] += count;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Removes all values.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns the number of values.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the sum of all values in ns.
    #[must_use]
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Returns the smallest value in ns, or `None` if empty.
    #[must_use]
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    /// Returns the largest value in ns, or `None` if empty.
    #[must_use]
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// Returns the exact mean in ns, or `None` if empty.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Returns the quantile at `share` (0 to 1) with the precision of a slot: the smallest recorded value such
    /// that at least this share of all values are less than or equal to it. `None` if empty.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<u64> {
        if self.count == 0 {
            return None;
        }
        let rank = ((share * self.count as f64).ceil() as u64).clamp(1, self.count);
        let mut seen = 0;
        for (slot, count) in self.filled() {
            seen += count;
            if seen >= rank {
                let (low, high) = slot_bounds(slot);
                return Some((low + (high - low) / 2).clamp(self.min, self.max));
            }
        }
        unreachable!("count equals the sum of all slots")
    }

    /// Returns the non-empty slots as (slot, count), in ascending order.
    pub fn filled(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let numbered = (self.first..).zip(&self.slots);
        let recorded = numbered.filter(|(_, count)| **count > 0).map(|(slot, count)| (slot, *count));
        recorded.chain(self.filled.iter().flat_map(|filled| filled.iter()))
    }

    /// Returns the number of slots that are allocated, or that will be allocated when the histogram is changed:
    /// the slots from the smallest to the largest value.
    #[must_use]
    pub fn span(&self) -> usize {
        match &self.filled {
            Some(_) => slot_of(self.max) + 1 - slot_of(self.min),
            None => self.slots.len(),
        }
    }

    /// Builds a histogram from the results of [`filled`](Self::filled), in ascending order, [`sum`](Self::sum),
    /// [`min`](Self::min) and [`max`](Self::max).
    ///
    /// # Errors
    /// Returns an error if the parts are inconsistent; the error says why.
    pub fn from_parts(filled: &[(usize, u64)], sum: u128, min: u64, max: u64) -> Result<Self, &'static str> {
        if !filled.is_sorted_by(|a, b| a.0 < b.0) {
            return Err(OUT_OF_ORDER);
        }
        let before = std::iter::once(0).chain(filled.iter().map(|(slot, _)| *slot));
        let pairs = filled.iter().zip(before).map(|((slot, count), before)| [(slot - before) as u64, *count]);
        Self::of_slots(Slots::of(&pairs.collect::<Vec<_>>())?, sum, min, max)
    }

    /// Builds a histogram from its non-empty slots, [`sum`](Self::sum), [`min`](Self::min) and [`max`](Self::max).
    ///
    /// # Errors
    /// Returns an error if the parts are inconsistent; the error says why.
    pub fn of_slots(slots: Slots, sum: u128, min: u64, max: u64) -> Result<Self, &'static str> {
        let Slots { filled, first, last, count } = slots;
        if count == 0 {
            return if sum == 0 { Ok(Self::default()) } else { Err("a sum without values") };
        }
        if slot_of(min) != first || slot_of(max) != last {
            return Err("minimum or maximum lies outside the filled slots");
        }
        Ok(Self { slots: Vec::new(), first: 0, filled: Some(filled), count, sum, min, max })
    }
}

/// The non-empty slots of a histogram that is being read.
#[derive(Clone)]
pub struct Slots {
    filled: Arc<Filled>,
    first: usize,
    last: usize,
    count: u64,
}

impl Slots {
    /// Returns slots, given the distance of each slot from the previous one and its count.
    ///
    /// # Errors
    /// Returns an error if a slot number is not valid, or if a slot is empty or does not follow its predecessor.
    pub fn of(pairs: &[[u64; 2]]) -> Result<Self, &'static str> {
        let (mut last, mut count) = (0u64, 0u64);
        for (index, [distance, its]) in pairs.iter().enumerate() {
            let next = last.checked_add(*distance).filter(|slot| *slot < SLOTS as u64);
            last = next.ok_or("slot number out of range")?;
            if *its == 0 || (index > 0 && *distance == 0) {
                return Err(OUT_OF_ORDER);
            }
            count = count.checked_add(*its).ok_or("count overflows")?;
        }
        let first = pairs.first().map_or(0, |[first, _]| *first);
        let filled = Filled {
            distances: Packed::of(pairs.iter().map(|[distance, _]| *distance)),
            counts: Packed::of(pairs.iter().map(|[_, count]| *count)),
        };
        Ok(Self { filled: Arc::new(filled), first: first as usize, last: last as usize, count })
    }
}

const OUT_OF_ORDER: &str = "duplicate or empty slot";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        values.iter().for_each(|&v| histogram.record(v));
        histogram
    }

    #[test]
    fn slots_cover_every_value_without_overlap() {
        let mut next = 0u64;
        for slot in 0..SLOTS {
            let (low, high) = slot_bounds(slot);
            assert_eq!(low, next);
            assert_eq!((slot_of(low), slot_of(high)), (slot, slot));
            next = high.wrapping_add(1);
        }
        assert_eq!(next, 0, "the last slot ends at u64::MAX");
    }

    #[test]
    fn an_empty_histogram_has_no_statistics() {
        let empty = Histogram::new();
        assert_eq!((empty.min(), empty.max(), empty.quantile(0.5)), (None, None, None));
        assert!(empty.mean().is_none());
    }

    #[test]
    fn only_the_slots_between_the_values_take_memory() {
        let mut histogram = of(&[90_000]);
        assert!(histogram.slots.len() <= SUB_SLOTS);
        assert_eq!(Histogram::new().slots.capacity(), 0);
        histogram.merge(&of(&[20_000, 5_000_000]));
        let filled: Vec<_> = histogram.filled().collect();
        assert_eq!(filled, [20_000, 90_000, 5_000_000].map(|ns| (slot_of(ns), 1)));
        let back = Histogram::from_parts(&filled, 5_110_000, 20_000, 5_000_000).unwrap();
        assert_eq!((back.slots.capacity(), back.span()), (0, slot_of(5_000_000) - slot_of(20_000) + 1));
        assert_eq!(back, histogram);
        assert_ne!(back, of(&[20_000, 91_000, 5_000_000]));
    }

    #[test]
    fn inconsistent_parts_are_refused() {
        let of = |filled: &[(usize, u64)], sum, min, max| {
            Histogram::from_parts(filled, sum, min, max).unwrap_err()
        };
        assert_eq!(of(&[], 1, 0, 0), "a sum without values");
        assert_eq!(of(&[(SLOTS, 1)], 1, 1, 1), "slot number out of range");
        assert_eq!(of(&[(3, 1), (3, 1)], 6, 3, 3), "duplicate or empty slot");
        assert_eq!(of(&[(3, 0)], 0, 3, 3), "duplicate or empty slot");
        assert_eq!(of(&[(3, u64::MAX), (4, 1)], 7, 3, 4), "count overflows");
        assert_eq!(of(&[(3, 1), (5, 1)], 8, 3, 4), "minimum or maximum lies outside the filled slots");
    }

    proptest! {
        #[test]
        fn slot_is_within_one_percent(value in any::<u64>()) {
            let (low, high) = slot_bounds(slot_of(value));
            prop_assert!(low <= value && value <= high);
            prop_assert!((high - low) as f64 <= 0.01 * low.max(1) as f64);
        }

        #[test]
        fn quantile_matches_sorted_values(mut values in prop::collection::vec(0u64..10_000_000_000, 1..200), share in 0.0f64..=1.0) {
            let histogram = of(&values);
            values.sort_unstable();
            let rank = ((share * values.len() as f64).ceil() as usize).clamp(1, values.len());
            let exact = values[rank - 1] as f64;
            let got = histogram.quantile(share).unwrap() as f64;
            prop_assert!((got - exact).abs() <= 0.01 * exact, "{} for {}", got, exact);
        }

        #[test]
        fn merge_is_recording_everything(a in prop::collection::vec(any::<u32>(), 0..50), b in prop::collection::vec(any::<u32>(), 0..50)) {
            let wide = |v: &[u32]| v.iter().map(|&x| u64::from(x)).collect::<Vec<_>>();
            let mut merged = of(&wide(&a));
            merged.merge(&of(&wide(&b)));
            prop_assert_eq!(merged, of(&wide(&[a, b].concat())));
        }

        #[test]
        fn parts_restore_the_histogram(values in prop::collection::vec(any::<u32>(), 1..50)) {
            let histogram = of(&values.iter().map(|&v| u64::from(v)).collect::<Vec<_>>());
            let filled: Vec<_> = histogram.filled().collect();
            let back = Histogram::from_parts(&filled, histogram.sum(), histogram.min().unwrap(), histogram.max().unwrap());
            prop_assert_eq!(back.unwrap(), histogram);
        }

        #[test]
        fn a_histogram_that_is_read_back_takes_more_values(
            known in prop::collection::vec(any::<u32>(), 1..50), more in prop::collection::vec(any::<u32>(), 0..50)
        ) {
            let wide = |v: &[u32]| v.iter().map(|&x| u64::from(x)).collect::<Vec<_>>();
            let histogram = of(&wide(&known));
            let filled: Vec<_> = histogram.filled().collect();
            let (min, max) = (histogram.min().unwrap(), histogram.max().unwrap());
            let back = Histogram::from_parts(&filled, histogram.sum(), min, max).unwrap();
            prop_assert_eq!(back.span(), slot_of(max) + 1 - slot_of(min));
            let rows = |histogram: &Histogram| {
                let mut rows = [0; coarse::ROWS];
                histogram.add_rows(&mut rows);
                rows
            };
            prop_assert_eq!(rows(&back), rows(&histogram));
            let (mut recorded, mut merged) = (back.clone(), back);
            wide(&more).iter().for_each(|&value| recorded.record(value));
            merged.merge(&of(&wide(&more)));
            let all = of(&wide(&[known, more].concat()));
            prop_assert_eq!(&recorded, &all);
            prop_assert_eq!(rows(&recorded), rows(&all));
            prop_assert_eq!(merged, all);
        }
    }
}
