//! Reads back and verifies everything that a load has stamped.

use std::os::fd::BorrowedFd;

use super::Device;
use super::content::Checks;
use crate::error::{DriveError, errno_cause, errno_name};
use crate::queue::buffers::Buffers;
use crate::{Flow, Tick};

const CHUNK_BYTES: u32 = 1 << 20;
/// Time between two ticks.
const TICK_NS: u64 = 250_000_000;

/// Reads and verifies all written blocks. Returns false if `on_tick` stopped it.
pub(super) fn read_back(
    device: &Device<'_>,
    checks: &mut Checks,
    on_tick: &mut dyn FnMut(&Tick) -> Flow,
) -> Result<bool, DriveError> {
    let per_chunk = u64::from(CHUNK_BYTES / checks.block_bytes).max(1);
    let chunk_bytes = per_chunk as u32 * checks.block_bytes;
    let memory = |e: std::io::Error| DriveError::Unusable(format!("no memory to read back: {e}"));
    let buffers = Buffers::new(1, chunk_bytes).map_err(memory)?;
    // SAFETY: the slice has this length, is initialised (mmap returns zeros), and is used by this function
    // only.
    let buffer = unsafe { std::slice::from_raw_parts_mut(buffers.at(0), chunk_bytes as usize) };
    // SAFETY: the target keeps its file open until after this call.
    let file = unsafe { BorrowedFd::borrow_raw(device.fd) };
    let (start_ns, all) = (device.clock.now_ns(), checks.blocks());
    let (mut told_ns, mut bytes) = (start_ns, 0);
    for first in (0..all).step_by(per_chunk as usize) {
        let blocks = first..(first + per_chunk).min(all);
        if !checks.any_written(blocks.clone()) {
            continue;
        }
        let offset_bytes = checks.start_bytes + first * u64::from(checks.block_bytes);
        let length = ((blocks.end - first) * u64::from(checks.block_bytes)) as usize;
        let failed = |what: String| {
            let text =
                format!("{}: a read of {length} B at byte {offset_bytes} failed with {what}", device.name);
            DriveError::device(format!("{text} while reading back what was written"))
        };
        match rustix::io::retry_on_intr(|| rustix::io::pread(file, &mut buffer[..length], offset_bytes)) {
            Ok(read) if read == length => checks.check(offset_bytes, &buffer[..length]),
            Ok(read) => return Err(failed(format!("only {read} B were transferred; did it shrink?"))),
            Err(errno) => {
                let errno = errno.raw_os_error();
                return Err(failed(format!("{}: {}", errno_name(errno), errno_cause(errno))));
            }
        }
        bytes += length as u64;
        let now_ns = device.clock.now_ns();
        if now_ns - told_ns >= TICK_NS {
            let tick = Tick {
                elapsed_ns: now_ns - start_ns,
                interval_ns: now_ns - told_ns,
                read_ios: bytes / u64::from(chunk_bytes),
                write_ios: 0,
                bytes,
                latency_mean_ns: 0,
                latency_max_ns: 0,
                share_done: blocks.end as f64 / all as f64,
            };
            (told_ns, bytes) = (now_ns, 0);
            if on_tick(&tick) == Flow::Stop {
                return Ok(false);
            }
        }
    }
    Ok(true)
}
