//! The progress of a run, and whether its tests reached steady state.

use record::{Entry, Event};
use serde::{Deserialize, Serialize};

use crate::Outcome;

/// State of a run whose journal can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Standing {
    /// A process is working on the run.
    Running,
    /// Complete; all tests that require steady state reached it.
    Steady,
    /// Complete; a test did not reach steady state.
    Unsteady,
    /// Complete; no test requires steady state.
    Complete,
    /// Interrupted, or a drive failed.
    Incomplete,
}

impl Standing {
    /// Determines the state of a run from its journal and outcomes. `in_progress` says whether a process has
    /// locked the journal.
    #[must_use]
    pub fn of(entries: &[Entry], outcomes: &[Outcome], in_progress: bool) -> Self {
        let is_closed = entries.iter().any(|entry| matches!(entry.event, Event::Closed));
        if !is_closed && in_progress {
            Self::Running
        } else if !is_closed || outcomes.iter().any(|outcome| outcome.stop.is_some()) {
            Self::Incomplete
        } else if outcomes.iter().any(|outcome| outcome.converged == Some(false)) {
            Self::Unsteady
        } else if outcomes.iter().any(|outcome| outcome.converged == Some(true)) {
            Self::Steady
        } else {
            // All tests are timelines, which do not reach steady state.
            Self::Complete
        }
    }

    /// Returns the verdict on all tests, as printed.
    #[must_use]
    pub const fn verdict(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Incomplete => "not complete",
            Self::Unsteady => "steady state not reached",
            Self::Steady => "steady state",
            Self::Complete => "complete",
        }
    }
}
