//! A plan: which tests in which order, by which profile and settings, and what the report adds to them. Read from
//! a TOML file ([`Plan::read`]) or taken from a preset ([`crate::preset`]).
//!
//! A plan holds what was written in it and nothing else: where it is silent, the command line decides and then
//! the profile.

mod own;
mod reader;
mod value;

use record::OwnTest;

pub use reader::{KEYS, KeyDoc};

/// A plan as it was written.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// Name of the preset, or of the file without its folder.
    pub name: String,
    /// As printed; the name where there is none.
    pub title: String,
    /// What it is for, in a line.
    pub about: String,
    /// Why nothing in it is a result of the PTS; printed on each page.
    pub not_pts: Option<String>,
    /// Version of the specification by name.
    pub profile: Option<String>,
    /// Tests in their order: those of the PTS and own ones.
    pub tests: Vec<String>,
    /// Settings of the run.
    pub settings: PlanSettings,
    /// What the report adds.
    pub publisher: Publisher,
    /// Own tests, in the order of the file.
    pub own_tests: Vec<OwnTest>,
}

/// Settings that a plan may have: those of `plateau run`, by the same names.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlanSettings {
    /// Threads.
    pub tc: Option<u16>,
    /// Outstanding I/Os per thread.
    pub qd: Option<u16>,
    /// Seconds of a cell.
    pub cell_seconds: Option<f64>,
    /// Rounds after which a test without steady state ends.
    pub max_rounds: Option<u32>,
    /// Go on behind 25 rounds.
    pub keep_going: bool,
    /// Preconditioning in multiples of the capacity.
    pub precondition: Option<u32>,
    /// Share of the LBA space for preconditioning, in percent.
    pub pc_ar: Option<u8>,
    /// Share of the LBA space for the test, in percent.
    pub test_ar: Option<u8>,
    /// LBA space touched within the test range: a size, or `all`.
    pub ar_amount: Option<String>,
    /// Pieces of that.
    pub ar_segments: Option<u32>,
    /// Smallest possible I/Os in place of smaller ones.
    pub composite_fits_sectors: bool,
    /// Seed of every offset, mix and buffer.
    pub seed: Option<u64>,
    /// Size of a regular file.
    pub size: Option<String>,
    /// Scale of a simulated drive.
    pub scale: Option<String>,
    /// Faults of a simulated drive.
    pub sim_faults: Vec<String>,
    /// Purge method by name.
    pub purge_method: Option<String>,
    /// Samples before each purge and looks for them after.
    pub verify_purge: bool,
    /// State of the drive's cache: `profile`, `keep`, `on` or `off`.
    pub write_cache: Option<String>,
    /// Settings of the host are changed for the run.
    pub tune: bool,
    /// LBA format of an NVMe namespace during the run.
    pub lba_format: Option<u8>,
    /// Processors for the threads.
    pub cpus_allowed: Option<String>,
    /// The same by NUMA nodes.
    pub numa_cpu_nodes: Option<String>,
}

/// What whoever publishes the report adds to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Publisher {
    /// Who had the test run.
    pub sponsor: Option<String>,
    /// Who checks it.
    pub auditor: Option<String>,
    /// Special notes.
    pub notes: Vec<String>,
    /// Picture for the summary pages: a path, from the folder of the plan.
    pub logo: Option<String>,
}

/// Something in a plan that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {}{problem}", self.prefix())]
pub struct PlanError {
    /// As it was opened.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// With the tables around it: `settings.tc`; empty for the file as a whole.
    pub key: String,
    /// What is wrong, and what would be right.
    pub problem: String,
}

impl PlanError {
    fn prefix(&self) -> String {
        if self.key.is_empty() { String::new() } else { format!("{}: ", self.key) }
    }
}

impl Plan {
    /// The plan in `text`, which was opened as `file`.
    ///
    /// # Errors
    /// Everything that is wrong with it, in the order of the file.
    pub fn read(file: &str, text: &str) -> Result<Self, Vec<PlanError>> {
        reader::read(file, text)
    }

    /// The own test called `name`.
    #[must_use]
    pub fn own_test(&self, name: &str) -> Option<&OwnTest> {
        self.own_tests.iter().find(|test| test.name == name)
    }
}
