//! What a run's journal leads to: outcomes, conformance and figures. A report also has pages about the course of
//! the run, which take longer to compute.

use pts::{Deviation, Outcome, Profile};
use record::{Entry, ExportedMeter, Loaded, RunFile};

use super::per_watt::comparable;
use crate::facts::conformance::{self, Conformance, Verdict};
use crate::facts::efficiency::{self, Meter};
use crate::facts::figures::{self, Figure};
use crate::facts::judged::JudgedRun;

/// The conclusions of a run, the same as those in its [`Document`](super::contents::Document).
#[derive(Debug, Clone)]
pub struct Findings {
    pub(super) profile: &'static Profile,
    pub(super) outcomes: Vec<Outcome>,
    /// Titles of the requested tests that were never started.
    pub(super) not_begun: Vec<String>,
    pub(super) modified: Vec<Deviation>,
    pub(super) conformance: Vec<Conformance>,
    /// Comparable figures, except those per watt.
    pub(super) figures: Vec<Figure>,
    /// The power source and the idle power; None if there is no source.
    pub(super) meter: Option<ExportedMeter>,
    /// Describes the power source and the idle power.
    pub(super) power: String,
    /// Whether the run was imported; the specification does not apply to such runs.
    is_imported: bool,
}

/// Evaluates a run, using the criteria of this version of Plateau. The response times per interval
/// ([`record::Series::times`]) do not matter.
///
/// # Errors
/// Same as [`fold`](super::fold::fold).
pub fn findings(run: &RunFile, loaded: &Loaded) -> Result<Findings, String> {
    let entries: &[Entry] = &loaded.entries;
    let mut replayed = pts::replay(run, entries)?;
    replayed.outcomes.iter_mut().filter(|outcome| outcome.stop.is_some()).for_each(omit_blank_pages);
    let not_begun = match &run.origin {
        Some(origin) => origin.not_begun.clone(),
        None => run
            .tests
            .iter()
            .filter(|name| !replayed.outcomes.iter().any(|outcome| outcome.test == name.as_str()))
            .map(|name| pts::Task::named(run, name).map(|task| task.title().to_owned()))
            .collect::<Result<_, _>>()?,
    };
    let (meter, power) = power(run, entries);
    let judged = JudgedRun { run, profile: Profile::of(run)?, outcomes: &replayed.outcomes, entries };
    let is_imported = run.origin.is_some();
    Ok(Findings {
        profile: judged.profile,
        not_begun,
        conformance: if is_imported { Vec::new() } else { conformance::statement(judged) },
        figures: figures::figures(judged),
        meter,
        power,
        is_imported,
        modified: replayed.modified,
        outcomes: replayed.outcomes,
    })
}

impl Findings {
    /// Returns the conclusions of the started tests, in order.
    #[must_use]
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// Returns all deviations from the profile.
    #[must_use]
    pub fn modified(&self) -> &[Deviation] {
        &self.modified
    }

    /// Returns the conformance of each test to the specification, clause by clause.
    #[must_use]
    pub fn conformance(&self) -> &[Conformance] {
        &self.conformance
    }

    /// Returns the conformance of the whole run; None for results from other tools, because the specification
    /// does not apply to them.
    #[must_use]
    pub fn run_verdict(&self) -> Option<Verdict> {
        let lacks_tests = self.outcomes.is_empty() || !self.not_begun.is_empty();
        (!self.is_imported).then(|| worst(lacks_tests, self.conformance.iter()))
    }

    /// Returns all figures that can be compared with other runs, including figures per watt. `run` and `entries` are
    /// those that were evaluated.
    #[must_use]
    pub fn comparable_figures(&self, run: &RunFile, entries: &[Entry]) -> Vec<Figure> {
        let judged = JudgedRun { run, profile: self.profile, outcomes: &self.outcomes, entries };
        comparable(judged, self.meter.as_ref(), &self.figures)
    }
}

/// Replaces the pages on which an incomplete test shows no results by a note.
fn omit_blank_pages(outcome: &mut Outcome) {
    let omitted: Vec<String> =
        outcome.pages.extract_if(.., |page| page.is_blank()).map(|page| page.title).collect();
    outcome.beyond.retain(|page| !page.is_blank());
    if outcome.pages.is_empty() {
        outcome.notes.push("There are no result pages, because nothing has been measured yet.".into());
    } else if !omitted.is_empty() {
        outcome.notes.push(format!("Pages without results are omitted: {}.", omitted.join("; ")));
    }
}

/// Returns the worst of these verdicts. A run in which a test is missing is not a result as defined by the
/// specification.
pub(super) fn worst<'a>(lacks_tests: bool, conformance: impl Iterator<Item = &'a Conformance>) -> Verdict {
    if lacks_tests {
        return Verdict::DoesNotConform;
    }
    conformance.map(|one| one.verdict).max().unwrap_or(Verdict::Conforms)
}

/// Returns the power meter used in a run, and its description.
fn power(run: &RunFile, entries: &[Entry]) -> (Option<ExportedMeter>, String) {
    let Some(origin) = &run.origin else {
        let meter = Meter::of(run, entries);
        return (meter.stated(), meter.statement());
    };
    let stated = origin.power.clone();
    let text = match &stated {
        Some(meter) => efficiency::statement(meter, None),
        None => format!("Power and efficiency: {}.", pts::ABSENT),
    };
    (stated, text)
}
