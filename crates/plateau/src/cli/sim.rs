//! The options of `plateau sim`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{completion, numbers};

#[derive(Debug, Subcommand)]
pub enum Sim {
    /// List the models
    List,
    /// Show a model: its parameters, how well it fits, and where it is known to be off
    Show {
        /// Model, or FILE.toml
        #[arg(add = completion::model())]
        model: String,
        /// Print the model as TOML, as a starting point for a model of your own
        #[arg(long)]
        toml: bool,
    },
    /// Fit a model to a run's IOPS test and write it as a TOML file
    Fit(SimFit),
}

#[derive(Debug, Args)]
pub struct SimFit {
    /// The run, which must contain an IOPS test
    #[arg(add = completion::run())]
    pub run: String,
    /// Model or FILE.toml to start from [default: the built-in model closest to the run]
    #[arg(long, value_name = "MODEL", add = completion::model())]
    pub from: Option<String>,
    /// File to write [default: fit-RUN.toml]
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Number of trials
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub steps: u32,
    /// Scale of the simulated drive [default: one that leaves about 2.5 GB]
    #[arg(long, value_name = "1/N")]
    pub scale: Option<String>,
    /// Seed for the trials
    #[arg(long, default_value_t = 1, value_parser = numbers::whole::<u64>)]
    pub seed: u64,
    /// Key of the model to leave unchanged because its value is known, such as geometry.effective_op_percent; repeatable
    #[arg(long, value_name = "KEY")]
    pub keep: Vec<String>,
}
