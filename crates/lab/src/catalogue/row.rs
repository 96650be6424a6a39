//! A run in a list.

use std::sync::Arc;

use follow::Stamp;
use jiff::Timestamp;
use pts::{Standing, Unit};
use record::Candidate;

use super::facts::Facts;

/// State of a run, or why it is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    Known(Standing),
    Unreadable(String),
}

impl State {
    /// Returns the state as a word, also used by filters.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Known(Standing::Running) => "running",
            Self::Known(Standing::Steady) => "steady",
            Self::Known(Standing::Unsteady) => "unsteady",
            Self::Known(Standing::Complete) => "complete",
            Self::Known(Standing::Incomplete) => "incomplete",
            Self::Unreadable(_) => Self::UNREADABLE,
        }
    }

    pub const UNREADABLE: &'static str = "unreadable";
    pub const WORDS: [&'static str; 6] =
        ["running", "steady", "unsteady", "complete", "incomplete", Self::UNREADABLE];
}

/// A key figure of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    pub test: Arc<str>,
    pub name: Arc<str>,
    pub value: f64,
    pub unit: Unit,
    pub decimals: usize,
    pub host_limited: bool,
}

/// A run in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub file: Arc<Facts>,
    pub state: State,
    /// Number of records in the journal.
    pub records: usize,
    pub last_record: Option<Timestamp>,
    pub figures: Vec<Figure>,
    /// Number of deviations from the profile.
    pub deviations: usize,
    /// Whether lists omit the run unless archived runs are requested.
    pub archived: bool,
}

impl Row {
    /// Returns a key that distinguishes the drive from others.
    pub fn drive(&self) -> String {
        let drive = self.file.target.drive();
        // Imported results are not mixed with results measured by this Plateau.
        if self.file.imported { format!("imported:{drive}") } else { drive }
    }

    /// Marks that must be shown with the run's figures.
    pub fn marks(&self) -> Vec<&'static str> {
        let mut marks = Vec::new();
        marks.extend(self.file.target.simulated.as_ref().map(|_| "SIMULATED"));
        marks.extend(self.file.imported.then_some("IMPORTED"));
        marks.extend((self.deviations > 0).then_some("MODIFIED"));
        marks.extend(match self.state {
            State::Known(Standing::Unsteady) => Some("NOT STEADY"),
            State::Known(Standing::Incomplete) => Some("NOT COMPLETE"),
            _ => None,
        });
        marks
    }
}

/// A run with its row, and the stamps of its files when the row was derived.
#[derive(Debug)]
pub struct Known {
    pub place: Candidate,
    pub run_file: Option<Stamp>,
    pub journal: Option<Stamp>,
    pub row: Arc<Row>,
}
