//! Shell completion: the runs in the library, tests, presets, models and targets.

use std::ffi::OsStr;

use clap::Command;
use clap_complete::engine::{CompletionCandidate as Candidate, PathCompleter, ValueCompleter as _};
use clap_complete::{ArgValueCompleter, CompleteEnv};
use nandsim::MODELS;
use pts::TESTS;

use crate::output::places;
use crate::output::summary;

/// The completion script that `plateau completions` prints sets this variable. This is not `COMPLETE`, the
/// default of clap_complete, which may be set for another program.
pub const VARIABLE: &str = "PLATEAU_COMPLETE";
/// Maximum number of runs to offer.
const MOST_RUNS: usize = 200;

/// Responds to a completion request from the shell for the command line that `command` builds; returns if there is no
/// request.
pub fn answer(command: fn() -> Command) {
    CompleteEnv::with_factory(command).var(VARIABLE).complete();
}

/// Completes a run.
pub fn run() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let Ok((runs, _)) = places::library(None).and_then(|library| Ok(library.list()?)) else {
            return Vec::new();
        };
        let latest = ("latest".to_owned(), "the newest run".to_owned());
        let each = runs.iter().take(MOST_RUNS).flat_map(|run| {
            let target = summary::target(&run.file);
            let name = run.file.labels.name.clone().map(|name| (name, target.clone()));
            [Some((run.file.id.clone(), target)), name].into_iter().flatten()
        });
        beginning_with(typed, std::iter::once(latest).chain(each))
    })
}

/// Completes the model name of a simulated drive.
pub fn model() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let names = MODELS.iter().map(|(name, _)| ((*name).to_owned(), String::new()));
        let mut all = beginning_with(typed, names);
        all.extend(PathCompleter::file().complete(typed));
        all
    })
}

/// Completes a target.
pub fn target() -> ArgValueCompleter {
    ArgValueCompleter::new(targets)
}

/// Completes tests, a preset, or a target.
pub fn word() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let mut all = tests(typed);
        let presets = plans::PRESETS.iter().map(|preset| (preset.name.to_owned(), "preset".to_owned()));
        all.extend(beginning_with(typed, presets));
        all.extend(targets(typed));
        all
    })
}

/// Completes the last test in a comma-separated list.
fn tests(typed: &OsStr) -> Vec<Candidate> {
    let typed = typed.to_string_lossy();
    let (before, last) = typed.rfind(',').map_or(("", &*typed), |comma| typed.split_at(comma + 1));
    let mut names: Vec<(&str, &str)> = vec![("all", "every test of the profile")];
    for test in TESTS {
        if test.family != test.name && !names.iter().any(|(name, _)| *name == test.family) {
            names.push((test.family, "every block size in the profile"));
        }
        names.push((test.name, test.about));
    }
    let matching = names.into_iter().filter(|(name, _)| name.starts_with(last));
    matching.map(|(name, about)| candidate(&format!("{before}{name}"), about)).collect()
}

fn targets(typed: &OsStr) -> Vec<Candidate> {
    let models = MODELS.iter().map(|(name, _)| (format!("sim:{name}"), "simulated drive".to_owned()));
    let mut all = beginning_with(typed, models);
    let devices = std::fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let devices =
        devices.map(|entry| (format!("/dev/{}", entry.file_name().to_string_lossy()), String::new()));
    let mut devices = beginning_with(typed, devices);
    devices.sort();
    all.extend(devices);
    if !typed.to_string_lossy().starts_with("/dev/") {
        all.extend(PathCompleter::any().complete(typed));
    }
    all
}

fn beginning_with(typed: &OsStr, all: impl Iterator<Item = (String, String)>) -> Vec<Candidate> {
    let typed = typed.to_string_lossy();
    all.filter(|(value, _)| value.starts_with(&*typed))
        .map(|(value, help)| candidate(&value, &help))
        .collect()
}

fn candidate(value: &str, help: &str) -> Candidate {
    Candidate::new(value).help((!help.is_empty()).then(|| help.to_owned().into()))
}
