//! The test's parameters and the results that it received.

use record::{Access, Purged};
use stdx::Histogram;
use stdx::units::KIB;

use crate::conclusions::incidents::Incidents;
use crate::method::profile::Demand;
use crate::method::timeline::Sample;

/// An access group. If a sequential group restarted every minute, it would write only the first part of the drive. A
/// group is therefore a single workload, and its minutes are samples of its series.
pub struct Group {
    pub access: Access,
    pub block_bytes: u32,
    pub hours: u32,
}

pub const GROUPS: [Group; 3] = [
    Group { access: Access::Sequential, block_bytes: 1024 * KIB as u32, hours: 8 },
    Group { access: Access::Random, block_bytes: 8 * KIB as u32, hours: 6 },
    Group { access: Access::Sequential, block_bytes: 1024 * KIB as u32, hours: 8 },
];
/// Recommended demand; the operator may override it for the run.
pub const DEMAND: Demand = Demand { threads: 1, queue_depth: 32 };

/// All results that the test received, whether or not it completed.
pub struct CrossAnswers {
    pub purge: Option<Purged>,
    /// The minutes of each completed access group.
    pub groups: Vec<Vec<Sample>>,
    /// The response times of each completed access group.
    pub times: Vec<Histogram>,
    pub incidents: Incidents,
}
