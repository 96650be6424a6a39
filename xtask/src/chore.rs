//! The definition of a chore: its arguments, which clap parses, and its code.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use clap::ArgMatches;
use serde_json::Value;

/// The arguments of a chore; their doc comments are the help text.
pub trait Chore: clap::Args {
    /// Runs the chore in the workspace at `root`.
    fn run(self, root: &Path) -> anyhow::Result<()>;
}

/// An entry in the chore table.
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

/// Prefixes of environment variables that cargo sets for the programs it runs.
const OF_CARGO: [&str; 4] = ["CARGO_BIN_", "CARGO_CRATE_", "CARGO_MANIFEST_", "CARGO_PKG_"];

/// Returns a command that starts the same cargo that is running this chore, without the variables that it has set for
/// this chore. Build scripts watch some of them, so cargo would rebuild ring, and everything that uses it, whenever a
/// chore follows a cargo command of the user or precedes one.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    remove_variables(&mut command);
    command
}

/// The profile of tests and checks; Cargo.toml describes it.
pub const PROFILE: &str = "--profile=bench";

/// Returns a command like [`cargo`] that runs in the workspace at `root` and puts its programs into a folder of their own,
/// so that the programs of the tests do not replace those of a release build. Everything else goes to the folder that
/// both share.
pub fn checking(root: &Path) -> Command {
    let build = build_folder(root);
    let mut command = cargo();
    command.env(PROGRAMS, build.join("checks")).env(BUILD, build).current_dir(root);
    command
}

/// Environment variable with the folder for programs; without [`BUILD`], cargo puts everything there.
pub const PROGRAMS: &str = "CARGO_TARGET_DIR";
/// Environment variable with the folder for everything that cargo builds on the way to a program.
pub const BUILD: &str = "CARGO_BUILD_BUILD_DIR";

/// Returns the folder in which cargo builds the workspace at `root`.
pub fn build_folder(root: &Path) -> PathBuf {
    let given = [BUILD, PROGRAMS].into_iter().find_map(std::env::var_os);
    given.map_or_else(|| root.join("target"), |folder| root.join(folder))
}

/// Removes the variables that cargo has set for this chore.
pub fn remove_variables(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| OF_CARGO.iter().any(|part| name.starts_with(part))) {
            command.env_remove(name);
        }
    }
}

/// Runs the program in another package of the workspace.
pub fn run_package<'a>(
    root: &Path,
    package: &str,
    arguments: impl IntoIterator<Item = &'a str>,
) -> anyhow::Result<()> {
    let mut command = checking(root);
    command.args(["run", PROFILE, "--quiet", "--locked", "--package", package, "--"]).args(arguments);
    let status = command.status().context("cannot start cargo")?;
    if status.success() { Ok(()) } else { bail!("{package} ended with {status}") }
}

/// Runs an optimised build of the program in another package of the workspace, in the current directory.
pub fn run_optimised(root: &Path, package: &str, arguments: &[String]) -> anyhow::Result<()> {
    let mut command = cargo();
    command.args(["build", "--release", "--package", package]).current_dir(root);
    let status = Command::new(built(command, package, false)?).args(arguments).status();
    let status = status.with_context(|| format!("cannot start {package}"))?;
    if status.success() { Ok(()) } else { bail!("{package} ended with {status}") }
}

/// Builds every test in the workspace and returns the path of a program that the tests use.
///
/// Always builds the whole workspace: with fewer packages, cargo would select other features and build most crates
/// again.
pub fn program_of_tests(root: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let mut command = checking(root);
    command.args(["test", PROFILE, "--workspace", "--no-run"]);
    built(command, name, false)
}

/// Builds the program as users do, or as the tests do, and returns its path.
pub fn plateau_program(root: &Path, of_the_tests: bool) -> anyhow::Result<PathBuf> {
    if of_the_tests {
        return program_of_tests(root, "plateau");
    }
    let mut command = cargo();
    command.args(["build", "--release"]).current_dir(root);
    built(command, "plateau", false)
}

/// Runs a build and returns the path of one of the programs or tests that it makes.
pub fn built(mut build: Command, name: &str, is_test: bool) -> anyhow::Result<PathBuf> {
    build.args(["--quiet", "--locked", "--message-format=json-render-diagnostics"]);
    let output = build.stderr(Stdio::inherit()).output().context("cannot start cargo")?;
    if !output.status.success() {
        let words: Vec<_> = build.get_args().map(std::ffi::OsStr::to_string_lossy).collect();
        bail!("`cargo {}` failed", words.join(" "));
    }
    executable(&String::from_utf8_lossy(&output.stdout), name, is_test)
        .with_context(|| format!("cargo did not report a program {name}"))
}

/// Returns the path of a program or test from cargo's messages.
fn executable(messages: &str, name: &str, is_test: bool) -> Option<PathBuf> {
    let documents = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut ours = documents
        .filter(|document| document["target"]["name"] == name && document["profile"]["test"] == is_test);
    ours.find_map(|document| document["executable"].as_str().map(PathBuf::from))
}

/// Parses the arguments of a chore.
#[cfg(test)]
pub fn parsed<C: Chore>(words: &[&str]) -> Result<C, clap::Error> {
    let command = C::augment_args(clap::Command::new("chore").no_binary_name(true));
    C::from_arg_matches(&command.try_get_matches_from(words)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_runs_as_if_the_user_had_started_it() {
        assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
        let of_chore = ["CARGO_PKG_NAME", "CARGO_MANIFEST_DIR"].map(std::ffi::OsStr::new);
        let command = cargo();
        let removed: Vec<_> = command.get_envs().filter(|(_, value)| value.is_none()).collect();
        let is_removed = |name| removed.iter().any(|(removed, _)| *removed == name);
        assert!(of_chore.into_iter().all(|name| std::env::var_os(name).is_none() || is_removed(name)));
        assert!(!is_removed(std::ffi::OsStr::new("CARGO")) && !is_removed(std::ffi::OsStr::new("PATH")));
    }

    #[test]
    fn the_program_is_the_one_that_cargo_names() {
        let line = |kind: &str, test: bool, path: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","target":{{"kind":["{kind}"],"name":"plateau"}},"profile":{{"test":{test}}},"executable":{path}}}"#
            )
        };
        let lines = [
            "Compiling".to_owned(),
            line("lib", false, "null"),
            line("bin", true, r#""/t/deps/plateau-1""#),
            line("bin", false, r#""/t/plateau""#),
        ];
        assert_eq!(executable(&lines.join("\n"), "plateau", false), Some("/t/plateau".into()));
        assert_eq!(executable(&lines[..3].join("\n"), "plateau", false), None);
        assert_eq!(executable(&lines.join("\n"), "plateau", true), Some("/t/deps/plateau-1".into()));
    }
}
