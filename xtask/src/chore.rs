//! The definition of a chore: its arguments, which clap parses, and its code.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
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

/// Returns the command that starts cargo, the one that runs this chore.
pub fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs the program of another package of the workspace.
pub fn run_package<'a>(
    root: &Path,
    package: &str,
    arguments: impl IntoIterator<Item = &'a str>,
) -> anyhow::Result<()> {
    let mut command = cargo();
    command.args(["run", "--quiet", "--locked", "--package", package, "--"]).args(arguments);
    let status = command.current_dir(root).status().context("cannot start cargo")?;
    if status.success() { Ok(()) } else { bail!("{package} ended with {status}") }
}

/// Builds something with cargo and returns its messages, one JSON document per line.
pub fn build_messages(root: &Path, arguments: &[&str]) -> anyhow::Result<String> {
    let mut command = cargo();
    command.args(arguments).args(["--quiet", "--locked", "--message-format=json-render-diagnostics"]);
    let output = command.current_dir(root).stderr(Stdio::inherit()).output().context("cannot start cargo")?;
    if !output.status.success() {
        bail!("`cargo {}` failed", arguments.join(" "));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Parses the arguments of a chore.
#[cfg(test)]
pub fn parsed<C: Chore>(words: &[&str]) -> Result<C, clap::Error> {
    let command = C::augment_args(clap::Command::new("chore").no_binary_name(true));
    C::from_arg_matches(&command.try_get_matches_from(words)?)
}
