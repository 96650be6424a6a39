//! `cargo xtask bench report`: time, memory and file sizes of reports on full-size runs.
//!
//! The runs are synthetic: every test has its real cells, and response times are similar to those of a drive.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use pts::{Bench, Context, Profile, Stop, Test};
use record::{
    Direction, Event, Journal, Library, Note, Purged, RUN_FILE_VERSION, RunFile, Segment, Series, Until,
    Workload,
};
use stdx::histogram::coarse::{Columns, ROWS, row_bounds};
use stdx::units::SECOND_NS;
use stdx::{Histogram, Packed, Rng};

use super::release::{RUNS, costs};
use super::results::{Benchmark, Measured, Results, Row};
use crate::chore::plateau_program;

/// The benchmark.
pub const BENCHMARK: Benchmark = Benchmark::of::<Report>("report", false);

/// Cost of reports on full-size runs
#[derive(clap::Args)]
struct Report {
    /// Release binary to measure [default: built from this tree]
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

/// All tests of PTS-E 2.0.
const ALL: [&str; 9] = ["wsat", "iops", "tp-1024", "lat", "hir", "xsr", "ecw", "cbw", "dirth"];
/// The model whose cells are extended most at a small scale.
const SIMULATED: &str = "sim:sata-mlc-2011";
/// Number of response times drawn per cell; each stands for many I/Os.
const DRAWN: u64 = 3000;
/// Response times are drawn as `FASTEST_NS * u^-SPREAD`, with u uniform in (0, 1].
const FASTEST_NS: f64 = 20_000.0;
const SPREAD: f64 = 0.7;
const CAPACITY_BYTES: u64 = 4_000_000_000_000;

impl Measured for Report {
    fn run(self, root: &Path, folder: &Path) -> anyhow::Result<Results> {
        let binary = self.binary.map_or_else(|| plateau_program(root, false), Ok)?.canonicalize()?;
        Ok(Results {
            rows: rows(&binary, folder)?,
            how: format!("the release binary, medians of {RUNS} runs"),
        })
    }
}

/// Creates the runs, then measures.
fn rows(binary: &Path, folder: &Path) -> anyhow::Result<Vec<Row>> {
    let library = folder.join("report-runs");
    if library.exists() {
        std::fs::remove_dir_all(&library)?;
    }
    println!("recording the runs; this takes a few minutes");
    let bundle = run(&library, "bundle", "pts-e-2.0", &["wsat", "iops", "tp-1024", "lat"])?;
    let all = run(&library, "all", "pts-e-2.0", &ALL)?;
    let scaled = scaled(binary, &library)?;
    let day = run(&library, "day", "pts-c-1.0", &["wsat"])?;
    let mut rows = Vec::new();
    for (name, run) in [("4 required tests", &bundle), ("9 tests", &all), ("9 tests at 1/1024", &scaled)] {
        report(binary, folder, name, run, &mut rows)?;
    }
    rows.push(row("journal of 24 h WSAT", "MB", 60.0, megabytes(&day.join("journal"))?));
    let fold = costs(binary, |command| _ = command.arg("show").arg(&day))?;
    rows.push(row("24 h WSAT, loading and folding: CPU", "s", 3.0, fold.cpu_seconds));
    Ok(rows)
}

/// Measures the report and the cards of a run.
fn report(binary: &Path, folder: &Path, name: &str, run: &Path, rows: &mut Vec<Row>) -> anyhow::Result<()> {
    let (html, pdf, cards) = (folder.join("run.html"), folder.join("run.pdf"), folder.join("cards"));
    println!("measuring {name}");
    let mut add =
        |what: &str, unit, limit, value| rows.push(row(&format!("{name}: {what}"), unit, limit, value));
    add("journal", "MB", 200.0, megabytes(&run.join("journal"))?);
    let pages = costs(binary, |command| {
        command.arg("report").arg(run).arg("--html").arg(&html).arg("--pdf").arg(&pdf);
    })?;
    add("HTML and PDF, elapsed", "s", 1.0, pages.elapsed_seconds);
    add("HTML and PDF, memory", "MiB", 190.7, pages.resident_mib);
    add("the HTML file", "MB", 7.0, megabytes(&html)?);
    add("the PDF, with annexes", "MB", 4.0, megabytes(&pdf)?);
    let six = costs(binary, |command| _ = command.arg("report").arg(run).arg("--card").arg(&cards))?;
    add("one of six cards, elapsed", "s", 0.1, six.elapsed_seconds / 6.0);
    // On a busy host, elapsed times mean little unless the CPU times of all threads are also known.
    for (what, seconds) in [("HTML and PDF", pages.cpu_seconds), ("six cards", six.cpu_seconds)] {
        rows.push(Row::stated(format!("{name}: {what}, CPU"), format!("{seconds:.2} s"), seconds));
    }
    Ok(())
}

/// Runs all tests on a simulated drive at a small scale, as users do to see a report.
fn scaled(binary: &Path, library: &Path) -> anyhow::Result<PathBuf> {
    let mut command = Command::new(binary);
    command.arg("run").args(ALL).args([SIMULATED, "--scale", "1/1024", "--profile", "pts-e-2.0"]);
    command.arg("--library").arg(library.join("scaled"));
    // The exit code depends on whether the drive became steady.
    command.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    let mut found =
        std::fs::read_dir(library.join("scaled"))?.filter_map(Result::ok).map(|entry| entry.path());
    found.find(|path| path.join("journal").exists()).context("the run was not recorded")
}

fn row(what: &str, unit: &str, limit: f64, value: f64) -> Row {
    Row {
        target: format!("<= {limit} {unit}"),
        limit: Some(limit),
        ..Row::stated(what, format!("{value:.2} {unit}"), value)
    }
}

fn megabytes(path: &Path) -> anyhow::Result<f64> {
    let bytes = std::fs::metadata(path).with_context(|| format!("no {}", path.display()))?.len();
    Ok(bytes as f64 / 1e6)
}

/// Creates a run of a profile's `tests` with real cells. The run never reaches steady state, so every test has all of
/// its rounds.
fn run(library: &Path, id: &str, profile: &str, tests: &[&str]) -> anyhow::Result<PathBuf> {
    let profile = Profile::named(profile).map_err(anyhow::Error::msg)?;
    // Everything else is absent.
    let file: RunFile = serde_json::from_str(&serde_json::json!({
        "version": RUN_FILE_VERSION, "id": id, "created": jiff::Timestamp::UNIX_EPOCH, "plateau_version": "bench",
        "command": ["cargo xtask bench report"], "tests": tests, "profile": profile.name,
        "settings": profile.settings(1), "host": {},
        "target": { "kind": "block", "path": "/dev/null", "identity": "none",
            "model": "synthetic, for a benchmark", "capacity_bytes": CAPACITY_BYTES,
            "logical_block_bytes": 512, "physical_block_bytes": 4096 },
    }).to_string())?;
    let (run, journal) = Library::at(library).create(file)?;
    let mut bench = Recorder { journal, rng: Rng::from_seed(1), clock_ns: 0, cells: 0, shares: shares() };
    let context = Context::of(&run.file).map_err(anyhow::Error::msg)?;
    for name in tests {
        bench.journal.append(Event::TestStarted { test: (*name).to_owned() })?;
        let test = Test::named(name).map_err(anyhow::Error::msg)?;
        let outcome = (test.run)(&context, &mut bench);
        ensure!(outcome.stop.is_none(), "{name} did not complete: {:?}", outcome.stop);
        bench.journal.append(Event::TestEnded { test: (*name).to_owned(), converged: outcome.converged })?;
    }
    bench.journal.append(Event::Closed)?;
    Ok(run.dir)
}

/// Responds like a drive whose throughput rises and falls.
struct Recorder {
    journal: Journal,
    rng: Rng,
    clock_ns: u64,
    cells: u64,
    /// A row, and the fraction of response times in it.
    shares: Vec<(usize, f64)>,
}

/// Returns the fraction of response times in each row.
fn shares() -> Vec<(usize, f64)> {
    let slower = |ns: u64| (ns as f64 / FASTEST_NS).max(1.0).powf(-1.0 / SPREAD);
    let share = |row: usize| {
        let (low, high) = row_bounds(row);
        (row, slower(low) - slower(high.saturating_add(1)))
    };
    (0..ROWS).map(share).filter(|(_, share)| *share > 0.0).collect()
}

impl Recorder {
    fn append(&mut self, event: Event) -> Result<(), Stop> {
        self.journal.append(event).map(|_| ()).map_err(|error| Stop::Failed(error.to_string()))
    }

    fn segment(&mut self, workload: &Workload) -> Segment {
        let nanoseconds = match workload.until {
            Until::DurationNs(ns) => ns,
            Until::AmountBytes(_) => 3600 * SECOND_NS,
        };
        let swing = 1.0 + 0.3 * (self.cells as f64 * 0.7).sin();
        let ios = (9000.0 * swing * nanoseconds as f64 / SECOND_NS as f64) as u64;
        let reads = ios * u64::from(workload.read_percent) / 100;
        let (read, write) = (self.direction(workload, reads), self.direction(workload, ios - reads));
        let seconds = (nanoseconds / SECOND_NS).min(3600) as usize;
        let each = |rng: &mut Rng, sum: u64| -> Packed {
            let mean = sum / seconds.max(1) as u64;
            (0..seconds).map(|_| mean * 9 / 10 + rng.below(mean / 5 + 1)).collect()
        };
        let series = Series {
            interval_ns: SECOND_NS,
            read_ios: each(&mut self.rng, reads),
            write_ios: each(&mut self.rng, ios - reads),
            latency_mean_ns: each(&mut self.rng, 300_000 * seconds as u64),
            latency_max_ns: each(&mut self.rng, 30_000_000 * seconds as u64),
            times: Some(self.times(ios / seconds.max(1) as u64, seconds).into()),
        };
        let start_ns = self.clock_ns;
        self.clock_ns += nanoseconds;
        Segment {
            workload: workload.clone(),
            start_ns,
            end_ns: self.clock_ns,
            read,
            write,
            series,
            errors: Vec::new(),
            io_path: record::IoEngine::IoUring.into(),
            gap_before: None,
            on_file: None,
            power: None,
            verified: None,
            synced: None,
            host: None,
            detail: None,
        }
    }

    /// Draws response times from 20 us to several ms, most of them short.
    fn direction(&mut self, workload: &Workload, ios: u64) -> Direction {
        let mut drawn = Histogram::new();
        for _ in 0..DRAWN.min(ios) {
            let below = self.rng.below(1 << 20) as f64 / f64::from(1 << 20);
            drawn.record((FASTEST_NS * (1.0 - below).max(1e-6).powf(-SPREAD)) as u64);
        }
        let bytes = ios * u64::from(workload.block_bytes);
        Direction { ios, bytes, latency: drawn }
    }

    /// Distributes `ios` I/Os over the rows in each second. Each row's count is within 10 % of its mean;
    /// fractional counts are rounded up or down at random.
    fn times(&mut self, ios: u64, seconds: usize) -> Columns {
        let mut below = |limit: u64| self.rng.below(limit) as f64 / limit as f64;
        let mut second = |_| -> Vec<(usize, u64)> {
            let mean = self.shares.iter().map(|(row, share)| (*row, share * ios as f64));
            let drawn = mean.map(|(row, mean)| (row, mean * (0.9 + 0.2 * below(1 << 20)) + below(1 << 20)));
            drawn.map(|(row, count)| (row, count as u64)).filter(|(_, count)| *count > 0).collect()
        };
        let columns: Vec<_> = (0..seconds).map(&mut second).collect();
        Columns::from_parts(1, &columns).expect("row numbers ascend")
    }
}

impl Bench for Recorder {
    fn purge(&mut self) -> Result<Purged, Stop> {
        let purged = Purged {
            method: "Security Erase".into(),
            name: None,
            pts_purge: true,
            start_ns: self.clock_ns,
            end_ns: self.clock_ns,
            evidence: Vec::new(),
            samples_read: false,
        };
        self.append(Event::Purged(purged.clone()))?;
        Ok(purged)
    }

    fn write(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        let segment = self.segment(workload);
        self.append(Event::Preconditioned(segment.clone()))?;
        Ok(segment)
    }

    fn run(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        let segment = self.segment(workload);
        self.cells += 1;
        self.append(Event::Measured(segment.clone()))?;
        Ok(segment)
    }

    fn idle(&mut self, length_ns: u64) -> Result<(), Stop> {
        self.append(Event::Idled { length_ns })
    }

    fn note(&mut self, note: Note) -> Result<(), Stop> {
        self.append(Event::Noted(note))
    }
}
