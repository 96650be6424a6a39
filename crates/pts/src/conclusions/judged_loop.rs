//! A loop of rounds that is judged for steady state. Most tests have one; some judge their preconditioning as well.

use crate::method::steady::WindowStats;

/// A loop of rounds that is judged for steady state.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedLoop {
    /// What its rounds are, in a test with several loops: `preconditioning`; empty in the others.
    pub name: &'static str,
    /// Number of completed rounds.
    pub rounds: u32,
    /// Whether it reached steady state.
    pub converged: bool,
    /// The deciding window; None before five rounds.
    pub window: Option<WindowStats>,
    /// The step of a round, from 0, that alone is judged and contributes to results; None if every step does.
    pub only_step: Option<u32>,
}

impl JudgedLoop {
    /// The rounds of the deciding window: `1-5`.
    #[must_use]
    pub fn window_rounds(&self) -> String {
        self.window.as_ref().map_or_else(|| "none".into(), |w| format!("{}-{}", w.first_round, w.last_round))
    }
}
