//! The results that a demand variation test received.

use record::{Purged, Segment};

use super::pattern::Pattern;
use super::points::{self, Chosen, Point};
use crate::conclusions::incidents::Incidents;
use crate::flows::precondition::Precondition;
use crate::method::history::History;
use crate::method::steady::WINDOW_ROUNDS;
use crate::method::timeline::Sample;

/// All results that the test received, whether or not it completed.
pub struct DemandAnswers {
    pub pattern: Pattern,
    pub purge: Option<Purged>,
    /// Part A: writes at the highest demand until they are steady.
    pub precondition: Precondition,
    /// The writes before each round, by minute.
    pub between: Vec<Sample>,
    /// The cells of each round, in loop order.
    pub rounds: Vec<Vec<Point>>,
    pub history: History,
    pub converged: bool,
    pub chosen: Option<Chosen>,
    pub histograms: Vec<Drawn>,
    pub incidents: Incidents,
}

/// The histogram run for one of the chosen points.
pub struct Drawn {
    pub pre_writes: Vec<Sample>,
    pub segment: Option<Segment>,
}

impl DemandAnswers {
    /// Returns the result rounds: the five rounds of the window or, if it is not full, its rounds so far.
    pub fn results(&self) -> &[Vec<Point>] {
        let taken = (self.history.len() as usize).clamp(1, WINDOW_ROUNDS);
        &self.rounds[self.rounds.len().saturating_sub(taken)..]
    }

    /// Mean of each cell over the result rounds, in loop order; empty before the first completed round.
    pub fn means(&self) -> Vec<Point> {
        points::means(self.results())
    }
}
