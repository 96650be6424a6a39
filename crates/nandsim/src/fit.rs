//! Compares a model with measured figures, and fits the model to them.
//!
//! The measurements are those of the PTS: write saturation, throughput, IOPS and latency, each with its own purge
//! and preconditioning. Of the IOPS test's seven mixes, four are used for the fit. The other three are held out to
//! show how well the fit generalizes. Errors are based on ratios: a result that is twice or half as fast as
//! measured has an error of 100 percent.

mod climb;
mod figure;
mod measured;
mod protocol;
mod reference;

use serde::{Deserialize, Serialize};

pub use climb::{Fit, fit, movable_keys};
pub use figure::{Figure, Kind, Row};
pub use measured::{ActiveRange, Cell, Demand, Latency, Measured, Saturation, Throughput};
pub use protocol::{Simulated, saturation_curve, simulate};

/// Read percentages that are used for the fit.
pub const FITTED_MIXES: [u8; 4] = [0, 35, 65, 100];
/// Read percentages that are held out of the fit.
pub const HELD_OUT_MIXES: [u8; 3] = [5, 50, 95];
/// Errors of the simulated cells.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Score {
    /// The divisor n of the simulated scale 1/n.
    pub scale_divisor: u32,
    /// Median error of the fitted mixes in percent.
    pub fitted_percent: f64,
    /// Median error of the held-out mixes in percent.
    pub held_out_percent: f64,
    /// Median error of all cells in percent.
    pub median_percent: f64,
    /// 90th percentile of all errors in percent.
    pub p90_percent: f64,
    /// Number of cells with an error of at most 15 percent.
    pub within_15: u32,
    /// Number of cells with an error of at most 30 percent.
    pub within_30: u32,
    /// Number of cells.
    pub cells: u32,
}

/// Deviation of a series of rates from a reference, in percent of the reference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Deviation {
    /// Median.
    pub median_percent: f64,
    /// 90th percentile.
    pub p90_percent: f64,
    /// Maximum.
    pub most_percent: f64,
}

impl Deviation {
    /// Compares `rates` with `reference`, element by element.
    ///
    /// # Panics
    /// Panics if the slices are empty.
    #[must_use]
    pub fn between(reference: &[f64], rates: &[f64]) -> Self {
        let mut off: Vec<f64> =
            reference.iter().zip(rates).map(|(of, rate)| 100.0 * (rate / of - 1.0).abs()).collect();
        off.sort_by(f64::total_cmp);
        let at = |share: f64| off[((off.len() - 1) as f64 * share).round() as usize];
        Self { median_percent: median(&off), p90_percent: at(0.9), most_percent: at(1.0) }
    }
}

/// Returns the ratio of the larger of two figures to the smaller, minus one; 0 is an exact match.
pub(crate) fn error(measured: f64, simulated: f64) -> f64 {
    if measured <= 0.0 || simulated <= 0.0 {
        return f64::INFINITY;
    }
    (simulated / measured).max(measured / simulated) - 1.0
}

/// Returns the sorted errors of the cells whose read percentage satisfies `selects`.
pub(crate) fn errors(measured: &Measured, iops: &[f64], selects: impl Fn(u8) -> bool) -> Vec<f64> {
    let cells = measured.cells.iter().zip(iops).filter(|(cell, _)| selects(cell.read_percent));
    let mut errors: Vec<f64> = cells.map(|(cell, &iops)| error(cell.iops, iops)).collect();
    errors.sort_by(f64::total_cmp);
    errors
}

/// Returns the median of sorted values; NaN if there are none.
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
    /// Returns the score of simulated cells, which must be in the same order as the measured cells.
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

    /// Returns the held-out error divided by the fitted error.
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
            demand: Demand { threads: 1, queue_depth: 1 },
            cell_ns: 1,
            active_range: None,
            cells,
            saturation: None,
            throughput: Vec::new(),
            latency: Vec::new(),
        }
    }

    #[test]
    fn deviations_are_relative_to_the_reference() {
        let off = Deviation::between(&[100.0; 4], &[100.0, 90.0, 130.0, 104.0]);
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(close(off.median_percent, 7.0) && close(off.most_percent, 30.0), "{off:?}");
    }

    #[test]
    fn errors_are_ratios_and_mixes_are_separated() {
        let cell = |read_percent| Cell { block_bytes: 4096, read_percent, iops: 100.0 };
        let measured = measured([0, 35, 100, 5, 50].map(cell).to_vec());
        let score = Score::of(&measured, &[110.0, 100.0, 50.0, 125.0, 125.0], 64);
        assert_eq!((score.fitted_percent, score.held_out_percent), (10.0, 25.0));
        assert_eq!((score.median_percent, score.p90_percent), (25.0, 100.0));
        assert_eq!((score.within_15, score.within_30, score.cells), (2, 4, 5));
        assert_eq!(score.held_out_ratio(), 2.5);
        assert_eq!(error(1.0, 0.0), f64::INFINITY, "zero IOPS is an infinite error");
    }
}
