//! Splits pages with more exhibits than are legible on one sheet.

use crate::exhibit::{Exhibit, Facts, Page};

/// Number of values in a box: a multiple of its four columns, and of the three values of a knee.
const VALUES: usize = 24;
/// Height of a page, in rows of a table.
const ROWS: usize = 19;
/// Height of the headings of a table, and of the axes and the caption of a map, in rows.
const HEADINGS: usize = 4;
const AXES: usize = 5;
/// Tables with at most this many columns are laid out side by side, as maps always are.
const NARROW: usize = 6;

impl Page {
    /// Returns the page if all its exhibits fit; otherwise, several pages with nearly equal numbers of exhibits.
    #[must_use]
    pub fn split(self) -> Vec<Self> {
        let parts = parts(&self.exhibits);
        let count = parts.len();
        if count < 2 {
            return vec![self];
        }
        let part = |(number, exhibits)| Self {
            key: self.key.as_ref().map(|key| key.part(number)),
            title: format!("{} ({number} of {count})", self.title),
            exhibits,
            ..self.clone()
        };
        (1..).zip(parts).map(part).collect()
    }
}

fn parts(exhibits: &[Exhibit]) -> Vec<Vec<Exhibit>> {
    if let [Exhibit::Facts(facts)] = exhibits {
        let part = |items: &[_]| vec![Exhibit::Facts(Facts { items: items.to_vec(), ..facts.clone() })];
        return evenly(&facts.items, VALUES, 3).into_iter().map(part).collect();
    }
    evenly(exhibits, most(exhibits), 1).into_iter().map(<[Exhibit]>::to_vec).collect()
}

/// Returns how many of the exhibits are legible on one page.
fn most(exhibits: &[Exhibit]) -> usize {
    let (mut rows, mut columns) = (1, 0);
    for exhibit in exhibits {
        let (own_rows, own_columns) = match exhibit {
            Exhibit::Table(table) => (table.rows.len() + HEADINGS, table.columns.len()),
            Exhibit::HeatMap(map) => (map.depth.len() + AXES, 0),
            // Pages of other exhibits do not grow with the number of loads.
            _ => return usize::MAX,
        };
        (rows, columns) = (own_rows.max(rows), own_columns.max(columns));
    }
    let beside = if columns <= NARROW { 2 } else { 1 };
    (ROWS / rows).max(1) * beside
}

/// Divides `all` into the fewest parts of at most `most` items, each of nearly the same size and, except for the last, a
/// multiple of `unit`.
fn evenly<T>(all: &[T], most: usize, unit: usize) -> Vec<&[T]> {
    let parts = all.len().div_ceil(most).max(1);
    let size = all.len().div_ceil(parts).next_multiple_of(unit);
    all.chunks(size.max(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(count: usize, most: usize, unit: usize) -> Vec<usize> {
        evenly(&vec![0; count], most, unit).into_iter().map(<[i32]>::len).collect()
    }

    #[test]
    fn parts_are_nearly_equal_and_keep_groups() {
        assert_eq!(sizes(4, 4, 1), [4]);
        assert_eq!(sizes(5, 4, 1), [3, 2]);
        assert_eq!(sizes(20, 4, 1), [4, 4, 4, 4, 4]);
        assert_eq!(sizes(61, 36, 3), [33, 28]);
        assert!(sizes(0, 4, 1).is_empty());
    }
}
