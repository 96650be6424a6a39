//! The Slurm programs.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Write as _};
use std::process::{Command, Stdio};

use failure::{Done, Exit, Failure};
use fleet::{Queued, SQUEUE_FORMAT, queue};

use crate::files::failure;

/// Slurm's queue, as seen from this host.
pub enum Queue {
    /// The jobs.
    Known(Vec<Queued>),
    /// Slurm is not installed on this host.
    Absent,
    /// `squeue` failed: Slurm is not configured here, or its controller does not respond. The text is the error
    /// message of `squeue`.
    Unknown(String),
}

/// Whose jobs `squeue` is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// This user's jobs.
    Mine,
    /// The jobs of all users.
    Everyones,
}

/// Asks `squeue` for jobs.
///
/// # Errors
/// Returns an error if the output of `squeue` is in a different format.
pub fn queued(whose: Whose) -> Done<Queue> {
    let mut command = Command::new("squeue");
    command.args(["-h", "-r", "-o", SQUEUE_FORMAT]);
    if whose == Whose::Mine {
        command.arg("--me");
    }
    let output = match command.stdin(Stdio::null()).output() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Queue::Absent),
        Err(error) => return Ok(Queue::Unknown(error.to_string())),
        Ok(output) => output,
    };
    if !output.status.success() {
        return Ok(Queue::Unknown(message(&output.stderr)));
    }
    queue(&String::from_utf8_lossy(&output.stdout)).map(Queue::Known).map_err(failure)
}

/// Returns the host name of each node; empty if Slurm does not answer.
#[must_use]
pub fn hosts() -> BTreeMap<String, String> {
    let output = Command::new("sinfo").args(["-h", "-a", "-N", "-o", "%N|%n"]).stdin(Stdio::null()).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let pairs = text.lines().filter_map(|line| line.trim().split_once('|'));
    pairs.map(|(node, host)| (node.to_owned(), host.to_owned())).collect()
}

/// Submits jobs whose dependencies, in Slurm's notation, replace the one in the script; returns the number.
///
/// # Errors
/// Returns an error if `sbatch` cannot be started or refuses the job.
pub fn submit(script: &str, dependencies: Option<&str>) -> Done<String> {
    let dependency = dependencies.map(|each| format!("--dependency={each}"));
    let started = Command::new("sbatch")
        .arg("--parsable")
        .args(dependency)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = started.map_err(|error| {
        let hint = "run this on a host in the cluster, or write the jobs to files with --scripts DIR";
        Failure::text(Exit::Run, format!("cannot start sbatch: {error}; {hint}"))
    })?;
    if let Some(mut input) = child.stdin.take() {
        // If sbatch ended early, its own message explains why.
        drop(input.write_all(script.as_bytes()));
    }
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(failed("sbatch", &message(&output.stderr)));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.trim().split(';').next().unwrap_or_default().to_owned())
}

/// Returns the failure for a Slurm program that printed this message.
#[must_use]
pub fn failed(program: &str, message: &str) -> Failure {
    Failure::text(Exit::Run, format!("{program} failed: {message}"))
}

fn message(error: &[u8]) -> String {
    let text = String::from_utf8_lossy(error);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    stdx::text::on_one_line(&lines.join("; ")).into_owned()
}
