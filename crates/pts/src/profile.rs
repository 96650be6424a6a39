//! A profile: one version of the specification for one class of drive, as data.

use record::{RunFile, Settings};
use stdx::units::block_size;

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
    /// Which report pages a test has.
    pub edition: Edition,
    /// The tests of this version.
    pub tests: &'static [Listed],
    /// Variables that decide steady state of the IOPS test, all in the same window.
    pub iops_tracking: &'static [Cell],
    /// Block sizes of the Throughput test in bytes, each a test of its own, in this order.
    pub throughput_blocks: &'static [u32],
    /// Whether the Throughput test preconditions with the block size under test (from 1.1 on).
    pub throughput_preconditions_its_block: bool,
    /// Threads and queue depth that the Throughput test recommends (2.0).
    pub throughput_demand: Option<Demand>,
    /// When the WSAT test ends.
    pub saturation_end: SaturationEnd,
    /// Whether the drive's volatile write cache is on (WCE) or off (WCD).
    pub write_cache: WriteCache,
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

/// Editions of the specification that differ in their report pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edition {
    /// PTS-C 1.0 and PTS-E 1.0.
    V1_0,
    /// PTS-E 1.1.
    V1_1,
    /// PTS 2.0.1 and 2.0.2, client and enterprise in one document.
    V2_0,
}

/// A test as a version of the specification lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listed {
    /// Its family: `iops`, `tp`.
    pub family: &'static str,
    /// Its clause as printed: `8.0`.
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
    /// As headers print it: `TC 4/QD 32`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TC {}/QD {}", self.threads, self.queue_depth)
    }
}

/// The volatile write cache of the drive during a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteCache {
    /// WCE.
    Enabled,
    /// WCD.
    Disabled,
}

/// When the WSAT test ends: at the first of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SaturationEnd {
    /// User capacities written.
    pub capacities: u32,
    /// Minutes.
    pub minutes: u32,
    /// Whether steady state ends it (from 1.1 on).
    pub when_steady: bool,
}

/// A cell of a random test loop.
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
            format!("no profile '{name}'; available profiles: {}", known.join(", "))
        })
    }

    /// The profile of a run; imported runs have one of their own, which is none of the specification.
    ///
    /// # Errors
    /// When the run's profile is not known to this build.
    pub fn of(run: &RunFile) -> Result<&'static Self, String> {
        if run.origin.is_some() { Ok(&crate::imported::PROFILE) } else { Self::named(&run.profile) }
    }

    /// Settings of an imported run: placeholders, for what it had is told test by test.
    #[must_use]
    pub const fn imported_settings() -> Settings {
        crate::imported::PROFILE.settings(0)
    }

    /// How this version lists the tests of `family`; none where it has no such test.
    #[must_use]
    pub fn listed(&self, family: &str) -> Option<&'static Listed> {
        self.tests.iter().find(|listed| listed.family == family)
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
            composite_fits_sectors: false,
            seed,
        }
    }
}

impl Cell {
    /// As tables name it: `RND 4KiB W`.
    #[must_use]
    pub fn name(self) -> String {
        let size = block_size(u64::from(self.block_bytes));
        match self.read_percent {
            0 => format!("RND {size} W"),
            100 => format!("RND {size} R"),
            read => format!("RND {size} {}", mix_name(read)),
        }
    }

    /// As titles of window pages name it: `RND/4KiB`.
    #[must_use]
    pub fn short_name(self) -> String {
        let size = block_size(u64::from(self.block_bytes));
        match self.read_percent {
            0 => format!("RND/{size}"),
            read => format!("RND/{size} {}", mix_name(read)),
        }
    }
}

/// A mix as the PTS writes it: `65/35`. A run that somebody else has written may say more than 100.
pub(crate) fn mix_name(read_percent: u8) -> String {
    format!("{read_percent}/{}", 100_u8.saturating_sub(read_percent))
}
