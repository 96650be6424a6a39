//! A loop of rounds whose steady state is evaluated: each test has one, and in some tests, preconditioning is
//! another.

use crate::method::steady::WindowStats;

/// A loop of rounds whose steady state is evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedLoop {
    /// In a test with several loops, the purpose of this one, such as `preconditioning`; otherwise empty.
    pub name: &'static str,
    /// Number of completed rounds; where an interruption begins new rounds, the number since the last one.
    pub rounds: u32,
    /// Whether the loop reached steady state.
    pub converged: bool,
    /// The window on which the verdict is based; None until five rounds are complete.
    pub window: Option<WindowStats>,
    /// Index of the only step in a round that is evaluated and contributes to results; None if every step does.
    pub only_step: Option<u32>,
}

impl JudgedLoop {
    /// Returns the rounds of this window, such as `1-5`.
    #[must_use]
    pub fn window_rounds(&self) -> String {
        self.window.as_ref().map_or_else(|| "none".into(), |w| format!("{}-{}", w.first_round, w.last_round))
    }
}
