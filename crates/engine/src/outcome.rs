//! How a load ended.

use record::{Effort, Segment};

/// How a workload ended.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "one value per workload")]
pub enum LoadOutcome {
    /// The workload ran to completion.
    Finished(Segment),
    /// The receiver of the ticks stopped the workload. Incomplete measurements are discarded.
    Stopped,
}

impl LoadOutcome {
    /// Returns the CPU cost. `None` for a simulated drive, or if the workload was stopped.
    #[must_use]
    pub fn effort(&self) -> Option<Effort> {
        match self {
            Self::Finished(segment) => segment.host.as_ref().map(|host| host.effort),
            Self::Stopped => None,
        }
    }
}
