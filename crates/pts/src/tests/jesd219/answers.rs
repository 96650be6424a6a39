//! The test's parameters and the results that it received.

use record::{Purged, Segment};

use crate::flows::composite::Composite;
use crate::flows::rounds::Rounds;
use crate::method::profile::Demand;

/// Demand from the workload's public description.
pub const DEMAND: Demand = Demand { threads: 4, queue_depth: 256 };
pub const READ_PERCENT: u8 = 40;
/// Tracking variable.
pub const NAME: &str = "JESD219 40/60";

/// All results that the test received, whether or not it completed.
pub struct Jesd219Answers {
    pub composite: Composite,
    pub purge: Option<Purged>,
    pub precondition: Option<Segment>,
    pub rounds: Rounds,
}
