//! `cargo xtask lab-demo`: a lab on one machine, with two nodes and simulated drives, that leaves nothing behind.
//!
//! Everything is inside one temporary folder: the scheduler with two nodes, the library, the pages and Prometheus. At the
//! end, no process that uses the folder remains, and neither does the folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::chore::{Chore, plateau_program};
use labdemo::demo::{demonstrate, why_not};

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
            None => plateau_program(root, self.ci)?,
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
        None => until_settled(root, &plateau_program(root, true)?).map(|()| None),
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

fn stop_flag() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}
