//! Converts signatures on a target to refusals.

use std::fs::File;
use std::io;

use signatures::Finding;

use crate::refusal::Refusal;

/// Returns a refusal for each signature on the target.
///
/// # Errors
/// Returns an error if the target cannot be read.
pub(crate) fn refusals(device: &File, capacity_bytes: u64, target: &str) -> io::Result<Vec<Refusal>> {
    let refusal = |finding| match finding {
        Finding::Signature(signature) => Refusal::Signature(signature),
        Finding::Undecided(what) => Refusal::Unknown { what },
    };
    Ok(signatures::find(device, capacity_bytes, target)?.into_iter().map(refusal).collect())
}
