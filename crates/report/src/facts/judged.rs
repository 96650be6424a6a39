//! A run together with the outcomes that this build derives from its journal: the input of most facts.

use pts::{Outcome, Profile};
use record::{Entry, RunFile};

/// A run, its journal, and what a replay concludes from them.
#[derive(Clone, Copy)]
pub(crate) struct JudgedRun<'a> {
    pub run: &'a RunFile,
    pub profile: &'static Profile,
    pub outcomes: &'a [Outcome],
    pub entries: &'a [Entry],
}

/// Whether the results of `test` include `round`.
pub(crate) fn in_window(outcomes: &[Outcome], test: &str, round: Option<u32>) -> bool {
    let outcome = outcomes.iter().find(|outcome| outcome.test == test);
    let window = outcome.and_then(|outcome| Some(&outcome.window.first()?.1));
    window.zip(round).is_some_and(|(s, round)| (s.first_round..=s.last_round).contains(&round))
}
