//! One worker thread, from setup to exit.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;

use record::{Effort, PathRemark, Until, Workload};
use stdx::access::Stream;

use super::content::{Checks, Content};
use super::forgiven::Forgiven;
use super::message::Message;
use super::pauses::Pauses;
use super::periodic_syncs::PeriodicSyncs;
use super::portion::Share;
use super::priorities;
use super::ranges::ranges_of;
use super::recorder::{Recorder, Recording};
use super::schedule::Schedule;
use super::start::{Control, Farewell};
use super::target::Target;
use super::worker::{Ahead, Failure, Repeats, Request, Worker};
use super::write_buffers::{self, WriteBuffers};
use super::zones::ZoneUse;
use crate::effort;
use crate::options::Engine;
use crate::queue::deallocate::RANGE_BYTES;
use crate::queue::{Queue, Shape};

/// One worker's result.
pub(super) struct Ended {
    pub(super) notes: Recording,
    pub(super) failure: Option<Failure>,
    pub(super) forgiven: Forgiven,
    /// Number of resubmitted I/Os.
    pub(super) repeats: u32,
    pub(super) queue_error: Option<io::Error>,
    pub(super) effort: Effort,
    pub(super) polled: bool,
    /// Whether an I/O completed at or after the deadline.
    pub(super) late: bool,
    pub(super) ending: Ending,
    pub(super) checks: Option<Checks>,
}

/// Runs one worker from setup to exit. Returns `None` if the run was cancelled before the start.
pub(super) fn work<Q: Queue, C: Content>(
    target: &Target<'_>,
    workload: &Workload,
    thread: u16,
    control: &Control,
    sender: SyncSender<Message>,
    new_queue: &impl Fn(Shape) -> io::Result<(Q, Vec<PathRemark>)>,
) -> Option<Ended> {
    let _farewell = Farewell(sender.clone());
    // Pin the thread before allocating buffers, because memory comes from the NUMA node of the CPU that
    // touches it first.
    let unpinned = control.seating.take(control.first_seat + thread);
    let shape = Shape {
        fd: target.raw_fd(),
        thread,
        depth: workload.queue_depth,
        spares: write_buffers::spares(workload),
        block_bytes: buffer_bytes(workload),
        each_write: workload.regime.syncs.each_write,
        trims: workload.regime.trims,
        zoned: workload.zoned().is_some(),
        atomic: workload.commands.as_ref().is_some_and(|commands| commands.atomic),
        apart: workload.has_adjacent_ios(),
        space: match target.options.engine {
            Engine::Space(call) => Some(call),
            _ => None,
        },
        clock: target.clock,
        polling: target.options.polling,
    };
    let duration_ns = match workload.until {
        Until::DurationNs(ns) => Some(ns),
        Until::AmountBytes(_) => workload.regime.limit_ns,
    };
    // Threads that the queue starts inherit the priority.
    let priority = workload.commands.as_ref().and_then(|commands| commands.priority);
    let placed = priority.map_or(Ok(()), priorities::set_of_this_thread);
    let (queue, ready) = match placed.and_then(|()| new_queue(shape)) {
        Ok((queue, remarks)) => (Some(queue), Ok(remarks.into_iter().chain(unpinned).collect())),
        Err(error) => (None, Err(error)),
    };
    let mut recorder = Recorder::new(target.interval_ns, duration_ns, sender.clone());
    if workload.regime.syncs.are_periodic() {
        recorder.reserve_syncs();
    }
    recorder.reserve_priorities(priorities::histograms(workload));
    let mut worker =
        queue.map(|queue| new_worker::<Q, C>(target, workload, thread, queue, recorder, &control.stop));
    if let Some(worker) = &mut worker {
        worker.fill_write_buffers();
    }
    // If the watcher has exited, the gate reports this as well.
    let _ = sender.send(Message::Ready(ready));
    let start_ns = control.gate.pass()?;
    let mut worker = worker.take()?;
    let regime = workload.regime;
    worker.recorder.start(start_ns, regime.ramp_ns);
    let ends_ns = |ns: u64| start_ns.saturating_add(regime.ramp_ns).saturating_add(ns);
    worker.deadline_ns = duration_ns.map_or(u64::MAX, ends_ns);
    let before = effort::of_this_thread();
    let (ending, queue_error) = match run(&mut worker, target, workload, thread, start_ns) {
        Ok(ending) => (ending, None),
        Err(error) => (Ending::default(), Some(error)),
    };
    let mut effort = effort::of_this_thread().since(&before);
    effort.add(&worker.queue.retire());
    if queue_error.is_some() {
        control.stop.store(true, Ordering::Relaxed);
    }
    let Worker { queue, recorder, failure, forgiven, repeats, late, content, .. } = worker;
    let (notes, polled) = (recorder.finish(), queue.is_polling());
    let (repeats, checks) = (repeats.count, content.checks());
    Some(Ended { notes, failure, forgiven, repeats, queue_error, effort, polled, late, ending, checks })
}

/// A whole number of sectors of any drive, and not more than a transfer of any drive.
const TRIED_BYTES: u32 = 64 << 10;

/// Returns the length of a buffer: of the largest I/O, or of the list of the ranges of a trim, which may be longer than any
/// transfer. It is a whole number of sectors, because the ring is tried with a read of this length.
fn buffer_bytes(workload: &Workload) -> u32 {
    if workload.regime.trims && workload.zoned().is_some() {
        // A reset transfers no data, and zones are large.
        return RANGE_BYTES as u32;
    }
    match ranges_of(workload) {
        0 => workload.block_bytes,
        ranges => {
            let ranges_bytes = u32::from(ranges) * RANGE_BYTES as u32;
            ranges_bytes.next_multiple_of(workload.block_bytes.min(TRIED_BYTES))
        }
    }
}

/// What a worker did after its last I/O.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ending {
    /// End of the last pause; 0 if there was none.
    pub(super) paused_until_ns: u64,
    /// Start and end of the fsync at the end.
    pub(super) end_fsync: Option<(u64, u64)>,
}

/// Runs the loop that suits the workload, and the fsync at the end if one was requested.
fn run<Q: Queue, C: Content>(
    worker: &mut Worker<'_, Q, C>,
    target: &Target<'_>,
    workload: &Workload,
    thread: u16,
    start_ns: u64,
) -> io::Result<Ending> {
    let mut ending = Ending::default();
    let regime = workload.regime;
    let syncs = PeriodicSyncs::of(regime.syncs);
    match regime.arrivals {
        Some(arrivals) => {
            let schedule = Schedule::new(arrivals, workload.seed, thread, workload.threads, start_ns);
            worker.run_paced(schedule, syncs)?;
        }
        None if regime.is_stepped() || target.portion.is_some() || target.zones.is_some() => {
            let zones = ZoneUse::of(target, workload);
            let pauses = regime.thinktime.map(|thinktime| Pauses::of(thinktime, start_ns));
            let share = target.portion.map(Share::of);
            ending.paused_until_ns = worker.run_stepped(syncs, pauses, share, zones)?;
        }
        None => worker.run()?,
    }
    let is_complete = worker.failure.is_none() && !worker.stop.load(Ordering::Relaxed);
    if regime.syncs.end_fsync && workload.writes() && is_complete {
        ending.end_fsync = worker.end_fsync()?;
    }
    Ok(ending)
}

fn new_worker<'a, Q: Queue, C: Content>(
    target: &Target<'_>,
    workload: &Workload,
    thread: u16,
    queue: Q,
    recorder: Recorder,
    stop: &'a AtomicBool,
) -> Worker<'a, Q, C> {
    let pattern = workload.pattern();
    let left_bytes = match workload.until {
        Until::DurationNs(_) => u64::MAX,
        Until::AmountBytes(bytes) => pattern.share_bytes(bytes, thread, workload.threads),
    };
    Worker {
        queue,
        clock: target.clock,
        ahead: Ahead::of(Stream::new(workload.seed, thread, workload.threads, &pattern), left_bytes),
        content: C::new(workload, thread, target.ledger),
        recorder,
        depth: workload.queue_depth,
        write_buffers: WriteBuffers::of(workload)
            .filter(|_| target.portion.is_none() && target.zones.is_none()),
        deadline_ns: u64::MAX,
        stop,
        requests: vec![
            Request::default();
            usize::from(workload.queue_depth + write_buffers::spares(workload))
        ],
        failure: None,
        forgiven: Forgiven::of(workload.regime.tolerated),
        repeats: Repeats::reserved(workload.queue_depth),
        late: false,
    }
}

#[cfg(test)]
mod tests {
    use record::Commands;

    use super::*;

    #[test]
    fn trims_of_ranges_need_room_only_for_the_list() {
        let of = |block_bytes, trim_ranges| {
            let commands = Some(Box::new(Commands { trim_ranges, ..Commands::default() }));
            buffer_bytes(&Workload { block_bytes, commands, ..crate::ceiling::workload(1, 1) })
        };
        assert_eq!([of(4096, 0), of(16 << 20, 0)], [4096, 16 << 20]);
        assert_eq!([of(512, 8), of(512, 256), of(4096, 8), of(16 << 20, 256)], [512, 4096, 4096, 64 << 10]);
    }
}
