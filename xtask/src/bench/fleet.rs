//! `cargo xtask bench fleet`: a campaign on a thousand simulated drives in a hundred simulated hosts, with Slurm on this
//! machine. Every host is a `slurmd`, and every job is a `plateau job` on a simulated drive.
//!
//! The simulated runs take less than a second, so the table shows the cost of everything around a run: the scheduler, the
//! library and the server. What this machine cannot show is computed from these costs, and labelled as a model.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use labdemo::cluster::{Cluster, Node, exists, slurm};
use labdemo::folder::DemoFolder;
use labdemo::leftovers;
use serde_json::Value;

use super::release::{built, costs};
use super::results::{Benchmark, Measured, Results, Row, median, part};
use crate::lab_server::Server;

/// The benchmark.
pub const BENCHMARK: Benchmark = Benchmark::of::<FleetOptions>("fleet", false);

/// Cost of a campaign on many simulated drives in many simulated hosts; needs root and Slurm
#[derive(clap::Args)]
struct FleetOptions {
    /// Number of hosts, each of which is a slurmd
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=500))]
    hosts: u32,
    /// Number of drives in each host
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100))]
    drives: u32,
    /// Number of jobs that a host runs at the same time; the hosts share this machine's processors and memory
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    at_once: u32,
    /// Release binary to measure [default: built from this tree]
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

/// Interval at which the pages are requested while the jobs run.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Timeout for all jobs.
const PATIENCE: Duration = Duration::from_secs(3 * 3600);
/// Length of a real run, for the model.
const RUN_HOURS: f64 = 8.0;
/// Daemons and jobs that are still there at the end had to be killed.
const LEFT: &str = "these processes had to be killed";
const PROGRAMS: [&str; 5] = ["slurmctld", "slurmd", "munged", "sbatch", "runuser"];
const PLAN: &str = "[[plans]]\nname = \"iops\"\ntests = \"iops\"\noptions = [\"--scale\", \"1/1024\", \"--profile\", \"pts-e-1.0\", \
                    \"--max-rounds\", \"5\"]\n";

impl Measured for FleetOptions {
    fn run(self, root: &Path, _: &Path) -> anyhow::Result<Results> {
        let missing: Vec<&str> = PROGRAMS.into_iter().filter(|program| !exists(program)).collect();
        ensure!(missing.is_empty(), "missing: {}; install slurm-wlm and munge", missing.join(", "));
        let binary = self.binary.clone().map_or_else(|| built(root), Ok)?.canonicalize()?;
        let folder = DemoFolder::new()?;
        let rows = self.rows(&folder, &binary).map_err(|error| error.context(folder.logs()));
        let left = leftovers::end_all(folder.path());
        folder.remove()?;
        let rows = rows?;
        ensure!(left.is_empty(), "{LEFT}: {}", left.join("; "));
        let how = format!(
            "the release binary; {} hosts with {} drives each, up to {} jobs at the same time; Slurm, jobs and server share {} \
             processors",
            self.hosts,
            self.drives,
            self.hosts * self.at_once,
            std::thread::available_parallelism()?
        );
        Ok(Results { rows, how })
    }
}

/// A campaign in progress, and what was measured so far.
struct Fleet<'a> {
    binary: &'a Path,
    folder: &'a DemoFolder,
    cluster: Cluster,
    rows: Vec<Row>,
}

impl FleetOptions {
    fn nodes(&self) -> Vec<Node> {
        let drive = |host: u32, drive: u32| format!("D{host:03}x{drive:02}");
        let node = |host: u32| Node {
            name: format!("n{host:03}"),
            drives: (1..=self.drives).map(|number| drive(host, number)).collect(),
            processors: self.at_once as usize,
        };
        (1..=self.hosts).map(node).collect()
    }

    fn rows(&self, folder: &DemoFolder, binary: &Path) -> anyhow::Result<Vec<Row>> {
        let nodes = self.nodes();
        let jobs = nodes.iter().map(|node| node.drives.len()).sum::<usize>();
        let begun = Instant::now();
        let cluster = Cluster::start(folder, binary, &nodes)?;
        let started = seconds_since(begun);
        let mut fleet = Fleet { binary, folder, cluster, rows: Vec::new() };
        fleet.add("all hosts are idle after", "s", started);
        let alone = fleet.alone()?;
        // The last drive does not meet a limit, so that its job is held: simulated drives report no spare.
        let unfit = nodes.last().and_then(|node| node.drives.last()).context("no drive")?;
        let good = folder.write(
            "good.toml",
            &format!("name = \"good\"\nunchecked = true\n[[drives]]\nmodel = \"sas\"\n{PLAN}"),
        )?;
        let bad = folder.write(
            "bad.toml",
            &format!(
                "name = \"bad\"\n[limits]\nmin-spare = 10\n[[drives]]\nidentities = [\"{unfit}\"]\n{PLAN}"
            ),
        )?;
        let server = fleet.server(&[&good, &bad])?;
        fleet.submit(&bad, 1)?;
        fleet.submit(&good, jobs)?;
        let found = fleet.follow(&server, jobs)?;
        fleet.add("a held job is on the page Fleet after", "s", found);
        fleet.finished(&server, &good, jobs, alone)?;
        Ok(fleet.rows)
    }
}

fn seconds_since(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64()
}

impl Fleet<'_> {
    fn add(&mut self, what: impl Into<String>, unit: &str, value: f64) {
        let measured =
            if value >= 100.0 { format!("{value:.0} {unit}") } else { format!("{value:.2} {unit}") };
        self.rows.push(Row::stated(what, measured, value));
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(self.binary);
        self.prepare(&mut command);
        command.args(words);
        command
    }

    /// Makes a command use the folder only.
    fn prepare(&self, command: &mut Command) {
        command.env("PLATEAU_LIBRARY", self.folder.file("runs"));
        command.env("PLATEAU_STATE", self.folder.file("state-plateau")).env("HOME", self.folder.path());
        command.env("SLURM_CONF", self.cluster.conf()).env(leftovers::MARK, self.folder.path());
        command.current_dir(self.folder.path());
    }

    fn run(&self, words: &[&str]) -> anyhow::Result<String> {
        let output = self.command(words).stdin(Stdio::null()).output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "plateau {}: {said}", words.join(" "));
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Measures one job without a scheduler; returns its CPU time.
    fn alone(&mut self) -> anyhow::Result<f64> {
        let library = self.folder.text("alone");
        let number = std::cell::Cell::new(0);
        let words =
            ["iops", "sim:sas-slc-2011", "--scale", "1/1024", "--profile", "pts-e-1.0", "--max-rounds", "5"];
        let next = || {
            number.set(number.get() + 1);
            format!("alone-{}", number.get())
        };
        let costs = costs(self.binary, |command| {
            self.prepare(command);
            command.args(["--quiet", "--library", &library, "job", &next()]).args(words);
        })?;
        self.add("one job without a scheduler: elapsed", "s", costs.elapsed_seconds);
        self.add("one job without a scheduler: CPU time", "s", costs.cpu_seconds);
        Ok(costs.cpu_seconds)
    }

    fn server(&self, campaigns: &[&str]) -> anyhow::Result<Server> {
        let (library, state) = (self.folder.file("runs"), self.folder.file("state-plateau"));
        Server::changed(self.binary, &library, &state, |command| {
            self.prepare(command);
            command.arg("--inventory").arg(self.folder.file("inventory.json"));
            command.arg("--logs").arg(self.folder.file("logs"));
            command.args(campaigns.iter().flat_map(|campaign| ["--campaign", campaign]));
        })
    }

    fn submit(&mut self, campaign: &str, jobs: usize) -> anyhow::Result<()> {
        let (inventory, logs) = (self.folder.text("inventory.json"), self.folder.text("logs"));
        let begun = Instant::now();
        self.run(&["fleet", "submit", campaign, "--inventory", &inventory, "--logs", &logs])?;
        if jobs > 1 {
            self.add(format!("submitting {jobs} jobs"), "s", seconds_since(begun));
        }
        Ok(())
    }

    /// Requests the pages until all jobs have ended; returns the time from the hold of the unfit drive's job to its
    /// appearance on the page.
    fn follow(&mut self, server: &Server, jobs: usize) -> anyhow::Result<f64> {
        let begun = Instant::now();
        let (cpu, controller) = (server.cpu_seconds()?, self.cluster.controller_seconds());
        let (mut fleet, mut first, mut metrics) = (Vec::new(), Vec::new(), Vec::new());
        let (mut held_at, mut found, mut peak): (Option<Instant>, Option<f64>, f64) = (None, None, 0.0);
        loop {
            let queue = slurm(self.cluster.conf(), "squeue", &["-h", "-o", "%j|%R"]);
            let is_held = queue.lines().any(|line| line.starts_with("bad-") && line.contains("Held"));
            held_at = held_at.or_else(|| is_held.then(Instant::now));
            let page = timed(server, "/api/fleet", &mut fleet)?;
            let shown: Value = serde_json::from_slice(&page)?;
            if found.is_none() && shown[1]["jobs"][0]["state"] == "held" {
                found = Some(held_at.map_or(0.0, seconds_since));
            }
            timed(server, "/", &mut first)?;
            timed(server, "/metrics", &mut metrics)?;
            peak = peak.max(server.resident_mb()?);
            let left = queue.lines().filter(|line| line.starts_with("good-")).count();
            if left == 0 {
                break;
            }
            ensure!(begun.elapsed() < PATIENCE, "{left} jobs have not ended");
            sleep(LOOK_EVERY);
        }
        let elapsed = seconds_since(begun);
        self.add(format!("{jobs} jobs: elapsed"), "s", elapsed);
        self.add("throughput", "jobs/min", jobs as f64 / elapsed * 60.0);
        let controller = self.cluster.controller_seconds() - controller;
        self.add("slurmctld: CPU time per job", "ms", controller / jobs as f64 * 1e3);
        let cpu = (server.cpu_seconds()? - cpu) / fleet.len() as f64 * 1e3;
        self.add("server: CPU time for /api/fleet, / and /metrics", "ms", cpu);
        self.add("server: memory, peak", "MB", peak);
        for (path, times) in [("/api/fleet", fleet), ("/", first), ("/metrics", metrics)] {
            self.add(format!("{path} while the jobs run: median"), "ms", median(times.iter().copied()));
            self.add(format!("{path} while the jobs run: 95th percentile"), "ms", part(times, 0.95));
        }
        found.context("the held job was not shown")
    }

    /// Measures what remains to be done with all runs in the library, and adds the model.
    fn finished(&mut self, server: &Server, good: &str, jobs: usize, alone: f64) -> anyhow::Result<()> {
        let (inventory, logs) = (self.folder.text("inventory.json"), self.folder.text("logs"));
        let status = ["fleet", "status", good, "--inventory", &inventory, "--logs", &logs];
        let begun = Instant::now();
        let text = self.run(&status)?;
        self.add("`plateau fleet status`, all runs complete", "s", seconds_since(begun));
        ensure!(text.contains(&format!("good: {jobs} complete")), "not all jobs are complete: {text}");
        let mut times = Vec::new();
        for _ in 0..5 {
            timed(server, "/fleet", &mut times)?;
        }
        self.add("/fleet afterwards: median", "ms", median(times));
        let begun = Instant::now();
        self.run(&["index"])?;
        self.add("`plateau index` of all runs", "s", seconds_since(begun));
        let bytes = folder_bytes(&self.folder.file("runs"))?;
        self.add("library: size per run", "kB", bytes as f64 / jobs as f64 / 1e3);
        let per_hour = jobs as f64 / RUN_HOURS;
        self.add(format!("model: jobs if every drive runs {RUN_HOURS:.0} h tests"), "jobs/h", per_hour);
        let controller =
            self.rows.iter().find(|row| row.what.starts_with("slurmctld")).map_or(0.0, |row| row.value);
        self.add(
            "model: slurmctld at this rate",
            "% of a core",
            per_hour * controller / 1e3 / 3600.0 * 100.0,
        );
        self.add("model: CPU time of simulated runs on this machine", "s", alone * jobs as f64);
        Ok(())
    }
}

/// Requests a page, and adds the time in ms.
fn timed(server: &Server, path: &str, times: &mut Vec<f64>) -> anyhow::Result<Vec<u8>> {
    let begun = Instant::now();
    let page = server.get(path)?;
    times.push(seconds_since(begun) * 1e3);
    Ok(page)
}

fn folder_bytes(folder: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let about = entry.metadata()?;
        bytes += if about.is_dir() { folder_bytes(&entry.path())? } else { about.len() };
    }
    Ok(bytes)
}
