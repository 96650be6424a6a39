//! Measured figures and their simulated counterparts.

use serde::{Deserialize, Serialize};

use super::{Measured, error};

/// Kinds of figures, which a fit weights differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// IOPS in the write saturation test.
    Saturation,
    /// Times and drive fills in the write saturation test, read off a printed curve.
    Time,
    /// Sequential rates.
    #[default]
    Throughput,
    /// Mean response times.
    Mean,
    /// Maximum response times.
    Maximum,
}

/// A measured figure and its simulated counterpart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Name.
    pub name: String,
    /// The kind of figure.
    #[serde(default)]
    pub kind: Kind,
    /// Unit.
    pub unit: String,
    /// Measured value.
    pub measured: f64,
    /// Simulated value; 0 if it was not reached.
    pub simulated: f64,
}

impl Figure {
    pub(super) fn new(name: String, (kind, unit): (Kind, &str), measured: f64, simulated: f64) -> Self {
        let measured = (measured * 1000.0).round() / 1000.0;
        Self { name, kind, unit: unit.to_owned(), measured, simulated: rounded(simulated) }
    }

    /// Returns the factor by which the simulated value is off, minus one; 0 is an exact match.
    #[must_use]
    pub fn error(&self) -> f64 {
        error(self.measured, self.simulated)
    }
}

/// Rounds small values to three decimals, and others to whole numbers.
fn rounded(value: f64) -> f64 {
    let digits = if value < 10.0 { 1000.0 } else { 1.0 };
    (value * digits).round() / digits
}

/// The cells of an IOPS test with the same block size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Length of each command in bytes.
    pub block_bytes: u32,
    /// Percentage of reads in each cell.
    pub read_percents: Vec<u8>,
    /// Measured IOPS.
    pub measured: Vec<f64>,
    /// Simulated IOPS.
    pub simulated: Vec<f64>,
}

impl Row {
    /// Returns the measured cells in rows, with the simulated IOPS in the same order.
    #[must_use]
    pub fn of(measured: &Measured, iops: &[f64]) -> Vec<Self> {
        let mut rows: Vec<Self> = Vec::new();
        for (cell, &iops) in measured.cells.iter().zip(iops) {
            let block_bytes = cell.block_bytes;
            let row = match rows.iter_mut().find(|row| row.block_bytes == block_bytes) {
                Some(row) => row,
                None => {
                    let (read_percents, measured, simulated) = Default::default();
                    rows.push(Self { block_bytes, read_percents, measured, simulated });
                    rows.last_mut().expect("just added")
                }
            };
            row.read_percents.push(cell.read_percent);
            row.measured.push(cell.iops);
            row.simulated.push((iops * 10.0).round() / 10.0);
        }
        rows
    }
}
