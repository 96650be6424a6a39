//! The programs of Slurm.

use std::io::{ErrorKind, Write as _};
use std::process::{Command, Stdio};

use fleet::{Queued, SQUEUE_FORMAT, queue};

use super::files::failure;
use crate::failure::{Done, Exit, Failure};

/// Returns the jobs of this user in the queue; `None` if this host has no Slurm.
pub fn queued() -> Done<Option<Vec<Queued>>> {
    let output = match Command::new("squeue").args(["-h", "--me", "-o", SQUEUE_FORMAT]).output() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Failure::text(Exit::Run, format!("cannot start squeue: {error}"))),
        Ok(output) => output,
    };
    if !output.status.success() {
        return Err(failed("squeue", &output.stderr));
    }
    queue(&String::from_utf8_lossy(&output.stdout)).map(Some).map_err(failure)
}

/// Submits a job; returns its number.
pub fn submit(script: &str) -> Done<String> {
    let started = Command::new("sbatch")
        .arg("--parsable")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = started.map_err(|error| {
        let hint = "run this on a host of the cluster, or write the jobs to files with --scripts DIR";
        Failure::text(Exit::Run, format!("cannot start sbatch: {error}; {hint}"))
    })?;
    if let Some(mut input) = child.stdin.take() {
        // If sbatch ended early, its own message explains why.
        drop(input.write_all(script.as_bytes()));
    }
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(failed("sbatch", &output.stderr));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.trim().split(';').next().unwrap_or_default().to_owned())
}

fn failed(program: &str, error: &[u8]) -> Failure {
    let text = String::from_utf8_lossy(error);
    Failure::text(Exit::Run, format!("{program} failed: {}", stdx::text::on_one_line(text.trim())))
}
