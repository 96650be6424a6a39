//! `cargo xtask dist`: the files of a release.
//!
//! A separate package does the work, so that other xtask commands build without the dependencies of packaging.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};

/// Builds and runs `dist` with the same arguments.
pub fn run(root: &Path, arguments: &[String]) -> anyhow::Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["run", "--quiet", "--locked", "--package", "dist", "--"])
        .args(arguments)
        .current_dir(root)
        .status()
        .context("cannot start cargo")?;
    if status.success() { Ok(()) } else { bail!("dist ended with {status}") }
}
