//! The test's parameters and the results that it received.

use record::Purged;
use stdx::units::KIB;

use crate::conclusions::incidents::Incidents;
use crate::flows::precondition::Precondition;
use crate::method::profile::Cell;
use crate::method::timeline::Sample;

pub const STIMULUS: Cell = Cell { block_bytes: 4 * KIB as u32, read_percent: 0 };
/// Idle times as multiples of the burst length.
pub const WAIT_STATES: [u32; 5] = [1, 2, 3, 5, 10];
/// Access A: the burst.
pub const BURST_SECONDS: u32 = 5;

/// Length of access C, the return to the baseline.
pub const RETURN_MINUTES: u32 = 30;

/// All results that the test received, whether or not it completed.
pub struct RecoveryAnswers {
    pub purge: Option<Purged>,
    pub precondition: Precondition,
    pub states: Vec<State>,
    pub incidents: Incidents,
}

/// One wait state; sample times are in minutes since preconditioning.
pub struct State {
    pub wait: u32,
    pub bursts: Vec<Sample>,
    pub baseline: Vec<Sample>,
}

impl RecoveryAnswers {
    pub fn state(&mut self) -> &mut State {
        self.states.last_mut().expect("a wait state was begun")
    }
}
