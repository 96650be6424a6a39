//! Turns the result of a workload into a segment, or into an error that describes the first failure.

use record::{Cut, Effort, ErrorCount, HostLoad, IoPath, PathRemark, Segment, Until, Workload};

use super::recorder::{Notes, course, merge};
use super::worker::Failure;
use super::{Device, Ended, Ran};
use crate::Outcome;
use crate::error::{DriveError, errno_cause, errno_name, reason};

/// Combines the results of the workers.
pub(super) fn conclude(
    device: &Device<'_>,
    workload: &Workload,
    mut io_path: IoPath,
    ran: Ran,
) -> Result<Outcome, DriveError> {
    let Ran { start_ns, stopped, disturbed, remarks, seating, workers } = ran;
    let first = workers.iter().filter_map(|w| w.failure.as_ref()).min_by_key(|f| f.at_ns);
    if let Some(failure) = first {
        return Err(device_error(device, (workload, start_ns), failure, &workers));
    }
    if let Some(error) = workers.iter().find_map(|w| w.queue_error.as_ref()) {
        return Err(DriveError::device(format!(
            "{}: waiting for I/Os failed: {}; see the kernel log",
            device.name,
            reason(error)
        )));
    }
    if stopped {
        return Ok(Outcome::Stopped);
    }
    if let Some(why) = disturbed {
        return Err(DriveError::Disturbed(format!(
            "{}: {why} during {workload}, which must be repeated; prevent the host from suspending or \
             migrating",
            device.name
        )));
    }
    let polled = workers.iter().any(|worker| worker.polled);
    let not_polled = device.manner.unpolled.map(|why| PathRemark::NotPolled { cause: why.into() });
    io_path.remarks.extend(device.manner.polling.remark().filter(|_| polled));
    io_path.remarks.extend(not_polled);
    io_path.remarks.extend(remarks);
    io_path.remarks.extend(device.is_buffered.then_some(PathRemark::Buffered));
    let mut effort = Effort::default();
    workers.iter().for_each(|worker| effort.add(&worker.effort));
    let host = HostLoad {
        effort,
        usable_processors: seating.usable,
        processors: seating.online,
        placement: seating.text,
        // An open loop polls for completions while it waits for arrivals.
        polled: polled || workload.regime.arrivals.is_some(),
        repeats: workers.iter().map(|worker| u64::from(worker.repeats)).sum(),
        ceiling_share: None,
    };
    // The ramp does not count.
    let start_ns = start_ns + workload.regime.ramp_ns;
    let late = workers.iter().any(|worker| worker.late);
    let notes: Vec<Notes> = workers.into_iter().map(|w| w.notes).collect();
    let end_ns = match (workload.until, workload.regime.limit_ns) {
        (Until::DurationNs(ns), _) => start_ns + ns,
        (Until::AmountBytes(_), Some(limit_ns)) if late => start_ns + limit_ns,
        (Until::AmountBytes(_), _) => notes.iter().map(|n| n.last_done_ns).max().unwrap_or(start_ns),
    };
    let (read, write, series) = merge(&notes, device.interval_ns, end_ns - start_ns);
    Ok(Outcome::Finished(Segment {
        workload: workload.clone(),
        start_ns,
        end_ns,
        read,
        write,
        series,
        errors: Vec::new(),
        io_path,
        gap_before: None,
        host: Some(host),
    }))
}

/// Describes the first failed I/O, and counts all failed ones.
fn device_error(
    device: &Device<'_>,
    (workload, start_ns): (&Workload, u64),
    first: &Failure,
    workers: &[Ended],
) -> DriveError {
    let name = |errno: i32| if errno == 0 { "short".to_owned() } else { errno_name(errno) };
    let mut errors: Vec<ErrorCount> = Vec::new();
    for &(errno, count) in workers.iter().filter_map(|w| w.failure.as_ref()).flat_map(|f| &f.counts) {
        let kind = name(errno);
        match errors.iter_mut().find(|e| e.kind == kind) {
            Some(known) => known.count += count,
            None => errors.push(ErrorCount { kind, count }),
        }
    }
    let verb = if first.access.read { "read" } else { "write" };
    let problem = match first.errno {
        0 => format!("only {} B transferred; the device vanished or shrank", first.transferred_bytes),
        errno => format!("{}: {}", errno_name(errno), errno_cause(errno)),
    };
    let more = errors.iter().map(|e| e.count).sum::<u64>() - 1;
    let more = if more == 0 { String::new() } else { format!("; {more} more I/Os in flight failed") };
    let repeats: u64 = workers.iter().map(|worker| u64::from(worker.repeats)).sum();
    let repeated = match repeats {
        0 => String::new(),
        times => format!("; the kernel requested {times} retries (EAGAIN, EINTR)"),
    };
    let start_ns = start_ns + workload.regime.ramp_ns;
    let finished = first.at_ns.saturating_sub(start_ns) / device.interval_ns;
    let notes = workers.iter().map(|worker| &worker.notes);
    let series = course(notes, device.interval_ns, finished as usize);
    let cut = Cut { workload: workload.clone(), start_ns, series, errors: errors.clone() };
    DriveError::Device {
        what: format!(
            "{}: a {verb} of {} B at byte {} failed with {problem}{more}{repeated}",
            device.name, first.access.block_bytes, first.access.offset_bytes
        ),
        errors,
        cut: Some(Box::new(cut)),
    }
}
