//! `plateau`: the SNIA SSS Performance Test Specification for solid-state drives.
//!
//! Every command is one file in `commands/` and one line in its table. What a command prints to standard
//! output is its result; progress, warnings and errors go to standard error.
//!
//! Of this library only [`main`] and [`course`] are for others: the program, and a run without its command line. The
//! hidden module `untrusted` is for the fuzz targets.
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
mod screen;
mod session;
mod settings;
mod signals;
mod signature;
mod speeds;
mod summary;
mod terminal;
mod text_chart;
mod tuning;
mod undo;
#[doc(hidden)]
pub mod untrusted;
mod upkeep;
mod wanted;
mod words;
mod write_cache;

use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser as _;

use failure::{Done, Exit};

/// Does what was typed.
#[must_use]
pub fn main() -> ExitCode {
    if let Err(failure) = signals::prepare() {
        return ended(Err(failure), false);
    }
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(said) => return answered(&said),
    };
    printer::set_manner(printer::Manner::of_process(cli.progress.style()));
    ended(commands::run(&cli), cli.json)
}

/// Help and version are results; anything else that clap has to say is an error of usage.
fn answered(said: &clap::Error) -> ExitCode {
    if said.use_stderr() {
        // It repeats what was typed, which a script may have taken from a file.
        printer::tell_line(&said.render().to_string());
        return ExitCode::from(Exit::Usage.code());
    }
    let printed = said.print().and_then(|()| std::io::stdout().flush());
    ended(printer::outcome(printed), false)
}

fn ended(result: Done, json: bool) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.print(json);
            ExitCode::from(failure.exit.code())
        }
    }
}
