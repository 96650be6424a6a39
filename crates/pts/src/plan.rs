//! A plan: the tests and their order, profile, settings, and additions to the report. Read from a TOML file
//! ([`Plan::read`]) or taken from a preset ([`crate::preset`]).
//!
//! A plan contains only what its author wrote. The command line, then the profile, determine everything else.

mod own;
mod reader;
mod value;

use record::CustomTest as OwnTest;

pub use reader::{KEYS, KeyDoc};

/// A plan as written.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// Name of the preset, or file name without directory.
    pub name: String,
    /// Title as printed; defaults to the name.
    pub title: String,
    /// One-line description.
    pub about: String,
    /// Why none of its results are PTS results; printed on each page.
    pub not_pts: Option<String>,
    /// Name of the profile.
    pub profile: Option<String>,
    /// Names of the tests in order: PTS tests and custom tests.
    pub tests: Vec<String>,
    /// Settings of the run.
    pub settings: PlanSettings,
    /// Additions to the report.
    pub publisher: Publisher,
    /// Custom tests in file order.
    pub own_tests: Vec<OwnTest>,
}

/// Settings allowed in a plan, named like the options of `plateau run`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlanSettings {
    /// Threads.
    pub tc: Option<u16>,
    /// Outstanding I/Os per thread.
    pub qd: Option<u16>,
    /// Length of a cell in seconds.
    pub cell_seconds: Option<f64>,
    /// Rounds after which a test that is not steady ends.
    pub max_rounds: Option<u32>,
    /// Continue after 25 rounds.
    pub keep_going: bool,
    /// Amount of preconditioning in user capacities.
    pub precondition: Option<u32>,
    /// Percentage of the LBA space for preconditioning.
    pub pc_ar: Option<u8>,
    /// Percentage of the LBA space for the test.
    pub test_ar: Option<u8>,
    /// Active range amount within the test range: a size, or `all`.
    pub ar_amount: Option<String>,
    /// Number of active range segments.
    pub ar_segments: Option<u32>,
    /// Replace composite I/Os below the sector size by the smallest possible ones.
    pub composite_fits_sectors: bool,
    /// Seed of all offsets, mixes and buffers.
    pub seed: Option<u64>,
    /// Size of a regular file as target.
    pub size: Option<String>,
    /// Scale of a simulated drive.
    pub scale: Option<String>,
    /// Faults of a simulated drive.
    pub sim_faults: Vec<String>,
    /// Name of the purge method.
    pub purge_method: Option<String>,
    /// Write samples before each purge and check that they are gone afterwards.
    pub verify_purge: bool,
    /// State of the drive's write cache: `profile`, `keep`, `on` or `off`.
    pub write_cache: Option<String>,
    /// Change settings of the host for the run.
    pub tune: bool,
    /// LBA format of an NVMe namespace during the run.
    pub lba_format: Option<u8>,
    /// CPUs for the threads.
    pub cpus_allowed: Option<String>,
    /// NUMA nodes whose CPUs run the threads.
    pub numa_cpu_nodes: Option<String>,
}

/// Additions to the report by its publisher.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Publisher {
    /// Sponsor of the test.
    pub sponsor: Option<String>,
    /// Auditor of the test.
    pub auditor: Option<String>,
    /// Special notes.
    pub notes: Vec<String>,
    /// Image for the summary pages: a path relative to the directory of the plan.
    pub logo: Option<String>,
}

/// An error in a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {}{problem}", self.prefix())]
pub struct PlanError {
    /// Path as opened.
    pub file: String,
    /// Line number, starting at 1.
    pub line: usize,
    /// Column number in characters, starting at 1.
    pub column: usize,
    /// Key including its tables: `settings.tc`; empty for the file as a whole.
    pub key: String,
    /// The error, and how to correct it.
    pub problem: String,
}

impl PlanError {
    fn prefix(&self) -> String {
        if self.key.is_empty() { String::new() } else { format!("{}: ", self.key) }
    }
}

impl Plan {
    /// Parses `text`, which was read from `file`.
    ///
    /// # Errors
    /// Lists all errors in file order.
    pub fn read(file: &str, text: &str) -> Result<Self, Vec<PlanError>> {
        reader::read(file, text)
    }

    /// Looks up the custom test called `name`.
    #[must_use]
    pub fn own_test(&self, name: &str) -> Option<&OwnTest> {
        self.own_tests.iter().find(|test| test.name == name)
    }
}
