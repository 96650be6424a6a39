//! Verifies a purge with samples that are written before it and searched for afterwards.
//!
//! The drive's previous content proves nothing, because the drive may have been blank.

use super::method::Job;
use crate::error::AdminError;

/// Number of places on the drive, including the first and the last block.
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
    // Each purge has distinct samples, so that those of an earlier purge are not mistaken for them.
    let mut random = stdx::Rng::from_seed(job.admin.now_ns() ^ job.can.capacity_bytes);
    let mut written = Vec::new();
    for index in 0..count {
        let at = (blocks - 1) * index / (count - 1).max(1) * block_bytes;
        let mut content = vec![0; block_bytes as usize];
        random.fill(&mut content);
        job.admin.write(at, &content).map_err(|fault| failed(&fault, "writing", at))?;
        let mut back = vec![0; content.len()];
        job.admin.read(at, &mut back).map_err(|fault| failed(&fault, "reading back", at))?;
        if back != content {
            return Err(AdminError::device(format!(
                "the sample at byte {at} did not read back as written: the drive does not retain data; \
                 replace it"
            )));
        }
        written.push((at, content));
    }
    Ok(Samples { written })
}

/// Reads the sample locations again: no sample may have survived.
pub(super) fn check(job: &mut Job<'_>, samples: &Samples) -> Result<String, AdminError> {
    job.step("looking for the samples");
    let (mut zero, mut other, mut unreadable) = (0, 0, 0);
    for (at, content) in &samples.written {
        let mut now = vec![0; content.len()];
        match job.admin.read(*at, &mut now) {
            // After a cryptographic erase, blocks may be unreadable until rewritten.
            Err(_) => unreadable += 1,
            Ok(()) if survived(content, &now) => {
                return Err(AdminError::device(format!(
                    "the purge reported success, but what was written at byte {at} before is still there: \
                     the drive was not purged; do not rely on this method, and choose another one with \
                     --method"
                )));
            }
            Ok(()) if now.iter().all(|&byte| byte == 0) => zero += 1,
            Ok(()) => other += 1,
        }
    }
    Ok(format!(
        "verified: of {} samples {zero} read as zeroes, {other} as other data, {unreadable} were unreadable",
        samples.written.len()
    ))
}

/// Whether any 512-byte piece is unchanged.
fn survived(before: &[u8], now: &[u8]) -> bool {
    before.chunks(512).zip(now.chunks(512)).any(|(before, now)| before == now)
}

fn failed(fault: &crate::command::Fault, what: &str, at: u64) -> AdminError {
    fault.during(&format!("{what} a sample at byte {at}"), "see the kernel log")
}
