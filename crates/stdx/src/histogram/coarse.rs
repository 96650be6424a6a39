//! Response times over time: a series of coarse histograms, one per interval, in bounded memory.
//!
//! A row combines 32 slots of a [`Histogram`], a quarter of a power of two: above 128 ns, its bounds are at
//! most 25 % apart. When the columns exceed the memory limit, neighbouring columns are merged, so that each
//! column covers twice as many intervals.

use super::{Histogram, SLOTS, slot_bounds};

/// Histogram slots per row.
pub const SLOTS_IN_ROW: usize = 32;
/// Number of rows.
pub const ROWS: usize = SLOTS / SLOTS_IN_ROW;
/// Maximum number of columns: slightly more than the seconds in an hour.
pub const MAX_COLUMNS: usize = 4096;
/// Maximum number of non-empty rows in all columns, which take 1 MiB.
pub const MAX_CELLS: usize = 1 << 17;

const COUNT_BITS: u32 = 56;
/// Maximum of a count that is read back, and of the sum of all such counts.
pub(super) const MAX_COUNT: u64 = (1 << COUNT_BITS) - 1;

/// The counts of all rows.
pub type Rows = [u64; ROWS];

/// Returns the first and the last value, both inclusive, of `row`.
///
/// # Panics
/// Panics if `row` is not below [`ROWS`].
#[must_use]
pub const fn row_bounds(row: usize) -> (u64, u64) {
    let first = row * SLOTS_IN_ROW;
    (slot_bounds(first).0, slot_bounds(first + SLOTS_IN_ROW - 1).1)
}

/// Adds the counts of consecutive slots, starting at slot `first`, to their rows.
///
/// # Panics
/// Panics if the slots extend beyond the last slot.
pub fn add_slots(first: usize, slots: &[u64], rows: &mut Rows) {
    let (row, in_row) = (first / SLOTS_IN_ROW, first % SLOTS_IN_ROW);
    let (head, rest) = slots.split_at(slots.len().min(SLOTS_IN_ROW - in_row));
    for (row, part) in (row..).zip(std::iter::once(head).chain(rest.chunks(SLOTS_IN_ROW))) {
        if !part.is_empty() {
            rows[row] += part.iter().sum::<u64>();
        }
    }
}

impl Histogram {
    /// Adds the counts of all slots to their rows.
    pub fn add_rows(&self, rows: &mut Rows) {
        add_slots(self.first, &self.slots, rows);
        let stored = self.filled.iter().flat_map(|filled| filled.iter());
        stored.for_each(|(slot, count)| rows[slot / SLOTS_IN_ROW] += count);
    }
}

/// Coarse histograms of consecutive periods of equal length, except that the last period may be shorter.
#[derive(Clone, PartialEq, Eq)]
pub struct Columns {
    /// Intervals per column; a power of two.
    length: u64,
    /// The non-empty rows of all columns, column by column, in ascending order: row number in the highest byte,
    /// count below it.
    cells: Vec<u64>,
    /// For each column, the end of its rows in `cells`.
    ends: Vec<u32>,
}

impl std::fmt::Debug for Columns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Columns").field("length", &self.length).field("columns", &self.len()).finish()
    }
}

impl Default for Columns {
    fn default() -> Self {
        Self { length: 1, cells: Vec::new(), ends: Vec::new() }
    }
}

const fn pack(row: usize, count: u64) -> u64 {
    (row as u64) << COUNT_BITS | count
}

const fn unpack(cell: u64) -> (usize, u64) {
    ((cell >> COUNT_BITS) as usize, cell & MAX_COUNT)
}

impl Columns {
    /// Creates columns of `length` intervals each from their non-empty rows, given as (row, count).
    ///
    /// # Errors
    /// Returns an error if the parts are invalid; the error says why.
    pub fn from_parts(length: u64, columns: &[Vec<(usize, u64)>]) -> Result<Self, &'static str> {
        if !length.is_power_of_two() {
            return Err("the length of a column is not a power of two");
        }
        let mut built = Self { length, ..Self::default() };
        let mut total = 0u64;
        for column in columns {
            if !column.is_sorted_by(|a, b| a.0 < b.0) {
                return Err("the rows of a column are not in ascending order");
            }
            for &(row, count) in column {
                if row >= ROWS || count == 0 {
                    return Err("row out of range or empty");
                }
                total = total.checked_add(count).filter(|sum| *sum <= MAX_COUNT).ok_or("count overflows")?;
                built.cells.push(pack(row, count));
            }
            built.ends.push(u32::try_from(built.cells.len()).map_err(|_| "too many rows")?);
        }
        Ok(built)
    }

    /// Returns the number of intervals per column.
    #[must_use]
    pub fn intervals_per_column(&self) -> u64 {
        self.length
    }

    /// Returns the number of columns.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there are no columns.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn start(&self, column: usize) -> usize {
        column.checked_sub(1).map_or(0, |before| self.ends[before] as usize)
    }

    /// Returns the non-empty rows of a column as (row, count), in ascending order.
    ///
    /// # Panics
    /// Panics if there is no such column.
    pub fn column(&self, column: usize) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.cells[self.start(column)..self.ends[column] as usize].iter().map(|cell| unpack(*cell))
    }

    /// Returns all columns, in order.
    pub fn iter(&self) -> impl Iterator<Item = impl Iterator<Item = (usize, u64)> + '_> + '_ {
        (0..self.len()).map(|column| self.column(column))
    }

    /// Returns the sum of `parts`, which must all have the same start, over `intervals` intervals. Later counts
    /// are added to the last column.
    #[must_use]
    pub fn merged<'a>(parts: impl Iterator<Item = &'a Self> + Clone, intervals: u64) -> Self {
        let length = parts.clone().map(|part| part.length).max().unwrap_or(1);
        let columns = intervals.div_ceil(length).max(1) as usize;
        let mut all = Self { length, ..Self::default() };
        for column in 0..columns {
            let mut rows = [0; ROWS];
            for part in parts.clone() {
                let ratio = (length / part.length) as usize;
                let end = if column + 1 == columns { usize::MAX } else { (column + 1) * ratio };
                for its in column * ratio..end.min(part.len()) {
                    part.column(its).for_each(|(row, count)| rows[row] += count);
                }
            }
            all.append(column as u64 * length, &rows);
        }
        all
    }

    /// Removes the columns that extend beyond `intervals` intervals.
    pub fn truncate(&mut self, intervals: u64) {
        let columns = (intervals / self.length).min(self.len() as u64) as usize;
        self.cells.truncate(self.start(columns));
        self.ends.truncate(columns);
    }

    /// Combines every `count` intervals into one; `count` must be a power of two.
    pub fn merge_intervals(&mut self, count: u64) {
        while self.length < count {
            self.fold();
        }
        self.length /= count.max(1);
    }

    /// Adds the interval with the number `interval`, which falls in the last column or the one after it.
    fn append(&mut self, interval: u64, rows: &Rows) {
        let filled = rows.iter().filter(|count| **count > 0).count();
        while self.len() > 1
            && (self.cells.len() + filled > MAX_CELLS || interval / self.length >= MAX_COLUMNS as u64)
        {
            self.fold();
        }
        if (interval / self.length) < self.len() as u64 {
            let last = self.len() - 1;
            let mut sum = *rows;
            self.column(last).for_each(|(row, count)| sum[row] += count);
            self.cells.truncate(self.start(last));
            self.ends.pop();
            self.push(&sum);
        } else {
            self.push(rows);
        }
    }

    fn push(&mut self, rows: &Rows) {
        let filled = rows.iter().enumerate().filter(|(_, count)| **count > 0);
        self.cells.extend(filled.map(|(row, &count)| pack(row, count.min(MAX_COUNT))));
        self.ends.push(self.cells.len() as u32);
    }

    /// Merges pairs of neighbouring columns, in place.
    fn fold(&mut self) {
        let columns = self.len();
        let (mut read, mut written) = (0, 0);
        for pair in 0..columns.div_ceil(2) {
            let mut rows = [0; ROWS];
            let end = self.ends[(2 * pair + 1).min(columns - 1)] as usize;
            for &cell in &self.cells[read..end] {
                let (row, count) = unpack(cell);
                rows[row] += count;
            }
            read = end;
            // This is safe in place: a merged pair has at most as many rows as its two columns, which have
            // already been read.
            for (row, &count) in rows.iter().enumerate().filter(|(_, count)| **count > 0) {
                self.cells[written] = pack(row, count.min(MAX_COUNT));
                written += 1;
            }
            self.ends[pair] = written as u32;
        }
        self.cells.truncate(written);
        self.ends.truncate(columns.div_ceil(2));
        self.length *= 2;
    }
}

/// Builds columns from cumulative counts, one interval at a time, so that the counting loop needs no extra work.
#[derive(Debug)]
pub struct Ledger {
    columns: Columns,
    intervals: u64,
    /// Cumulative counts at the end of the last interval.
    before: Box<Rows>,
}

impl Ledger {
    /// Creates a ledger that allocates memory as needed.
    #[must_use]
    pub fn growing() -> Self {
        Self { columns: Columns::default(), intervals: 0, before: Box::new([0; ROWS]) }
    }

    /// Creates a ledger that never allocates memory later. If the number of intervals is known, all pages are
    /// touched now to avoid page faults later; otherwise, only address space is reserved.
    #[must_use]
    pub fn reserved(intervals: Option<u64>) -> Self {
        let mut ledger = Self::growing();
        match intervals {
            None => {
                ledger.columns.cells = Vec::with_capacity(MAX_CELLS);
                ledger.columns.ends = Vec::with_capacity(MAX_COLUMNS);
            }
            Some(intervals) => {
                let columns = intervals.clamp(1, MAX_COLUMNS as u64) as usize;
                ledger.columns.cells = touched(vec![1; (columns * ROWS).min(MAX_CELLS)]);
                ledger.columns.ends = touched(vec![1; columns]);
            }
        }
        ledger
    }

    /// Ends an interval; `sums` are cumulative counts since the start.
    pub fn close(&mut self, sums: &Rows) {
        let mut rows = *sums;
        rows.iter_mut().zip(self.before.iter()).for_each(|(sum, before)| *sum -= before);
        *self.before = *sums;
        self.append(&rows);
    }

    /// Ends an interval without values.
    pub fn close_empty(&mut self) {
        self.append(&[0; ROWS]);
    }

    fn append(&mut self, rows: &Rows) {
        self.columns.append(self.intervals, rows);
        self.intervals += 1;
    }

    /// Returns the columns.
    #[must_use]
    pub fn finish(self) -> Columns {
        self.columns
    }
}

fn touched<T>(mut room: Vec<T>) -> Vec<T> {
    std::hint::black_box(&mut room).clear();
    room
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(columns: &Columns) -> Vec<Vec<(usize, u64)>> {
        columns.iter().map(Iterator::collect).collect()
    }

    fn sum(columns: &Columns) -> Rows {
        let mut rows = [0; ROWS];
        columns.iter().flatten().for_each(|(row, count)| rows[row] += count);
        rows
    }

    fn rows_of(histogram: &Histogram) -> Rows {
        let mut rows = [0; ROWS];
        histogram.add_rows(&mut rows);
        rows
    }

    /// Returns columns of these values, one per interval, and a histogram of all values.
    fn kept(intervals: &[Vec<u64>]) -> (Columns, Histogram) {
        let (mut ledger, mut all) = (Ledger::growing(), Histogram::new());
        for values in intervals {
            values.iter().for_each(|value| all.record(*value));
            ledger.close(&rows_of(&all));
        }
        (ledger.finish(), all)
    }

    #[test]
    fn rows_cover_every_value_and_are_a_quarter_high() {
        let mut next = 0u64;
        for row in 0..ROWS {
            let (low, high) = row_bounds(row);
            assert_eq!(low, next);
            assert!(low < 128 || (high - low + 1) as f64 <= 0.25 * low as f64, "{low} to {high}");
            next = high.wrapping_add(1);
        }
        assert_eq!(next, 0, "the last row ends at u64::MAX");
    }

    #[test]
    fn every_second_has_a_column_even_without_io() {
        let (columns, _) = kept(&[vec![1000, 1001, 5000], vec![], vec![1000]]);
        let row = |ns| super::super::slot_of(ns) / SLOTS_IN_ROW;
        assert_eq!(of(&columns), [vec![(row(1000), 2), (row(5000), 1)], vec![], vec![(row(1000), 1)]]);
        assert_eq!(columns.intervals_per_column(), 1);
    }

    #[test]
    fn columns_beyond_the_limit_are_merged() {
        let mut ledger = Ledger::reserved(None);
        let mut sums = [0; ROWS];
        let intervals = 2 * MAX_COLUMNS as u64 + 3;
        for interval in 0..intervals {
            sums[(interval % 7) as usize] += 1;
            ledger.close(&sums);
        }
        let columns = ledger.finish();
        assert_eq!((columns.intervals_per_column(), columns.len()), (4, (intervals / 4 + 1) as usize));
        assert_eq!(sum(&columns), sums);
        let first: Vec<_> = columns.column(0).collect();
        assert_eq!(first, [(0, 1), (1, 1), (2, 1), (3, 1)]);
        assert_eq!(columns.column(columns.len() - 1).map(|(_, count)| count).sum::<u64>(), 3);
    }

    #[test]
    fn wide_columns_stay_within_the_memory_reserved() {
        let mut ledger = Ledger::reserved(Some(MAX_COLUMNS as u64));
        let (room, mut sums) = (ledger.columns.cells.capacity(), [0; ROWS]);
        for interval in 0..MAX_COLUMNS {
            // Neighbouring columns share no row.
            sums.iter_mut().skip(interval % 2).step_by(2).for_each(|sum| *sum += 1);
            ledger.close(&sums);
        }
        let columns = ledger.finish();
        assert!(columns.cells.len() <= MAX_CELLS && columns.intervals_per_column() > 1);
        assert_eq!((columns.cells.capacity(), sum(&columns)), (room, sums));
    }

    #[test]
    fn ios_completed_after_the_end_count_in_the_last_column() {
        let (columns, all) = kept(&[vec![10], vec![20], vec![300, 300]]);
        let merged = Columns::merged([&columns].into_iter(), 2);
        assert_eq!((merged.len(), sum(&merged)), (2, rows_of(&all)));
        assert_eq!(merged.column(1).map(|(_, count)| count).sum::<u64>(), 3);
        let mut cut = columns.clone();
        cut.truncate(2);
        assert_eq!(of(&cut), of(&columns)[..2]);
        cut.truncate(9);
        assert_eq!(cut.len(), 2);
    }

    #[test]
    fn intervals_are_merged_to_the_length_of_columns_or_beyond() {
        let (mut columns, all) = kept(&[vec![10], vec![20], vec![], vec![], vec![300, 300]]);
        columns.merge_intervals(1);
        assert_eq!((columns.intervals_per_column(), columns.len()), (1, 5));
        columns.merge_intervals(4);
        assert_eq!((columns.intervals_per_column(), columns.len()), (1, 2));
        assert_eq!(columns.column(1).map(|(_, count)| count).sum::<u64>(), 2);
        columns.length = 8;
        columns.merge_intervals(2);
        assert_eq!((columns.intervals_per_column(), columns.len()), (4, 2));
        assert_eq!(sum(&columns), rows_of(&all));
    }

    #[test]
    fn invalid_parts_are_refused() {
        let of =
            |length, column: &[(usize, u64)]| Columns::from_parts(length, &[column.to_vec()]).unwrap_err();
        assert_eq!(of(3, &[]), "the length of a column is not a power of two");
        assert_eq!(of(0, &[]), "the length of a column is not a power of two");
        assert_eq!(of(1, &[(4, 1), (4, 1)]), "the rows of a column are not in ascending order");
        assert_eq!(of(1, &[(ROWS, 1)]), "row out of range or empty");
        assert_eq!(of(1, &[(1, 0)]), "row out of range or empty");
        assert_eq!(of(1, &[(1, MAX_COUNT), (2, 1)]), "count overflows");
    }

    fn intervals() -> impl Strategy<Value = Vec<Vec<u64>>> {
        prop::collection::vec(prop::collection::vec(0u64..1 << 40, 0..6), 1..40)
    }

    proptest! {
        #[test]
        fn columns_add_up_to_the_histogram_even_if_folded_and_merged(
            threads in prop::collection::vec((intervals(), 0usize..4), 1..4)
        ) {
            let mut all = Histogram::new();
            let mut parts = Vec::new();
            for (intervals, folds) in &threads {
                let (mut columns, histogram) = kept(intervals);
                all.merge(&histogram);
                for _ in 0..*folds {
                    columns.fold();
                    prop_assert_eq!(sum(&columns), rows_of(&histogram));
                }
                prop_assert_eq!(columns.len(), intervals.len().div_ceil(1 << folds));
                parts.push(columns);
            }
            let longest = threads.iter().map(|(intervals, _)| intervals.len()).max().unwrap_or(0);
            let merged = Columns::merged(parts.iter(), longest as u64);
            let most = threads.iter().map(|(_, folds)| *folds).max().unwrap_or(0);
            prop_assert_eq!(merged.intervals_per_column(), 1 << most);
            prop_assert_eq!(merged.len(), longest.div_ceil(1 << most));
            prop_assert_eq!(sum(&merged), rows_of(&all));
            let back = Columns::from_parts(merged.intervals_per_column(), &of(&merged));
            prop_assert_eq!(back.unwrap(), merged);
        }

        #[test]
        fn slots_are_added_to_the_row_they_are_in(values in prop::collection::vec(any::<u64>(), 0..40)) {
            let mut histogram = Histogram::new();
            values.iter().for_each(|value| histogram.record(*value));
            let filled: Vec<_> = histogram.filled().collect();
            let exact = values.first().map(|_| {
                let (low, high) = (*values.iter().min().unwrap(), *values.iter().max().unwrap());
                Histogram::from_parts(&filled, histogram.sum(), low, high).unwrap()
            });
            let mut by_hand = [0; ROWS];
            filled.iter().for_each(|(slot, count)| by_hand[slot / SLOTS_IN_ROW] += count);
            prop_assert_eq!(rows_of(&histogram), by_hand);
            prop_assert_eq!(rows_of(&exact.unwrap_or_default()), by_hand);
        }
    }
}
