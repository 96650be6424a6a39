//! Determines which workloads a target supports.

use engine::{EngineError, NotZoned, check_depth, check_verifiable};
use record::{TargetFacts, TargetKind, Workload};

use crate::error::target::{DataProblem, TargetError};
use crate::error::{DriveError, WorkloadProblem};
use crate::sim;

/// Checks whether a target supports a workload, without accessing the target.
///
/// # Errors
/// Returns [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) with the reason and a valid alternative.
pub fn check(workload: &Workload, facts: &TargetFacts) -> Result<(), DriveError> {
    workload
        .validate(facts.capacity_bytes, facts.logical_block_bytes)
        .map_err(|problem| DriveError::target(&facts.path, problem))?;
    let unknown = (facts.kind == TargetKind::Simulated).then(|| sim::problem(workload)).flatten();
    let unverifiable = || check_verifiable(workload).err().map(DataProblem::from);
    if let Some(why) = unknown.or_else(unverifiable) {
        let problem = TargetError::Data { workload: Box::new(workload.clone()), why };
        return Err(DriveError::target(&facts.path, problem));
    }
    if facts.simulated.is_some() && workload.outstanding() > nandsim::MOST_IN_FLIGHT {
        let (threads, queue_depth) = (workload.threads, workload.queue_depth);
        let most = nandsim::MOST_IN_FLIGHT / u32::from(threads);
        let problem = WorkloadProblem::TooManyInFlight { threads, queue_depth, most };
        return Err(DriveError::Workload { workload: Box::new(workload.clone()), problem });
    }
    if facts.kind == TargetKind::File && workload.zoned().is_some() {
        let target = facts.path.clone();
        return Err(EngineError::NotZoned { target, why: NotZoned::NotADevice }.into());
    }
    Ok(check_depth(workload)?)
}

/// Rejects workloads that verify data on a simulated drive. Such a drive stores no data; it only computes where its
/// faults would have changed data.
pub(crate) fn stored(workload: &Workload, facts: &TargetFacts) -> Result<(), DriveError> {
    if workload.regime.verify && facts.kind == TargetKind::Simulated {
        let why = DataProblem::NothingStored;
        let problem = TargetError::Data { workload: Box::new(workload.clone()), why };
        return Err(DriveError::target(&facts.path, problem));
    }
    Ok(())
}

/// Rejects workloads with verification, for callers that ignore its results.
///
/// # Errors
/// Returns [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) if the workload verifies data.
pub fn unverified(workload: &Workload) -> Result<(), DriveError> {
    if workload.regime.verify {
        let problem = WorkloadProblem::Unverified;
        return Err(DriveError::Workload { workload: Box::new(workload.clone()), problem });
    }
    Ok(())
}
