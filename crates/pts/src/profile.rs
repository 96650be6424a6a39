//! A profile: one version of the specification for one class of drive, as data.

use record::Settings;

pub use crate::profiles::PROFILES;

/// One version of the specification for one class of drive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Profile {
    /// As typed: `pts-e-1.0`.
    pub name: &'static str,
    /// As printed: `PTS-E 1.0`.
    pub revision: &'static str,
    /// As printed: `Client` or `Enterprise`.
    pub class: &'static str,
    /// Whether the IOPS test is required.
    pub iops_requirement: &'static str,
    /// Clause of the IOPS test.
    pub iops_clause: &'static str,
    /// Variables that decide steady state of the IOPS test, all in the same window.
    pub iops_tracking: &'static [Cell],
    /// Whether the determination box has the correlation coefficient (2.0.2).
    pub reports_correlation: bool,
    /// Threads where the specification recommends or leaves a choice.
    pub threads: u16,
    /// Outstanding I/Os per thread, likewise.
    pub queue_depth: u16,
    /// Whether thread count and queue depth are the tester's choice (a choice is no modification).
    pub demand_is_free: bool,
    /// Share of the LBA space for preconditioning and test, in percent.
    pub range_percent: u8,
    /// Active range amount in bytes; the whole range when none.
    pub active_range_amount_bytes: Option<u64>,
    /// Active range segments, used with an amount.
    pub active_range_segments: u32,
}

/// A cell of the IOPS loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// Bytes per I/O.
    pub block_bytes: u32,
    /// Share of reads.
    pub read_percent: u8,
}

/// Length of one cell in the PTS: a minute.
pub const CELL_NS: u64 = 60 * stdx::units::SECOND_NS;
/// Rounds after which a test without steady state ends.
pub const MAX_ROUNDS: u32 = 25;
/// Workload-independent preconditioning in multiples of the user capacity.
pub const PRECONDITION_CAPACITIES: u32 = 2;

impl Profile {
    /// The profile called `name`.
    ///
    /// # Errors
    /// Lists the known names.
    pub fn named(name: &str) -> Result<&'static Self, String> {
        PROFILES.iter().find(|profile| profile.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
            let known: Vec<_> = PROFILES.iter().map(|profile| profile.name).collect();
            format!("no profile '{name}'; there are {}", known.join(", "))
        })
    }

    /// The settings of an unmodified run.
    #[must_use]
    pub const fn settings(&self, seed: u64) -> Settings {
        Settings {
            threads: self.threads,
            queue_depth: self.queue_depth,
            cell_ns: CELL_NS,
            max_rounds: MAX_ROUNDS,
            precondition_capacities: PRECONDITION_CAPACITIES,
            precondition_range_percent: self.range_percent,
            test_range_percent: self.range_percent,
            active_range_amount_bytes: self.active_range_amount_bytes,
            active_range_segments: self.active_range_segments,
            seed,
        }
    }
}
