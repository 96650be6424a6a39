//! A loop of rounds whose steady state is evaluated: one per test, and in some tests also preconditioning.

use crate::method::steady::WindowStats;

/// A loop of rounds whose steady state is evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedLoop {
    /// The purpose of the rounds in a test with several loops, such as `preconditioning`; empty otherwise.
    pub name: &'static str,
    /// Number of completed rounds.
    pub rounds: u32,
    /// Whether the loop reached steady state.
    pub converged: bool,
    /// The window on which the verdict is based; None before there are five rounds.
    pub window: Option<WindowStats>,
    /// The only step of a round, starting at 0, that is evaluated and contributes to results; None if every step does.
    pub only_step: Option<u32>,
}

impl JudgedLoop {
    /// Returns the rounds of this window, such as `1-5`.
    #[must_use]
    pub fn window_rounds(&self) -> String {
        self.window.as_ref().map_or_else(|| "none".into(), |w| format!("{}-{}", w.first_round, w.last_round))
    }
}
