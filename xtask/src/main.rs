//! Development commands: `cargo xtask ci`, `cargo xtask tidy`, `cargo xtask crosscheck` and others.
#![forbid(unsafe_code)]

mod bench;
mod browser;
mod chore;
mod ci;
mod crosscheck;
mod deny;
mod dist;
#[expect(dead_code, reason = "the tests of `plateau load` use the other lists")]
#[path = "../../crates/plateau/tests/fio_jobs/examples.rs"]
mod fio_examples;
mod kills;
mod lab_demo;
mod newcomer;
mod pictures;
mod readme;
mod recompute;
mod sentences;
mod stacks;
mod stress;
mod swarm;
mod test;
mod test_binaries;
mod tidy;
mod vm_test;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use chore::Entry;
use unified as _;

/// Every chore.
const COMMANDS: &[Entry] = &[
    Entry::of::<ci::Ci>("ci"),
    Entry::of::<test::Test>("test"),
    Entry::of::<tidy::Tidy>("tidy"),
    Entry::of::<crosscheck::Crosscheck>("crosscheck"),
    Entry::of::<deny::Deny>("deny"),
    Entry::of::<dist::Dist>("dist"),
    Entry::of::<newcomer::Newcomer>("newcomer"),
    Entry::of::<readme::Readme>("readme"),
    Entry::of::<pictures::Pictures>("pictures"),
    Entry::of::<sentences::Sentences>("sentences"),
    Entry::of::<bench::Bench>("bench"),
    Entry::of::<swarm::Swarm>("swarm"),
    Entry::of::<recompute::Recompute>("recompute"),
    Entry::of::<lab_demo::LabDemo>("lab-demo"),
    Entry::of::<kills::Kills>("kills"),
    Entry::of::<stress::Stress>("stress"),
    Entry::of::<stacks::Stacks>("stacks"),
    Entry::of::<vm_test::VmTest>("vm-test"),
    Entry::of::<vm_test::Inside>("vm-inside"),
    Entry::of::<kills::PowerInside>("power-inside"),
];

fn main() -> ExitCode {
    let matches = command().get_matches();
    let chosen = matches.subcommand();
    let chosen =
        chosen.and_then(|(name, matches)| Some((COMMANDS.iter().find(|c| c.name == name)?, matches)));
    let (chore, matches) = chosen.expect("clap requires one of the chores");
    match chore.run(matches, &root()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the command line.
fn command() -> clap::Command {
    clap::Command::new("xtask")
        .bin_name("cargo xtask")
        .about("The chores of this repository")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .subcommands(COMMANDS.iter().map(Entry::command))
}

/// Returns the workspace root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the workspace").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent_and_describes_every_chore() {
        command().debug_assert();
        for chore in COMMANDS {
            assert!(chore.command().get_about().is_some(), "{}", chore.name);
        }
    }
}
