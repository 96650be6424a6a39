//! The options of the commands.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Subcommand, ValueEnum};

/// Commands for traces.
#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    /// Convert another tool's trace into a Plateau trace
    Import(TraceImport),
    /// Copy a trace with its addresses replaced, so that it can be shared but still replays in the same way
    Anonymise(TraceAnonymise),
    /// Show the content of a trace, or compare two traces
    Show(TraceShow),
    /// Write a plan that tests a drive with the dominant streams of a trace
    Plan(TracePlan),
    /// Write a small synthetic trace for trying out the other commands
    Sample(TraceSample),
}

/// Options of `trace import`.
#[derive(Debug, Args)]
pub struct TraceImport {
    /// File to import; - for standard input, such as the output of zcat
    pub file: PathBuf,
    /// Trace to write
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Format of the file [default: recognized from its first lines]
    #[arg(long, value_name = "NAME", value_parser = formats())]
    pub format: Option<String>,
    /// Import the I/Os of this volume, disk, device or file [default: that of the first I/O]
    #[arg(long, value_name = "NAME")]
    pub volume: Option<String>,
}

fn formats() -> PossibleValuesParser {
    PossibleValuesParser::new(
        trace::FORMATS.iter().map(|format| PossibleValue::new(format.name).help(format.about)),
    )
}

/// Options of `trace anonymise`.
#[derive(Debug, Args)]
pub struct TraceAnonymise {
    /// Trace to read
    pub trace: PathBuf,
    /// Trace to write
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Seed for the new addresses; whoever knows it can restore the old ones [default: a random one]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64))]
    pub seed: Option<u64>,
}

/// Options of `trace show`.
#[derive(Debug, Args)]
pub struct TraceShow {
    /// Trace to show
    pub trace: PathBuf,
    /// Second trace, to compare with the first
    pub other: Option<PathBuf>,
    /// Write tables and charts as one self-contained HTML file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write the trace over time as a CSV table (one trace only)
    #[arg(long, value_name = "FILE", conflicts_with = "other")]
    pub csv: Option<PathBuf>,
}

/// Options of `trace plan`.
#[derive(Debug, Args)]
pub struct TracePlan {
    /// Trace whose streams to use
    pub trace: PathBuf,
    /// Plan to write, for `plateau run --plan`
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Divide the trace into up to this number of equal steps for Replay-Native [default: up to 128, with 100 I/Os each
    /// on average]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=512))]
    pub steps: Option<u16>,
}

/// Options of `trace sample`.
#[derive(Debug, Args)]
pub struct TraceSample {
    /// Trace to write
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Seed for the I/Os
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u64))]
    pub seed: u64,
}

/// Options of `capture`.
#[derive(Debug, Args)]
pub struct Capture {
    /// Block device whose I/Os to record; it is never opened
    pub device: PathBuf,
    /// Length of the capture, such as 30s, 10min or 2h; Ctrl-C ends it earlier and keeps the trace
    #[arg(long = "for", value_name = "TIME", value_parser = length)]
    pub length: Duration,
    /// Trace to write, on a different device
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Buffer of each CPU in MiB; larger buffers lose fewer events when this program has to wait for a CPU
    #[arg(long, default_value_t = 16, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub buffer: u32,
}

fn length(text: &str) -> Result<Duration, String> {
    let parsed = text.parse::<jiff::SignedDuration>().ok().and_then(|length| Duration::try_from(length).ok());
    let longest = Duration::from_secs(30 * 86_400);
    parsed
        .filter(|length| (Duration::from_millis(1)..=longest).contains(length))
        .ok_or_else(|| "use a time such as 30s, 10min or 2h, up to 30 days".to_owned())
}

/// How a trace's offsets are mapped to offsets on the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Offsets {
    /// Keep the offsets; refuse a trace that extends beyond the target
    Refuse,
    /// Continue at the start of the target after its end
    Wrap,
    /// Multiply all offsets by the same factor, so that the whole target is accessed
    Scale,
}

/// Options of `replay`.
#[derive(Debug, Args)]
pub struct Replay {
    /// Trace to replay
    pub trace: PathBuf,
    /// Block device, regular file, or sim:MODEL
    pub target: String,
    /// Identity of the target (see `plateau info TARGET`), to confirm that all data on it may be erased; required if the trace writes
    #[arg(long, value_name = "IDENTITY")]
    pub erase: Option<String>,
    /// What to do with offsets beyond the end of the target
    #[arg(long, value_enum, default_value = "refuse", value_name = "HOW")]
    pub offsets: Offsets,
    /// Divide all times by this factor: 2 replays in half the time, 0.5 in twice the time
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR", value_parser = speed)]
    pub speed: f64,
    /// Ignore the times in the trace, and keep this number of I/Os outstanding (closed loop)
    #[arg(long, value_name = "QD", value_parser = clap::value_parser!(u16).range(1..=1024), conflicts_with = "speed")]
    pub closed: Option<u16>,
    /// Size of a regular file that does not exist yet
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,
    /// Simulated drives: scale for the capacity, such as 1/16; the times in the trace are not scaled
    #[arg(long, value_name = "1/N")]
    pub scale: Option<String>,
    /// Seed for the written data, and for a simulated drive
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u64))]
    pub seed: u64,
}

fn speed(text: &str) -> Result<f64, String> {
    let factor = text.parse::<f64>().ok().filter(|factor| (0.001..=1000.0).contains(factor));
    factor.ok_or_else(|| "use a factor from 0.001 to 1000".to_owned())
}
