//! Verifies a purge with samples that are written before it and searched for afterwards.
//!
//! Searching for other previous content would prove nothing, because the drive may have been blank.

use record::PurgeEvidence;

use super::method::Job;
use crate::error::{AdminError, DriveFault, Step};

/// Number of sample locations on the drive, including the first and the last block.
const SAMPLES: u64 = 64;

/// The samples: offset and content.
pub(super) struct Samples {
    written: Vec<(u64, Vec<u8>)>,
}

/// Writes samples and reads them back.
pub(super) fn write(job: &mut Job<'_>) -> Result<Samples, AdminError> {
    job.step("writing samples");
    let block_bytes = u64::from(job.can.block_bytes).max(4096);
    let blocks = job.can.capacity_bytes / block_bytes;
    let count = SAMPLES.min(blocks);
    // Each purge uses unique samples, so that they are not confused with samples from an earlier purge.
    let mut random = stdx::Rng::from_seed(job.admin.now_ns() ^ job.can.capacity_bytes);
    let mut written = Vec::new();
    for index in 0..count {
        let at = (blocks - 1) * index / (count - 1).max(1) * block_bytes;
        let mut content = vec![0; block_bytes as usize];
        random.fill(&mut content);
        job.admin.write(at, &content).map_err(|fault| fault.during(Step::WriteSample(at)))?;
        let mut back = vec![0; content.len()];
        job.admin.read(at, &mut back).map_err(|fault| fault.during(Step::ReadSample(at)))?;
        if back != content {
            return Err(DriveFault::SampleLost(at).into());
        }
        written.push((at, content));
    }
    Ok(Samples { written })
}

/// Reads the sample locations again: no sample may have survived.
pub(super) fn check(job: &mut Job<'_>, samples: &Samples) -> Result<PurgeEvidence, AdminError> {
    job.step("searching for the samples");
    let (mut zeroes, mut other, mut unreadable) = (0, 0, 0);
    for (at, content) in &samples.written {
        let mut now = vec![0; content.len()];
        match job.admin.read(*at, &mut now) {
            // After a cryptographic erase, blocks may be unreadable until they are rewritten.
            Err(_) => unreadable += 1,
            Ok(()) if survived(content, &now) => {
                return Err(DriveFault::SampleSurvived(*at).into());
            }
            Ok(()) if now.iter().all(|&byte| byte == 0) => zeroes += 1,
            Ok(()) => other += 1,
        }
    }
    let samples = samples.written.len() as u32;
    Ok(PurgeEvidence::SamplesErased { samples, zeroes, other, unreadable })
}

/// Returns whether any 512-byte piece is unchanged.
fn survived(before: &[u8], now: &[u8]) -> bool {
    before.chunks(512).zip(now.chunks(512)).any(|(before, now)| before == now)
}
