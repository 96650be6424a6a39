//! `cargo xtask bench fleet`: a campaign on a thousand simulated drives in a hundred simulated hosts, with Slurm on this
//! machine. Every host is a `slurmd`, and every job is a `plateau job` on a simulated drive.
//!
//! The table shows the cost of everything around a run: the scheduler, the library and the server. What this machine
//! cannot show is computed from these costs, and labelled as a model.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use labdemo::campaign::{Campaign, Followed, TESTS, WORDS, nodes, timed};
use labdemo::cluster::Cluster;
use labdemo::demo::why_not;
use labdemo::folder::DemoFolder;
use labdemo::leftovers;

use super::release::{Costs, costs};
use super::results::{Benchmark, Measured, Results, Row, median, part};
use crate::chore::plateau_program;

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

/// Length of a real run, for the model.
const RUN_HOURS: f64 = 8.0;

impl Measured for FleetOptions {
    fn run(self, root: &Path, _: &Path) -> anyhow::Result<Results> {
        if let Some(why) = why_not() {
            bail!("{why}");
        }
        let binary = self.binary.clone().map_or_else(|| plateau_program(root, false), Ok)?.canonicalize()?;
        let folder = DemoFolder::new()?;
        let rows = self.rows(&folder, &binary).map_err(|error| error.context(folder.logs()));
        let left = leftovers::end_all(folder.path());
        folder.remove()?;
        ensure!(left.is_empty(), "these processes had to be killed: {}", left.join("; "));
        let how = format!(
            "the release binary; {} hosts with {} drives each, up to {} jobs at the same time; Slurm, jobs and server share {} \
             processors",
            self.hosts,
            self.drives,
            self.hosts * self.at_once,
            std::thread::available_parallelism()?
        );
        Ok(Results { rows: rows?, how })
    }
}

impl FleetOptions {
    fn rows(&self, folder: &DemoFolder, binary: &Path) -> anyhow::Result<Vec<Row>> {
        let nodes = nodes(self.hosts, self.drives, self.at_once);
        let unfit = nodes.last().and_then(|node| node.drives.last()).context("no drive")?;
        // The job on the unfit drive waits for the one that is held.
        let jobs = f64::from(self.hosts * self.drives - 1);
        let begun = Instant::now();
        let cluster = Cluster::start(folder, binary, &nodes)?;
        let mut rows = vec![row("all hosts are idle after", "s", begun.elapsed().as_secs_f64())];
        let campaign = Campaign::of(binary, folder, cluster, unfit)?;
        let alone = alone(binary, folder, &campaign)?;
        rows.push(row("one job without a scheduler: elapsed", "s", alone.elapsed_seconds));
        rows.push(row("one job without a scheduler: CPU time", "s", alone.cpu_seconds));
        let server = campaign.server()?;
        let (begun, controller) = (Instant::now(), campaign.controller_seconds());
        let what = format!("submitting {} jobs, while the first ones run", jobs + 1.0);
        rows.push(row(&what, "s", campaign.submit()?));
        let followed = campaign.follow(&server, begun, controller)?;
        rows.extend(of_jobs(jobs, &followed));
        let begun = Instant::now();
        let status = campaign.status()?;
        rows.push(row("`plateau fleet status`, all runs complete", "s", begun.elapsed().as_secs_f64()));
        ensure!(status.contains(&format!("good: {jobs} complete, 1 waiting")), "not all jobs ran: {status}");
        let mut times = Vec::new();
        for _ in 0..5 {
            timed(&server, "/fleet", &mut times)?;
        }
        rows.push(row("/fleet afterwards: median", "ms", median(times)));
        rows.push(row("library: size per run", "kB", campaign.library_bytes()? as f64 / jobs / 1e3));
        let begun = Instant::now();
        campaign.run(&["index"])?;
        rows.push(row("`plateau index` of all runs", "s", begun.elapsed().as_secs_f64()));
        let per_hour = (jobs + 1.0) / RUN_HOURS;
        let share = per_hour * followed.controller_seconds / jobs / 3600.0 * 100.0;
        rows.push(row(&format!("model: jobs, if each takes {RUN_HOURS} h"), "jobs/h", per_hour));
        rows.push(row("model: CPU time of slurmctld at this rate", "% of a core", share));
        Ok(rows)
    }
}

/// Measures one job without a scheduler.
fn alone(binary: &Path, folder: &DemoFolder, campaign: &Campaign<'_>) -> anyhow::Result<Costs> {
    let (library, number) = (folder.text("alone"), Cell::new(0));
    costs(binary, |command| {
        number.set(number.get() + 1);
        campaign.prepare(command);
        command.args(["--quiet", "--library", &library, "job", &format!("alone-{}", number.get()), TESTS]);
        command.args(WORDS);
    })
}

fn of_jobs(jobs: f64, followed: &Followed) -> Vec<Row> {
    let looks = followed.pages.first().map_or(1, |(_, times)| times.len()).max(1) as f64;
    let mut rows = vec![
        row(&format!("{jobs} jobs: from the first submission to the last end"), "s", followed.seconds),
        row("throughput", "jobs/min", jobs / followed.seconds * 60.0),
        row("slurmctld: CPU time per job", "ms", followed.controller_seconds / jobs * 1e3),
        row("a held job is on the page Fleet after", "s", followed.found_seconds),
        row("server: memory, peak", "MB", followed.server_mb),
        row("server: CPU time for these three pages", "ms", followed.server_seconds / looks * 1e3),
    ];
    for (path, times) in &followed.pages {
        rows.push(row(&format!("{path} after the submission: median"), "ms", median(times.iter().copied())));
        let slow = part(times.iter().copied(), 0.95);
        rows.push(row(&format!("{path} after the submission: 95th percentile"), "ms", slow));
    }
    rows
}

fn row(what: &str, unit: &str, value: f64) -> Row {
    let decimals = if value >= 100.0 { 0 } else { 2 };
    Row::stated(what, format!("{value:.decimals$} {unit}"), value)
}
