//! The command line; help texts, completions and man pages are derived from it.

mod after_help;
pub(crate) mod completion;
mod fleet;
mod forward;
mod gate;
pub(crate) mod inapplicable;
mod library;
mod load;
mod notify;
mod numbers;
mod parse;
mod plan;
pub(crate) mod plan_file;
pub(crate) mod positional;
mod progress;
mod publish;
pub(crate) mod rejected;
mod request;
mod serve;
mod settings;
mod sim;
mod since;
mod tests_argument;
mod watch;
mod words;

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Parser, Subcommand};
pub use fleet::{Copy, Fleet, FleetCheck, FleetInventory, FleetStatus, FleetSubmit, Job};
pub use forward::{Forward, Push, Sender, ServerOptions};
pub use gate::Gate;
pub use library::{
    Archive, Drives, Export, Filter, IndexOptions, Labelling, Name, Note, Only, Open, Query, Rm, Runs, Sort,
    Tag, TrendOptions, Unarchive,
};
pub use load::{Load, OutputFormat};
pub use notify::Notify;
pub use parse::parse;
pub use plan::{Assumptions, PlanCommand};
pub use progress::ProgressChoice;
pub use publish::Publish;
pub use request::RequestOptions;
use request::profiles;
pub use serve::{LauncherOptions, ListenOptions, Metrics, Serve, User};
pub use settings::{PlannedSettings, ResumableSettings};
pub use sim::{Sim, SimFit};
pub use watch::Watch;

use crate::output::options::Outputs;

/// Run the SNIA Solid State Storage Performance Test Specification: purge, precondition, run the
/// standard tests to steady state, report.
#[derive(Debug, Parser)]
#[command(name = "plateau", version, long_version = crate::output::version::LONG, max_term_width = 110, after_help = after_help::TEXT)]
pub struct Cli {
    /// Print one JSON document as the result
    #[arg(long, global = true, display_order = GLOBAL_ORDER)]
    pub json: bool,
    /// Directory of runs [default: $PLATEAU_LIBRARY, else /var/lib/plateau/runs for root, else
    /// $XDG_DATA_HOME/plateau/runs]
    #[arg(long, global = true, display_order = GLOBAL_ORDER, value_name = "DIR")]
    pub library: Option<PathBuf>,
    /// How to show progress on standard error
    #[arg(long, global = true, display_order = GLOBAL_ORDER, value_name = "STYLE", default_value = "auto")]
    pub progress: ProgressChoice,
    /// Print results, warnings and errors only; the same as --progress none
    #[arg(short, long, global = true, display_order = GLOBAL_ORDER, conflicts_with = "progress")]
    pub quiet: bool,
    /// Also print each step that changes the target, the host or the journal
    #[arg(short, long, global = true, display_order = GLOBAL_ORDER, conflicts_with = "quiet")]
    pub verbose: bool,
    #[command(subcommand)]
    pub command: Command,
}

/// Display order of the global options, which help prints after each command's own options.
const GLOBAL_ORDER: usize = 900;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the PTS IOPS test on a simulated SSD: no drive, no root, under a minute
    Demo(Demo),
    /// Run tests on a drive, a file or a simulated drive
    Run(Run),
    /// Estimate how long tests would take, and what they would write and erase, without touching the target
    Plan(PlanCommand),
    /// Continue an interrupted run
    Resume(Resume),
    /// List the runs in the library
    Runs(Runs),
    /// List the drives of the runs in the library
    Drives(Drives),
    /// Show one figure of a drive or model over time: drift, control limits and firmware changes
    Trend(TrendOptions),
    /// Run a read-only SQL query over all runs in the library
    Query(Query),
    /// Update the library's index, which lists and queries read
    Index(IndexOptions),
    /// Check the whole library for problems and show how to fix them; exit code 6 if results are affected
    Doctor,
    /// Print one line for each run in progress; exit code 8 if there is one, 0 if there is none
    Status,
    /// Show a run's results
    Show(Show),
    /// Check that a run's journal is intact, and re-evaluate the run with this version
    Verify(Verify),
    /// Write a run's report, or export its data
    Report(Report),
    /// Show a run's report in the browser
    Open(Open),
    /// Show the library in a browser, follow runs live, and start and stop them
    Serve(Serve),
    /// Publish runs as a static web site that needs no server: lists, drives, reports and comparisons
    Publish(Publish),
    /// Add, remove and list users of `plateau serve`
    #[command(subcommand)]
    User(User),
    /// Add, remove and list the hosts that may send their runs to `plateau serve`
    #[command(subcommand)]
    Sender(Sender),
    /// Carry out one request of `plateau serve` from a socket on standard input; for systemd
    Launcher(LauncherOptions),
    /// Show runs in progress on the terminal, live; read-only
    Watch(Watch),
    /// Print the library's metrics for Prometheus once, or write them for node_exporter
    Metrics(Metrics),
    /// Send notices when a run ends, fails, is stuck or needs a decision: to a program or webhook, or by mail
    Notify(Notify),
    /// Export the data from runs to files for other programs
    Export(Export),
    /// Add tags to a run, or remove them
    Tag(Tag),
    /// Add a note to a run
    Note(Note),
    /// Name a run, or remove its name
    Name(Name),
    /// Copy runs to another library, verified record by record; an interrupted copy is continued
    Copy(Copy),
    /// Send runs to a server (`plateau serve` on another host), verified record by record
    Push(Push),
    /// Follow the library and send its runs to a server while they are in progress
    Forward(Forward),
    /// Start a run with a given id, or continue it: for schedulers, which may start a job more than once
    Job(Box<Job>),
    /// Test drives in many hosts with Slurm jobs
    #[command(subcommand)]
    Fleet(Fleet),
    /// Pack each run into one compressed file; every command can still read it
    Archive(Archive),
    /// Restore the directories of archived runs
    Unarchive(Unarchive),
    /// Permanently remove runs from the library
    Rm(Rm),
    /// Compare runs: figures, differences beyond noise, and pages with shared axes
    Compare(Compare),
    /// Check a run against the rules in a file; exit code 7 if it does not meet them
    Gate(Gate),
    /// Import results from TKperf, fio or other tools, or published figures, into the library
    Import(Import),
    /// List the example runs: published figures of real drives; --install adds them to the library
    Examples(Examples),
    /// List the block devices on this host, and whether each can be tested
    List,
    /// Describe a target: what it is, how to confirm erasing it, and what prevents testing it
    Info(Info),
    /// Check the host for settings that would skew results, and show how to fix them
    Check(Check),
    /// Purge a target without testing it; everything on it is lost
    Purge(Purge),
    /// List the models of simulated drives, show one, or fit one to a run
    #[command(subcommand)]
    Sim(Sim),
    /// Run a load on a target, with fio's options or a fio job file; reads need no confirmation
    #[command(after_long_help = load::AFTER_HELP)]
    Load(Box<Load>),
    /// Record the I/Os of a block device as a trace while the device is in use
    Capture(workload::Capture),
    /// Replay the I/Os in a trace on a target, each at its original time
    Replay(workload::Replay),
    /// Import traces of real workloads, describe them, and turn them into plans
    #[command(subcommand)]
    Trace(workload::TraceCommand),
    /// Measure the host's own throughput ceiling
    #[command(name = "self")]
    Own,
    /// Print a shell completion script
    Completions(Completions),
    /// Write the man pages
    Man(Man),
}

#[derive(Debug, Args)]
pub struct Demo {
    /// Simulated drive
    #[arg(long, default_value = "sas-slc-2011", add = completion::model())]
    pub model: String,
    /// Scale for capacity and durations, such as 1/16
    #[arg(long, default_value = "1/16")]
    pub scale: String,
    /// Version of the specification
    #[arg(long, default_value = "pts-e-1.0", ignore_case = true, value_parser = profiles())]
    pub profile: String,
    /// Seed for the drive and for every offset
    #[arg(long, default_value_t = 1, value_parser = numbers::whole::<u64>)]
    pub seed: u64,
}

#[derive(Debug, Args, Default)]
#[command(
    override_usage = "plateau run [OPTIONS] TESTS TARGET [TARGET]...\n       plateau run [OPTIONS] PRESET TARGET\n       plateau run [OPTIONS] --plan FILE TARGET"
)]
pub struct Run {
    #[command(flatten)]
    pub request: RequestOptions,
    /// Identity of the target (see `plateau info TARGET`), which confirms that all data on it may be erased; repeat for
    /// each further target, and for each member of an array
    #[arg(long, value_name = "IDENTITY")]
    pub erase: Vec<String>,
    /// Also write the report to this file, such as report.pdf; its extension selects the format; repeatable
    #[arg(long, value_name = "FILE")]
    pub report: Vec<PathBuf>,
    /// Show the time that the run would take, and what it would write and erase, like `plateau plan`, without
    /// running it
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub labels: Labelling,
    #[command(flatten)]
    pub handling: ResumableSettings,
}

#[derive(Debug, Args)]
pub struct Resume {
    /// The run
    #[arg(add = completion::run())]
    pub run: String,
    /// Restart the interrupted test from its purge, so that it conforms to the PTS
    #[arg(long)]
    pub restart_test: bool,
    /// Also continue a test whose timeline is the result (WSAT, HIR, XSR, ECW, CBW, DIRTH), leaving a gap;
    /// by default it restarts from its purge
    #[arg(long, conflicts_with = "restart_test")]
    pub continue_timeline: bool,
    /// Confirm the identity again if the device cannot be recognised with certainty; for an array, repeat for each
    /// member
    #[arg(long, value_name = "IDENTITY")]
    pub erase: Vec<String>,
    #[command(flatten)]
    pub handling: ResumableSettings,
}

#[derive(Debug, Args)]
pub struct Show {
    /// The run
    #[arg(add = completion::run())]
    pub run: String,
}

#[derive(Debug, Args)]
pub struct Verify {
    /// The run
    #[arg(add = completion::run())]
    pub run: String,
    /// Also check the signature against this Ed25519 public key (PEM)
    #[arg(long, value_name = "KEY")]
    pub verify_key: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Report {
    /// The run
    #[arg(add = completion::run())]
    pub run: String,
    /// Files to write; the extension of each selects its format: .html, .pdf, .json, .xlsx, .xml, .prom
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub outputs: Outputs,
    #[command(flatten)]
    pub publisher: Publisher,
    /// WSAT: show this value instead of the computed value: fob or steady (IOPS), peak-drop or time-to-steady (minute)
    #[arg(long, value_name = "NAME=VALUE")]
    pub wsat_mark: Vec<String>,
    /// Sign the journal with this Ed25519 private key (PEM); the signature is kept in the run's directory
    #[arg(long, value_name = "KEY")]
    pub sign: Option<PathBuf>,
}

/// Details about the publisher, printed in the report.
#[derive(Debug, Args, Default)]
pub struct Publisher {
    /// Test sponsor, printed in the header
    #[arg(long, value_name = "NAME")]
    pub sponsor: Option<String>,
    /// Auditor, printed on the first page
    #[arg(long, value_name = "NAME")]
    pub auditor: Option<String>,
    /// Note for the first page; repeatable
    #[arg(long, value_name = "TEXT")]
    pub note: Vec<String>,
    /// Logo for the summary pages: a PNG or JPEG file of at most 1 MiB
    #[arg(long, value_name = "FILE")]
    pub logo: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Compare {
    /// Two or more runs; the first is the baseline
    #[arg(required = true, value_name = "RUN", add = completion::run())]
    pub runs: Vec<String>,
    /// Compare all RUNs with this one
    #[arg(long, value_name = "BASELINE", add = completion::run())]
    pub against: Option<String>,
    /// Exit with code 7 if a difference beyond noise, or a value, matches this condition: 'iops.rnd4k.w < -5%',
    /// 'lat.* > 0.5 ms'
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<String>,
    /// Write the comparison as one self-contained HTML file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write the comparison as a PDF
    #[arg(long, value_name = "FILE")]
    pub pdf: Option<PathBuf>,
    /// Write every figure of every run as a CSV table
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write cards of 1200x630 and 1600x900 pixels (PNG, SVG; light, dark, transparent) into this folder
    #[arg(long, value_name = "DIR")]
    pub card: Option<PathBuf>,
    /// Print every figure, not only the figures on the summary pages
    #[arg(long)]
    pub all: bool,
    /// Add statistics over the runs for each model, firmware or drive: mean, spread, confidence interval,
    /// outliers
    #[arg(long, value_name = "WHAT", value_parser = ["model", "firmware", "drive"])]
    pub group_by: Option<String>,
    /// Add a conclusion of your own before the figures in the HTML file and the PDF; repeatable
    #[arg(long, value_name = "TEXT")]
    pub key_point: Vec<String>,
    /// Add a note after the figures in the HTML file and the PDF; repeatable
    #[arg(long, value_name = "TEXT")]
    pub note: Vec<String>,
    /// Draw this word across every page in the HTML file and the PDF, such as DRAFT
    #[arg(long, value_name = "WORD")]
    pub watermark: Option<String>,
}

#[derive(Debug, Args)]
pub struct Import {
    /// Result file; it is copied into the run's directory
    pub file: PathBuf,
    /// Format of the file [default: detected from its content]
    #[arg(long, value_name = "NAME", value_parser = formats())]
    pub format: Option<String>,
}

fn formats() -> PossibleValuesParser {
    PossibleValuesParser::new(
        ::import::FORMATS.iter().map(|format| PossibleValue::new(format.name).help(format.about)),
    )
}

#[derive(Debug, Args)]
pub struct Examples {
    /// Add all examples, or the named ones, to the library
    #[arg(long, value_name = "NAME", num_args = 0.., value_parser = examples())]
    pub install: Option<Vec<String>>,
}

fn examples() -> PossibleValuesParser {
    let names = ::import::examples::EXAMPLES.iter();
    PossibleValuesParser::new(names.map(|example| PossibleValue::new(example.name).help(example.about)))
}

#[derive(Debug, Args)]
pub struct Info {
    /// Block device, regular file, sim:MODEL, or array:FILE.toml
    #[arg(add = completion::target())]
    pub target: String,
    /// Size of a regular file that does not exist yet
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,
    /// Simulated drives: scale for capacity and durations
    #[arg(long, value_name = "1/N")]
    pub scale: Option<String>,
}

#[derive(Debug, Args)]
pub struct Check {
    /// Block device or regular file
    #[arg(add = completion::target())]
    pub target: String,
    /// Try out --tune: apply the safe settings, check again, and restore the previous ones
    #[arg(long)]
    pub tune: bool,
}

#[derive(Debug, Args)]
pub struct Purge {
    /// Block device or regular file; with sim:MODEL, a rehearsal on a drive that exists only during this command
    #[arg(add = completion::target())]
    pub target: String,
    /// Confirm that everything on the target is lost, by typing its identity; repeat for each other
    /// namespace that the method would erase as well
    #[arg(long, value_name = "IDENTITY")]
    pub erase: Vec<String>,
    /// Name of the method (see `plateau info TARGET`) [default: the best one that is known to work]
    #[arg(long, value_name = "NAME")]
    pub method: Option<String>,
    /// Write samples before the purge and check afterwards that they are gone
    #[arg(long)]
    pub verify_purge: bool,
    /// Simulated drives: scale for capacity and durations
    #[arg(long, value_name = "1/N")]
    pub scale: Option<String>,
}

#[derive(Debug, Args)]
pub struct Completions {
    /// Shell
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct Man {
    /// Folder for plateau.1 and one page per command
    pub dir: PathBuf,
}
