//! A run with the outcomes that this version derives from its journal: the input of most facts.

use pts::{JudgedLoop, Outcome, Profile};
use record::{Entry, RunFile};

use crate::facts::answers::Answer;

/// A run, its journal, and the outcomes that result from a replay.
#[derive(Clone, Copy)]
pub(crate) struct JudgedRun<'a> {
    pub run: &'a RunFile,
    pub profile: &'static Profile,
    pub outcomes: &'a [Outcome],
    pub entries: &'a [Entry],
}

/// Returns whether the round of `answer` is in the measurement window of its round loop.
pub(crate) fn in_window(outcomes: &[Outcome], answer: &Answer<'_>) -> bool {
    let window = loop_of(outcomes, answer).and_then(|judged| judged.window.as_ref());
    window.zip(answer.round).is_some_and(|(s, round)| (s.first_round..=s.last_round).contains(&round))
}

/// Returns whether `answer` contributes to the results of its loop: its round is in the window and, if only one
/// step of the round counts, it is that step.
pub(crate) fn is_result(outcomes: &[Outcome], answer: &Answer<'_>) -> bool {
    let counts = |judged: &JudgedLoop| judged.only_step.is_none_or(|step| answer.step == Some(step));
    in_window(outcomes, answer) && loop_of(outcomes, answer).is_some_and(counts)
}

/// If the test's results come from a later loop than `answer`, returns the name of the loop to which `answer`
/// belongs.
pub(crate) fn earlier_loop(outcomes: &[Outcome], answer: &Answer<'_>) -> Option<&'static str> {
    let outcome = outcomes.iter().find(|outcome| outcome.test == answer.test)?;
    let (_, earlier) = outcome.loops.split_last()?;
    earlier.get(answer.loops_before as usize).map(|judged| judged.name)
}

/// Returns whether `answer` contributes to the results of its test.
pub(crate) fn counts(outcomes: &[Outcome], answer: &Answer<'_>) -> bool {
    earlier_loop(outcomes, answer).is_none() && is_result(outcomes, answer)
}

fn loop_of<'o>(outcomes: &'o [Outcome], answer: &Answer<'_>) -> Option<&'o JudgedLoop> {
    let outcome = outcomes.iter().find(|outcome| outcome.test == answer.test)?;
    outcome.loops.get(answer.loops_before as usize)
}
