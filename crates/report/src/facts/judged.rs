//! A run together with the outcomes that this build derives from its journal: the input of most facts.

use pts::{Outcome, Profile};
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
    let outcome = outcomes.iter().find(|outcome| outcome.test == answer.test);
    let window = outcome.and_then(|outcome| match &outcome.precondition_window {
        Some(window) if answer.loops_before == 0 => Some(window),
        _ => Some(&outcome.window.first()?.1),
    });
    window.zip(answer.round).is_some_and(|(s, round)| (s.first_round..=s.last_round).contains(&round))
}
