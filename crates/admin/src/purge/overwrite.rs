//! Last resort: the host writes zeroes to the whole device.

use record::PurgeEvidence;

use super::method::{Job, Method, Offer, hits_no_others};
use crate::error::{AdminError, Step};

const PIECE_BYTES: u64 = 1 << 20;

/// The method.
pub(super) const METHOD: Method = Method {
    name: "overwrite",
    label: "zeroes written by the host (not a PTS purge)",
    is_pts: false,
    offer: |_| Offer::Yes,
    hits_others: hits_no_others,
    run,
};

fn run(job: &mut Job<'_>) -> Result<Vec<PurgeEvidence>, AdminError> {
    job.recheck()?;
    let (all, zeroes) = (job.can.capacity_bytes, vec![0; PIECE_BYTES as usize]);
    for start in (0..all).step_by(PIECE_BYTES as usize) {
        let length = PIECE_BYTES.min(all - start);
        job.admin
            .write(start, &zeroes[..length as usize])
            .map_err(|fault| fault.during(Step::WriteZeroes(start)))?;
        job.written(start + length, all)?;
    }
    Ok(Vec::new())
}
