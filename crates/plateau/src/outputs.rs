//! Files to write, one option per format: made from the table of formats.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, value_parser};
use report::export::{EXPORTS, Export, Make};

/// What to write and where.
#[derive(Debug, Clone, Default)]
pub struct Outputs(pub Vec<(&'static Export, PathBuf)>);

impl FromArgMatches for Outputs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let path = |export: &'static Export| Some((export, matches.get_one::<PathBuf>(export.name)?.clone()));
        Ok(Self(EXPORTS.iter().filter_map(path).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Outputs {
    fn augment_args(command: Command) -> Command {
        EXPORTS.iter().fold(command, |command, export| {
            let place = if matches!(export.make, Make::File(_)) { "FILE" } else { "DIR" };
            let help = format!("Write {}", export.about);
            let arg = Arg::new(export.name).long(export.name).value_name(place).help(help);
            command.arg(arg.value_parser(value_parser!(PathBuf)))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
