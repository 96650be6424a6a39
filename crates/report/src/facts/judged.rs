//! A run together with the outcomes that this build derives from its journal: the input of most facts.

use pts::{JudgedLoop, Outcome, Profile};
use record::{Entry, RunFile};

use crate::facts::answers::Answer;

/// A run, its journal, and what a replay concludes from them.
#[derive(Clone, Copy)]
pub(crate) struct JudgedRun<'a> {
    pub run: &'a RunFile,
    pub profile: &'static Profile,
    pub outcomes: &'a [Outcome],
    pub entries: &'a [Entry],
}

/// Whether the round of `answer` is in the window by which its loop of rounds was judged.
pub(crate) fn in_window(outcomes: &[Outcome], answer: &Answer<'_>) -> bool {
    let window = loop_of(outcomes, answer).and_then(|judged| judged.window.as_ref());
    window.zip(answer.round).is_some_and(|(s, round)| (s.first_round..=s.last_round).contains(&round))
}

/// Whether `answer` contributes to the results of its loop: it is in the window, and in the only step that counts if
/// there is one.
pub(crate) fn is_result(outcomes: &[Outcome], answer: &Answer<'_>) -> bool {
    let counts = |judged: &JudgedLoop| judged.only_step.is_none_or(|step| answer.step == Some(step));
    in_window(outcomes, answer) && loop_of(outcomes, answer).is_some_and(counts)
}

/// What distinguishes the loop of `answer` from the one that results come from; None in the latter.
pub(crate) fn earlier_loop(outcomes: &[Outcome], answer: &Answer<'_>) -> Option<&'static str> {
    let outcome = outcomes.iter().find(|outcome| outcome.test == answer.test)?;
    let (_, earlier) = outcome.loops.split_last()?;
    earlier.get(answer.loops_before as usize).map(|judged| judged.name)
}

fn loop_of<'o>(outcomes: &'o [Outcome], answer: &Answer<'_>) -> Option<&'o JudgedLoop> {
    let outcome = outcomes.iter().find(|outcome| outcome.test == answer.test)?;
    outcome.loops.get(answer.loops_before as usize)
}
