//! The commands that create a run.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, bail};

/// Exit code of a run whose drive failed.
const DEVICE_FAILED: i32 = 5;

/// The commands of one run, in order, each with its expected exit code.
pub(super) struct Job {
    pub name: String,
    pub steps: Vec<(i32, Vec<String>)>,
}

impl Job {
    /// Returns a run that completes.
    pub fn run(name: &str, arguments: &[&str]) -> Self {
        Self::ending(0, name, arguments)
    }

    /// Returns a run that ends with the exit code `code`.
    pub fn ending(code: i32, name: &str, arguments: &[&str]) -> Self {
        let words = [&["run"], arguments, &["--name", name]].concat();
        Self { name: name.into(), steps: vec![(code, strings(&words))] }
    }

    /// Returns a run that stops because its drive fails.
    pub fn stopped(name: &str, arguments: &[&str], fault: &str) -> Self {
        Self::ending(DEVICE_FAILED, name, &[arguments, &["--sim-fault", fault]].concat())
    }

    /// Returns a run that is resumed with these options after its drive has failed.
    pub fn interrupted(name: &str, arguments: &[&str], fault: &str, resume: &[&str]) -> Self {
        Self::stopped(name, arguments, fault).then(&[&["resume", name], resume].concat())
    }

    pub fn then(mut self, words: &[&str]) -> Self {
        self.steps.push((0, strings(words)));
        self
    }

    pub fn execute(&self, binary: &Path, library: &Path) -> anyhow::Result<()> {
        let begun = Instant::now();
        for (code, words) in &self.steps {
            let mut command = Command::new(binary);
            command.arg("--quiet").arg("--library").arg(library).args(words).current_dir(library);
            let output = command.output().context("cannot start plateau")?;
            if output.status.code() != Some(*code) {
                let message = String::from_utf8_lossy(&output.stderr);
                bail!("`plateau {}` ended with {}: {message}", words.join(" "), output.status);
            }
        }
        println!("made {} in {:.1} s", self.name, begun.elapsed().as_secs_f64());
        Ok(())
    }
}

pub(super) fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}
