//! `cargo xtask swarm`: whole runs on simulated drives and disks, with a crash at every event.
//!
//! The work is done by the program of the package `swarm`, which knows the whole product; this one does not.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};

/// The part that `ci` runs, limited to this many minutes.
const CI: &[&str] = &["--minutes", "0.5"];

/// Builds it and runs it with the same arguments.
pub fn run(root: &Path, arguments: &[String]) -> anyhow::Result<()> {
    start(root, arguments.iter().map(String::as_str))
}

/// The part that is a step of `ci`.
pub fn ci(root: &Path) -> anyhow::Result<Option<String>> {
    start(root, CI.iter().copied()).map(|()| None)
}

fn start<'a>(root: &Path, arguments: impl Iterator<Item = &'a str>) -> anyhow::Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["run", "--quiet", "--locked", "--package", "swarm", "--"])
        .args(arguments)
        .current_dir(root)
        .status()
        .context("cannot start cargo")?;
    if status.success() { Ok(()) } else { bail!("swarm ended with {status}") }
}
