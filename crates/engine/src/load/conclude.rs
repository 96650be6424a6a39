//! Turns the result of a workload into a segment or into an error that describes the first failure.

use record::errno::name;
use record::{Cut, Effort, ErrorCount, HostLoad, IoPath, PathRemark, Segment, Synced, Until, Workload};
use stdx::Histogram;

use super::attempt::Ran;
use super::priorities::detail;
use super::recorder::{Recording, course, merge};
use super::target::Target;
use super::thread::{Ended, Ending};
use super::worker::Failure;
use crate::error::{EngineError, FailedOperation, FailureCause, IoFailure};
use crate::outcome::LoadOutcome;

/// Combines the results of the workers.
pub(super) fn conclude(
    target: &Target<'_>,
    workload: &Workload,
    mut io_path: IoPath,
    ran: Ran,
) -> Result<LoadOutcome, EngineError> {
    let Ran { start_ns, stopped, finished, disturbed, remarks, seating, mut workers } = ran;
    let first = workers.iter().filter_map(|w| w.failure.as_ref()).min_by_key(|f| f.at_ns);
    if let Some(failure) = first {
        let failed = failed(target, (workload, start_ns), failure, &workers);
        return Err(EngineError::Io(Box::new(failed)));
    }
    if let Some(source) = workers.iter_mut().find_map(|w| w.queue_error.take()) {
        return Err(EngineError::Wait { target: target.name.to_owned(), source });
    }
    if stopped {
        return Ok(LoadOutcome::Stopped);
    }
    if let Some(disturbance) = disturbed {
        let (target, workload) = (target.name.to_owned(), Box::new(workload.clone()));
        return Err(EngineError::Disturbed { target, workload, disturbance });
    }
    let polled = workers.iter().any(|worker| worker.polled);
    let not_polled = target.options.unpolled.map(|why| PathRemark::NotPolled { cause: why.into() });
    io_path.remarks.extend(target.options.polling.remark().filter(|_| polled));
    io_path.remarks.extend(not_polled);
    io_path.remarks.extend(remarks);
    io_path.remarks.extend(target.is_buffered.then_some(PathRemark::Buffered));
    let mut effort = Effort::default();
    workers.iter().for_each(|worker| effort.add(&worker.effort));
    let host = HostLoad {
        effort,
        usable_processors: seating.usable,
        processors: seating.online,
        placement: seating.text,
        // An open loop polls for completions while waiting for arrivals.
        polled: polled || workload.regime.arrivals.is_some() || spins(workload),
        repeats: workers.iter().map(|worker| u64::from(worker.repeats)).sum(),
        ceiling_share: None,
    };
    let errors = tolerated(&workers);
    // The ramp is not part of the segment.
    let start_ns = start_ns + workload.regime.ramp_ns;
    let late = workers.iter().any(|worker| worker.late);
    let endings: Vec<Ending> = workers.iter().map(|worker| worker.ending).collect();
    let notes: Vec<Recording> = workers.into_iter().map(|w| w.notes).collect();
    let end_ns = match (workload.until, workload.regime.limit_ns) {
        (Until::DurationNs(ns), _) if !finished || late => start_ns + ns,
        (Until::AmountBytes(_), Some(limit_ns)) if late => start_ns + limit_ns,
        _ => notes.iter().map(|n| n.last_done_ns).max().unwrap_or(start_ns).max(start_ns),
    };
    let after = endings.iter().flat_map(|e| [e.paused_until_ns, e.end_fsync.map_or(0, |(_, end_ns)| end_ns)]);
    let end_ns = after.fold(end_ns, u64::max);
    let (read, write, series) = merge(&notes, target.interval_ns, end_ns - start_ns);
    Ok(LoadOutcome::Finished(Segment {
        workload: workload.clone(),
        start_ns,
        end_ns,
        read,
        write,
        series,
        errors,
        io_path,
        gap_before: None,
        on_file: None,
        power: None,
        verified: None,
        synced: synced(workload, &notes, &endings),
        host: Some(host),
        detail: detail(workload, &notes, target.interval_ns, end_ns - start_ns),
    }))
}

/// Returns whether the device compares or checks blocks in place of writes.
fn only_verifies(workload: &Workload) -> bool {
    let scsi = workload.commands.as_ref().and_then(|commands| commands.scsi);
    scsi.is_some_and(|scsi| scsi.write.only_verifies())
}

fn spins(workload: &Workload) -> bool {
    workload.regime.thinktime.is_some_and(|thinktime| thinktime.spin_ns > 0)
}

/// Combines the syncs of all workers; `None` if the workload has none.
fn synced(workload: &Workload, notes: &[Recording], endings: &[Ending]) -> Option<Synced> {
    let mut latency = Histogram::new();
    notes.iter().filter_map(|note| note.syncs.as_ref()).for_each(|syncs| latency.merge(syncs));
    let fsyncs = endings.iter().filter_map(|ending| ending.end_fsync);
    let end_fsync_ns = fsyncs.map(|(started_ns, done_ns)| done_ns.saturating_sub(started_ns)).max();
    let syncs = workload.regime.syncs;
    let any = workload.writes() && (syncs.are_periodic() || syncs.end_fsync);
    any.then(|| Synced { syncs: latency.count(), latency, end_fsync_ns })
}

/// Returns the errors that did not end the workload, in order of their first appearance.
fn tolerated(workers: &[Ended]) -> Vec<ErrorCount> {
    let mut counts: Vec<_> = workers.iter().flat_map(|worker| &worker.forgiven.counts).collect();
    counts.sort_unstable_by_key(|(_, _, first_ns)| *first_ns);
    merged(counts.into_iter().map(|(errno, count, _)| (*errno, *count)))
}

/// Adds up the counts of each error number.
fn merged(counts: impl Iterator<Item = (i32, u64)>) -> Vec<ErrorCount> {
    let mut errors: Vec<ErrorCount> = Vec::new();
    for (errno, count) in counts {
        let kind = if errno == 0 { "short".to_owned() } else { name(errno) };
        match errors.iter_mut().find(|error| error.kind == kind) {
            Some(known) => known.count += count,
            None => errors.push(ErrorCount { kind, count }),
        }
    }
    errors
}

/// Describes the first failed I/O and counts all failed I/Os.
fn failed(
    target: &Target<'_>,
    (workload, start_ns): (&Workload, u64),
    first: &Failure,
    workers: &[Ended],
) -> IoFailure {
    let errors =
        merged(workers.iter().filter_map(|w| w.failure.as_ref()).flat_map(|f| f.counts.iter().copied()));
    let start_ns = start_ns + workload.regime.ramp_ns;
    let finished = first.at_ns.saturating_sub(start_ns) / target.interval_ns;
    let notes = workers.iter().map(|worker| &worker.notes);
    let series = course(notes, target.interval_ns, finished as usize);
    let cut = Cut { workload: workload.clone(), start_ns, series, errors: errors.clone() };
    IoFailure {
        target: target.name.to_owned(),
        operation: match first {
            Failure { is_sync: true, .. } => FailedOperation::Sync,
            Failure { is_of_zone: true, .. } => FailedOperation::Zone,
            Failure { access, .. } if workload.regime.trims && !access.read => FailedOperation::Trim,
            Failure { access, .. } if only_verifies(workload) && !access.read => FailedOperation::Verify,
            Failure { access, .. } => FailedOperation::of(*access),
        },
        length_bytes: first.access.block_bytes.into(),
        offset_bytes: first.access.offset_bytes,
        cause: match first.errno {
            0 => FailureCause::Short(first.transferred_bytes.into()),
            errno => FailureCause::Errno(errno),
        },
        in_read_back: false,
        repeats: workers.iter().map(|worker| u64::from(worker.repeats)).sum(),
        errors,
        cut: Some(Box::new(cut)),
    }
}
