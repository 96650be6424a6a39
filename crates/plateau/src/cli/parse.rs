//! Parses the command line.

use clap::{Arg, Command, CommandFactory as _, FromArgMatches as _};

use super::Cli;

/// Parses this process's command line.
///
/// # Errors
/// Returns the errors of clap, which include help and version output.
pub fn parse() -> Result<Cli, clap::Error> {
    let mut command = with_negative_numbers(Cli::command());
    let matches = command.try_get_matches_from_mut(fio::with_two_dashes(std::env::args_os()))?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// Lets options take values such as `-1`, which clap would mistake for unknown options, so that each option can
/// report which numbers are valid.
fn with_negative_numbers(command: Command) -> Command {
    let takes_value = |arg: &Arg| !arg.is_positional() && arg.get_action().takes_values();
    let allowed = |arg: Arg| if takes_value(&arg) { arg.allow_negative_numbers(true) } else { arg };
    command.mut_args(allowed).mut_subcommands(with_negative_numbers)
}
