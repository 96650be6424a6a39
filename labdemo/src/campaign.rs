//! A campaign on many simulated drives: one job for each drive, and one drive that does not meet a limit.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::cluster::{Cluster, Node, slurm};
use crate::folder::DemoFolder;
use crate::leftovers;
use crate::server::Server;

/// Interval at which the pages are requested while the jobs run.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Timeout for all jobs.
const PATIENCE: Duration = Duration::from_secs(3 * 3600);
/// Plan of each job, which takes less than a second of CPU time: tests, and options.
pub const TESTS: &str = "iops";
/// Model and options of each job.
pub const WORDS: [&str; 7] =
    ["sim:sas-slc-2011", "--scale", "1/1024", "--profile", "pts-e-1.0", "--max-rounds", "5"];

/// Returns hosts with drives, each of which runs up to `at_once` jobs at the same time.
#[must_use]
pub fn nodes(hosts: u32, drives: u32, at_once: u32) -> Vec<Node> {
    let node = |host: u32| Node {
        name: format!("n{host:03}"),
        drives: (1..=drives).map(|drive| format!("D{host:03}x{drive:02}")).collect(),
        processors: at_once as usize,
    };
    (1..=hosts).map(node).collect()
}

/// A campaign, and where its files are.
pub struct Campaign<'a> {
    binary: &'a Path,
    folder: &'a DemoFolder,
    cluster: Cluster,
    good: String,
    bad: String,
}

/// What was measured while the jobs ran.
#[derive(Debug, Default)]
pub struct Followed {
    /// Seconds from the first submission until the last job had ended.
    pub seconds: f64,
    /// CPU time in s of the controller.
    pub controller_seconds: f64,
    /// CPU time in s of the server.
    pub server_seconds: f64,
    /// Largest resident memory of the server.
    pub server_mb: f64,
    /// Seconds from the hold of the unfit drive's job to its appearance on the page.
    pub found_seconds: f64,
    /// Response times in ms, by page.
    pub pages: Vec<(&'static str, Vec<f64>)>,
}

impl<'a> Campaign<'a> {
    /// Writes the campaigns: all drives, and `unfit` with a limit for a value that simulated drives do not report.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub fn of(
        binary: &'a Path,
        folder: &'a DemoFolder,
        cluster: Cluster,
        unfit: &str,
    ) -> anyhow::Result<Self> {
        let options: Vec<String> = WORDS[1..].iter().map(|word| format!("{word:?}")).collect();
        let plan =
            format!("[[plans]]\nname = \"p\"\ntests = \"{TESTS}\"\noptions = [{}]\n", options.join(", "));
        let good = format!("name = \"good\"\nunchecked = true\n[[drives]]\nmodel = \"sas\"\n{plan}");
        let bad = format!(
            "name = \"bad\"\n[limits]\nmin-spare = 10\n[[drives]]\nidentities = [\"{unfit}\"]\n{plan}"
        );
        let (good, bad) = (folder.write("good.toml", &good)?, folder.write("bad.toml", &bad)?);
        Ok(Self { binary, folder, cluster, good, bad })
    }

    /// Makes a command use the folder only.
    pub fn prepare(&self, command: &mut Command) {
        command.env("PLATEAU_LIBRARY", self.folder.file("runs"));
        command.env("PLATEAU_STATE", self.folder.file("state-plateau")).env("HOME", self.folder.path());
        command.env("SLURM_CONF", self.cluster.conf()).env(leftovers::MARK, self.folder.path());
        command.current_dir(self.folder.path());
    }

    /// Runs plateau; returns its output.
    ///
    /// # Errors
    /// Returns an error if the command fails.
    pub fn run(&self, words: &[&str]) -> anyhow::Result<String> {
        let mut command = Command::new(self.binary);
        self.prepare(&mut command);
        let output = command.args(words).stdin(Stdio::null()).output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "plateau {}: {said}", words.join(" "));
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn of_campaign(&self, words: &[&str]) -> anyhow::Result<String> {
        let (inventory, logs) = (self.folder.text("inventory.json"), self.folder.text("logs"));
        self.run(&[words, &["--inventory", &inventory, "--logs", &logs]].concat())
    }

    /// Starts a server that shows both campaigns.
    ///
    /// # Errors
    /// Returns an error if the server does not start.
    pub fn server(&self) -> anyhow::Result<Server> {
        let (library, state) = (self.folder.file("runs"), self.folder.file("state-plateau"));
        Server::changed(self.binary, &library, &state, |command| {
            self.prepare(command);
            command.arg("--inventory").arg(self.folder.file("inventory.json"));
            command.arg("--logs").arg(self.folder.file("logs"));
            command.args(["--campaign", &self.good, "--campaign", &self.bad]);
        })
    }

    /// Submits the jobs, first the one of the unfit drive, while earlier ones run; returns the seconds for the others.
    ///
    /// # Errors
    /// Returns an error if a campaign is refused.
    pub fn submit(&self) -> anyhow::Result<f64> {
        self.of_campaign(&["fleet", "submit", &self.bad])?;
        let begun = Instant::now();
        self.of_campaign(&["fleet", "submit", &self.good])?;
        Ok(begun.elapsed().as_secs_f64())
    }

    /// Requests the pages until all jobs have ended, except the one that waits for the job that is held. `begun` is when the
    /// first job was submitted, and `controller` the CPU time of the controller until then.
    ///
    /// # Errors
    /// Returns an error if a page does not answer, or the jobs do not end.
    pub fn follow(&self, server: &Server, begun: Instant, controller: f64) -> anyhow::Result<Followed> {
        let cpu = server.cpu_seconds()?;
        let mut pages = ["/api/fleet", "/", "/metrics"].map(|path| (path, Vec::new()));
        let (mut held_at, mut found, mut peak): (Option<Instant>, Option<f64>, f64) = (None, None, 0.0);
        loop {
            let queue = slurm(self.cluster.conf(), "squeue", &["-h", "-o", "%j|%R"]);
            let is_held = queue.lines().any(|line| line.starts_with("bad-") && line.contains("Held"));
            held_at = held_at.or_else(|| is_held.then(Instant::now));
            for (path, times) in &mut pages {
                let page = timed(server, path, times)?;
                if *path == "/api/fleet" && found.is_none() {
                    let shown: Value = serde_json::from_slice(&page)?;
                    let is_shown = shown[1]["jobs"][0]["state"] == "held";
                    found = is_shown.then(|| held_at.map_or(0.0, |at| at.elapsed().as_secs_f64()));
                }
            }
            peak = peak.max(server.resident_mb()?);
            let is_left = |line: &&str| line.starts_with("good-") && !line.contains("Dependency");
            let left = queue.lines().filter(is_left).count();
            if left == 0 {
                break;
            }
            ensure!(begun.elapsed() < PATIENCE, "{left} jobs have not ended");
            sleep(LOOK_EVERY);
        }
        Ok(Followed {
            seconds: begun.elapsed().as_secs_f64(),
            controller_seconds: self.cluster.controller_seconds() - controller,
            server_seconds: server.cpu_seconds()? - cpu,
            server_mb: peak,
            found_seconds: found.context("the held job was not shown")?,
            pages: pages.into(),
        })
    }

    /// Returns the CPU time in s that the controller of the cluster has used.
    #[must_use]
    pub fn controller_seconds(&self) -> f64 {
        self.cluster.controller_seconds()
    }

    /// Returns the first line of `plateau fleet status` for all drives.
    ///
    /// # Errors
    /// Returns an error if the command fails.
    pub fn status(&self) -> anyhow::Result<String> {
        let text = self.of_campaign(&["fleet", "status", &self.good])?;
        Ok(text.lines().next().unwrap_or_default().to_owned())
    }

    /// Returns the size of the library.
    ///
    /// # Errors
    /// Returns an error if the library cannot be read.
    pub fn library_bytes(&self) -> anyhow::Result<u64> {
        bytes_of(&self.folder.file("runs"))
    }
}

/// Requests a page, and adds the time in ms.
///
/// # Errors
/// Returns an error if the page does not answer.
pub fn timed(server: &Server, path: &str, times: &mut Vec<f64>) -> anyhow::Result<Vec<u8>> {
    let begun = Instant::now();
    let page = server.get(path)?;
    times.push(begun.elapsed().as_secs_f64() * 1e3);
    Ok(page)
}

fn bytes_of(folder: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let about = entry.metadata()?;
        bytes += if about.is_dir() { bytes_of(&entry.path())? } else { about.len() };
    }
    Ok(bytes)
}
