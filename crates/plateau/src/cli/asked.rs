//! What a run is asked for: tests or a plan, a target, and the settings that depart from the profile.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use pts::{PRESETS, PROFILES, Profile};

use super::numbers;
use super::tests_argument::TestNames;
use crate::completing;

/// Which tests, on what, how.
#[derive(Debug, Clone, Args, Default)]
pub struct Asked {
    /// In any order: tests (separated by commas; each begins with its own purge; `all` for every test of the profile) or
    /// a preset, and the target: a block device, a regular file, sim:MODEL, or array:FILE.toml. Further targets of `run`
    /// are tested concurrently, each in its own run
    #[arg(value_name = "TESTS|TARGET", value_parser = TestNames, add = completing::word())]
    pub words: Vec<String>,
    /// Run a preset: a plan that ships with Plateau (see `plateau plan --list`)
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = presets(), conflicts_with = "plan")]
    pub preset: Option<String>,
    /// Run a plan: a TOML file with tests and settings; the command line overrides it
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// Version of the specification [default: that of the plan, else pts-e-2.0]
    #[arg(long, ignore_case = true, value_parser = profiles())]
    pub profile: Option<String>,
    /// Size of a regular file, such as 1GiB
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,
    /// Simulated drives: divide capacity and minutes by this, such as 1/16
    #[arg(long, value_name = "1/N")]
    pub scale: Option<String>,
    /// Seed of every offset, mix and buffer, and of a simulated drive [default: 1]
    #[arg(long, value_parser = numbers::whole::<u64>)]
    pub seed: Option<u64>,
    /// CPUs for the load threads, such as 0-3,8; all: do not pin [default: one core each, close to the
    /// device, while there are enough]
    #[arg(
        long = "cpus_allowed",
        alias = "cpus-allowed",
        value_name = "LIST",
        conflicts_with = "numa_cpu_nodes"
    )]
    pub cpus_allowed: Option<String>,
    /// NUMA nodes on whose CPUs the load threads run, such as 0-1
    #[arg(long = "numa_cpu_nodes", alias = "numa-cpu-nodes", value_name = "LIST")]
    pub numa_cpu_nodes: Option<String>,
    #[command(flatten)]
    pub driving: Driving,
    #[command(flatten)]
    pub sim_faults: SimFaults,
    #[command(flatten)]
    pub changes: Changes,
}

/// The I/O path into the kernel.
#[derive(Debug, Clone, Args, Default)]
pub struct Driving {
    /// io_uring, libaio, psync, or io_uring_cmd for NVMe commands that bypass the block layer [default: the cheapest]
    #[arg(long, value_name = "NAME")]
    pub ioengine: Option<String>,
    /// Poll for completions; needs a block device with poll queues, otherwise continues without polling
    #[arg(long, conflicts_with = "sqthread_poll")]
    pub hipri: bool,
    /// Let a kernel thread poll for submissions; it occupies one CPU
    #[arg(long = "sqthread_poll", alias = "sqthread-poll")]
    pub sqthread_poll: bool,
}

/// What goes wrong with a simulated drive.
#[derive(Debug, Clone, Args, Default)]
pub struct SimFaults {
    /// Simulated drives: inject a fault, such as media:at=25%,length=1MiB, timeout:after=2min,
    /// throttle:after=1min,for=30s,rate=50MB/s, removal:after=5min or power:after=5min; repeatable; overrides the faults of a
    /// model file
    #[arg(long, value_name = "FAULT")]
    pub sim_fault: Vec<String>,
    /// Simulated drives: inject no faults, even if the model file has some
    #[arg(long, conflicts_with = "sim_fault")]
    pub no_sim_faults: bool,
}

impl SimFaults {
    /// The faults in place of those of the model, if any were chosen.
    pub fn chosen(&self) -> Option<Vec<String>> {
        (self.no_sim_faults || !self.sim_fault.is_empty()).then(|| self.sim_fault.clone())
    }
}

/// Settings that an operator may change; what departs from the profile is printed on every page.
#[derive(Debug, Clone, Args, Default)]
pub struct Changes {
    /// Threads (TC) [default: from the profile]
    #[arg(long, value_name = "N", value_parser = numbers::tc)]
    pub tc: Option<u16>,
    /// Outstanding I/Os per thread (QD) [default: from the profile]
    #[arg(long, value_name = "N", value_parser = numbers::qd)]
    pub qd: Option<u16>,
    /// Seconds per cell, such as 5 or 0.5 [default: 60]
    #[arg(long, value_name = "S", value_parser = numbers::seconds)]
    pub cell_seconds: Option<f64>,
    /// Rounds after which a test ends without steady state, 5 to 25 [default: 25]
    #[arg(long, value_name = "N", value_parser = numbers::rounds)]
    pub max_rounds: Option<u32>,
    /// Continue after 25 rounds until steady state, for at most 100
    #[arg(long, conflicts_with = "max_rounds")]
    pub keep_going: bool,
    /// Preconditioning in multiples of the capacity, 1 to 10 [default: 2]
    #[arg(long, value_name = "N", value_parser = numbers::capacities)]
    pub precondition: Option<u32>,
    /// Share of the LBA space that preconditioning touches, in percent (PC AR) [default: from the profile]
    #[arg(long, value_name = "P", value_parser = numbers::pc_ar)]
    pub pc_ar: Option<u8>,
    /// Share of the LBA space that the test touches, in percent (Test AR) [default: from the profile]
    #[arg(long, value_name = "P", value_parser = numbers::test_ar)]
    pub test_ar: Option<u8>,
    /// LBA space touched within the Test AR, such as 8GiB, or all (AR Amount) [default: from the profile]
    #[arg(long, value_name = "SIZE")]
    pub ar_amount: Option<String>,
    /// Number of segments of the AR amount (AR Segments) [default: 2048]
    #[arg(long, value_name = "N", value_parser = numbers::whole::<u32>)]
    pub ar_segments: Option<u32>,
    /// ECW and CBW on devices with large sectors: the smallest possible I/Os in place of smaller ones
    #[arg(long)]
    pub composite_fits_sectors: bool,
}

fn presets() -> impl TypedValueParser<Value = String> {
    in_lower_case(PRESETS.iter().map(|preset| PossibleValue::new(preset.name)).collect())
}

/// The versions of the specification.
pub(super) fn profiles() -> impl TypedValueParser<Value = String> {
    let value = |profile: &Profile| PossibleValue::new(profile.name).help(profile.revision);
    in_lower_case(PROFILES.iter().map(value).collect())
}

/// Names that may be typed in any case, if the argument ignores it.
fn in_lower_case(values: Vec<PossibleValue>) -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::from(values).map(|typed| typed.to_lowercase())
}
