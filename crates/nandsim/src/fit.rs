//! A model held against measured figures, and moved towards them.
//!
//! What is measured is the IOPS test of the PTS: purge, two sequential fills, rounds of cells. Four of the
//! seven mixes are fitted; the other three are held out and tell what a fit is worth beyond what it saw.
//! Errors are ratios: 2 times too fast and 2 times too slow are both an error of 100 percent.

mod climb;
mod protocol;

use serde::{Deserialize, Serialize};

pub use climb::{Fit, fit, movable_keys};
pub use protocol::{Simulated, saturation_curve, simulate};

/// Shares of reads in percent that are fitted.
pub const FITTED_MIXES: [u8; 4] = [0, 35, 65, 100];
/// Shares of reads in percent that are held out.
pub const HELD_OUT_MIXES: [u8; 3] = [5, 50, 95];
/// Columns of a table of measured IOPS.
const MIXES: [u8; 7] = [0, 5, 35, 50, 65, 95, 100];

/// One cell of an IOPS test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// Length of each command in bytes.
    pub block_bytes: u32,
    /// Share of reads in percent.
    pub read_percent: u8,
    /// Commands per second, more than 0.
    pub iops: f64,
}

/// Part of a drive that was touched: so many bytes in so many equal pieces, evenly spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActiveRange {
    /// Bytes touched at scale 1.
    pub bytes: u64,
    /// Pieces at scale 1.
    pub segments: u32,
}

/// 4 KiB random writes to a purged drive until they are steady.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Saturation {
    /// Threads.
    pub threads: u16,
    /// Commands in flight of each thread.
    pub queue_depth: u16,
    /// IOPS of the first minute.
    pub fresh_iops: f64,
    /// Steady IOPS.
    pub steady_iops: f64,
    /// Capacities written between which it was steady.
    pub steady_fills: (f64, f64),
}

/// What was measured on a drive, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Threads of the IOPS test.
    pub threads: u16,
    /// Commands in flight of each thread.
    pub queue_depth: u16,
    /// Length of a cell at scale 1 in ns.
    pub cell_ns: u64,
    /// Part of the drive that the cells touched; all of it when none.
    pub active_range: Option<ActiveRange>,
    /// The cells of the IOPS test.
    pub cells: Vec<Cell>,
    /// Write saturation, where it was measured.
    pub saturation: Option<Saturation>,
    /// Sequential 1 MiB reads and writes in MB/s, where they were measured.
    pub sequential_mb_per_s: Option<[f64; 2]>,
    /// Mean response time of 4 KiB at one command in flight in ms: reads, 65/35, writes.
    pub response_ms: Option<[f64; 3]>,
}

/// How far the cells of some mixes are off.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Score {
    /// The n of the scale 1/n that it was simulated at.
    pub scale_divisor: u32,
    /// Median error of the fitted mixes in percent.
    pub fitted_percent: f64,
    /// Median error of the held-out mixes in percent.
    pub held_out_percent: f64,
    /// Median error of all cells in percent.
    pub median_percent: f64,
    /// Error that nine of ten cells do not pass in percent.
    pub p90_percent: f64,
    /// Cells that are at most 15 percent off.
    pub within_15: u32,
    /// Cells that are at most 30 percent off.
    pub within_30: u32,
    /// Cells.
    pub cells: u32,
}

/// One measured figure beside the simulated one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// What it is.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// What was measured.
    pub measured: f64,
    /// What the model does.
    pub simulated: f64,
}

/// How far rates depart from others in percent of these.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Deviation {
    /// The middle one.
    pub median_percent: f64,
    /// What nine of ten do not pass.
    pub p90_percent: f64,
    /// The largest.
    pub most_percent: f64,
}

impl Deviation {
    /// Of `rates` from `reference`, one by one.
    ///
    /// # Panics
    /// Panics when there are none.
    #[must_use]
    pub fn between(reference: &[f64], rates: &[f64]) -> Self {
        let mut off: Vec<f64> =
            reference.iter().zip(rates).map(|(of, rate)| 100.0 * (rate / of - 1.0).abs()).collect();
        off.sort_by(f64::total_cmp);
        let at = |share: f64| off[((off.len() - 1) as f64 * share).round() as usize];
        Self { median_percent: median(&off), p90_percent: at(0.9), most_percent: at(1.0) }
    }
}

impl Measured {
    /// The cells of a CSV text: a heading, then a line per block size with KiB and the IOPS of 0, 5, 35, 50,
    /// 65, 95 and 100 percent reads.
    ///
    /// # Errors
    /// Names the line that is none.
    pub fn cells_of(table: &str) -> Result<Vec<Cell>, String> {
        let mut cells = Vec::new();
        for line in table.lines().skip(1).filter(|line| !line.trim().is_empty()) {
            let number = |text: &str| text.trim().parse::<f64>().map_err(|e| format!("'{line}': {e}"));
            let numbers = line.split(',').map(number).collect::<Result<Vec<_>, _>>()?;
            let [kib, iops @ ..] = &numbers[..] else { return Err(format!("'{line}' has no cells")) };
            let block_bytes = (kib * 1024.0) as u32;
            let cell = |(read_percent, &iops)| Cell { block_bytes, read_percent, iops };
            cells.extend(MIXES.into_iter().zip(iops).map(cell));
        }
        Ok(cells)
    }
}

/// How many times a figure is off, less one: 0 is a hit.
pub(crate) fn error(measured: f64, simulated: f64) -> f64 {
    if measured <= 0.0 || simulated <= 0.0 {
        return f64::INFINITY;
    }
    (simulated / measured).max(measured / simulated) - 1.0
}

/// Errors of the cells whose mix is wanted, the least first.
pub(crate) fn errors(measured: &Measured, iops: &[f64], wanted: impl Fn(u8) -> bool) -> Vec<f64> {
    let cells = measured.cells.iter().zip(iops).filter(|(cell, _)| wanted(cell.read_percent));
    let mut errors: Vec<f64> = cells.map(|(cell, &iops)| error(cell.iops, iops)).collect();
    errors.sort_by(f64::total_cmp);
    errors
}

/// The middle one of sorted values; not a number when there are none.
pub(crate) fn median(sorted: &[f64]) -> f64 {
    match sorted.len() {
        0 => f64::NAN,
        n => (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0,
    }
}

fn percent(error: f64) -> f64 {
    (error * 1000.0).round() / 10.0
}

impl Score {
    /// The score of simulated cells in the order of the measured ones.
    #[must_use]
    pub fn of(measured: &Measured, iops: &[f64], scale_divisor: u32) -> Self {
        let all = errors(measured, iops, |_| true);
        let of = |mixes: &[u8]| percent(median(&errors(measured, iops, |mix| mixes.contains(&mix))));
        let within = |limit: f64| all.iter().filter(|&&error| error <= limit).count() as u32;
        Self {
            scale_divisor,
            fitted_percent: of(&FITTED_MIXES),
            held_out_percent: of(&HELD_OUT_MIXES),
            median_percent: percent(median(&all)),
            p90_percent: percent(all.get(all.len() * 9 / 10).copied().unwrap_or(f64::NAN)),
            within_15: within(0.15),
            within_30: within(0.30),
            cells: all.len() as u32,
        }
    }

    /// The held-out error as a multiple of the fitted one.
    #[must_use]
    pub fn held_out_ratio(&self) -> f64 {
        self.held_out_percent / self.fitted_percent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(cells: Vec<Cell>) -> Measured {
        Measured {
            threads: 1,
            queue_depth: 1,
            cell_ns: 1,
            active_range: None,
            cells,
            saturation: None,
            sequential_mb_per_s: None,
            response_ms: None,
        }
    }

    #[test]
    fn a_table_gives_its_cells() {
        let cells = Measured::cells_of("bs,a\n0.5,1,2,3,4,5,6,7\n\n4,8,9,10,11,12,13,14\n").unwrap();
        assert_eq!(cells.len(), 14);
        assert_eq!(cells[1], Cell { block_bytes: 512, read_percent: 5, iops: 2.0 });
        assert_eq!(cells[13], Cell { block_bytes: 4096, read_percent: 100, iops: 14.0 });
        assert!(Measured::cells_of("bs\n4,x").unwrap_err().contains("4,x"));
    }

    #[test]
    fn deviations_are_of_the_reference() {
        let off = Deviation::between(&[100.0; 4], &[100.0, 90.0, 130.0, 104.0]);
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(close(off.median_percent, 7.0) && close(off.most_percent, 30.0), "{off:?}");
    }

    #[test]
    fn errors_are_ratios_and_mixes_are_kept_apart() {
        let cell = |read_percent| Cell { block_bytes: 4096, read_percent, iops: 100.0 };
        let measured = measured([0, 35, 100, 5, 50].map(cell).to_vec());
        let score = Score::of(&measured, &[110.0, 100.0, 50.0, 125.0, 125.0], 64);
        assert_eq!((score.fitted_percent, score.held_out_percent), (10.0, 25.0));
        assert_eq!((score.median_percent, score.p90_percent), (25.0, 100.0));
        assert_eq!((score.within_15, score.within_30, score.cells), (2, 4, 5));
        assert_eq!(score.held_out_ratio(), 2.5);
        assert_eq!(error(1.0, 0.0), f64::INFINITY, "nothing done is no hit");
    }
}
