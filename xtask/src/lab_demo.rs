//! `cargo xtask lab-demo`: a lab on one machine, with two nodes and simulated drives, that leaves nothing behind.
//!
//! Everything is inside one temporary folder: the scheduler with two nodes, the library, the pages and Prometheus. At the
//! end, no process that uses the folder remains, and neither does the folder.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::chore::{Chore, TESTS, program};
use labdemo::cluster::{self, Cluster, Node};
use labdemo::folder::DemoFolder;
use labdemo::lab::Lab;
use labdemo::leftovers;

/// The programs, with the Debian packages that contain them.
const PROGRAMS: [(&str, &str); 9] = [
    ("runuser", "util-linux"),
    ("munged", "munge"),
    ("slurmctld", "slurm-wlm"),
    ("slurmd", "slurm-wlm"),
    ("sbatch", "slurm-wlm"),
    ("squeue", "slurm-wlm"),
    ("scancel", "slurm-wlm"),
    ("curl", "curl"),
    ("prometheus", "prometheus"),
];
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Interval at which the pages are requested, which checks a password.
const ASK_EVERY: Duration = Duration::from_secs(1);
/// Timeout for the jobs of the demo in `ci`, which take seconds.
const PATIENCE: Duration = Duration::from_secs(600);

/// Show a lab with two nodes and simulated drives on this machine, until Ctrl-C; needs root
#[derive(clap::Args)]
pub struct LabDemo {
    /// Address of the pages
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7070")]
    listen: String,
    /// Address of Prometheus
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9090")]
    prometheus: String,
    /// End after this time instead of waiting for Ctrl-C
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// Use this plateau [default: an optimised build]
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    /// Use the program that is built for the tests unless another is given, and end when all jobs have ended
    #[arg(long)]
    ci: bool,
}

impl Chore for LabDemo {
    fn run(self, root: &Path) -> anyhow::Result<()> {
        if let Some(why) = why_not() {
            bail!("{why}");
        }
        let binary = match &self.program {
            Some(path) => std::fs::canonicalize(path).with_context(|| path.display().to_string())?,
            None if self.ci => program(root, TESTS, "plateau")?,
            None => program(root, &["build", "--release", "--package", "plateau"], "plateau")?,
        };
        if self.ci {
            return until_settled(root, &binary);
        }
        let stop = stop_flag()?;
        demonstrate(root, &binary, &self.listen, &self.prometheus, |lab| {
            println!("{}", lab.invitation());
            let end = self.seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
            match self.seconds {
                Some(seconds) => println!("This demo ends after {seconds} s."),
                None => println!("Ctrl-C ends the demo and removes everything that it created."),
            }
            while !stop.load(Ordering::Relaxed) && end.is_none_or(|end| Instant::now() < end) {
                lab.check()?;
                sleep(LOOK_EVERY);
            }
            Ok(())
        })
    }
}

/// The step of `cargo xtask ci`; returns the reason if the demo cannot run here.
pub fn ci(root: &Path) -> anyhow::Result<Option<String>> {
    match why_not() {
        Some(why) => Ok(Some(why)),
        None => until_settled(root, &program(root, TESTS, "plateau")?).map(|()| None),
    }
}

/// Starts the lab, waits until all of its jobs have ended and Prometheus has scraped the pages, and removes it.
fn until_settled(root: &Path, binary: &Path) -> anyhow::Result<()> {
    let stop = stop_flag()?;
    demonstrate(root, binary, "127.0.0.1:0", "127.0.0.1:0", |lab| {
        let deadline = Instant::now() + PATIENCE;
        while !lab.is_settled()? {
            lab.check()?;
            if stop.load(Ordering::Relaxed) || Instant::now() > deadline {
                bail!("the jobs did not end: {}", lab.jobs()?);
            }
            sleep(ASK_EVERY);
        }
        Ok(())
    })
}

/// Shows the lab with `show`, then removes it, whatever happened, and checks that nothing is left.
fn demonstrate(
    root: &Path,
    binary: &Path,
    listen: &str,
    prometheus: &str,
    show: impl FnOnce(&mut Lab) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let folder = DemoFolder::new()?;
    let node = |name: &str, drives: [&str; 2]| Node {
        name: name.into(),
        drives: drives.map(str::to_owned).into(),
        processors: 8,
    };
    let nodes = [node("n1", ["D1", "D2"]), node("n2", ["D3", "D4"])];
    let shown = Cluster::start(&folder, binary, &nodes).and_then(|cluster| {
        let mut lab = Lab::start(root, &folder, binary, cluster, listen, prometheus)?;
        show(&mut lab)
        // The daemons end here.
    });
    let shown = shown.map_err(|error| error.context(folder.logs()));
    let left = leftovers::end_all(folder.path());
    let place = folder.path().to_owned();
    let removed = folder.remove();
    shown?;
    removed?;
    if !left.is_empty() {
        bail!("these processes had to be killed: {}", left.join("; "));
    }
    println!("The demo has ended; no process and no file of it is left ({}).", place.display());
    Ok(())
}

/// Returns why the demo cannot run on this machine, and what to type.
fn why_not() -> Option<String> {
    let missing: Vec<&(&str, &str)> = PROGRAMS.iter().filter(|(name, _)| !cluster::exists(name)).collect();
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    requirements(is_root, &missing)
}

fn requirements(is_root: bool, missing: &[&(&str, &str)]) -> Option<String> {
    if !is_root {
        return Some("root is needed, because slurmd needs it: `sudo -E cargo xtask lab-demo`".into());
    }
    if missing.is_empty() {
        return None;
    }
    let names: Vec<&str> = missing.iter().map(|(name, _)| *name).collect();
    let mut packages: Vec<&str> = missing.iter().map(|(_, package)| *package).collect();
    packages.dedup();
    Some(format!(
        "missing: {}; install them with `apt-get install --no-install-recommends {}`",
        names.join(", "),
        packages.join(" ")
    ))
}

fn stop_flag() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_requirements_name_the_command_that_installs_them() {
        let missing: Vec<&(&str, &str)> = PROGRAMS[1..4].iter().collect();
        let text = requirements(true, &missing).expect("something is missing");
        assert!(text.contains("missing: munged, slurmctld, slurmd;"), "{text}");
        assert!(text.contains("apt-get install --no-install-recommends munge slurm-wlm`"), "{text}");
        assert_eq!(requirements(true, &[]), None);
        assert!(requirements(false, &[]).is_some_and(|text| text.contains("sudo")));
    }
}
