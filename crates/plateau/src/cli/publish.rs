//! The options of `plateau publish`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::library::Filter;

#[derive(Debug, Args)]
pub struct Publish {
    /// Folder for the site; created if missing, updated if it contains a site
    #[arg(value_hint = ValueHint::DirPath)]
    pub dir: PathBuf,
    #[command(flatten)]
    pub filter: Filter,
}
