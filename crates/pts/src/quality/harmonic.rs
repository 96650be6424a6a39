//! Plausibility check for a matrix of IOPS. If reads and writes do not affect each other, a drive needs as much time
//! for a mix as for its reads and its writes separately, so its IOPS follow the harmonic law 1/X(r) = (1-r)/W + r/R.

use stdx::units::{block_size, grouped};

use crate::method::profile::{Cell, mix_name};

/// Deviations by more than this fraction are reported.
const ALLOWED: f64 = 0.5;
/// Above this number, cells are counted rather than listed.
const LISTED: usize = 4;

/// Returns the IOPS of a mix according to the law; None if the IOPS of reads or writes alone are not positive.
#[must_use]
pub fn expected(read_percent: u8, writes: f64, reads: f64) -> Option<f64> {
    let share = f64::from(read_percent) / 100.0;
    (writes > 0.0 && reads > 0.0).then(|| 1.0 / ((1.0 - share) / writes + share / reads))
}

/// Returns a note about cells that deviate too much from the law; None if there are none.
pub(crate) fn note(cells: impl Iterator<Item = Cell>, iops: impl Fn(Cell) -> Option<f64>) -> Option<String> {
    let departure = |cell: Cell| {
        let of = |read_percent| iops(Cell { read_percent, ..cell });
        let lawful = expected(cell.read_percent, of(0)?, of(100)?)?;
        let share = iops(cell)? / lawful - 1.0;
        (share.abs() > ALLOWED).then_some((cell, share))
    };
    let mut found: Vec<(Cell, f64)> = cells.filter_map(departure).collect();
    if found.is_empty() {
        return None;
    }
    let count = found.len();
    found.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let text = |(cell, share): &(Cell, f64)| {
        let (size, sign) = (block_size(cell.block_bytes.into()), if *share < 0.0 { "-" } else { "+" });
        format!("{size} {} {sign}{} %", mix_name(cell.read_percent), grouped(share.abs() * 100.0, 0))
    };
    let listed: Vec<String> = found.iter().take(LISTED).map(text).collect();
    let more = if count > LISTED { format!(" and {} more", count - LISTED) } else { String::new() };
    Some(format!(
        "PLAUSIBILITY: {count} {} more than {:.0} % off 1/X(r) = (1-r)/W + r/R, which holds for a drive \
         whose reads and writes neither help nor hinder each other: {}{more}",
        if count == 1 { "cell is" } else { "cells are" },
        ALLOWED * 100.0,
        listed.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RND 4 KiB from published tables, 0/100 to 100/0.
    const MIXES: [u8; 7] = [0, 5, 35, 50, 65, 95, 100];
    const SLC_A: [f64; 7] = [16563.0, 17032.2, 20234.2, 23705.2, 28018.6, 63447.7, 93707.0];
    const MLC_B: [f64; 7] = [151.9, 178.6, 230.6, 293.4, 425.5, 3081.5, 38087.5];

    fn of(row: [f64; 7]) -> Option<String> {
        let cells = || MIXES.map(|read_percent| Cell { block_bytes: 4096, read_percent });
        let place = |cell: Cell| MIXES.iter().position(|mix| *mix == cell.read_percent);
        note(cells().into_iter(), |cell| Some(row[place(cell)?]))
    }

    #[test]
    fn published_drives_are_plausible() {
        assert_eq!((of(SLC_A), of(MLC_B)), (None, None));
    }

    #[test]
    fn a_cell_that_departs_is_named() {
        let mut row = SLC_A;
        (row[1], row[4]) = (50_000.0, 10_000.0);
        let text = of(row).unwrap();
        assert!(text.starts_with("PLAUSIBILITY: 2 cells"), "{text}");
        assert!(text.ends_with("4KiB 5/95 +189 %, 4KiB 65/35 -72 %"), "{text}");
    }

    #[test]
    fn the_law_ends_at_reads_and_writes_alone() {
        assert_eq!(expected(0, 100.0, 400.0), Some(100.0));
        assert_eq!(expected(100, 100.0, 400.0), Some(400.0));
        assert!((expected(50, 100.0, 400.0).unwrap() - 160.0).abs() < 1e-9);
        assert_eq!(expected(50, 0.0, 400.0), None);
        assert_eq!(note(std::iter::empty(), |_| None), None);
    }
}
