//! Runs measured by another tool or taken from a publication, displayed like Plateau's own runs.
//!
//! There is no profile to compare these runs with, and there are no results to replay. Steady state is
//! evaluated from the reported values; if the source disagrees, a note says so. Pages without reported figures
//! are omitted.

pub(crate) mod absent;
mod areas;
mod exported;
mod jobs;
mod loops;
mod saturation;
mod view;

use record::{Entry, Event, ExportedVerdict, ImportedTest, Origin, RunFile};

use crate::conclusions::header::{Convergence, Phases, TestHeader};
use crate::method::explain;
use crate::method::history::History;
use crate::{Acceptance, Outcome, Profile, Reason, Stop};
use absent::ABSENT;
use view::{Kind, TrackedSeries, View, judged};

/// The kinds that imported tests can have, except in files that Plateau exported.
const KINDS: &[Kind] = &[
    loops::IOPS,
    loops::THROUGHPUT,
    loops::THROUGHPUT_1024,
    loops::THROUGHPUT_128,
    loops::LATENCY,
    saturation::KIND,
    areas::IOPS,
    areas::THROUGHPUT,
    jobs::KIND,
];

/// Converts an imported run to its displayed form.
pub(crate) fn replay(run: &RunFile, origin: &Origin, entries: &[Entry]) -> Result<Vec<Outcome>, String> {
    let tests = entries.iter().filter_map(|entry| match &entry.event {
        Event::Imported(test) => Some(test),
        _ => None,
    });
    tests.map(|test| outcome(run, origin, test)).collect()
}

fn outcome(run: &RunFile, origin: &Origin, test: &ImportedTest) -> Result<Outcome, String> {
    let named = || KINDS.iter().find(|kind| kind.name == test.test);
    let kind = if test.exported.is_some() { Some(&exported::KIND) } else { named() };
    let kind = kind.ok_or_else(|| {
        format!("the imported run has a test '{}' that this version does not support", test.test)
    })?;
    let view = View { test, origin, target: &run.target, profile: Profile::of(run)? };
    let tracked = kind.tracked.map(|tracked| tracked(&view));
    let window = tracked.as_ref().and_then(|tracked| judged(test, tracked));
    let converged = window.map(|w| w.steady).or(test.steady);
    let mut notes = Vec::new();
    if let (Some(window), Some(stated)) = (window, test.steady)
        && window.steady != stated
    {
        let words = |steady: bool| if steady { "steady" } else { "not steady" };
        notes.push(format!(
            "according to the file, rounds {}-{} are {}, but their values are {}",
            window.first_round,
            window.last_round,
            words(stated),
            words(window.steady)
        ));
    }
    let exported = test.exported.as_ref();
    notes.extend(exported.iter().flat_map(|exported| exported.notes.iter().cloned()));
    if window.is_none() && test.steady.is_some() && exported.is_none() {
        notes.push("steady state according to the source, which contains no values to check it".into());
    }
    let explained = match &tracked {
        Some(tracked) if window.is_none_or(|w| !w.steady) => explained(tracked),
        _ => Vec::new(),
    };
    Ok(Outcome {
        test: test.test.clone(),
        title: exported.map_or_else(|| kind.title.into(), |exported| exported.title.clone()),
        subject: exported.map_or_else(|| kind.subject.into(), |exported| exported.title.clone()),
        clause: None,
        purpose: kind.purpose.into(),
        outline: test.outline.clone(),
        header: header(&view, converged),
        rounds: exported.and_then(|exported| exported.rounds).unwrap_or_else(|| view.rounds()),
        converged,
        ending: None,
        acceptance: exported.and_then(|exported| exported.acceptance.as_ref()).map(accepted),
        marks: exported.iter().flat_map(|exported| exported::marks(exported)).collect(),
        loops: Vec::new(),
        window: match exported {
            Some(exported) => exported::windows(exported),
            None => tracked.iter().zip(window).map(|(tracked, w)| (tracked.name.clone(), w)).collect(),
        },
        tracked_unit: match exported {
            Some(exported) => exported.tracked_unit.as_deref().and_then(crate::Unit::of_symbol),
            None => tracked.as_ref().map(|tracked| tracked.unit),
        },
        explained,
        pages: (kind.pages)(&view),
        beyond: Vec::new(),
        sweeps: Vec::new(),
        key_figures: (kind.figures)(&view),
        notes,
        modified: Vec::new(),
        host_limited: None,
        stop: exported.and_then(|exported| exported.stopped.clone()).map(Stop::Stated),
    })
}

/// The verdict in the file.
fn accepted(verdict: &ExportedVerdict) -> Acceptance {
    Acceptance {
        reasons: verdict.reasons.iter().cloned().map(Reason::Stated).collect(),
        unchecked: verdict.unchecked.clone(),
    }
}

fn explained(tracked: &TrackedSeries) -> Vec<explain::Explanation> {
    let mut history = History::of(vec![tracked.name.clone()]);
    for (round, value) in &tracked.points {
        history.judge(*round as u32, vec![*value]);
    }
    explain::explain(&history)
}

fn header(view: &View<'_>, converged: Option<bool>) -> TestHeader {
    let test = view.test;
    let stated = |text: &Option<String>| text.clone().unwrap_or_else(|| ABSENT.into());
    let [pc_ar, test_ar, ar_amount, ar_segments] =
        test.active_range.clone().unwrap_or_else(|| [ABSENT; 4].map(str::to_owned));
    TestHeader {
        requirement: "NOT PTS",
        purge: stated(&test.purge),
        workload_independent: Some(stated(&test.preconditioning)),
        workload_dependent: ABSENT.into(),
        data_pattern: ABSENT.into(),
        queue_depth: test.queue_depth,
        threads: test.threads,
        convergence: match converged {
            None => Convergence::NotSought,
            Some(true) => Convergence::Reached,
            Some(false) => Convergence::NotReached,
        },
        rounds: test.window.map_or_else(|| ABSENT.into(), |(first, last)| format!("{first}-{last}")),
        length: None,
        pc_ar,
        test_ar,
        ar_amount,
        ar_segments,
        phases: Phases::default(),
    }
}
