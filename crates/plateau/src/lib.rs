//! `plateau` runs the SNIA Solid State Storage Performance Test Specification.
//!
//! Each command is one file in `commands/` and one line in the table of commands. Standard output receives only a
//! command's result; progress, warnings and errors go to standard error.
//!
//! The public parts of this library are [`main`], the program, and [`course`], a run independent of any command
//! line. The hidden `untrusted` module is for fuzz targets.
#![forbid(unsafe_code)]

mod cli;
mod commands;
mod load;
mod output;
mod run;
#[doc(hidden)]
pub mod untrusted;

use std::io::Write as _;
use std::process::ExitCode;

use clap::CommandFactory as _;
use clap::error::ErrorKind;

pub(crate) use ::failure;
use ::failure::{Done, Exit};
pub use ::state;
use cli::{completion, rejected};
pub use host::{tuning, write_cache};
use output::printer;
use output::verbose;
pub use run::course;
use run::signals;
use unified as _;

/// Disables all output to standard error, for simulations.
pub fn mute() {
    printer::mute();
}

/// Executes the command line.
#[must_use]
pub fn main() -> ExitCode {
    completion::answer(cli::Cli::command);
    if let Err(failure) = signals::prepare() {
        return ended(Err(failure), false);
    }
    let cli = match cli::parse() {
        Ok(cli) => cli,
        Err(error) => return answered(&error),
    };
    let style = if cli.quiet { Some(printer::Style::Quiet) } else { cli.progress.style() };
    printer::set_manner(printer::Manner::of_process(style));
    if cli.verbose {
        verbose::begin();
    }
    ended(commands::run(&cli), cli.json)
}

/// Prints help and version as results; all other messages from clap are usage errors.
fn answered(error: &clap::Error) -> ExitCode {
    if error.use_stderr() {
        // Parsing failed, so look for the option in the arguments.
        let json = std::env::args_os().skip(1).take_while(|word| word != "--").any(|word| word == "--json");
        if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand && !json {
            // clap prints the help instead of an error message.
            let _ = error.print();
            return ExitCode::from(Exit::Usage.code());
        }
        return ended(Err(rejected::failure(error)), json);
    }
    let printed = error.print().and_then(|()| std::io::stdout().flush());
    ended(printer::outcome(printed), false)
}

fn ended(result: Done, json: bool) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            printer::print_failure(&failure, json);
            ExitCode::from(failure.exit.code())
        }
    }
}
