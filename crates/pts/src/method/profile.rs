//! A profile: one version of the specification for one class of drive, as data.

use std::collections::BTreeMap;

use record::{DirthChoice, SaturationChoice, Settings};
use stdx::units::block_size;

/// One version of the specification for one class of drive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Profile {
    /// Name on the command line: `pts-e-1.0`.
    pub name: &'static str,
    /// Name as printed: `PTS-E 1.0`.
    pub revision: &'static str,
    /// Class of drive as printed: `Client` or `Enterprise`.
    pub class: &'static str,
    /// Edition, which determines the report pages of each test.
    pub edition: Edition,
    /// The tests that this version defines.
    pub tests: &'static [Listed],
    /// Tracking variables of the IOPS test; all of them must be steady in the same window.
    pub iops_tracking: &'static [Cell],
    /// Block sizes of the Throughput test in bytes; each is a separate test, run in this order.
    pub throughput_blocks: &'static [u32],
    /// Whether the Throughput test preconditions with the block size under test (1.1 and later).
    pub throughput_preconditions_its_block: bool,
    /// Threads and queue depth recommended for the Throughput test (2.0).
    pub throughput_demand: Option<Demand>,
    /// The WSAT test's end conditions.
    pub saturation_end: SaturationEnd,
    /// Whether the drive's volatile write cache must be enabled (WCE) or disabled (WCD).
    pub write_cache: WriteCache,
    /// Whether the determination box includes the correlation coefficient (2.0.2).
    pub reports_correlation: bool,
    /// Thread count recommended by the specification, or our default if the choice is left to the tester.
    pub threads: u16,
    /// Recommended or default number of outstanding I/Os per thread.
    pub queue_depth: u16,
    /// Whether the tester may choose thread count and queue depth freely; if so, no choice is a modification.
    pub demand_is_free: bool,
    /// Percentage of the LBA space that preconditioning and test may touch.
    pub range_percent: u8,
    /// Active range amount in bytes; None means the whole range.
    pub active_range_amount_bytes: Option<u64>,
    /// Number of active range segments; used only with an amount.
    pub active_range_segments: u32,
    /// Other percentages of the LBA space that the tester may choose.
    pub further_range_percents: &'static [u8],
    /// Other active range amounts that the tester may choose.
    pub further_amounts_bytes: &'static [u64],
    /// Properties that no source confirms and that are therefore taken from another version.
    pub unsourced: &'static [&'static str],
}

/// Editions of the specification that differ in their report pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edition {
    /// PTS-C 1.0 to 1.2 and PTS-E 1.0.
    V1_0,
    /// PTS-E 1.1.
    V1_1,
    /// PTS 2.0.1 and 2.0.2, client and enterprise in one document.
    V2_0,
}

/// A test as listed by one version of the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listed {
    /// Test family: `iops`, `tp`.
    pub family: &'static str,
    /// Clause number as printed: `8.0`.
    pub clause: &'static str,
    /// `REQUIRED` or `OPTIONAL`.
    pub requirement: &'static str,
}

/// Demand intensity: threads (TC) and outstanding I/Os per thread (QD).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Demand {
    /// TC.
    pub threads: u16,
    /// QD.
    pub queue_depth: u16,
}

impl std::fmt::Display for Demand {
    /// Formats the demand for page headers: `TC 4/QD 32`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TC {}/QD {}", self.threads, self.queue_depth)
    }
}

/// State of the drive's volatile write cache during a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteCache {
    /// WCE.
    Enabled,
    /// WCD.
    Disabled,
}

/// The WSAT test's end conditions; the first one met ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SaturationEnd {
    /// Written bytes in user capacities.
    pub capacities: u32,
    /// Duration in minutes.
    pub minutes: u32,
    /// Whether steady state ends the test (1.1 and later).
    pub when_steady: bool,
    /// Whether the operator may continue the test after that (1.0, as published reports did).
    pub may_continue: bool,
    /// Limit in minutes up to which the operator may extend the test.
    pub most_minutes: u32,
}

/// One cell of a random test loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// Bytes per I/O.
    pub block_bytes: u32,
    /// Percentage of reads.
    pub read_percent: u8,
}

/// Length of a cell in the PTS: one minute.
pub const CELL_NS: u64 = 60 * stdx::units::SECOND_NS;
/// Number of rounds after which a test that is not steady ends.
pub const MAX_ROUNDS: u32 = 25;
/// Amount of workload-independent preconditioning, in user capacities.
pub const PRECONDITION_CAPACITIES: u32 = 2;

impl Profile {
    /// Returns the entry for `family`; None if this version lacks the test.
    #[must_use]
    pub fn listed(&self, family: &str) -> Option<&'static Listed> {
        self.tests.iter().find(|listed| listed.family == family)
    }

    /// Returns the settings of an unmodified run.
    #[must_use]
    pub const fn settings(&self, seed: u64) -> Settings {
        Settings {
            threads: self.threads,
            queue_depth: self.queue_depth,
            demand_is_chosen: false,
            cell_ns: CELL_NS,
            max_rounds: MAX_ROUNDS,
            precondition_capacities: PRECONDITION_CAPACITIES,
            precondition_range_percent: self.range_percent,
            test_range_percent: self.range_percent,
            active_range_amount_bytes: self.active_range_amount_bytes,
            active_range_segments: self.active_range_segments,
            composite_fits_sectors: false,
            dirth: DirthChoice::NONE,
            wsat: SaturationChoice::NONE,
            seed,
            further: BTreeMap::new(),
        }
    }
}

impl Cell {
    /// Name in tables: `RND 4KiB W`.
    #[must_use]
    pub fn name(self) -> String {
        let size = block_size(u64::from(self.block_bytes));
        match self.read_percent {
            0 => format!("RND {size} W"),
            100 => format!("RND {size} R"),
            read => format!("RND {size} {}", mix_name(read)),
        }
    }

    /// Name in titles of window pages: `RND/4KiB`.
    #[must_use]
    pub fn short_name(self) -> String {
        let size = block_size(u64::from(self.block_bytes));
        match self.read_percent {
            0 => format!("RND/{size}"),
            read => format!("RND/{size} {}", mix_name(read)),
        }
    }
}

/// An R/W mix in PTS notation: `65/35`. Saturates, because run files may contain percentages over 100.
pub(crate) fn mix_name(read_percent: u8) -> String {
    format!("{read_percent}/{}", 100_u8.saturating_sub(read_percent))
}
