//! The options of `plateau load`. The load itself is described by the same options as in job files.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use engine::StampRun;
use jiff::Timestamp;

use super::settings::SimFaultSettings;
use super::words::Words;

/// The format of the result, in fio's terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// Text for people
    Normal,
    /// One JSON document, the same as with --json
    #[value(alias = "json+")]
    Json,
    /// fio's terse fields, version 3: one line per job
    Terse,
}

#[derive(Debug, Args)]
pub struct Load {
    /// Block device, regular file, sim:MODEL, or a fio job file (a name ending in .fio, .job or .ini, or - for standard
    /// input); --filename also specifies a target
    pub target: Option<String>,
    #[command(flatten)]
    pub words: Words,
    /// For writes: confirm that everything on the target is lost, by typing its identity; once for each
    /// target that a job file writes to
    #[arg(long, value_name = "IDENTITY")]
    pub erase: Vec<String>,
    /// Simulated drives: scale for capacity and durations, such as 1/16
    #[arg(long, value_name = "1/N")]
    pub scale: Option<String>,
    /// Seed for every offset, mix and buffer, and for a simulated drive
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub sim_faults: SimFaultSettings,
    /// How the result is printed
    #[arg(long = "output-format", value_enum, default_value = "normal", value_name = "FORMAT")]
    pub output_format: OutputFormat,
    /// Same as --output-format terse, as in fio
    #[arg(long, conflicts_with = "output_format")]
    pub minimal: bool,
    /// Reject jobs that write, as in fio
    #[arg(long)]
    pub readonly: bool,
    /// For jobs that only read and verify: the run that must have written the data, as it was printed; what
    /// any other run wrote counts as lost
    #[arg(long, value_name = "RUN")]
    pub verify_run: Option<StampRun>,
    /// Run only these sections of a job file, as in fio
    #[arg(long, value_name = "NAME")]
    pub section: Vec<String>,
    /// Start at this time, so that several hosts start together: RFC 3339, such as 2026-01-31T12:00:00Z, up to 24 hours
    /// ahead
    #[arg(long, value_name = "TIME", value_parser = start_time)]
    pub start_at: Option<Timestamp>,
    /// Combine the results that `plateau load --json` printed on several hosts, instead of running a load
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = [
        "target", "erase", "scale", "minimal", "readonly", "section", "start_at", "seed", "verify_run",
    ])]
    pub merge: Vec<PathBuf>,
    /// With --merge: largest difference between the starts of a job on different hosts, such as 50ms
    /// [default: 100ms]
    #[arg(long, value_name = "TIME", value_parser = skew_limit)]
    pub skew_limit: Option<Duration>,
    /// With --merge: the number of hosts that ran the load; fewer or more results are not merged
    #[arg(long, value_name = "N")]
    pub hosts: Option<usize>,
}

fn start_time(text: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|_| "use a time such as 2026-01-31T12:00:00Z".to_owned())
}

fn skew_limit(text: &str) -> Result<Duration, String> {
    fio::time_ns(text).map(Duration::from_nanos)
}

/// Text after the options in `plateau load --help` and the command's man page.
pub const AFTER_HELP: &str = "\
A job file consists of sections, each with its name in brackets and one of these options per line; [global] applies to the \
sections after it. On the command line, filename, cpus_allowed, numa_cpu_nodes, hipri and sqthread_poll apply to the jobs in the \
file that do not set them. Each --name starts another job; options before the first one apply to all jobs. \
fio options that have no effect here are accepted, and a note in the result lists them; all others are rejected \
by name, with the reason.";
