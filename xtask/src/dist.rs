//! `cargo xtask dist`: the files of a release.
//!
//! A separate package does the work, so that other xtask commands build without dependencies that only packaging
//! needs.

use std::path::Path;

use crate::chore::{Chore, run_package};

/// Build the files of a release; `--help` lists the options
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Dist {
    /// Options of the `dist` program, which does the work
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTION")]
    options: Vec<String>,
}

impl Chore for Dist {
    fn run(self, root: &Path) -> anyhow::Result<()> {
        run_package(root, "dist", self.options.iter().map(String::as_str))
    }
}
