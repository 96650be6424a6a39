//! `cargo xtask swarm`: complete runs on simulated drives and disks, with a crash at every event.
//!
//! A separate package does the work, because it depends on the whole product, whereas xtask does not.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::chore::{Chore, program_of_tests, run_package};

/// Arguments for `ci`: a time limit in minutes.
const CI: &[&str] = &["--minutes", "0.5"];

/// Perform simulated runs with a crash at every event; `--help` lists the options
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Swarm {
    /// Options of the `swarm` program, which does the work
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTION")]
    options: Vec<String>,
}

impl Chore for Swarm {
    fn run(self, root: &Path) -> anyhow::Result<()> {
        run_package(root, "swarm", self.options.iter().map(String::as_str))
    }
}

/// Runs the part for `ci`, with the program that was built with the tests.
pub fn ci(root: &Path) -> anyhow::Result<Option<String>> {
    let swarm = program_of_tests(root, "swarm")?;
    let status = Command::new(swarm).args(CI).current_dir(root).status().context("cannot start swarm")?;
    if status.success() { Ok(None) } else { bail!("swarm ended with {status}") }
}
