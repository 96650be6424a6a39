//! The options of `plateau plan`.

use std::path::PathBuf;

use clap::Args;

use super::{RequestOptions, completion};

#[derive(Debug, Args, Default)]
#[command(
    override_usage = "plateau plan [OPTIONS] TESTS TARGET\n       plateau plan [OPTIONS] PRESET TARGET\n       plateau plan [OPTIONS] --plan FILE TARGET\n       plateau plan --list\n       plateau plan --check FILE"
)]
pub struct PlanCommand {
    /// List the presets: plans that ship with Plateau
    #[arg(long, conflicts_with_all = ["words", "check"])]
    pub list: bool,
    /// Report every error in a plan file, with its line, column and key
    #[arg(long, value_name = "FILE", conflicts_with = "words")]
    pub check: Option<PathBuf>,
    #[command(flatten)]
    pub request: RequestOptions,
    #[command(flatten)]
    pub assumptions: Assumptions,
    /// Run the tests on a simulated drive of this model (see `plateau sim list`) and show the expected curve; the
    /// default for a simulated target is its own model
    #[arg(long, value_name = "MODEL", add = completion::model())]
    pub rehearse: Option<String>,
    /// Simulated drives: estimate only, do not rehearse
    #[arg(long, conflicts_with = "rehearse")]
    pub no_rehearsal: bool,
    /// Rated endurance of the drive in terabytes written (TBW); the plan shows the share that a run uses
    #[arg(long, value_name = "TB")]
    pub tbw: Option<f64>,
}

/// Speeds to assume. By default, they come from earlier runs on the drive, from a probe of a simulated drive's
/// model, or from typical values for the interface.
#[derive(Debug, Clone, Args, Default, PartialEq)]
pub struct Assumptions {
    /// Sequential writes, such as 500MB/s
    #[arg(long, value_name = "RATE")]
    pub assume_write: Option<String>,
    /// Sequential reads, such as 550MB/s
    #[arg(long, value_name = "RATE")]
    pub assume_read: Option<String>,
    /// Random 4 KiB writes to a full drive
    #[arg(long, value_name = "IOPS", value_parser = positive)]
    pub assume_random_write: Option<f64>,
    /// Random 4 KiB reads
    #[arg(long, value_name = "IOPS", value_parser = positive)]
    pub assume_random_read: Option<f64>,
    /// Response time of one I/O at a time
    #[arg(long, value_name = "MS", value_parser = positive)]
    pub assume_latency: Option<f64>,
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| *number > 0.0 && number.is_finite());
    number.ok_or_else(|| "use a number above 0".to_owned())
}
