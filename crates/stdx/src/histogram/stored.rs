//! Columns as they are read back: immutable, and as small as their counts allow.

use std::sync::Arc;

use super::coarse::{Columns, MAX_COUNT, ROWS};
use crate::Packed;

const ROW_BITS: u32 = 8;
const _: () = assert!(ROWS <= 1 << ROW_BITS);

/// [`Columns`] that are complete. Copies share memory, because a replay copies every result of a run.
#[derive(Clone, PartialEq, Eq)]
pub struct StoredColumns(Arc<Content>);

#[derive(PartialEq, Eq)]
struct Content {
    /// Intervals per column; a power of two.
    length: u64,
    /// The non-empty rows of all columns, column by column, in ascending order: row number in the lowest byte, count
    /// above it, so that small counts take few bits.
    cells: Packed,
    /// For each column, the end of its rows in `cells`.
    ends: Packed,
}

impl std::fmt::Debug for StoredColumns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoredColumns").field("length", &self.0.length).field("columns", &self.len()).finish()
    }
}

impl From<Columns> for StoredColumns {
    fn from(columns: Columns) -> Self {
        let mut building = Building::default();
        for column in columns.iter() {
            building.cells.extend(column.map(|(row, count)| cell(row, count)));
            building.ends.push(building.cells.len() as u64);
        }
        building.stored(columns.intervals_per_column())
    }
}

const fn cell(row: usize, count: u64) -> u64 {
    count << ROW_BITS | row as u64
}

/// Columns that are being read.
#[derive(Debug, Default)]
pub struct Building {
    cells: Vec<u64>,
    ends: Vec<u64>,
    total: u64,
    /// The lowest row that may be added to the column.
    next_row: usize,
}

impl Building {
    /// Returns no columns, with room for this number of rows.
    #[must_use]
    pub fn with_room(rows: usize) -> Self {
        Self { cells: Vec::with_capacity(rows), ..Self::default() }
    }

    /// Adds a non-empty row to the current column.
    ///
    /// # Errors
    /// Returns an error if the row does not exist, is empty, or does not follow the previous row of the column.
    #[inline]
    pub fn add(&mut self, row: usize, count: u64) -> Result<(), &'static str> {
        if row < self.next_row {
            return Err("the rows of a column are not in ascending order");
        }
        if row >= ROWS || count == 0 {
            return Err("row out of range or empty");
        }
        let total = self.total.checked_add(count).filter(|sum| *sum <= MAX_COUNT);
        self.total = total.ok_or("count overflows")?;
        self.cells.push(cell(row, count));
        self.next_row = row + 1;
        Ok(())
    }

    /// Completes a column.
    pub fn end_column(&mut self) {
        self.ends.push(self.cells.len() as u64);
        self.next_row = 0;
    }

    /// Returns the columns, of `length` intervals each.
    ///
    /// # Errors
    /// Returns an error if the length is not a power of two.
    pub fn finish(self, length: u64) -> Result<StoredColumns, &'static str> {
        if length.is_power_of_two() {
            Ok(self.stored(length))
        } else {
            Err("the length of a column is not a power of two")
        }
    }

    fn stored(self, length: u64) -> StoredColumns {
        StoredColumns(Arc::new(Content { length, cells: self.cells.into(), ends: self.ends.into() }))
    }
}

impl StoredColumns {
    /// Returns the number of intervals per column.
    #[must_use]
    pub fn intervals_per_column(&self) -> u64 {
        self.0.length
    }

    /// Returns the number of columns.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.ends.len()
    }

    /// Returns whether there are no columns.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.ends.is_empty()
    }

    /// Returns the number of bytes that the columns occupy.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.0.cells.bytes() + self.0.ends.bytes()
    }

    /// Returns the non-empty rows of a column as (row, count), in ascending order.
    ///
    /// # Panics
    /// Panics if there is no such column.
    pub fn column(&self, column: usize) -> impl Iterator<Item = (usize, u64)> + '_ {
        let end = |column: usize| self.0.ends.get(column).expect("there is such a column") as usize;
        let start = column.checked_sub(1).map_or(0, end);
        self.0.cells.range(start..end(column)).map(|cell| ((cell & 0xff) as usize, cell >> ROW_BITS))
    }

    /// Returns all columns, in order.
    pub fn iter(&self) -> impl Iterator<Item = impl Iterator<Item = (usize, u64)> + '_> + '_ {
        (0..self.len()).map(|column| self.column(column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn built(length: u64, columns: &[Vec<(usize, u64)>]) -> Result<StoredColumns, &'static str> {
        let mut building = Building::default();
        for column in columns {
            column.iter().try_for_each(|(row, count)| building.add(*row, *count))?;
            building.end_column();
        }
        building.finish(length)
    }

    #[test]
    fn invalid_columns_are_refused() {
        let of = |length, column: &[(usize, u64)]| built(length, &[vec![], column.to_vec()]).unwrap_err();
        assert_eq!(of(3, &[]), "the length of a column is not a power of two");
        assert_eq!(of(0, &[]), "the length of a column is not a power of two");
        assert_eq!(of(1, &[(4, 1), (4, 1)]), "the rows of a column are not in ascending order");
        assert_eq!(of(1, &[(ROWS, 1)]), "row out of range or empty");
        assert_eq!(of(1, &[(1, 0)]), "row out of range or empty");
        assert_eq!(of(1, &[(1, MAX_COUNT), (2, 1)]), "count overflows");
    }

    proptest! {
        #[test]
        fn columns_are_read_as_they_were(
            counts in prop::collection::vec(prop::collection::btree_map(0..ROWS, 1u64..1 << 40, 0..6), 0..40)
        ) {
            let columns: Vec<Vec<_>> = counts.into_iter().map(|column| column.into_iter().collect()).collect();
            let stored = built(4, &columns).unwrap();
            let back: Vec<Vec<_>> = stored.iter().map(Iterator::collect).collect();
            prop_assert_eq!((stored.len(), stored.intervals_per_column()), (columns.len(), 4));
            prop_assert_eq!(&back, &columns);
            prop_assert_eq!(StoredColumns::from(Columns::from_parts(4, &columns).unwrap()), stored);
        }
    }
}
