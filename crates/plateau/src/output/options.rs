//! Output files, with one option per format; the options are generated from the table of formats.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, value_parser};
use report::formats::{FORMATS, Format, Make};

/// The files to write, with their formats.
#[derive(Debug, Clone, Default)]
pub struct Outputs(pub Vec<(&'static Format, PathBuf)>);

impl FromArgMatches for Outputs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let path = |format: &'static Format| Some((format, matches.get_one::<PathBuf>(format.name)?.clone()));
        Ok(Self(FORMATS.iter().filter_map(path).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Outputs {
    fn augment_args(command: Command) -> Command {
        FORMATS.iter().fold(command, |command, format| {
            let place = if matches!(format.make, Make::File(_)) { "FILE" } else { "DIR" };
            let help = format!("Write {}", format.about);
            let arg = Arg::new(format.name).long(format.name).value_name(place).help(help);
            command.arg(arg.value_parser(value_parser!(PathBuf)))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
