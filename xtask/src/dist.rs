//! `cargo xtask dist`: the files of a release.
//!
//! A separate package does the work, so that other xtask commands build without dependencies that only packaging
//! needs.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::chore::Chore;

/// Build the files of a release; `--help` lists the options
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Dist {
    /// Options of the program `dist`, which does the work
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTION")]
    options: Vec<String>,
}

impl Chore for Dist {
    fn run(self, root: &Path) -> anyhow::Result<()> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(cargo)
            .args(["run", "--quiet", "--locked", "--package", "dist", "--"])
            .args(self.options)
            .current_dir(root)
            .status()
            .context("cannot start cargo")?;
        if status.success() { Ok(()) } else { bail!("dist ended with {status}") }
    }
}
