//! Starts the checks in the `tidy` package.

use std::path::Path;

use crate::chore::Chore;

/// Check the rules about the contents of files
#[derive(clap::Args)]
pub struct Tidy {
    /// Accept smaller counts and, if its page has been changed, a new journal format
    #[arg(long)]
    bless: bool,
}

impl Chore for Tidy {
    fn run(self, root: &Path) -> anyhow::Result<()> {
        if self.bless {
            tidy::bless(root)?;
        }
        tidy::check(root)
    }
}

/// Checks all rules for `cargo xtask ci`.
pub fn ci(root: &Path) -> anyhow::Result<Option<String>> {
    tidy::check(root).map(|()| None)
}
