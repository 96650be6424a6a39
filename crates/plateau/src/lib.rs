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
mod completing;
mod conduct;
pub mod course;
mod driving;
mod failure;
mod fio;
mod health;
mod host;
mod labels;
mod lba_format;
mod listing;
mod load_plan;
mod load_result;
mod meaningless;
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
pub mod state;
mod summary;
mod terminal;
mod text_chart;
pub mod tuning;
mod undo;
#[doc(hidden)]
pub mod untrusted;
mod upkeep;
mod verbose;
mod version;
mod wanted;
mod words;
pub mod write_cache;

use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use failure::{Done, Exit};

/// Nothing is written to standard error from now on: what follows is a simulation, and nobody reads along.
pub fn mute() {
    printer::mute();
}

/// Does what was typed.
#[must_use]
pub fn main() -> ExitCode {
    completing::answer();
    if let Err(failure) = signals::prepare() {
        return ended(Err(failure), false);
    }
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(said) => return answered(&said),
    };
    let style = if cli.quiet { Some(printer::Style::Quiet) } else { cli.progress.style() };
    printer::set_manner(printer::Manner::of_process(style));
    if cli.verbose {
        verbose::begin();
    }
    ended(commands::run(&cli), cli.json)
}

/// Help and version are results; anything else that clap has to say is an error of usage.
fn answered(said: &clap::Error) -> ExitCode {
    if said.use_stderr() {
        // Without a command line there is no `Cli` that could say so.
        let json = std::env::args_os().skip(1).take_while(|word| word != "--").any(|word| word == "--json");
        if said.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand && !json {
            // The help is all there is to say.
            let _ = said.print();
            return ExitCode::from(Exit::Usage.code());
        }
        return ended(Err(misread(said)), json);
    }
    let printed = said.print().and_then(|()| std::io::stdout().flush());
    ended(printer::outcome(printed), false)
}

/// What clap says, under the prefix of all errors, and what it cannot know.
fn misread(said: &clap::Error) -> failure::Failure {
    let text = said.render().to_string();
    // Its tip, to pass `--yes` as a value, helps nobody.
    let is_tip = |line: &str| line.trim_start().starts_with("tip: to pass");
    let lines: Vec<&str> = text.strip_prefix("error: ").unwrap_or(&text).trim_end().lines().collect();
    let text =
        lines.split(|line| is_tip(line)).map(|part| part.join("\n").trim().to_owned()).collect::<Vec<_>>();
    let text = text.join("\n\n");
    let argument = match said.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(argument)) if said.kind() == ErrorKind::UnknownArgument => argument,
        _ => "",
    };
    let confirms = ["--yes", "-y", "--force", "-f", "--confirm"].contains(&argument);
    let lacks_run = match said.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(missing)) => missing.iter().any(|name| name.starts_with("<RUN>")),
        _ => false,
    };
    let hint = if lacks_run {
        "\n\nRUN is an id, the beginning of one, the name of a run, or `latest`; `plateau runs` lists the runs."
    } else if confirms {
        "\n\nThe loss of all data on a target is confirmed by its identity: --erase IDENTITY. `plateau info TARGET` shows it."
    } else {
        ""
    };
    failure::Failure::text(Exit::Usage, format!("{text}{hint}"))
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
