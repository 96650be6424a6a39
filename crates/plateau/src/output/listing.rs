//! Lists of runs: filters and sort order.

use std::borrow::Cow;
use std::path::PathBuf;

use pts::TESTS;
use record::{Library, Run};
use store::{ListedRun, PackedRun};

use crate::cli::positional;
use crate::cli::{Filter, Only, Sort};
use crate::output::catalogue::{Found, Known};
use crate::output::standing::State;
use crate::output::summary::Summary;

/// One run in a list.
#[derive(Debug, Clone)]
pub struct Listed {
    pub run: PackedRun,
    pub dir: PathBuf,
    pub state: State,
    /// The run's current activity, its state, or the reason why it cannot be read, as text.
    pub text: Cow<'static, str>,
}

/// Returns whether a run matches the filters that can be decided without its state.
pub fn is_meant(run: &PackedRun, requested: &Filter) -> bool {
    (requested.text.is_empty() || has_words(run, &requested.text)) && is_selected(run, &requested.only)
}

/// Returns whether a run matches the options that can be decided without its state. The parts of the run are separated only
/// if there are such options.
pub fn is_selected(run: &PackedRun, requested: &Only) -> bool {
    let has = |text: &str, part: &str| text.to_lowercase().contains(&part.to_lowercase());
    let has_serial = requested.serial.as_ref().is_none_or(|part| {
        let mut serials = run.serial.iter().chain(&run.identities);
        serials.any(|serial| has(serial, part))
    });
    let has_model = requested
        .model
        .as_ref()
        .is_none_or(|part| run.may_contain(part) && run.models.iter().any(|model| has(model, part)));
    has_serial
        && has_model
        && requested.tag.iter().all(|tag| run.tags.iter().any(|own| own == tag.trim_start_matches('#')))
        && requested.test.as_deref().is_none_or(|test| run.tests.iter().any(|name| is_test(name, test)))
        && requested.profile.as_deref().is_none_or(|profile| run.profile.starts_with(&profile.to_lowercase()))
        && requested.since.is_none_or(|since| run.created() >= since)
}

/// Returns whether a run's searchable text contains all of these words.
fn has_words(run: &ListedRun, wanted: &[String]) -> bool {
    let tests = run.tests.join(" ");
    let own = [&run.id, &run.target, &tests, &run.profile];
    let labels = run.name.iter().chain(&run.notes);
    // Tags begin with `#`, as in the list.
    let tags: Vec<String> = run.tags.iter().map(|tag| format!("#{tag}")).collect();
    let all: Vec<&str> =
        own.into_iter().chain(&run.serial).chain(labels).chain(&tags).map(String::as_str).collect();
    let words = all.join("\n").to_lowercase();
    wanted.iter().all(|text| words.contains(&text.to_lowercase()))
}

fn is_test(name: &str, requested: &str) -> bool {
    let requested = positional::test_named(requested).unwrap_or_else(|| requested.to_owned());
    name.eq_ignore_ascii_case(&requested)
        || TESTS.iter().any(|test| test.name == name && test.family == requested)
}

/// Returns the list entry for a run, with its state.
pub fn listed(library: &Library, Known { run, found }: Known) -> Listed {
    match found {
        Found::Indexed(standing, candidate) => {
            let (state, text) = (standing.into(), standing.verdict().into());
            Listed { run, dir: candidate.path_in(library.root()), state, text }
        }
        Found::Unread(unread) => {
            let dir = unread.dir.clone();
            let (state, text) = live(*unread);
            Listed { run, dir, state, text: text.into() }
        }
    }
}

fn live(run: Run) -> (State, String) {
    match Summary::live(run) {
        Ok(summary) => {
            (summary.standing().into(), summary.in_progress().unwrap_or_else(|| summary.verdict().to_owned()))
        }
        Err(failure) => (State::Unreadable, format!("unreadable: {}", failure.message())),
    }
}

/// Sorts runs, which are passed newest first.
pub fn sort(runs: &mut [Listed], by: Sort) {
    match by {
        Sort::Newest => {}
        Sort::Oldest => runs.reverse(),
        Sort::Target => runs.sort_by_cached_key(|run| run.run.target.clone()),
        Sort::Test => runs.sort_by_cached_key(|run| run.run.tests.join(",")),
        Sort::Profile => runs.sort_by_cached_key(|run| run.run.profile.clone()),
        Sort::State => runs.sort_by_key(|run| run.state),
    }
}
