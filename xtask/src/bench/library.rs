//! `cargo xtask bench library`: cost of lists, queries, trends and exports in a library of ten thousand runs.
//!
//! The runs are copies of a few simulated runs. Each has its own id and start, so that its journal has its own hashes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use record::Digest;

use super::release::{Costs, costs, watched};
use super::results::{Benchmark, Measured, Results, Row};
use crate::chore::plateau_program;

/// The benchmark.
pub const BENCHMARK: Benchmark = Benchmark::of::<LibraryOptions>("library", false);

/// Cost of lists, queries, trends and exports of a large library
#[derive(clap::Args)]
struct LibraryOptions {
    /// Number of runs in the library
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(100..))]
    runs: u32,
    /// Release binary to measure [default: built from this tree]
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Folder in which to create the library, which needs 0.3 MB per run [default: target/bench]
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
}

/// Test, model and seed of the runs that are copied. One in ten uses the model [`OTHER`], for the trend.
const TEMPLATES: [(&str, &str, u32); 10] = [
    ("iops", OTHER, 1),
    ("lat", "sas-slc-2011", 1),
    ("lat", "sas-slc-2011", 2),
    ("lat", "sas-slc-2011", 3),
    ("tp-128", "sas-slc-2011", 1),
    ("tp-128", "sas-slc-2011", 2),
    ("tp-128", "sas-slc-2011", 3),
    ("tp-128", "sas-slc-2011", 4),
    ("tp-1024", "sas-slc-2011", 1),
    ("tp-1024", "sas-slc-2011", 2),
];
/// The model of the first of every ten runs.
pub const OTHER: &str = "sata-mlc-2011";
/// Time between the starts of consecutive runs.
const APART: jiff::SignedDuration = jiff::SignedDuration::from_mins(30);

impl Measured for LibraryOptions {
    fn run(self, root: &Path, folder: &Path) -> anyhow::Result<Results> {
        let binary = self.binary.map_or_else(|| plateau_program(root, false), Ok)?;
        let folder = self.folder.unwrap_or_else(|| folder.to_owned()).join("library");
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        let made = Made::of(&binary, &folder, self.runs)?;
        let rows = made.rows()?;
        std::fs::remove_dir_all(&folder)?;
        let how = format!(
            "the release binary, medians of 5 runs; {} runs, {:.0} MB of journals, {} processors",
            self.runs,
            made.journal_bytes as f64 / 1e6,
            std::thread::available_parallelism()?
        );
        Ok(Results { rows, how })
    }
}

/// A library created for a benchmark.
pub struct Made<'b> {
    binary: &'b Path,
    folder: PathBuf,
    templates: Vec<PathBuf>,
    runs: u32,
    journal_bytes: u64,
}

impl<'b> Made<'b> {
    pub fn of(binary: &'b Path, folder: &Path, runs: u32) -> anyhow::Result<Self> {
        let template = |(number, (test, model, seed)): (usize, &(&str, &str, u32))| {
            let library = folder.join(format!("templates/{number}"));
            let mut command = Command::new(binary);
            command.args(["run", test, &format!("sim:{model}"), "--scale=1/1024", "--max-rounds=5"]);
            command.arg(format!("--seed={seed}")).arg("--library").arg(&library);
            // The exit code depends on whether the drive became steady.
            command.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
            let mut entries = std::fs::read_dir(&library)?.filter_map(Result::ok).map(|entry| entry.path());
            entries.find(|path| path.join("journal").exists()).context("the run was not recorded")
        };
        let templates = TEMPLATES.iter().enumerate().map(template).collect::<anyhow::Result<Vec<_>>>()?;
        let mut made = Self { binary, folder: folder.to_owned(), templates, runs, journal_bytes: 0 };
        for number in 0..runs {
            made.journal_bytes += made.add(number)?;
        }
        Ok(made)
    }

    pub fn library(&self) -> PathBuf {
        self.folder.join("runs")
    }

    /// Returns `run.json` and the journal of a new run with the records of a template.
    pub fn files(&self, number: u32, id: &str) -> anyhow::Result<(Vec<u8>, String)> {
        let template = &self.templates[number as usize % self.templates.len()];
        let mut run: serde_json::Value = serde_json::from_slice(&std::fs::read(template.join("run.json"))?)?;
        let created = jiff::Timestamp::from_second(1_700_000_000)? + APART * number.try_into()?;
        run["id"] = id.into();
        run["created"] = created.to_string().into();
        let run = serde_json::to_vec(&run)?;
        let journal = rechained(&std::fs::read_to_string(template.join("journal"))?, &Digest::of(&run))?;
        Ok((run, journal))
    }

    /// Adds a run; returns the length of its journal.
    fn add(&self, number: u32) -> anyhow::Result<u64> {
        let id = format!("bench{number:06}");
        let (run, journal) = self.files(number, &id)?;
        let dir = self.library().join(&id);
        std::fs::create_dir_all(&dir)?;
        std::fs::write(dir.join("run.json"), run)?;
        std::fs::write(dir.join("journal"), &journal)?;
        Ok(journal.len() as u64)
    }

    /// Returns the cost of a command on this library.
    fn costs(&self, arguments: &[&str]) -> anyhow::Result<Costs> {
        costs(self.binary, |command| _ = command.args(arguments).arg("--library").arg(self.library()))
    }

    fn once(&self, arguments: &[&str]) -> anyhow::Result<Costs> {
        watched(Command::new(self.binary).args(arguments).arg("--library").arg(self.library()))
    }

    fn rows(&self) -> anyhow::Result<Vec<Row>> {
        let mut rows = Vec::new();
        let first = self.once(&["index"])?;
        let cores = std::thread::available_parallelism()?.get() as f64;
        let megabytes_per_second = self.journal_bytes as f64 / 1e6 / first.elapsed_seconds / cores;
        rows.push(Row {
            target: ">= 300 MB/s".into(),
            limit: Some(1.0 / 300.0),
            ..Row::stated(
                "first index: journal read per second and core",
                format!("{megabytes_per_second:.0} MB/s"),
                1.0 / megabytes_per_second,
            )
        });
        rows.push(row("first index: memory", "MB", 300.0, megabytes(&first)));
        for (what, arguments) in [
            ("runs", &["runs"][..]),
            ("runs -n 50", &["runs", "-n", "50"]),
            ("runs --model", &["runs", "--model", OTHER]),
            ("drives", &["drives"]),
        ] {
            let warm = self.costs(arguments)?;
            rows.push(row(&format!("{what}, warm index: elapsed"), "ms", 50.0, milliseconds(&warm)));
            rows.push(row(&format!("{what}, warm index: memory"), "MB", 50.0, megabytes(&warm)));
        }
        self.catching_up(&mut rows)?;
        let trend = self.costs(&["trend", OTHER, "--figure", "iops.rnd4k.w"])?;
        let runs = self.runs as usize / TEMPLATES.len();
        rows.push(row(&format!("trend over {runs} runs: elapsed"), "ms", 100.0, milliseconds(&trend)));
        self.exports(&mut rows)?;
        Ok(rows)
    }

    fn catching_up(&self, rows: &mut Vec<Row>) -> anyhow::Result<()> {
        let unchanged = milliseconds(&self.costs(&["index"])?);
        rows.push(Row::stated("index, nothing new: elapsed", format!("{unchanged:.2} ms"), unchanged));
        let mut after_one = Vec::new();
        for number in self.runs..self.runs + 5 {
            self.add(number)?;
            after_one.push(milliseconds(&self.once(&["index"])?));
        }
        let after_one = super::results::median(after_one);
        rows.push(row("index after one new run: elapsed", "ms", 20.0, after_one));
        let added = after_one - unchanged;
        rows.push(Row::stated(
            "index after one new run: share of the new run",
            format!("{added:.2} ms"),
            added,
        ));
        Ok(())
    }

    fn exports(&self, rows: &mut Vec<Row>) -> anyhow::Result<()> {
        let tables = self.folder.join("tables");
        let to = tables.to_str().context("the path is not UTF-8")?;
        let part = self.once(&["export", "--parquet", to, "--model", OTHER])?;
        let all = self.once(&["export", "--parquet", to])?;
        ensure!(tables.join("figure/test=iops/part-0.parquet").exists(), "nothing was exported");
        rows.push(row("Parquet of all runs: elapsed", "s", 60.0, all.elapsed_seconds));
        for (what, costs) in [("all runs", &all), ("a tenth of the runs", &part)] {
            let memory = megabytes(costs);
            rows.push(Row::stated(format!("Parquet of {what}: memory"), format!("{memory:.2} MB"), memory));
        }
        Ok(())
    }
}

/// Returns a copy of a journal that refers to another `run.json`, with a valid hash chain.
fn rechained(journal: &str, run: &Digest) -> anyhow::Result<String> {
    let (header, records) = journal.split_once('\n').context("an empty journal")?;
    let mut out = format!("{header}\n");
    let mut link = Digest::of(out.as_bytes());
    for (number, line) in records.lines().enumerate() {
        let (_, json) = line.split_once(' ').context("a record without a hash")?;
        let json = match number {
            0 => {
                let mut opened: serde_json::Value = serde_json::from_str(json)?;
                opened["event"]["opened"]["run_sha256"] = run.to_string().into();
                opened.to_string()
            }
            _ => json.to_owned(),
        };
        link = Digest::of(format!("{link}{json}").as_bytes());
        out.push_str(&format!("{link} {json}\n"));
    }
    Ok(out)
}

fn row(what: &str, unit: &str, limit: f64, value: f64) -> Row {
    Row {
        target: format!("<= {limit} {unit}"),
        limit: Some(limit),
        ..Row::stated(what, format!("{value:.2} {unit}"), value)
    }
}

fn milliseconds(costs: &Costs) -> f64 {
    costs.elapsed_seconds * 1e3
}

fn megabytes(costs: &Costs) -> f64 {
    costs.resident_mib * 1.048_576
}
