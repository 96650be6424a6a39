//! `cargo xtask crosscheck TARGET`: compares the IOPS test with fio. A separate package does the work.

use std::path::Path;

use crate::chore::{Chore, run_optimised};

/// Compare the IOPS test with fio on one target, cell by cell; the target's content is lost
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Crosscheck {
    /// Options of the `crosscheck` program, which does the work
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTION")]
    options: Vec<String>,
}

impl Chore for Crosscheck {
    fn run(self, root: &Path) -> anyhow::Result<()> {
        run_optimised(root, "crosscheck", &self.options)
    }
}
