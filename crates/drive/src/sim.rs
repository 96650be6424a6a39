//! A simulated drive as a target.

use record::{Purged, TargetFacts, Workload};

use crate::{DriveError, Flow, OpenOptions, Outcome, Tick};

/// A simulated drive that was asked for.
#[derive(Debug)]
pub(crate) enum SimulatedPlan {}

/// A simulated drive in its virtual time.
pub(crate) enum Simulated {}

impl SimulatedPlan {
    pub(crate) fn new(target: &str, _model: &str, _options: &OpenOptions) -> Result<Self, DriveError> {
        Err(DriveError::Unusable(format!("{target}: simulated drives are not built in yet")))
    }

    pub(crate) fn facts(&self) -> TargetFacts {
        match *self {}
    }

    pub(crate) fn build(&self) -> Simulated {
        match *self {}
    }
}

impl Simulated {
    pub(crate) fn now_ns(&self) -> u64 {
        match *self {}
    }

    pub(crate) fn purge(&mut self) -> Purged {
        match *self {}
    }

    pub(crate) fn run(&mut self, _: &Workload, _: &mut dyn FnMut(&Tick) -> Flow) -> Outcome {
        match *self {}
    }

    pub(crate) fn idle(&mut self, _: u64) {
        match *self {}
    }
}
