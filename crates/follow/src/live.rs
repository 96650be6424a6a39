//! The displayed state of a run in progress, derived from its journal: its position, the state of the
//! steady-state window, and the results of the last cell. Pure.

use std::collections::BTreeMap;

use estimate::phase::{self, Phase};
use pts::Standing;
use pts::explain::Explanation;
use pts::forecast::Forecast;
use pts::steady::{RANGE_LIMIT, SLOPE_LIMIT, WINDOW_ROUNDS};
use record::{CustomRounds, CustomTest, Entry, Event, Health, Note, RunFile, Segment};
use stdx::units::{count_of, grouped, span};

use crate::snapshot::Snapshot;

/// The rounds of a test that has a fixed number of them: a custom test, or the zones of a hard disk, without a purge and
/// preconditioning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FixedRounds {
    /// What a round is called.
    pub name: &'static str,
    /// Number of rounds.
    pub count: u32,
}

impl FixedRounds {
    /// Returns the rounds of `test`, which is not a custom test; None if another condition ends it.
    #[must_use]
    pub fn of(test: &str) -> Option<Self> {
        let test = pts::Test::named(test).ok()?;
        Some(Self { name: test.round_name, count: test.fixed_rounds? })
    }

    /// Same as [`of`](Self::of), for a test that may be one of these custom tests.
    fn among(custom: &[CustomTest], test: &str) -> Option<Self> {
        match named(custom, test).map(|test| test.rounds) {
            Some(CustomRounds::Fixed(count)) => Some(Self { name: "round", count }),
            Some(CustomRounds::UntilSteady) => None,
            None => Self::of(test),
        }
    }
}

/// Returns the custom test with this name.
fn named<'a>(custom: &'a [CustomTest], name: &str) -> Option<&'a CustomTest> {
    custom.iter().find(|test| test.name == name)
}

/// Returns the custom tests of a run.
fn custom_tests(file: &RunFile) -> &[CustomTest] {
    file.plan.as_ref().map_or(&[][..], |plan| &plan.custom_tests)
}

/// A part of a test or run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Name of the part.
    pub name: String,
    /// The position of the run relative to this part.
    pub place: Place,
}

/// The position of a run relative to one of its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The part is complete.
    Done,
    /// The part is in progress.
    Now,
    /// The part has not started.
    Ahead,
}

/// A tracking variable of the current test.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// Name of the variable.
    pub name: String,
    /// Round and value, since the window last restarted.
    pub values: Vec<(u32, f64)>,
    /// Range and slope of the last window as fractions of its mean; None until there are five rounds.
    pub shares: Option<(f64, f64)>,
    /// Whether the variable is steady.
    pub steady: bool,
    /// Why the variable is not steady, or when steady state is expected.
    pub text: String,
    /// Round in which the variable is expected to be steady.
    pub forecast: Option<u32>,
}

impl Variable {
    /// Returns how far the window is from steady state: 1 at the limit of range or slope.
    pub fn excess(&self) -> f64 {
        self.shares.map_or(0.0, |(range, slope)| (range / RANGE_LIMIT).max(slope / SLOPE_LIMIT))
    }

    /// Returns the values in the last window.
    #[must_use]
    pub fn window(&self) -> &[(u32, f64)] {
        &self.values[self.values.len().saturating_sub(WINDOW_ROUNDS)..]
    }
}

/// The state of a run for a live page.
#[derive(Debug)]
pub struct Live<'a> {
    /// The phase that follows the latest record.
    pub phase: Phase,
    /// One sentence that says where the run is and what that means.
    pub sentence: String,
    /// The sentence without the round and the cell; None if the run is not in a round.
    pub meaning: Option<String>,
    /// The rounds of the current test; None if their number is not fixed.
    pub fixed_rounds: Option<FixedRounds>,
    /// The parts of the run, in order.
    pub steps: Vec<Step>,
    /// The tracking variables of the current test.
    pub variables: Vec<Variable>,
    /// The last completed workload.
    pub latest: Option<&'a Segment>,
    /// The latest reading of the drive's health.
    pub health: Option<&'a Health>,
    /// Temperatures with their times, in ns on the target's clock.
    pub temperatures: Vec<(u64, f64)>,
    /// Bytes written.
    pub written_bytes: u64,
    /// Bytes to write, according to the shortest and the longest estimate.
    pub expected_written_bytes: Option<(u64, u64)>,
    /// Expected remaining time in ns, shortest and longest; None if unknown.
    pub left_ns: Option<(u64, u64)>,
}

impl<'a> Live<'a> {
    /// Derives the displayed state from a snapshot.
    #[must_use]
    pub fn of(snapshot: &'a Snapshot) -> Self {
        let (file, entries) = (&snapshot.run.file, &snapshot.loaded.entries[..]);
        let phase = begun(phase::phase(entries), custom_tests(file));
        let test = phase.test().map(ToOwned::to_owned).or_else(|| last_test(entries));
        let explained =
            snapshot.replayed.outcomes.iter().find(|outcome| Some(&outcome.test) == test.as_ref());
        let explained = explained.map_or(&[][..], |outcome| &outcome.explained);
        let variables = variables(test.as_deref(), entries, explained);
        let costs = estimate::cost::of_run(file, entries);
        let estimates: Vec<_> = costs.iter().filter_map(|cost| cost.estimated).collect();
        let sum = |one: fn(&record::Expense) -> u64| {
            let both = estimates.iter().map(|(shortest, longest)| (one(shortest), one(longest)));
            both.fold((0_u64, 0_u64), |all, each| {
                (all.0.saturating_add(each.0), all.1.saturating_add(each.1))
            })
        };
        Self {
            sentence: sentence(snapshot, &phase, &variables),
            meaning: match phase {
                Phase::Round { ref test, .. } if snapshot.standing == Standing::Running => {
                    Some(window_sentence(custom_tests(file), test, &variables))
                }
                _ => None,
            },
            fixed_rounds: phase.test().and_then(|test| FixedRounds::among(custom_tests(file), test)),
            steps: steps(file, entries, &phase),
            latest: entries.iter().rev().find_map(segment),
            health: entries.iter().rev().find_map(|entry| health(entry).map(|(_, health)| health)),
            temperatures: entries.iter().filter_map(temperature).collect(),
            written_bytes: costs.iter().map(|cost| cost.taken.written_bytes).sum(),
            expected_written_bytes: (!estimates.is_empty()).then(|| sum(|expense| expense.written_bytes)),
            left_ns: match snapshot.standing {
                // The clock of a simulated drive is unrelated to wall-clock time.
                Standing::Running if file.target.simulated.is_none() => phase::left_ns(file, entries),
                _ => None,
            },
            phase,
            variables,
        }
    }
}

/// Returns the phase of a custom test that begins without a purge.
fn begun(phase: Phase, custom: &[CustomTest]) -> Phase {
    match phase {
        Phase::Purge { test } if named(custom, &test).is_some_and(|test| !test.purge) => {
            Phase::Preconditioning { test }
        }
        phase => phase,
    }
}

/// Returns the completed workload that an entry describes.
#[must_use]
pub const fn segment(entry: &Entry) -> Option<&Segment> {
    match &entry.event {
        Event::Measured(segment) | Event::Preconditioned(segment) => Some(segment),
        _ => None,
    }
}

const fn health(entry: &Entry) -> Option<(u64, &Health)> {
    match &entry.event {
        Event::Health { at_ns, health } => Some((*at_ns, health)),
        _ => None,
    }
}

fn temperature(entry: &Entry) -> Option<(u64, f64)> {
    let (at_ns, health) = health(entry)?;
    Some((at_ns, f64::from(health.temperature_celsius?)))
}

fn last_test(entries: &[Entry]) -> Option<String> {
    entries.iter().rev().find_map(|entry| match &entry.event {
        Event::TestStarted { test } | Event::Restarted { test } => Some(test.clone()),
        _ => None,
    })
}

/// Returns the values of each tracking variable of `test`.
fn variables(test: Option<&str>, entries: &[Entry], explained: &[Explanation]) -> Vec<Variable> {
    let mut values: BTreeMap<&str, Vec<(u32, f64)>> = BTreeMap::new();
    let mut latest: Vec<&record::VariableJudgement> = Vec::new();
    // Whether the latest judgement is about the current window.
    let mut is_current = false;
    let mut inside = false;
    for entry in entries {
        match &entry.event {
            Event::TestStarted { test: name } | Event::Restarted { test: name } => {
                inside = Some(name.as_str()) == test;
                values.clear();
                latest.clear();
            }
            Event::Noted(Note::WindowRestarted { .. }) if inside => {
                values.clear();
                is_current = false;
            }
            Event::Noted(Note::Judged(judgement)) if inside => {
                is_current = true;
                latest = judgement.variables.iter().collect();
                for variable in &judgement.variables {
                    let known = values.entry(&variable.name).or_default();
                    // Each part of the test counts its rounds from 1.
                    known.retain(|(round, _)| *round < judgement.round);
                    known.push((judgement.round, variable.value));
                }
            }
            _ => {}
        }
    }
    let text = |name: &str| {
        let found = explained.iter().find(|explanation| is_current && explanation.variable == name);
        let parts = found.map_or([None, None], |found| {
            [
                found.diagnosis.map(|diagnosis| diagnosis.to_string()),
                found.forecast.map(|forecast| forecast.to_string()),
            ]
        });
        parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    };
    let forecast = |name: &str| {
        let found = explained.iter().find(|explanation| is_current && explanation.variable == name)?;
        match found.forecast? {
            Forecast::Round(round) => Some(round),
            Forecast::TooLate { .. } | Forecast::Beyond | Forecast::TooFew | Forecast::NoCurve => None,
        }
    };
    let variable = |judged: &record::VariableJudgement| Variable {
        name: judged.name.clone(),
        values: values.get(judged.name.as_str()).cloned().unwrap_or_default(),
        shares: judged.range_share.zip(judged.slope_share).filter(|_| is_current),
        steady: judged.steady && is_current,
        text: text(&judged.name),
        forecast: forecast(&judged.name),
    };
    latest.into_iter().map(variable).collect()
}

fn steps(file: &RunFile, entries: &[Entry], phase: &Phase) -> Vec<Step> {
    let is_ended = |name: &str| {
        entries.iter().any(|entry| matches!(&entry.event, Event::TestEnded { test, .. } if test == name))
    };
    let mut steps = Vec::new();
    for test in &file.tests {
        let place = match phase.test() {
            _ if is_ended(test) => Place::Done,
            Some(current) if current == test => Place::Now,
            _ => Place::Ahead,
        };
        if place != Place::Now {
            steps.push(Step { name: test.clone(), place });
            continue;
        }
        let at = match phase {
            Phase::Purge { .. } => 0,
            Phase::Preconditioning { .. } => 1,
            _ => 2,
        };
        let parts = parts(custom_tests(file), test);
        if parts.len() < 2 {
            steps.push(Step { name: test.clone(), place });
            continue;
        }
        for (index, name) in parts {
            let place = match index.cmp(&at) {
                std::cmp::Ordering::Less => Place::Done,
                std::cmp::Ordering::Equal => Place::Now,
                std::cmp::Ordering::Greater => Place::Ahead,
            };
            steps.push(Step { name: format!("{test}: {name}"), place });
        }
    }
    steps
}

/// Returns the parts of a test, each with its position among all parts that a test may have.
fn parts(custom: &[CustomTest], test: &str) -> Vec<(usize, &'static str)> {
    let has = match named(custom, test) {
        Some(test) => [test.purge, !test.precondition.is_empty(), true],
        None => [FixedRounds::of(test).is_none(); 3],
    };
    let parts = ["purge", "preconditioning", "measurement"].into_iter().enumerate();
    parts.zip(has).filter_map(|(part, has)| has.then_some(part)).collect()
}

fn sentence(snapshot: &Snapshot, phase: &Phase, variables: &[Variable]) -> String {
    match snapshot.standing {
        Standing::Running => {}
        Standing::Incomplete => {
            return "The run is not complete, but no process is working on it. `plateau resume` continues after the last \
                    completed cell."
                .into();
        }
        standing => return format!("The run is complete: {}.", standing.verdict()),
    }
    match phase {
        Phase::Starting => "The run is starting.".into(),
        Phase::Purge { test } => {
            format!(
                "{test}: the drive is being purged, so that the test starts with the drive in a fresh state."
            )
        }
        Phase::Preconditioning { test } => {
            format!("{test}: preconditioning fills the drive before anything is measured.")
        }
        Phase::Round { test, round, cell, cells } => {
            let custom = custom_tests(&snapshot.run.file);
            let place = match FixedRounds::among(custom, test) {
                Some(FixedRounds { name, count }) => format!("{name} {round} of {count}"),
                None => format!("round {round}"),
            };
            format!("{test}: {place}, cell {cell} of {cells}. {}", window_sentence(custom, test, variables))
        }
        Phase::Measuring { test, finished } => {
            format!("{test}: {} completed since the purge.", count_of(*finished, "workload"))
        }
        Phase::Between => "A test has ended and the next one has not started.".into(),
    }
}

/// Returns why the test is not steady yet, or that it does not have to be.
fn window_sentence(custom: &[CustomTest], test: &str, variables: &[Variable]) -> String {
    let is_tracked =
        named(custom, test).is_some_and(|test| !test.tracked.is_empty()) || !variables.is_empty();
    if let Some(FixedRounds { name, count }) = FixedRounds::among(custom, test).filter(|_| !is_tracked) {
        return format!("The test consists of {}; it has no steady state.", count_of(count, name));
    }
    let rounds = variables.iter().map(|variable| variable.values.len()).min().unwrap_or(0);
    let window = u32::try_from(WINDOW_ROUNDS).unwrap_or(u32::MAX);
    if rounds < WINDOW_ROUNDS {
        let missing = window - u32::try_from(rounds).unwrap_or(0);
        let rounds = if missing == 1 { "round" } else { "rounds" };
        return format!(
            "Steady state is evaluated over {window} rounds; {missing} more {rounds} must be completed."
        );
    }
    let percent = |share: f64| grouped(share * 100.0, 1);
    let blocked: Vec<String> = variables
        .iter()
        .filter(|variable| !variable.steady)
        .filter_map(|variable| {
            let (range, slope) = variable.shares?;
            let what = match (range > RANGE_LIMIT, slope > SLOPE_LIMIT) {
                (true, true) => format!("range {} % and slope {} %", percent(range), percent(slope)),
                (true, false) => format!("range {} %", percent(range)),
                _ => format!("slope {} %", percent(slope)),
            };
            Some(format!("{} ({what})", variable.name))
        })
        .collect();
    if blocked.is_empty() {
        return "All tracking variables are steady.".into();
    }
    format!("Not steady yet because of {}.", blocked.join(", "))
}

/// Formats the span between the shortest and the longest estimate.
#[must_use]
pub fn estimate_text((shortest, longest): (u64, u64)) -> String {
    if shortest == longest {
        format!("about {}", span(shortest))
    } else {
        format!("{} to {}", span(shortest), span(longest))
    }
}

#[cfg(test)]
mod tests;
