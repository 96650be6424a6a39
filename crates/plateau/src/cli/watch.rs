//! The options of `plateau watch`.

use clap::Args;

#[derive(Debug, Args)]
pub struct Watch {
    /// The run to show [default: the newest one in progress]
    #[arg(value_name = "RUN", add = super::completion::run())]
    pub run: Option<String>,
    /// Show every run in progress
    #[arg(long, conflicts_with = "run")]
    pub all: bool,
    /// Print the current state as plain text and exit; implied if the output is not a terminal
    #[arg(long)]
    pub once: bool,
}
