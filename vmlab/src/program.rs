//! Programs on the host, which are run to completion or stopped.

use std::process::{Child, Command, Output};

use anyhow::{Context as _, bail};

/// Runs a program to completion; on failure, the error contains the program's last message.
pub fn finished(command: &mut Command) -> anyhow::Result<Output> {
    let name = command.get_program().display().to_string();
    let output = command.output().with_context(|| format!("cannot start {name}"))?;
    if output.status.success() {
        return Ok(output);
    }
    let message = String::from_utf8_lossy(&output.stderr);
    bail!("{name}: {}: {}", output.status, message.trim().lines().last().unwrap_or_default())
}

pub fn stop(child: &mut Child) {
    drop(child.kill());
    drop(child.wait());
}
