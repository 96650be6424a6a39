//! `cargo xtask swarm`: complete runs on simulated drives and disks, crashed at every event.
//!
//! A separate package does the work: it depends on the whole product, xtask does not.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};

/// Arguments for `ci`, which limit the time in minutes.
const CI: &[&str] = &["--minutes", "0.5"];

/// Builds and runs `swarm` with the same arguments.
pub fn run(root: &Path, arguments: &[String]) -> anyhow::Result<()> {
    start(root, arguments.iter().map(String::as_str))
}

/// Runs the part for `ci`.
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
