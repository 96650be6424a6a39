//! Reads back and verifies everything that a load has stamped.

use std::sync::Arc;

use super::content::Checks;
use super::target::Target;
use crate::error::{EngineError, FailedOperation, FailureCause, IoFailure};
use crate::progress::{Flow, Tick};
use crate::queue::buffers::Buffers;

const CHUNK_BYTES: u32 = 1 << 20;
/// Time between two ticks.
const TICK_NS: u64 = 250_000_000;

/// Reads and verifies all written blocks. Returns false if `on_tick` stopped it.
pub(super) fn read_back(
    target: &Target<'_>,
    checks: &mut Checks,
    on_tick: &mut dyn FnMut(&Tick) -> Flow,
) -> Result<bool, EngineError> {
    let Some(file) = target.fd else { return Ok(true) };
    let ledger = Arc::clone(&checks.ledger);
    let per_chunk = u64::from(CHUNK_BYTES / ledger.block_bytes).max(1);
    let chunk_bytes = per_chunk as u32 * ledger.block_bytes;
    let buffers = Buffers::new(1, chunk_bytes).map_err(EngineError::ReadBackMemory)?;
    // SAFETY: the slice has this length, is initialised (mmap returns zeros), and is used only by this
    // function.
    let buffer = unsafe { std::slice::from_raw_parts_mut(buffers.at(0), chunk_bytes as usize) };
    let (start_ns, all) = (target.clock.now_ns(), ledger.blocks());
    let (mut last_tick_ns, mut bytes) = (start_ns, 0);
    for first in (0..all).step_by(per_chunk as usize) {
        let blocks = first..(first + per_chunk).min(all);
        if !ledger.any_written(blocks.clone()) {
            continue;
        }
        let offset_bytes = ledger.start_bytes + first * u64::from(ledger.block_bytes);
        let length = ((blocks.end - first) * u64::from(ledger.block_bytes)) as usize;
        let failed = |cause: FailureCause| {
            EngineError::Io(Box::new(IoFailure {
                target: target.name.to_owned(),
                operation: FailedOperation::Read,
                length_bytes: length as u64,
                offset_bytes,
                cause,
                in_read_back: true,
                repeats: 0,
                errors: Vec::new(),
                cut: None,
            }))
        };
        match rustix::io::retry_on_intr(|| rustix::io::pread(file, &mut buffer[..length], offset_bytes)) {
            Ok(read) if read == length => checks.check(offset_bytes, &buffer[..length]),
            Ok(read) => return Err(failed(FailureCause::Short(read as u64))),
            Err(errno) => return Err(failed(FailureCause::Errno(errno.raw_os_error()))),
        }
        bytes += length as u64;
        let now_ns = target.clock.now_ns();
        if now_ns - last_tick_ns >= TICK_NS {
            let tick = Tick {
                elapsed_ns: now_ns - start_ns,
                interval_ns: now_ns - last_tick_ns,
                read_ios: bytes / u64::from(chunk_bytes),
                write_ios: 0,
                syncs: 0,
                bytes,
                latency_mean_ns: 0,
                latency_max_ns: 0,
                share_done: blocks.end as f64 / all as f64,
            };
            (last_tick_ns, bytes) = (now_ns, 0);
            if on_tick(&tick) == Flow::Stop {
                return Ok(false);
            }
        }
    }
    Ok(true)
}
