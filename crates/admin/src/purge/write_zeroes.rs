//! The device itself writes zeroes to the whole device.

use record::{PurgeEvidence, WhyNot};

use super::method::{Job, Method, Offer, hits_no_others};
use crate::error::{AdminError, Step};

/// Number of bytes per command: small enough to report progress regularly.
const PIECE_BYTES: u64 = 1 << 30;

/// The method.
pub(super) const METHOD: Method = Method {
    name: "write-zeroes",
    label: "zeroes by the device's own command (not a PTS purge)",
    is_pts: false,
    offer: |can| {
        if can.write_zeroes { Offer::Yes } else { Offer::No(WhyNot::NoWriteZeroes) }
    },
    hits_others: hits_no_others,
    run,
};

fn run(job: &mut Job<'_>) -> Result<Vec<PurgeEvidence>, AdminError> {
    job.recheck()?;
    let all = job.can.capacity_bytes;
    for start in (0..all).step_by(PIECE_BYTES as usize) {
        let length = PIECE_BYTES.min(all - start);
        job.admin.write_zeroes(start, length).map_err(|fault| fault.during(Step::WriteZeroes(start)))?;
        job.written(start + length, all)?;
    }
    Ok(Vec::new())
}
