//! Compares the notes and verdicts in a journal with those of a replay by this build.

use record::{Entry, Event, Judgement, Note, Purged, RunFile, Segment, Workload};

use crate::{Bench, Context, Outcome, Replay, Stop, Task};

/// Relative tolerance for equal values: a decimal number in a journal may lose its last bit.
const TOLERANCE: f64 = 1e-9;

/// One test of a run, evaluated again.
#[derive(Debug, Clone, PartialEq)]
pub struct Verified {
    /// Name of the test.
    pub test: String,
    /// Number of recorded evaluations that were compared.
    pub judgements: usize,
    /// Whether the recorded end was compared; false for an interrupted test.
    pub ended: bool,
    /// Differences from this build's evaluation, in journal order.
    pub differences: Vec<Difference>,
}

/// A difference between the journal and this build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Sequence number of the journal record; None if the record is missing from the journal.
    pub record: Option<u64>,
    /// Describes both sides.
    pub text: String,
}

/// Records of a test since it started or restarted.
#[derive(Default)]
struct Recorded<'a> {
    judged: Vec<(u64, &'a Judgement)>,
    ended: Option<(u64, Option<bool>)>,
    last: u64,
}

/// Evaluates every started test of a run again.
///
/// # Errors
/// Returns an error if this build lacks the profile or a test.
pub fn verify(run: &RunFile, entries: &[Entry]) -> Result<Vec<Verified>, String> {
    let context = Context::of(run)?;
    let mut all = Vec::new();
    for name in &run.tests {
        let Some(recorded) = recorded(name, entries) else { continue };
        let mut listener = Listener { replay: Replay::of(name, entries), judged: Vec::new() };
        let outcome = Task::named(run, name)?.run(&context, &mut listener);
        all.push(Verified {
            test: name.clone(),
            judgements: recorded.judged.len(),
            ended: recorded.ended.is_some(),
            differences: differences(&recorded, &listener, &outcome),
        });
    }
    Ok(all)
}

fn recorded<'a>(test: &str, entries: &'a [Entry]) -> Option<Recorded<'a>> {
    let mut found: Option<Recorded<'a>> = None;
    let mut inside = false;
    for entry in entries {
        match &entry.event {
            Event::TestStarted { test: name } | Event::Restarted { test: name } => {
                inside = name == test;
                if inside {
                    found = Some(Recorded::default());
                }
            }
            Event::Noted(Note::Judged(judgement)) if inside => {
                found.as_mut()?.judged.push((entry.seq, judgement));
            }
            Event::TestEnded { test: name, converged } if name == test => {
                inside = false;
                found.get_or_insert_default().ended = Some((entry.seq, *converged));
            }
            _ => {}
        }
        if let Some(recorded) = found.as_mut().filter(|_| inside) {
            recorded.last = entry.seq;
        }
    }
    found
}

fn differences(recorded: &Recorded<'_>, now: &Listener<'_>, outcome: &Outcome) -> Vec<Difference> {
    let mut all = Vec::new();
    for (index, (seq, then)) in recorded.judged.iter().enumerate() {
        let text = match now.judged.get(index) {
            None => Some(format!(
                "the journal evaluates round {}, but this build evaluates no round here",
                then.round
            )),
            Some(today) => contrast(then, today),
        };
        all.extend(text.map(|text| Difference { record: Some(*seq), text }));
    }
    // If a run was killed between its last result and the note about it, that note is missing.
    let lost = usize::from(recorded.ended.is_none() && now.replay.is_exhausted());
    for today in now.judged.iter().skip(recorded.judged.len() + lost) {
        let text = format!(
            "this build finds round {} {}, but the journal contains no verdict on it",
            today.round,
            word(today)
        );
        all.push(Difference { record: None, text });
    }
    all.extend(contrast_ends(recorded, now, outcome));
    all
}

fn contrast_ends(recorded: &Recorded<'_>, now: &Listener<'_>, outcome: &Outcome) -> Option<Difference> {
    let verdict = |converged: Option<bool>| match converged {
        Some(true) => "steady state",
        Some(false) => "steady state not reached",
        None => "complete, no steady state required",
    };
    let differ = |record, text| Some(Difference { record: Some(record), text });
    match (&outcome.stop, recorded.ended) {
        (Some(stop @ (Stop::Diverged(_) | Stop::Failed(_) | Stop::Interrupted(_) | Stop::Stated(_))), _) => {
            differ(recorded.last, stop.to_string())
        }
        (Some(Stop::EndOfJournal), Some((seq, _))) => {
            differ(seq, "the test ends here, but this build would continue it".into())
        }
        (None, _) if !now.replay.is_exhausted() => {
            differ(recorded.last, "this build ends the test before its last recorded result".into())
        }
        (None, Some((seq, then))) if then != outcome.converged => {
            let (then, today) = (verdict(then), verdict(outcome.converged));
            differ(seq, format!("the recorded verdict is '{then}', but this build says '{today}'"))
        }
        (None | Some(Stop::EndOfJournal), _) => None,
    }
}

fn word(judgement: &Judgement) -> &'static str {
    if judgement.steady { "steady" } else { "not steady" }
}

/// Describes how two evaluations of a round differ; None if they agree.
fn contrast(then: &Judgement, today: &Judgement) -> Option<String> {
    if then.round != today.round {
        return Some(format!(
            "the journal evaluates round {}, but this build evaluates round {}",
            then.round, today.round
        ));
    }
    let round = then.round;
    if then.steady != today.steady {
        return Some(format!("round {round} was {}, but this build says {}", word(then), word(today)));
    }
    let names = |j: &Judgement| j.variables.iter().map(|v| v.name.clone()).collect::<Vec<_>>().join(", ");
    if names(then) != names(today) {
        return Some(format!("round {round} tracks {}, but this build tracks {}", names(then), names(today)));
    }
    let texts = then.variables.iter().zip(&today.variables).filter_map(|(then, today)| {
        let figures = |v: &record::VariableJudgement| {
            let percent = |share: Option<f64>| share.map_or("none".into(), |s| format!("{:.6} %", s * 100.0));
            let (range, slope) = (percent(v.range_share), percent(v.slope_share));
            format!(
                "{} (range {range}, slope {slope}, {})",
                v.value,
                if v.steady { "steady" } else { "not steady" }
            )
        };
        let same = equal(Some(then.value), Some(today.value))
            && equal(then.range_share, today.range_share)
            && equal(then.slope_share, today.slope_share)
            && then.steady == today.steady;
        let text =
            || format!("round {round}, {}: recorded {}, now {}", then.name, figures(then), figures(today));
        (!same).then(text)
    });
    let text = texts.collect::<Vec<_>>().join("; ");
    (!text.is_empty()).then_some(text)
}

fn equal(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= TOLERANCE * a.abs().max(b.abs()),
        (a, b) => a.is_none() && b.is_none(),
    }
}

/// A replay that also records the evaluations of rounds.
struct Listener<'a> {
    replay: Replay<'a>,
    judged: Vec<Judgement>,
}

impl Bench for Listener<'_> {
    fn purge(&mut self) -> Result<Purged, Stop> {
        self.replay.purge()
    }
    fn write(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        self.replay.write(workload)
    }
    fn run(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        self.replay.run(workload)
    }
    fn idle(&mut self, length_ns: u64) -> Result<(), Stop> {
        self.replay.idle(length_ns)
    }
    fn note(&mut self, note: Note) -> Result<(), Stop> {
        if let Note::Judged(judgement) = note {
            self.judged.push(judgement);
        }
        Ok(())
    }
}
