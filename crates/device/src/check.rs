//! Which workloads a target supports.

use engine::{check_depth, check_verifiable};
use record::{TargetFacts, TargetKind, Workload};

use crate::error::DriveError;
use crate::sim;

/// Checks whether a target supports a workload, without accessing the target.
///
/// # Errors
/// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) with what is impossible and what would be possible.
pub fn check(workload: &Workload, facts: &TargetFacts) -> Result<(), DriveError> {
    workload
        .validate(facts.capacity_bytes, facts.logical_block_bytes)
        .map_err(|e| DriveError::Invalid(format!("{}: {e}", facts.path)))?;
    let unknown = (facts.kind == TargetKind::Simulated).then(|| sim::problem(workload)).flatten();
    let unverifiable = || check_verifiable(workload).err().map(|problem| problem.to_string());
    if let Some(problem) = unknown.map(str::to_owned).or_else(unverifiable) {
        return Err(DriveError::Invalid(format!("{}: workload {workload}: {problem}", facts.path)));
    }
    if facts.simulated.is_some() && workload.outstanding() > nandsim::MOST_IN_FLIGHT {
        return Err(DriveError::Invalid(format!(
            "workload {workload}: TC {} x QD {} exceeds the number of commands that a simulated drive \
             accepts; use a QD of up to {}",
            workload.threads,
            workload.queue_depth,
            nandsim::MOST_IN_FLIGHT / u32::from(workload.threads)
        )));
    }
    Ok(check_depth(workload)?)
}

/// Rejects workloads with verification, for callers that ignore its results.
pub(crate) fn unverified(workload: &Workload) -> Result<(), DriveError> {
    if workload.regime.verify {
        return Err(DriveError::Invalid(format!(
            "workload {workload}: verify works only with `plateau load`"
        )));
    }
    Ok(())
}
