//! `cargo xtask swarm`: complete runs on simulated drives and disks, with a crash at every event.
//!
//! A separate package does the work, because it depends on the whole product, whereas xtask does not.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::chore::Chore;

/// Arguments for `ci`, which limit the time in minutes.
const CI: &[&str] = &["--minutes", "0.5"];

/// Perform simulated runs with a crash at every event; `--help` lists the options
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Swarm {
    /// Options of the program `swarm`, which does the work
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTION")]
    options: Vec<String>,
}

impl Chore for Swarm {
    fn run(self, root: &Path) -> anyhow::Result<()> {
        start(root, self.options.iter().map(String::as_str))
    }
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
