//! The options of `plateau notify`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub struct Notify {
    /// Configuration: the channels and their events [default: /etc/plateau/notify.toml for root, else
    /// $XDG_CONFIG_HOME/plateau/notify.toml]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Check the library once, attempt each delivery once, and exit; for cron
    #[arg(long)]
    pub once: bool,
    /// Send a sample notice through this channel, and exit
    #[arg(long, value_name = "CHANNEL", conflicts_with = "once")]
    pub test: Option<String>,
}
