//! One attempt at a load: starts the workers, watches them, and joins them.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, sync_channel};

use record::{PathRemark, Workload};

use super::content::{Content, Stamped, Unfilled};
use super::fill::Fill;
use super::message::Message;
use super::priorities::{Prioritised, has_priorities};
use super::ranges::Ranges;
use super::start::{Control, Gate, Release};
use super::target::Target;
use super::thread::{Ended, work};
use super::watch::{Watched, watch};
use super::way::Way;
use crate::clock::Vigil;
use crate::disturbance::Disturbance;
use crate::options::Engine;
use crate::placement::Seating;
use crate::progress::{Flow, Tick};
use crate::queue::aio::Aio;
use crate::queue::deallocate::Deallocate;
use crate::queue::file_calls::FileCalls;
use crate::queue::flagged::FlaggedTransfer;
use crate::queue::null::Null;
use crate::queue::operation::{NoOp, Transfer};
use crate::queue::passthrough::Command;
use crate::queue::scsi::Scsi;
use crate::queue::threads::Threads;
use crate::queue::uring::Uring;
use crate::queue::varied::{Varied, VariedCommand};
use crate::queue::{Queue, Shape};

const MESSAGES_PER_WORKER: usize = 8;

/// Result of one attempt. If setup fails, the attempt returns an error instead, and nothing has been read or
/// written.
pub(super) struct Ran {
    pub(super) start_ns: u64,
    pub(super) stopped: bool,
    pub(super) finished: bool,
    /// Why the measurement is invalid.
    pub(super) disturbed: Option<Disturbance>,
    pub(super) remarks: Vec<PathRemark>,
    pub(super) seating: Seating,
    pub(super) workers: Vec<Ended>,
}

/// Runs one attempt. The loop is compiled separately for each engine.
pub(super) fn attempt_by(
    way: Way,
    target: &Target<'_>,
    workload: &Workload,
    on_tick: &mut dyn FnMut(&Tick) -> Flow,
) -> io::Result<Ran> {
    if way != Way::Scsi && workload.commands.as_ref().is_some_and(|commands| commands.scsi.is_some()) {
        // A write must not take the place of a command that only compares.
        return Err(io::Error::other("the load consists of SCSI commands, which only sg sends"));
    }
    let helpers = match way {
        Way::Threads | Way::Space if workload.queue_depth > 1 => workload.queue_depth,
        _ => 0,
    };
    let threads = workload.threads.saturating_add(target.concurrent_threads.1);
    let seating = target.options.places.seat(threads, helpers).map_err(io::Error::other)?;
    match way {
        Way::Uring if is_flagged(workload) => {
            attempt_prioritised(target, workload, seating, on_tick, |shape| {
                Uring::<FlaggedTransfer>::new(shape, ())
            })
        }
        Way::Uring => {
            attempt_with(target, workload, seating, on_tick, |shape| Uring::<Transfer>::new(shape, ()))
        }
        Way::UringCommands => attempt_by_commands(target, workload, seating, on_tick),
        Way::NoOpRing => {
            attempt::<_, Fill>(target, workload, seating, on_tick, |shape| Uring::<NoOp>::new(shape, ()))
        }
        Way::Aio => {
            attempt_prioritised(target, workload, seating, on_tick, |shape| Ok((Aio::new(shape)?, vec![])))
        }
        Way::Threads | Way::Space if way == Way::Space || workload.regime.trims => {
            attempt::<_, Unfilled>(target, workload, seating, on_tick, |shape| {
                Ok((Threads::new(shape)?, vec![]))
            })
        }
        Way::Threads | Way::Space => {
            attempt_with(target, workload, seating, on_tick, |shape| Ok((Threads::new(shape)?, vec![])))
        }
        Way::Scsi => attempt_by_scsi(target, workload, seating, on_tick),
        Way::Files => attempt_on_files(target, workload, seating, on_tick),
        Way::Null => {
            attempt_with(target, workload, seating, on_tick, |shape| Ok((Null::new(shape)?, vec![])))
        }
    }
}

/// Performs an operation on each file.
fn attempt_on_files(
    target: &Target<'_>,
    workload: &Workload,
    seating: Seating,
    on_tick: &mut dyn FnMut(&Tick) -> Flow,
) -> io::Result<Ran> {
    let (Some(folder), Engine::Files(operation)) = (target.fd, target.options.engine) else {
        return Err(io::Error::other("the target is not a folder"));
    };
    attempt::<_, Unfilled>(target, workload, seating, on_tick, |shape| {
        Ok((FileCalls::new(shape, operation, folder, target.names)?, vec![]))
    })
}

/// Runs the load with SCSI commands, which bypass the block layer and its cache.
fn attempt_by_scsi(
    target: &Target<'_>,
    workload: &Workload,
    seating: Seating,
    on_tick: &mut dyn FnMut(&Tick) -> Flow,
) -> io::Result<Ran> {
    let device = target.fd.ok_or_else(|| io::Error::other("there is no device"))?;
    let commands = workload.commands.as_ref().and_then(|commands| commands.scsi).unwrap_or_default();
    let ran = attempt_with(target, workload, seating, on_tick, |shape| {
        Ok((Scsi::new(shape, device, commands)?, vec![]))
    });
    forget_cached(&device);
    ran
}

/// Runs the load with NVMe commands, which bypass the block layer and its cache.
fn attempt_by_commands(
    target: &Target<'_>,
    workload: &Workload,
    seating: Seating,
    on_tick: &mut dyn FnMut(&Tick) -> Flow,
) -> io::Result<Ran> {
    if workload.regime.syncs.each_write.is_some() {
        return Err(io::Error::other("NVMe commands have no synchronous writes"));
    }
    let commands = target.commands.ok_or_else(|| io::Error::other("it was not requested"))?;
    let commands = commands.map_err(|why| io::Error::other(why.to_owned()))?;
    let device = Target { fd: Some(commands.fd), ..*target };
    let namespace = commands.namespace;
    let special = workload.commands.as_deref().filter(|special| special.needs_nvme());
    let ran = match special {
        None => {
            attempt_with(&device, workload, seating, on_tick, |shape| Uring::<Command>::new(shape, namespace))
        }
        Some(special) if special.trim_ranges > 0 => {
            attempt::<_, Ranges>(&device, workload, seating, on_tick, |shape| {
                Uring::<Deallocate>::new(shape, namespace)
            })
        }
        Some(special) => {
            let varied = Varied::of(commands, special, workload)?;
            attempt_with(&device, workload, seating, on_tick, |shape| {
                Uring::<VariedCommand>::new(shape, varied.clone())
            })
        }
    };
    target.fd.iter().for_each(forget_cached);
    ran
}

/// Drops the block device's page cache, which may be stale because the commands bypass it.
fn forget_cached(block: &BorrowedFd<'_>) {
    // A failure is ignored: nothing can be done about it, and our own reads are direct.
    let _ = rustix::fs::fadvise(block.as_fd(), 0, None, rustix::fs::Advice::DontNeed);
}

/// Returns whether writes have flags, or I/Os priorities.
fn is_flagged(workload: &Workload) -> bool {
    workload.regime.syncs.each_write.is_some() || workload.commands.is_some()
}

/// Runs the load on a queue that supports priorities.
fn attempt_prioritised<Q: Queue>(
    target: &Target<'_>,
    workload: &Workload,
    seating: Seating,
    on_tick: &mut dyn FnMut(&Tick) -> Flow,
    new_queue: impl Fn(Shape) -> io::Result<(Q, Vec<PathRemark>)> + Sync,
) -> io::Result<Ran> {
    match (has_priorities(workload), workload.regime.verify) {
        (false, _) => attempt_with(target, workload, seating, on_tick, new_queue),
        (true, false) => attempt::<Q, Prioritised<Fill>>(target, workload, seating, on_tick, new_queue),
        (true, true) => attempt::<Q, Prioritised<Stamped>>(target, workload, seating, on_tick, new_queue),
    }
}

fn attempt_with<Q: Queue>(
    target: &Target<'_>,
    workload: &Workload,
    seating: Seating,
    on_tick: &mut dyn FnMut(&Tick) -> Flow,
    new_queue: impl Fn(Shape) -> io::Result<(Q, Vec<PathRemark>)> + Sync,
) -> io::Result<Ran> {
    if workload.regime.verify {
        attempt::<Q, Stamped>(target, workload, seating, on_tick, new_queue)
    } else {
        attempt::<Q, Fill>(target, workload, seating, on_tick, new_queue)
    }
}

fn attempt<Q: Queue, C: Content>(
    target: &Target<'_>,
    workload: &Workload,
    seating: Seating,
    on_tick: &mut dyn FnMut(&Tick) -> Flow,
    new_queue: impl Fn(Shape) -> io::Result<(Q, Vec<PathRemark>)> + Sync,
) -> io::Result<Ran> {
    let control = Control {
        gate: Gate::default(),
        stop: AtomicBool::new(false),
        seating,
        first_seat: target.concurrent_threads.0,
    };
    std::thread::scope(|scope| {
        let release = Release(&control);
        let (sender, messages) = sync_channel(usize::from(workload.threads) * MESSAGES_PER_WORKER);
        let mut handles = Vec::with_capacity(usize::from(workload.threads));
        for thread in 0..workload.threads {
            let (sender, control, new_queue) = (sender.clone(), &control, &new_queue);
            let builder = std::thread::Builder::new().name(format!("load-{thread}"));
            match builder.spawn_scoped(scope, move || {
                work::<Q, C>(target, workload, thread, control, sender, new_queue)
            }) {
                Ok(handle) => handles.push(handle),
                Err(error) => return Err(error),
            }
        }
        drop(sender);
        let remarks = gather(&messages, handles.len())?;
        let vigil = Vigil::start(target.clock);
        let start_ns = target.clock.now_ns();
        control.gate.open(Some(start_ns));
        let watched =
            watch(target, workload, (start_ns, &vigil), handles.len(), &messages, &control.stop, on_tick);
        drop(release);
        let workers = handles
            .into_iter()
            .filter_map(|h| h.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect();
        let Watched { stopped, finished, disturbed } = watched;
        Ok(Ran { start_ns, stopped, finished, disturbed, remarks, seating: control.seating.clone(), workers })
    })
}

/// Waits until every worker is ready and merges their remarks.
fn gather(messages: &Receiver<Message>, workers: usize) -> io::Result<Vec<PathRemark>> {
    let mut remarks: Vec<PathRemark> = Vec::new();
    for _ in 0..workers {
        match messages.recv() {
            Ok(Message::Ready(answer)) => {
                for remark in answer? {
                    if !remarks.contains(&remark) {
                        remarks.push(remark);
                    }
                }
            }
            _ => return Err(io::Error::other("a worker ended during setup")),
        }
    }
    Ok(remarks)
}
