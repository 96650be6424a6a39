//! Conformance statement: the requirements of the specification, what was done, and the journal records that show it.
//!
//! A test conforms, is modified (every deviation is disclosed), or does not conform (it was not completed, or
//! its target is not a drive). A clause without journal records is reported as not recorded and does not
//! affect the verdict.

use std::cmp::Ordering;

use pts::profile::WriteCache;
use pts::{Deviation, JudgedLoop, Outcome, Profile, ReportedBy};
use record::{DataPattern, Entry, Event, Note, PlanFacts, RunFile, TargetKind};
use schemars::JsonSchema;
use serde::Serialize;
use stdx::units::{amount_base10, count_of, span};

use super::answers::{Answer, Phase, answers};
use super::judged::JudgedRun;

/// Conformance of a test to its specification, worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The journal contains no deviation from the specification.
    Conforms,
    /// The test deviates from the specification, and the report discloses every deviation.
    Modified,
    /// The test is not a result as defined by the specification.
    DoesNotConform,
}

impl Verdict {
    /// Returns the verdict as printed.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Conforms => "conforms",
            Self::Modified => "modified",
            Self::DoesNotConform => "does not conform",
        }
    }
}

/// One requirement of the specification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Clause {
    /// Subject: `Purge`.
    pub clause: String,
    /// The requirement.
    pub required: String,
    /// What was done.
    pub done: String,
    /// Null if the journal has no record of it.
    pub verdict: Option<Verdict>,
    /// The first and the last journal record that show it.
    pub records: Vec<u64>,
}

/// All clauses of one test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Conformance {
    /// Name of the test.
    pub test: String,
    /// Title as printed.
    pub title: String,
    /// The worst verdict of its clauses.
    pub verdict: Verdict,
    /// Clauses in the order in which they apply during a test.
    pub clauses: Vec<Clause>,
}

/// Returns the statements of all started tests.
pub(crate) fn statement(judged: JudgedRun<'_>) -> Vec<Conformance> {
    let all = answers(judged.entries);
    judged.outcomes.iter().map(|outcome| of_test(judged, &all, outcome)).collect()
}

fn of_test(judged: JudgedRun<'_>, all: &[Answer<'_>], outcome: &Outcome) -> Conformance {
    let JudgedRun { run, profile, entries, .. } = judged;
    let mine: Vec<&Answer<'_>> = all.iter().filter(|answer| answer.test == outcome.test).collect();
    // In tests without workload-independent preconditioning, unmeasured writes are steps of the test: ECW, CBW and
    // DIRTH write between rounds and before histograms.
    let has_preconditioning =
        outcome.header.workload_independent.is_some() || custom_plan(run, outcome).is_some();
    let (prepared, measured): (Vec<&Answer<'_>>, Vec<&Answer<'_>>) =
        mine.iter().copied().partition(|answer| has_preconditioning && answer.phase == Phase::Precondition);
    if let Some(plan) = custom_plan(run, outcome) {
        let clauses = vec![
            target(run),
            custom_test(profile, plan),
            pattern(&measured),
            write_cache(judged, outcome),
            errors(judged, outcome, &mine),
        ];
        return stated(outcome, clauses);
    }
    let mut clauses = vec![target(run), purge(entries, outcome)];
    clauses.push(preconditioning(judged, outcome, &prepared));
    clauses.push(pattern(&measured));
    clauses.push(settings(judged, outcome));
    clauses.push(write_cache(judged, outcome));
    clauses.push(course(outcome, &mine));
    clauses.push(steady_state(judged, outcome));
    clauses.push(errors(judged, outcome, &mine));
    clauses.extend(others(run, outcome));
    let not_pts = run.plan.iter().filter_map(|plan| plan.not_pts.as_ref());
    clauses.extend(
        not_pts.map(|why| clause("Plan", "none", format!("not PTS: {why}"), Some(Verdict::Modified), &[0])),
    );
    stated(outcome, clauses)
}

/// Returns the deviations that no other clause reports.
fn others(run: &RunFile, outcome: &Outcome) -> Option<Clause> {
    let shared = run.concurrent.iter().flat_map(|concurrent| &concurrent.shared).cloned();
    let mut others: Vec<Deviation> = shared.map(|what| Deviation::Shared { what }).collect();
    let is_other = |deviation: &&Deviation| deviation.reported_by() == ReportedBy::Others;
    others.extend(outcome.modified.iter().filter(is_other).cloned());
    let done = pts::listed(&others);
    (!others.is_empty()).then(|| clause("Other deviations", "none", done, Some(Verdict::Modified), &[]))
}

/// Returns the plan that defines `outcome` as a custom test.
fn custom_plan<'a>(run: &'a RunFile, outcome: &Outcome) -> Option<&'a PlanFacts> {
    run.plan.as_ref().filter(|plan| plan.custom_tests.iter().any(|test| test.name == outcome.test))
}

fn custom_test(profile: &Profile, plan: &PlanFacts) -> Clause {
    let required = format!("a test of {}", profile.revision);
    let done = format!("a custom test of the plan {}: not a PTS test", plan.title);
    clause("Test", &required, done, Some(Verdict::DoesNotConform), &[0])
}

fn stated(outcome: &Outcome, clauses: Vec<Clause>) -> Conformance {
    let verdict = clauses.iter().filter_map(|clause| clause.verdict).max().unwrap_or(Verdict::Conforms);
    Conformance { test: outcome.test.clone(), title: outcome.title.clone(), verdict, clauses }
}

fn clause(name: &str, required: &str, done: String, verdict: Option<Verdict>, records: &[u64]) -> Clause {
    let records = match records {
        [first, .., last] => vec![*first, *last],
        few => few.to_vec(),
    };
    Clause { clause: name.into(), required: required.into(), done, verdict, records }
}

fn records(answers: &[&Answer<'_>]) -> Vec<u64> {
    answers.iter().map(|answer| answer.record).collect()
}

fn target(run: &RunFile) -> Clause {
    if let Some(array) = &run.target.array {
        return clause(
            "Device under test",
            "a drive, at the block level",
            array.words(),
            Some(Verdict::Modified),
            &[0],
        );
    }
    let (done, verdict) = match run.target.kind {
        TargetKind::Block => ("block device".to_owned(), Verdict::Conforms),
        TargetKind::File => (of_file(run), Verdict::DoesNotConform),
        TargetKind::Simulated => ("simulated drive".to_owned(), Verdict::DoesNotConform),
        TargetKind::Imported => ("imported".to_owned(), Verdict::DoesNotConform),
    };
    clause("Device under test", "a drive, at the block level", done, Some(verdict), &[0])
}

fn of_file(run: &RunFile) -> String {
    match &run.file_system {
        Some(facts) => format!("through a file on {}: not a PTS result", facts.words()),
        None => "through a regular file: not a PTS result".into(),
    }
}

/// Returns the clause about the purge; only the last purge of the test counts.
fn purge(entries: &[Entry], outcome: &Outcome) -> Clause {
    let mut inside = false;
    let mut found = None;
    for entry in entries {
        match &entry.event {
            Event::TestStarted { test } | Event::Restarted { test } => inside = *test == outcome.test,
            Event::Purged(purged) if inside => found = Some((entry.seq, purged)),
            _ => {}
        }
    }
    let required = "a purge that the PTS accepts, immediately before the test";
    let Some((record, purged)) = found else {
        return clause("Purge", required, "none".into(), Some(Verdict::DoesNotConform), &[]);
    };
    let verdict = if purged.pts_purge { Verdict::Conforms } else { Verdict::Modified };
    clause("Purge", required, purged.method.clone(), Some(verdict), &[record])
}

fn preconditioning(judged: JudgedRun<'_>, outcome: &Outcome, prepared: &[&Answer<'_>]) -> Clause {
    let required = outcome.header.workload_independent.as_deref();
    let name = "Workload-independent preconditioning";
    if prepared.is_empty() {
        let verdict = if required.is_none() { Verdict::Conforms } else { Verdict::DoesNotConform };
        return clause(name, required.unwrap_or("none"), "none".into(), Some(verdict), &[]);
    }
    let standard = judged.profile.settings(0);
    let capacity = judged.run.target.capacity_bytes;
    let needed = u64::from(standard.precondition_capacities) * capacity;
    let written: u64 = prepared.iter().map(|answer| answer.segment.write.bytes).sum();
    // Skipping a partial block at the end is not a deviation.
    let enough = written + (1 << 20) >= needed;
    let verdict = if enough { Verdict::Conforms } else { Verdict::Modified };
    let required = format!("{} x capacity: {}", standard.precondition_capacities, amount_base10(needed));
    let done = format!("{} of {}", amount_base10(written), prepared[0].segment.workload);
    clause(name, &required, done, Some(verdict), &records(prepared))
}

fn pattern(measured: &[&Answer<'_>]) -> Clause {
    let random = measured.iter().all(|a| a.segment.workload.data_pattern == DataPattern::Random);
    let (done, verdict) = if random { ("random", Verdict::Conforms) } else { ("zeros", Verdict::Modified) };
    clause("Data pattern", "random", done.into(), Some(verdict), &records(measured))
}

/// Compares the settings of the run, and the durations within the test that follow from them, with the
/// profile.
fn settings(judged: JudgedRun<'_>, outcome: &Outcome) -> Clause {
    let settings = judged.run.settings.iter();
    let mut deviations: Vec<_> = settings.flat_map(|set| pts::deviations(set, judged.profile)).collect();
    let is_own = |deviation: &&Deviation| deviation.reported_by() == ReportedBy::Settings;
    deviations.extend(outcome.modified.iter().filter(is_own).cloned());
    let required = format!("as specified in {}", judged.profile.revision);
    let (done, verdict) = match deviations.is_empty() {
        true => ("as required".to_owned(), Verdict::Conforms),
        false => (pts::listed(&deviations), Verdict::Modified),
    };
    clause("Durations, amounts, range, demand", &required, done, Some(verdict), &[0])
}

fn write_cache(judged: JudgedRun<'_>, outcome: &Outcome) -> Clause {
    let word = |on: bool| if on { "enabled (WCE)" } else { "disabled (WCD)" };
    let required = judged.profile.write_cache == WriteCache::Enabled;
    let states = pts::write_cache_states(&outcome.test, judged.entries);
    let done: Vec<&str> = states.iter().map(|on| word(*on)).collect();
    let (done, verdict) = match states.iter().all(|on| *on == required) {
        // As on the pages.
        _ if states.is_empty() => ("requested, not set".into(), None),
        true => (done.join(", then "), Some(Verdict::Conforms)),
        false => (done.join(", then "), Some(Verdict::Modified)),
    };
    clause("Write cache", word(required), done, verdict, &[])
}

/// Returns the clause about interruptions. `all` contains all results of the test, including preconditioning,
/// because an interruption right after preconditioning is also an interruption of the test.
fn course(outcome: &Outcome, all: &[&Answer<'_>]) -> Clause {
    let required = "the whole test, without pauses between its steps";
    if let Some(stop) = &outcome.stop {
        return clause("Course", required, stop.to_string(), Some(Verdict::DoesNotConform), &records(all));
    }
    let gaps: Vec<&&Answer<'_>> = all.iter().filter(|a| a.segment.gap_before.is_some()).collect();
    if gaps.is_empty() {
        let done = format!("{} without pauses", count_of(all.len(), "step"));
        return clause("Course", required, done, Some(Verdict::Conforms), &records(all));
    }
    let total: u64 = gaps.iter().filter_map(|a| a.segment.gap_before).map(|gap| gap.length_ns).sum();
    let times = if gaps.len() == 1 { "once".to_owned() } else { format!("{} times", gaps.len()) };
    let done = format!("interrupted {times}, {} in total", span(total));
    let places: Vec<u64> = gaps.iter().map(|a| a.record).collect();
    clause("Course", required, done, Some(Verdict::Modified), &places)
}

/// After 25 rounds without steady state, the operator may continue or stop; both conform, and the report says which
/// it was. The specification does not allow the operator to stop earlier.
fn steady_state(JudgedRun { run, profile, entries, .. }: JudgedRun<'_>, outcome: &Outcome) -> Clause {
    let standard = profile.settings(0).max_rounds;
    let limit = run.settings.as_ref().map_or(standard, |settings| settings.max_rounds);
    let required = format!(
        "range within 20 % and slope within 10 % of the mean over five rounds; without it the operator may continue or \
         stop after {standard} rounds"
    );
    let mut inside = false;
    let mut judged = Vec::new();
    for entry in entries {
        match &entry.event {
            Event::TestStarted { test } | Event::Restarted { test } => inside = *test == outcome.test,
            Event::Noted(Note::Judged(_)) if inside => judged.push(entry.seq),
            _ => {}
        }
    }
    let last = judged.split_off(judged.len().saturating_sub(1));
    if let Some(ending) = &outcome.ending {
        let verdict = match (&outcome.stop, ending.deviates) {
            (Some(_), _) => Verdict::DoesNotConform,
            (None, true) => Verdict::Modified,
            (None, false) => Verdict::Conforms,
        };
        return clause("End of the test", &ending.required, ending.done.clone(), Some(verdict), &last);
    }
    let (done, verdict) = match (outcome.converged, &outcome.stop) {
        (Some(converged), _) => {
            let is_early = !converged && limit < standard;
            let verdict = if is_early { Verdict::Modified } else { Verdict::Conforms };
            (loops(outcome, limit, standard), Some(verdict))
        }
        (None, Some(_)) => ("not complete".into(), Some(Verdict::DoesNotConform)),
        (None, None) => ("the test does not end by steady state".into(), Some(Verdict::Conforms)),
    };
    clause("Steady state", &required, done, verdict, &last)
}

/// Returns how each evaluated loop of a test ended.
fn loops(outcome: &Outcome, limit: u32, standard: u32) -> String {
    let one = |judged: &JudgedLoop| {
        let name = if judged.name.is_empty() { String::new() } else { format!("{}: ", judged.name) };
        let continued = judged.rounds > standard;
        let ended = match (judged.converged, limit.cmp(&standard)) {
            (true, _) if continued => {
                format!(
                    "reached in rounds {}: the operator continued after {standard} rounds",
                    judged.window_rounds()
                )
            }
            (true, _) => format!("reached in rounds {}", judged.window_rounds()),
            (false, by) => {
                let by = match by {
                    Ordering::Less => "the operator stopped early",
                    Ordering::Equal => "the operator stopped",
                    Ordering::Greater => "the operator continued, then stopped",
                };
                format!("not reached in {}: {by}", count_of(judged.rounds, "round"))
            }
        };
        format!("{name}{ended}")
    };
    outcome.loops.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Returns the clause about failed I/Os. A failed I/O ends its workload, so few of the failed I/Os are in `all`,
/// which contains only completed workloads.
fn errors(judged: JudgedRun<'_>, outcome: &Outcome, all: &[&Answer<'_>]) -> Clause {
    let failures = pts::failures(&outcome.test, judged.entries);
    let count: u64 = failures.iter().map(|failed| failed.count).sum();
    let verdict = if count == 0 { Verdict::Conforms } else { Verdict::Modified };
    let places: Vec<u64> = failures.iter().map(|failed| failed.record).collect();
    let repeats: u64 = all.iter().filter_map(|a| a.segment.host.as_ref()).map(|host| host.repeats).sum();
    let done = match repeats {
        0 => count.to_string(),
        times => format!("{count}; retries requested by the kernel (EAGAIN, EINTR): {times}"),
    };
    clause("I/O errors", "none", done, Some(verdict), &places)
}
