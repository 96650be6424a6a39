//! `plateau`: the SNIA SSS Performance Test Specification for solid-state drives.
//!
//! Every command is one file in `commands/` and one line in its table. What a command prints to standard
//! output is its result; progress, warnings and errors go to standard error.
//!
//! Of this library only [`main`] and [`course`] are for others: the program, and a run without its command line.
#![forbid(unsafe_code)]

mod audience;
mod campaign;
mod checks;
mod cli;
mod commands;
mod conduct;
pub mod course;
mod driving;
mod failure;
mod fio;
mod health;
mod host;
mod lba_format;
mod load_plan;
mod load_result;
mod output;
mod outputs;
mod places;
mod plan_file;
mod preflight;
mod printer;
mod progress;
mod publication;
mod rebuild;
mod rehearsal;
mod renamed;
mod report_file;
mod session;
mod settings;
mod signature;
mod speeds;
mod summary;
mod text_chart;
mod tuning;
mod undo;
mod upkeep;
mod wanted;
mod write_cache;

use std::process::ExitCode;

use clap::Parser as _;

/// Does what was typed.
#[must_use]
pub fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    match commands::run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            failure.print(cli.json);
            ExitCode::from(failure.exit.code())
        }
    }
}
