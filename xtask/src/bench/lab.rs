//! `cargo xtask bench lab`: the `plateau serve` server with ten thousand runs, a hundred viewers and two dozen
//! runs in progress, and the effect of watching a run on its results.
//!
//! The runs in progress are recorded runs whose records are appended to new journals at a steady rate, together with
//! the `live` file. Each viewer makes the requests of the page's script.

mod pairs;
mod running;
mod viewers;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

use super::library::{Made, OTHER};
use super::results::{Benchmark, Measured, Results, Row, median, part};
use crate::browser::Browser;
use crate::chore::plateau_program;
use labdemo::server::Server;
use running::Running;
use viewers::{All, Viewers};

/// The benchmark.
pub const BENCHMARK: Benchmark = Benchmark::of::<LabOptions>("lab", false);

/// Cost of `plateau serve` with a large library and many viewers
#[derive(clap::Args)]
struct LabOptions {
    /// Number of runs in the library
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(10..))]
    runs: u32,
    /// Number of runs in progress
    #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..=1000))]
    running: u32,
    /// Number of viewers
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    viewers: u32,
    /// Seconds during which the viewers watch
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(5..))]
    seconds: u64,
    /// Pairs of a watched and an unwatched run; 0 to measure only the server
    #[arg(long, default_value_t = 9)]
    pairs: u32,
    /// Release binary to measure [default: built from this tree]
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Folder in which to create the library, which needs 0.3 MB per run [default: target/bench]
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Folder for the target of the watched runs, a 64 MiB file; preferably in memory
    #[arg(long, value_name = "DIR", default_value = "/dev/shm")]
    targets: PathBuf,
}

/// Requests per page.
const REQUESTS: usize = 20;
/// Paints per page.
const PAINTS: usize = 9;
const MOST_PAGE_MS: f64 = 50.0;
const MOST_PAGE_KB: f64 = 150.0;

impl Measured for LabOptions {
    fn run(self, root: &Path, folder: &Path) -> anyhow::Result<Results> {
        let binary = self.binary.clone().map_or_else(|| plateau_program(root, false), Ok)?;
        let folder = self.folder.clone().unwrap_or_else(|| folder.to_owned()).join("lab");
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        let mut rows = Vec::new();
        if self.pairs > 0 {
            rows.extend(pairs::rows(&binary, &folder, &self.targets, self.pairs)?);
        }
        let made = Made::of(&binary, &folder, self.runs)?;
        self.server_rows(&binary, &made, &folder, &mut rows)?;
        drop(made);
        std::fs::remove_dir_all(&folder)?;
        let how = format!(
            "the release binary; {} runs, {} in progress, {} viewers for {} s; server, viewers and writers share {} \
             processors",
            self.runs,
            self.running,
            self.viewers,
            self.seconds,
            std::thread::available_parallelism()?
        );
        Ok(Results { rows, how })
    }
}

impl LabOptions {
    fn server_rows(
        &self,
        binary: &Path,
        made: &Made,
        folder: &Path,
        rows: &mut Vec<Row>,
    ) -> anyhow::Result<()> {
        let server = Server::start(binary, &made.library(), &folder.join("state"))?;
        let first = Instant::now();
        server.get("/")?;
        let first = first.elapsed().as_secs_f64();
        rows.push(Row::stated("first page, which indexes the library", format!("{first:.1} s"), first));
        std::thread::sleep(Duration::from_secs(2));
        rows.push(row("server: memory, idle", "MB", 40.0, server.resident_mb()?));
        let running = Running::start(made, self.running)?;
        pages(&server, &running, rows)?;
        paints(&server, &running, rows, folder)?;
        let after = server.resident_mb()?;
        rows.push(Row::stated("server: memory after these pages", format!("{after:.1} MB"), after));

        let all = All::default();
        let mut peak = 0.0_f64;
        let (received, begun, busy) = std::thread::scope(|scope| -> anyhow::Result<_> {
            let viewers = Viewers::start(scope, &all, &server, running.ids(), self.viewers as usize)?;
            let (cpu, begun) = (server.cpu_seconds()?, Instant::now());
            while begun.elapsed() < Duration::from_secs(self.seconds) {
                std::thread::sleep(Duration::from_secs(1));
                peak = peak.max(server.resident_mb()?);
            }
            let busy = (server.cpu_seconds()? - cpu) / begun.elapsed().as_secs_f64() * 100.0;
            Ok((viewers.end()?, begun, busy))
        })?;
        let latencies = running.end(&received, begun)?;
        ensure!(!latencies.is_empty(), "no viewer received a record");
        let name = format!("record to {} viewers", self.viewers);
        rows.push(row(&format!("{name}: 99th percentile"), "s", 1.0, part(latencies.iter().copied(), 0.99)));
        let middle = median(latencies.iter().copied());
        rows.push(Row::stated(
            format!("{name}: median of {}", latencies.len()),
            format!("{middle:.3} s"),
            middle,
        ));
        rows.push(row("server: memory with these viewers", "MB", 150.0, peak));
        rows.push(row("server: CPU time with these viewers", "% of a core", 10.0, busy));
        Ok(())
    }
}

/// Measures every page.
fn pages(server: &Server, running: &Running, rows: &mut Vec<Row>) -> anyhow::Result<()> {
    let drive = format!("/drive?id=sim%3A{OTHER}+seed+1");
    let (live, done) = (format!("/runs/{}", running.ids()[0]), "/runs/bench000001".to_owned());
    let listed = [
        "/",
        "/?q=lat&state=steady",
        "/drives",
        &drive,
        "/start",
        "/account",
        "/api",
        &live,
        &format!("{live}/live?width=wide"),
        &format!("{live}/second"),
    ];
    for path in listed.into_iter().chain([done.as_str(), "/compare?run=bench000001&run=bench000002"]) {
        server.get(path)?;
        let mut times = Vec::new();
        let mut bytes = BTreeSet::new();
        for _ in 0..REQUESTS {
            let begun = Instant::now();
            bytes.insert(server.get(path)?.len());
            times.push(begun.elapsed().as_secs_f64() * 1e3);
        }
        let shown = path.replace(&running.ids()[0], "RUNNING").replace("bench00000", "RUN");
        let size = *bytes.last().context("no answer")? as f64 / 1e3;
        rows.push(row(&format!("{shown}: elapsed"), "ms", MOST_PAGE_MS, median(times)));
        rows.push(if listed.contains(&path) {
            row(&format!("{shown}: size"), "kB", MOST_PAGE_KB, size)
        } else {
            // The limit does not apply to reports and comparisons.
            Row::stated(format!("{shown}: size"), format!("{size:.0} kB"), size)
        });
    }
    Ok(())
}

/// Measures the first paint in a browser.
fn paints(server: &Server, running: &Running, rows: &mut Vec<Row>, folder: &Path) -> anyhow::Result<()> {
    let Some(mut browser) = Browser::open(&folder.join("browser"))? else {
        println!("first paint is not measured: chromium is not installed");
        return Ok(());
    };
    browser.sign_in(server)?;
    for (name, path) in [
        ("/", "/".to_owned()),
        ("/drives", "/drives".to_owned()),
        ("/runs/RUNNING", format!("/runs/{}", running.ids()[0])),
    ] {
        let paints: Vec<f64> =
            (0..PAINTS).map(|_| browser.first_paint_ms(&server.url(&path))).collect::<anyhow::Result<_>>()?;
        rows.push(row(&format!("{name}: first paint in Chromium"), "ms", 300.0, median(paints)));
    }
    Ok(())
}

fn row(what: &str, unit: &str, limit: f64, value: f64) -> Row {
    let measured = format!("{value:.3}").chars().take(6).collect::<String>();
    let measured = measured.trim_end_matches('.');
    Row {
        target: format!("<= {limit} {unit}"),
        limit: Some(limit),
        ..Row::stated(what, format!("{measured} {unit}"), value)
    }
}
