//! The commands for several libraries and hosts.

use std::path::PathBuf;
use std::time::Duration;

use ::fleet::fitness::Limits;
use clap::{Args, Subcommand};

use super::completion;
use super::library::Labelling;
use super::numbers;
use super::request::RequestOptions;
use super::settings::ResumableSettings;

#[derive(Debug, Args)]
#[command(
    override_usage = "plateau copy [OPTIONS] RUN... DEST\n       plateau copy [OPTIONS] --all DEST",
    allow_missing_positional = true
)]
pub struct Copy {
    /// The runs
    #[arg(required_unless_present = "all", value_name = "RUN", add = completion::run())]
    pub runs: Vec<String>,
    /// Folder of the other library; created if missing
    #[arg(required = true, value_name = "DEST")]
    pub dest: PathBuf,
    /// Copy every run in the library
    #[arg(long, conflicts_with = "runs")]
    pub all: bool,
    /// Also copy runs in progress, with their records so far
    #[arg(long)]
    pub in_progress: bool,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "plateau job [OPTIONS] RUN-ID TESTS TARGET\n       plateau job [OPTIONS] RUN-ID PRESET TARGET\n       plateau job [OPTIONS] RUN-ID --plan FILE TARGET"
)]
pub struct Job {
    /// Id of the run: up to 200 letters, digits, `-`, `_` and `.`
    #[arg(value_name = "RUN-ID")]
    pub id: String,
    #[command(flatten)]
    pub request: RequestOptions,
    /// Identity of the target (see `plateau info TARGET`), which confirms that all data on it may be erased; repeat for
    /// each member of an array
    #[arg(long, value_name = "IDENTITY")]
    pub erase: Vec<String>,
    /// How long to wait for another process that is working on the run or its target
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = numbers::seconds)]
    pub wait: Duration,
    /// If the run was interrupted, restart the interrupted test from its purge
    #[arg(long)]
    pub restart_test: bool,
    /// If the interrupted test is one whose timeline is the result (WSAT, HIR, XSR, ECW, CBW, DIRTH), continue it,
    /// leaving a gap
    #[arg(long, conflicts_with = "restart_test")]
    pub continue_timeline: bool,
    #[command(flatten)]
    pub labels: Labelling,
    #[command(flatten)]
    pub handling: ResumableSettings,
}

#[derive(Debug, Subcommand)]
pub enum Fleet {
    /// Write the Slurm configuration for the drives of one or more hosts, and report what changed
    Inventory(FleetInventory),
    /// Check the health, link and temperature of a drive, or the temperature of this host, before a job uses it
    Check(FleetCheck),
    /// Submit a campaign: drives x plans x repetitions, one job per run
    Submit(FleetSubmit),
    /// Show, for each drive, which jobs are running, waiting or failed, and why
    Status(FleetStatus),
}

#[derive(Debug, Args)]
pub struct FleetInventory {
    /// Output of `plateau list --json` on a host, with the name of the node; repeatable [default: this host]
    #[arg(long, value_name = "HOST=FILE")]
    pub from: Vec<String>,
    /// Further parameters of a node for nodes.conf, such as 'n1=CPUs=32 RealMemory=64000'; repeatable
    #[arg(long, value_name = "HOST=PARAMETERS")]
    pub node: Vec<String>,
    /// Folder for inventory.json, gres.conf and nodes.conf
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
}

#[derive(Debug, Args)]
pub struct FleetCheck {
    /// Block device, simulated drive, or serial:IDENTITY for the drive with this identity [default: only this host]
    #[arg(value_name = "TARGET")]
    pub target: Option<String>,
    /// Highest temperature in degrees Celsius
    #[arg(long, value_name = "CELSIUS", requires = "target")]
    pub max_temperature: Option<i16>,
    /// Lowest available spare in percent
    #[arg(long, value_name = "PERCENT", requires = "target")]
    pub min_spare: Option<u8>,
    /// Highest percentage of the rated endurance that may be used
    #[arg(long, value_name = "PERCENT", requires = "target")]
    pub max_used: Option<u8>,
    /// Largest number of unrecovered data errors
    #[arg(long, value_name = "N", requires = "target")]
    pub max_media_errors: Option<u64>,
    /// Largest number of reallocated sectors
    #[arg(long, value_name = "N", requires = "target")]
    pub max_reallocated: Option<u64>,
}

impl FleetCheck {
    /// Returns the limits for the drive.
    pub const fn limits(&self) -> Limits {
        Limits {
            max_temperature: self.max_temperature,
            min_spare: self.min_spare,
            max_used: self.max_used,
            max_media_errors: self.max_media_errors,
            max_reallocated: self.max_reallocated,
        }
    }
}

#[derive(Debug, Args)]
pub struct FleetSubmit {
    /// The campaign
    #[arg(value_name = "CAMPAIGN.toml")]
    pub campaign: PathBuf,
    /// Inventory of the drives
    #[arg(long, value_name = "FILE", default_value = "inventory.json")]
    pub inventory: PathBuf,
    /// Identity of a drive, which confirms that all data on it may be erased; repeat for each drive
    #[arg(long, value_name = "IDENTITY")]
    pub erase: Vec<String>,
    /// File with one identity per line, for drives on which all data may be erased
    #[arg(long, value_name = "FILE")]
    pub erase_list: Option<PathBuf>,
    /// Show the time, the endurance used and the data that would be lost, without submitting anything
    #[arg(long)]
    pub dry_run: bool,
    /// Write the scripts for `sbatch` to this folder instead of submitting them
    #[arg(long, value_name = "DIR")]
    pub scripts: Option<PathBuf>,
    /// Submit although other hosts do not share the library or the logs: both exist on each host, and `plateau forward`
    /// sends its runs
    #[arg(long)]
    pub not_shared: bool,
    /// Path of plateau on the hosts [default: this program's path]
    #[arg(long, value_name = "PATH")]
    pub program: Option<String>,
    /// Folder for the jobs' output
    #[arg(long, value_name = "DIR", default_value = "logs")]
    pub logs: PathBuf,
}

#[derive(Debug, Args)]
pub struct FleetStatus {
    /// The campaign
    #[arg(value_name = "CAMPAIGN.toml")]
    pub campaign: PathBuf,
    /// Inventory of the drives
    #[arg(long, value_name = "FILE", default_value = "inventory.json")]
    pub inventory: PathBuf,
    /// Folder with the jobs' output
    #[arg(long, value_name = "DIR", default_value = "logs")]
    pub logs: PathBuf,
}
