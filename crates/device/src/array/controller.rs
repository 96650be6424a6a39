//! The interface to programs that create arrays.

use std::path::PathBuf;

use admin::purge::{PurgeOptions, Purging};
use engine::{Clock, Flow};
use record::Purged;

use super::note::NotedMember;
use super::plan::ArrayPlan;
use crate::error::DriveError;
use crate::error::array::Defect;

/// Creates and dismantles arrays.
pub(crate) trait ArrayController: Send {
    /// Returns the program's name and version; fails if the program is not available.
    fn version(&mut self) -> Result<String, DriveError>;

    /// Creates the array and returns its node. Never prompts on a terminal and writes only metadata.
    fn create(&mut self, plan: &ArrayPlan) -> Result<PathBuf, DriveError>;

    /// Verifies that a block device is the array that was created.
    fn recognise(&mut self, plan: &ArrayPlan, found: &Found) -> Result<(), DriveError>;

    /// Starts the initial synchronisation of the members if it does not start automatically. Called once the
    /// array is open and verified; all data on it is destroyed afterwards.
    fn begin(&mut self, plan: &ArrayPlan) -> Result<(), DriveError>;

    /// Returns the state of the array.
    fn state(&mut self, plan: &ArrayPlan) -> Result<State, DriveError>;

    /// Stops the array, whatever its current name; a missing array is not an error.
    fn stop(&mut self, plan: &ArrayPlan) -> Result<(), DriveError>;

    /// Removes this array's metadata from a drive and verifies the removal; a drive without it is left
    /// unchanged. Returns `false` if the drive cannot be found.
    fn free(&mut self, plan: &ArrayPlan, member: &NotedMember) -> Result<bool, DriveError>;

    /// Purges members that only the controller can access. Block devices are purged individually instead.
    fn purge(
        &mut self,
        plan: &ArrayPlan,
        options: &PurgeOptions,
        clock: Clock,
        on_progress: &mut dyn FnMut(Purging<'_>) -> Flow,
    ) -> Result<Vec<Purged>, DriveError>;
}

/// A block device that may be the array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) node: String,
    /// Kernel names of the underlying devices.
    pub(crate) lower: Vec<String>,
    /// World-wide name as reported by the kernel.
    pub(crate) wwid: Option<String>,
}

/// State of an array.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum State {
    /// All members are working, and no background operation is running.
    Whole,
    /// The members are being synchronised. Contains the name of the operation and the completed fraction.
    Syncing(String, f64),
    /// The array is no longer intact; contains the reason.
    Broken(Defect),
}
