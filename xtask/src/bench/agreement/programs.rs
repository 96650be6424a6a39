//! Runs fio and `plateau load` with the same job file.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};

use super::examples::{Example, VARIABLES, job_file, writes};
use super::figures::{Figures, figures};

/// Idle time before each program. After idling, the device admits as many I/Os at once as it does in 0.1 s; a longer
/// rest therefore gives both programs the same burst.
const REST: Duration = Duration::from_millis(500);
/// Time that a program may take in addition to its jobs.
const OVERHEAD: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Both programs, on one device.
pub struct Programs {
    /// The release binary.
    pub plateau: PathBuf,
    /// The identity of the device.
    pub identity: String,
    /// Folder for job files and results.
    pub folder: PathBuf,
    /// Length of each job.
    pub seconds: u32,
}

/// A job file with what is known about it.
pub struct Job {
    path: PathBuf,
    writes: bool,
    longest: Duration,
}

impl Programs {
    /// Writes the job file of an example.
    pub fn job_file(&self, example: &Example, device: &str) -> anyhow::Result<Job> {
        let (name, sections) = *example;
        let path = self.folder.join(format!("{name}.fio"));
        fs::write(&path, job_file(sections, device, self.seconds))?;
        // Each section may wait for the one before it, and may have a ramp.
        let jobs = Duration::from_secs(u64::from(self.seconds) + 5) * sections.len() as u32;
        Ok(Job { path, writes: writes(sections), longest: jobs + OVERHEAD })
    }

    /// Runs fio. Its usual JSON contains percentiles, which cannot be combined for several clones; `json+` contains the
    /// histograms as well.
    pub fn fio(&self, job: &Job) -> anyhow::Result<Vec<Figures>> {
        let mut command = Command::new("fio");
        command.arg(&job.path).arg("--output-format=json+");
        self.output(&mut command, "fio", job.longest)
    }

    /// Runs `plateau load`.
    pub fn plateau(&self, job: &Job) -> anyhow::Result<Vec<Figures>> {
        let mut command = Command::new(&self.plateau);
        command.arg("load").arg(&job.path).arg("--json");
        if job.writes {
            command.args(["--erase", &self.identity]);
        }
        self.output(&mut command, "plateau load", job.longest)
    }

    fn output(&self, command: &mut Command, name: &str, longest: Duration) -> anyhow::Result<Vec<Figures>> {
        std::thread::sleep(REST);
        let (out, err) = (self.folder.join("stdout"), self.folder.join("stderr"));
        command.current_dir(&self.folder).envs(VARIABLES).stdin(Stdio::null());
        command.stdout(File::create(&out)?).stderr(File::create(&err)?);
        let mut child = command.spawn().with_context(|| format!("{name} cannot be run"))?;
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if begun.elapsed() > longest {
                child.kill()?;
                child.wait()?;
                bail!("{name} did not end within {} s", longest.as_secs());
            }
            std::thread::sleep(LOOK_EVERY);
        };
        ensure!(status.success(), "{name}: {status}: {}", text(&err)?.trim());
        figures(&fs::read(&out)?).with_context(|| format!("the results of {name}"))
    }
}

fn text(path: &Path) -> anyhow::Result<String> {
    Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned())
}
