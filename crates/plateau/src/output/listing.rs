//! Lists of runs: filters and sort order.

use std::path::PathBuf;

use pts::TESTS;
use record::{Run, RunFile};

use crate::cli::positional;
use crate::cli::{Runs, Sort};
use crate::output::standing::State;
use crate::output::summary::{self, Summary};

/// One run in a list.
#[derive(Debug, Clone)]
pub struct Listed {
    pub file: RunFile,
    pub dir: PathBuf,
    pub state: State,
    /// Its current activity, the reason why it cannot be read, or its state, as text.
    pub text: String,
}

/// Returns whether a run matches the filters that need only its `run.json`.
pub fn is_meant(file: &RunFile, requested: &Runs) -> bool {
    let has = |text: Option<&str>, part: &Option<String>| {
        let part = part.as_deref().map(str::to_lowercase);
        part.is_none_or(|part| text.is_some_and(|text| text.to_lowercase().contains(&part)))
    };
    let target = &file.target;
    let members = || target.array.iter().flat_map(|array| &array.members);
    let has_serial = has(target.serial.as_deref(), &requested.serial)
        || has(Some(&target.identity), &requested.serial)
        || members().any(|member| has(Some(&member.identity), &requested.serial));
    let simulated = target.simulated.as_ref().map(|simulated| &*simulated.model);
    let has_model = has(target.model.as_deref(), &requested.model)
        || has(simulated, &requested.model)
        || members().any(|member| has(member.model.as_deref(), &requested.model));
    let words = words(file).to_lowercase();
    has_serial
        && has_model
        && requested.text.iter().all(|text| words.contains(&text.to_lowercase()))
        && requested.test.as_deref().is_none_or(|test| file.tests.iter().any(|name| is_test(name, test)))
        && requested
            .profile
            .as_deref()
            .is_none_or(|profile| file.profile.starts_with(&profile.to_lowercase()))
        && requested.since.is_none_or(|since| file.created >= since)
}

/// Returns all searchable text of a run.
fn words(file: &RunFile) -> String {
    let labels = &file.labels;
    let labelled = labels.name.iter().chain(&labels.tags).chain(&labels.notes).cloned();
    let own = [file.id.clone(), summary::target(file), file.tests.join(" "), file.profile.clone()];
    own.into_iter().chain(file.target.serial.clone()).chain(labelled).collect::<Vec<_>>().join("\n")
}

fn is_test(name: &str, requested: &str) -> bool {
    let requested = positional::test_named(requested).unwrap_or_else(|| requested.to_owned());
    name.eq_ignore_ascii_case(&requested)
        || TESTS.iter().any(|test| test.name == name && test.family == requested)
}

/// Returns the state of a run.
pub fn listed(run: Run) -> Listed {
    let (file, dir) = (run.file.clone(), run.dir.clone());
    let (state, text) = match Summary::live(run) {
        Ok(summary) => {
            (summary.standing().into(), summary.in_progress().unwrap_or_else(|| summary.verdict().to_owned()))
        }
        Err(failure) => (State::Unreadable, format!("unreadable: {}", failure.message())),
    };
    Listed { file, dir, state, text }
}

/// Sorts runs, which are passed newest first.
pub fn sort(runs: &mut [Listed], by: Sort) {
    match by {
        Sort::Newest => {}
        Sort::Oldest => runs.reverse(),
        Sort::Target => runs.sort_by_cached_key(|run| summary::target(&run.file)),
        Sort::Test => runs.sort_by_cached_key(|run| run.file.tests.join(",")),
        Sort::Profile => runs.sort_by_cached_key(|run| run.file.profile.clone()),
        Sort::State => runs.sort_by_key(|run| run.state),
    }
}
