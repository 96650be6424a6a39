//! Limits of settings, shared by the command line and plan files.

use std::fmt::Display;
use std::ops::RangeInclusive;

use pts::profile::MAX_ROUNDS;
use pts::steady::WINDOW_ROUNDS;

/// Valid values of a setting.
#[derive(Debug, Clone)]
pub struct Limit<T> {
    /// Lowest and highest value.
    pub range: RangeInclusive<T>,
    /// Reason for the limit.
    pub why: &'static str,
}

const SHARE: Limit<u8> = Limit { range: 1..=100, why: "a percentage of the LBA space" };

/// Threads (TC).
pub const TC: Limit<u16> =
    Limit { range: 1..=256, why: "a load needs at least one thread, and each thread costs CPU time" };
/// Outstanding I/Os per thread (QD).
pub const QD: Limit<u16> =
    Limit { range: 1..=1024, why: "a thread needs at least one I/O, and each I/O needs a buffer" };
/// Rounds in a test that ends at steady state.
pub const ROUNDS: Limit<u32> = Limit {
    range: WINDOW_ROUNDS as u32..=MAX_ROUNDS,
    why: "a measurement window has five rounds, and a test ends after 25; --keep-going continues until \
          steady state",
};
/// Rounds in a custom test that does not look for steady state.
pub const FIXED_ROUNDS: Limit<u32> =
    Limit { range: 1..=100, why: "a test needs at least one round, and each round takes time" };
/// Amount of preconditioning in user capacities.
pub const CAPACITIES: Limit<u32> = Limit { range: 1..=10, why: "the PTS writes the capacity twice" };
/// Amount written by WSAT, in user capacities.
pub const SATURATION_CAPACITIES: Limit<u32> =
    Limit { range: 1..=100, why: "the PTS writes four capacities, and published reports up to 29" };
/// WSAT duration in hours.
pub const SATURATION_HOURS: Limit<u32> = Limit { range: 1..=24, why: "the PTS allows up to 24 hours" };
/// Hours of a burn-in.
pub const BURN_IN_HOURS: Limit<u32> = Limit { range: 1..=720, why: "a burn-in takes hours, up to a month" };
/// Maximum number of errors in a burn-in.
pub const BURN_IN_COUNT: Limit<u32> = Limit { range: 0..=1_000_000, why: "a number of errors" };
/// Maximum used endurance in a burn-in, in percent.
pub const BURN_IN_USED: Limit<u8> =
    Limit { range: 0..=254, why: "drives report the used endurance up to 254 %" };
/// Minimum spare blocks in a burn-in, in percent.
pub const BURN_IN_SPARE: Limit<u8> = Limit { range: 0..=100, why: "a percentage of the spare blocks" };
/// Maximum temperature in a burn-in, in degrees Celsius.
pub const BURN_IN_CELSIUS: Limit<u8> = Limit { range: 20..=150, why: "a temperature in degrees Celsius" };
/// Seconds per cell.
pub const CELL_SECONDS: Limit<f64> = Limit { range: 0.01..=86_400.0, why: "a cell is 60 s in the PTS" };
/// Seconds under load before measurement in a cell starts.
pub const RAMP_SECONDS: Limit<f64> =
    Limit { range: 0.0..=86_400.0, why: "the load runs this long before the measurement of a cell begins" };
/// Duration of the idle power measurement in seconds.
pub const IDLE_SECONDS: Limit<f64> =
    Limit { range: 1.0..=3_600.0, why: "the idle power is measured once, before the first test" };
/// Number of an LBA format.
pub const LBA_FORMAT: Limit<u8> = Limit { range: 0..=63, why: "a namespace has at most 64 formats" };
/// Percentage of reads.
pub const READ_PERCENT: Limit<u8> = Limit { range: 0..=100, why: "a percentage of reads" };
/// Percentage of the I/Os that belong to one stream in a composite.
pub const STREAM_SHARE: Limit<u8> = Limit { range: 1..=100, why: "a percentage of the I/Os" };
/// Percentage of a step without I/O. A step with I/O needs time for it.
pub const STEP_IDLE: Limit<f64> =
    Limit { range: 0.0..=99.9, why: "a percentage of the step, less than all of it" };
/// Number of I/Os or bytes in a step of a trace.
pub const STEP_COUNT: Limit<u64> = Limit { range: 0..=1 << 62, why: "a number of I/Os or bytes" };
/// Times in a trace, in seconds.
pub const TRACE_SECONDS: Limit<f64> = Limit { range: 0.0..=1e8, why: "a time in a trace, up to three years" };
/// Mean number of outstanding I/Os in a step of a trace.
pub const STEP_OUTSTANDING: Limit<f64> = Limit { range: 0.0..=1e6, why: "a mean number of outstanding I/Os" };
/// Percentage of the LBA space that preconditioning accesses.
pub const PC_AR: Limit<u8> = SHARE;
/// Percentage of the LBA space that a test accesses.
pub const TEST_AR: Limit<u8> = SHARE;

impl<T: PartialOrd + Display + Copy> Limit<T> {
    /// Returns `value` if it is within the limit.
    ///
    /// # Errors
    /// Returns an error with the reason, the valid range and the nearest valid value. The text is printed after
    /// the name of the setting.
    pub fn check(&self, value: T) -> Result<T, String> {
        if self.range.contains(&value) {
            return Ok(value);
        }
        let (low, high) = (*self.range.start(), *self.range.end());
        let nearest = if value > high { high } else { low };
        Err(format!("{value} is out of range: {}; use {low} to {high} (nearest: {nearest})", self.why))
    }
}
