//! The definition of a chore: its arguments, which clap parses, and its code.

use std::path::Path;

use clap::ArgMatches;

/// The arguments of a chore; their doc comments are the help text.
pub trait Chore: clap::Args {
    /// Runs the chore in the workspace at `root`.
    fn run(self, root: &Path) -> anyhow::Result<()>;
}

/// An entry of the table of chores.
pub struct Entry {
    /// Name on the command line.
    pub name: &'static str,
    arguments: fn(clap::Command) -> clap::Command,
    run: fn(&ArgMatches, &Path) -> anyhow::Result<()>,
}

impl Entry {
    /// Returns the entry of a chore.
    pub const fn of<C: Chore>(name: &'static str) -> Self {
        Self {
            name,
            arguments: C::augment_args,
            run: |matches, root| C::from_arg_matches(matches)?.run(root),
        }
    }

    /// Returns the subcommand.
    pub fn command(&self) -> clap::Command {
        (self.arguments)(clap::Command::new(self.name))
    }

    /// Runs the chore with the arguments of its subcommand.
    pub fn run(&self, matches: &ArgMatches, root: &Path) -> anyhow::Result<()> {
        (self.run)(matches, root)
    }
}

/// Parses the arguments of a chore.
#[cfg(test)]
pub fn parsed<C: Chore>(words: &[&str]) -> Result<C, clap::Error> {
    let command = C::augment_args(clap::Command::new("chore").no_binary_name(true));
    C::from_arg_matches(&command.try_get_matches_from(words)?)
}
