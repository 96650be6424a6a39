//! Runs one workload on a real target: one worker thread per TC, each with its own queue. The calling thread
//! watches them.
//!
//! Every exit path joins all threads, and every thread reaps all I/Os that it submitted. How long that takes
//! after a stop depends on the device; the kernel's driver times out a device that never completes them.

mod conclude;
pub(crate) mod content;
pub(crate) mod effort;
pub(crate) mod fill;
pub(crate) mod findings;
mod paced;
mod read_back;
pub(crate) mod recorder;
pub(crate) mod schedule;
mod stamp;
mod stillness;
mod stock;
pub(crate) mod together;
mod watch;
pub(crate) mod worker;

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Condvar, Mutex, PoisonError};

use record::{Effort, Fallback, IoEngine, IoPath, PathRemark, Until, Workload};
use stdx::access::Stream;
use stdx::units::SECOND_NS;

use crate::clock::{Clock, Vigil};
use crate::error::{DriveError, reason};
use crate::placement::Seating;
use crate::queue::aio::Aio;
use crate::queue::errand::{NoOp, Transfer};
use crate::queue::null::Null;
use crate::queue::passthrough::Command;
use crate::queue::threads::Threads;
use crate::queue::uring::Uring;
use crate::queue::{Queue, Shape};
use crate::target::Held;
use crate::target::generic::Generic;
use crate::{Engine, Flow, Manner, Outcome, Polling, Tick};
use conclude::conclude;
use content::{Checks, Content, Stamped};
use fill::Fill;
use recorder::{Interval, Notes, Recorder};
use schedule::Schedule;
use stock::Stock;
use watch::{Watched, watch};
use worker::{Ahead, Failure, Repeats, Request, Worker};

/// Largest depth that respects the kernel's limits on ring entries and registered buffers.
const MAX_QUEUE_DEPTH: u16 = 4096;
pub(crate) const INTERVAL_NS: u64 = SECOND_NS;
/// Workers report an interval with the first completion after its end. The display waits this long for them.
const TICK_GRACE_NS: u64 = 50_000_000;
const MESSAGES_PER_WORKER: usize = 8;

/// An armed real target.
#[derive(Clone, Copy)]
pub(crate) struct Device<'a> {
    pub(crate) name: &'a str,
    pub(crate) fd: RawFd,
    /// Whether I/Os go through the page cache.
    pub(crate) is_buffered: bool,
    /// The generic character device for NVMe commands, or why it is not available. `None` if it was not
    /// requested.
    pub(crate) generic: Option<&'a Result<Generic, String>>,
    pub(crate) clock: Clock,
    pub(crate) manner: &'a Manner,
    /// Length of an interval of the time series.
    pub(crate) interval_ns: u64,
    /// Threads of concurrent workloads: those numbered before this workload's threads, and the total.
    pub(crate) beside: (u16, u16),
}

impl<'a> Device<'a> {
    pub(crate) fn of(name: &'a str, held: &'a Held, clock: Clock, manner: &'a Manner) -> Self {
        let (fd, is_buffered, generic) = (held.fd.as_raw_fd(), held.is_buffered, held.generic.as_ref());
        Self { name, fd, is_buffered, generic, clock, manner, interval_ns: INTERVAL_NS, beside: (0, 0) }
    }
}

/// Messages from the workers to the watcher.
pub(crate) enum Message {
    /// Setup succeeded, possibly with remarks on the I/O path, or failed.
    Ready(io::Result<Vec<PathRemark>>),
    /// An interval ended.
    Interval(Interval),
    /// The worker exited.
    Gone,
}

/// Sends [`Message::Gone`] on every exit path of a worker.
struct Farewell(SyncSender<Message>);

impl Drop for Farewell {
    fn drop(&mut self) {
        // Fails only if the watcher is gone, and then nobody needs the message.
        let _ = self.0.send(Message::Gone);
    }
}

/// Barrier where the workers wait for the common start.
#[derive(Default)]
struct Gate {
    start: Mutex<Option<Option<u64>>>,
    changed: Condvar,
}

impl Gate {
    /// Releases the workers: to start at this time, or to exit on `None`.
    fn open(&self, start_ns: Option<u64>) {
        *self.start.lock().unwrap_or_else(PoisonError::into_inner) = Some(start_ns);
        self.changed.notify_all();
    }

    fn pass(&self) -> Option<u64> {
        let mut start = self.start.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match *start {
                Some(answer) => return answer,
                None => start = self.changed.wait(start).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

/// State shared by workers and watcher.
struct Control {
    gate: Gate,
    stop: AtomicBool,
    seating: Seating,
    /// Seat of the workload's first thread.
    first_seat: u16,
}

/// Opens the gate and stops the workers when the watcher returns or the caller's tick panics.
struct Release<'a>(&'a Control);

impl Drop for Release<'_> {
    fn drop(&mut self) {
        self.0.stop.store(true, Ordering::Relaxed);
        let closed = self.0.gate.start.lock().unwrap_or_else(PoisonError::into_inner).is_none();
        if closed {
            self.0.gate.open(None);
        }
    }
}

/// Result of one worker.
struct Ended {
    notes: Notes,
    failure: Option<Failure>,
    /// Number of resubmitted I/Os.
    repeats: u32,
    queue_error: Option<io::Error>,
    effort: Effort,
    polled: bool,
    /// Whether an I/O completed at or after the deadline.
    late: bool,
    checks: Option<Checks>,
}

/// Result of one attempt. An attempt returns an error if setup failed; then nothing was read or written.
struct Ran {
    start_ns: u64,
    stopped: bool,
    /// Why the measurement is void.
    disturbed: Option<String>,
    remarks: Vec<PathRemark>,
    seating: Seating,
    workers: Vec<Ended>,
}

/// A way into the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Uring,
    /// NVMe commands through io_uring.
    UringCommands,
    Aio,
    Threads,
    /// No kernel: I/Os complete immediately in user space.
    Null,
    /// `IORING_OP_NOP` through io_uring, without a target.
    NoOpRing,
}

impl Way {
    /// Returns the engines to try, best first.
    fn of(device: &Device<'_>, queue_depth: u16) -> &'static [Self] {
        match device.manner.engine {
            Engine::Threads => &[Self::Threads],
            Engine::IoUring => &[Self::Uring],
            Engine::IoUringCmd => &[Self::UringCommands, Self::Uring],
            Engine::Libaio => &[Self::Aio],
            // Only io_uring supports polling.
            Engine::Auto if device.manner.polling != Polling::No => &[Self::Uring, Self::Aio, Self::Threads],
            // At QD 1 a plain system call is the shorter path and adds less to every response time.
            Engine::Auto if queue_depth == 1 => &[Self::Threads],
            // libaio would serialize I/Os through the page cache.
            Engine::Auto if device.is_buffered => &[Self::Uring, Self::Threads],
            Engine::Auto => &[Self::Uring, Self::Aio, Self::Threads],
        }
    }

    const fn engine(self) -> IoEngine {
        match self {
            Self::Uring => IoEngine::IoUring,
            Self::UringCommands => IoEngine::IoUringCmd,
            Self::Aio => IoEngine::Libaio,
            Self::Threads => IoEngine::Threads,
            Self::Null => IoEngine::Null,
            Self::NoOpRing => IoEngine::NoOpRing,
        }
    }
}

/// Checks that the queue depth per thread is within the limit.
pub(crate) fn check_depth(workload: &Workload) -> Result<(), DriveError> {
    if workload.queue_depth <= MAX_QUEUE_DEPTH {
        return Ok(());
    }
    Err(DriveError::Invalid(format!(
        "workload {workload}: a queue depth of {} per thread is too large; use at most {MAX_QUEUE_DEPTH}, \
         and more threads",
        workload.queue_depth
    )))
}

/// Runs a workload to its end. For stamped blocks the second value holds what is needed to verify them.
pub(crate) fn run(
    device: &Device<'_>,
    workload: &Workload,
    on_tick: &mut dyn FnMut(&Tick) -> Flow,
) -> Result<(Outcome, Option<Checks>), DriveError> {
    let ways = Way::of(device, workload.queue_depth);
    let mut failed: Vec<(Way, io::Error)> = Vec::new();
    for &way in ways {
        match attempt_by(way, device, workload, on_tick) {
            Err(error) => failed.push((way, error)),
            Ok(mut ran) => {
                let checks = ran.workers.iter_mut().find_map(|worker| worker.checks.take());
                let engine = match (device.manner.engine, way, workload.queue_depth) {
                    (Engine::Auto, Way::Threads, 1) if failed.is_empty() => IoEngine::Psync,
                    _ => way.engine(),
                };
                let path = IoPath { fallbacks: fallbacks(&failed), ..engine.into() };
                return Ok((conclude(device, workload, path, ran)?, checks));
            }
        }
    }
    Err(DriveError::Unusable(format!(
        "cannot set up {} threads with {} outstanding I/Os of {} B each: {}; use fewer, or another engine",
        workload.threads,
        workload.queue_depth,
        workload.block_bytes,
        failed.last().map_or_else(String::new, |(_, error)| reason(error))
    )))
}

/// Runs a workload without a target.
pub(crate) fn rehearse(way: Way, device: &Device<'_>, workload: &Workload) -> Result<Outcome, DriveError> {
    let ran = attempt_by(way, device, workload, &mut |_| Flow::Continue)
        .map_err(|error| DriveError::Unusable(format!("{}: {}", way.engine().name(), reason(&error))))?;
    conclude(device, workload, way.engine().into(), ran)
}

fn fallbacks(failed: &[(Way, io::Error)]) -> Vec<Fallback> {
    failed.iter().map(|(way, error)| Fallback { engine: way.engine(), cause: reason(error) }).collect()
}

/// Runs one attempt. The loop is compiled separately for each engine.
fn attempt_by(
    way: Way,
    device: &Device<'_>,
    workload: &Workload,
    on_tick: &mut dyn FnMut(&Tick) -> Flow,
) -> io::Result<Ran> {
    let helpers = match way {
        Way::Threads if workload.queue_depth > 1 => workload.queue_depth,
        _ => 0,
    };
    let threads = workload.threads.saturating_add(device.beside.1);
    let seating = device.manner.places.seat(threads, helpers).map_err(io::Error::other)?;
    match way {
        Way::Uring => {
            attempt_with(device, workload, seating, on_tick, |shape| Uring::<Transfer>::new(shape, ()))
        }
        Way::UringCommands => attempt_by_commands(device, workload, seating, on_tick),
        Way::NoOpRing => {
            attempt::<_, Fill>(device, workload, seating, on_tick, |shape| Uring::<NoOp>::new(shape, ()))
        }
        Way::Aio => attempt_with(device, workload, seating, on_tick, |shape| Ok((Aio::new(shape)?, vec![]))),
        Way::Threads => {
            attempt_with(device, workload, seating, on_tick, |shape| Ok((Threads::new(shape)?, vec![])))
        }
        Way::Null => {
            attempt_with(device, workload, seating, on_tick, |shape| Ok((Null::new(shape)?, vec![])))
        }
    }
}

/// Bypasses the block layer and therefore its cache.
fn attempt_by_commands(
    device: &Device<'_>,
    workload: &Workload,
    seating: Seating,
    on_tick: &mut dyn FnMut(&Tick) -> Flow,
) -> io::Result<Ran> {
    let generic = device.generic.ok_or_else(|| io::Error::other("it was not requested"))?;
    let generic = generic.as_ref().map_err(|why| io::Error::other(why.clone()))?;
    let device = Device { fd: generic.raw_fd(), ..*device };
    let namespace = generic.namespace;
    let ran =
        attempt_with(&device, workload, seating, on_tick, |shape| Uring::<Command>::new(shape, namespace));
    generic.forget_cached();
    ran
}

fn attempt_with<Q: Queue>(
    device: &Device<'_>,
    workload: &Workload,
    seating: Seating,
    on_tick: &mut dyn FnMut(&Tick) -> Flow,
    new_queue: impl Fn(Shape) -> io::Result<(Q, Vec<PathRemark>)> + Sync,
) -> io::Result<Ran> {
    if workload.regime.verify {
        attempt::<Q, Stamped>(device, workload, seating, on_tick, new_queue)
    } else {
        attempt::<Q, Fill>(device, workload, seating, on_tick, new_queue)
    }
}

fn attempt<Q: Queue, C: Content>(
    device: &Device<'_>,
    workload: &Workload,
    seating: Seating,
    on_tick: &mut dyn FnMut(&Tick) -> Flow,
    new_queue: impl Fn(Shape) -> io::Result<(Q, Vec<PathRemark>)> + Sync,
) -> io::Result<Ran> {
    let control =
        Control { gate: Gate::default(), stop: AtomicBool::new(false), seating, first_seat: device.beside.0 };
    std::thread::scope(|scope| {
        let release = Release(&control);
        let (sender, messages) = sync_channel(usize::from(workload.threads) * MESSAGES_PER_WORKER);
        let mut handles = Vec::with_capacity(usize::from(workload.threads));
        for thread in 0..workload.threads {
            let (sender, control, new_queue) = (sender.clone(), &control, &new_queue);
            let builder = std::thread::Builder::new().name(format!("load-{thread}"));
            match builder.spawn_scoped(scope, move || {
                work::<Q, C>(device, workload, thread, control, sender, new_queue)
            }) {
                Ok(handle) => handles.push(handle),
                Err(error) => return Err(error),
            }
        }
        drop(sender);
        let remarks = gather(&messages, handles.len())?;
        let vigil = Vigil::start(device.clock);
        let start_ns = device.clock.now_ns();
        control.gate.open(Some(start_ns));
        let watched =
            watch(device, workload, (start_ns, &vigil), handles.len(), &messages, &control.stop, on_tick);
        drop(release);
        let workers = handles
            .into_iter()
            .filter_map(|h| h.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect();
        let Watched { stopped, disturbed } = watched;
        Ok(Ran { start_ns, stopped, disturbed, remarks, seating: control.seating.clone(), workers })
    })
}

/// Waits until every worker is ready, and merges their remarks.
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

/// Runs one worker from setup to exit. Returns `None` if the run was cancelled before its start.
fn work<Q: Queue, C: Content>(
    device: &Device<'_>,
    workload: &Workload,
    thread: u16,
    control: &Control,
    sender: SyncSender<Message>,
    new_queue: &impl Fn(Shape) -> io::Result<(Q, Vec<PathRemark>)>,
) -> Option<Ended> {
    let _farewell = Farewell(sender.clone());
    // Must precede the allocation of buffers: memory comes from the NUMA node of the CPU that touches it
    // first.
    let unpinned = control.seating.take(control.first_seat + thread);
    let shape = Shape {
        fd: device.fd,
        depth: workload.queue_depth,
        spares: stock::spares(workload),
        block_bytes: workload.block_bytes,
        clock: device.clock,
        polling: device.manner.polling,
    };
    let duration_ns = match workload.until {
        Until::DurationNs(ns) => Some(ns),
        Until::AmountBytes(_) => workload.regime.limit_ns,
    };
    let (queue, ready) = match new_queue(shape) {
        Ok((queue, remarks)) => (Some(queue), Ok(remarks.into_iter().chain(unpinned).collect())),
        Err(error) => (None, Err(error)),
    };
    let recorder = Recorder::new(device.interval_ns, duration_ns, sender.clone());
    let mut worker =
        queue.map(|queue| new_worker::<Q, C>(device, workload, thread, queue, recorder, &control.stop));
    if let Some(worker) = &mut worker {
        worker.stock_up();
    }
    // If the watcher is gone, the gate reports that as well.
    let _ = sender.send(Message::Ready(ready));
    let start_ns = control.gate.pass()?;
    let mut worker = worker.take()?;
    let regime = workload.regime;
    worker.recorder.start(start_ns, regime.ramp_ns);
    let ends_ns = |ns: u64| start_ns.saturating_add(regime.ramp_ns).saturating_add(ns);
    worker.deadline_ns = duration_ns.map_or(u64::MAX, ends_ns);
    let before = effort::of_this_thread();
    let done = match regime.arrivals {
        None => worker.run(),
        Some(arrivals) => {
            worker.run_paced(Schedule::new(arrivals, workload.seed, thread, workload.threads, start_ns))
        }
    };
    let queue_error = done.err();
    let mut effort = effort::of_this_thread().since(&before);
    effort.add(&worker.queue.retire());
    if queue_error.is_some() {
        control.stop.store(true, Ordering::Relaxed);
    }
    let Worker { queue, recorder, failure, repeats, late, content, .. } = worker;
    let (notes, polled) = (recorder.finish(), queue.is_polling());
    let (repeats, checks) = (repeats.count, content.checks());
    Some(Ended { notes, failure, repeats, queue_error, effort, polled, late, checks })
}

fn new_worker<'a, Q: Queue, C: Content>(
    device: &Device<'_>,
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
        clock: device.clock,
        ahead: Ahead::of(Stream::new(workload.seed, thread, workload.threads, &pattern), left_bytes),
        content: C::new(workload, thread),
        recorder,
        depth: workload.queue_depth,
        stock: Stock::of(workload),
        deadline_ns: u64::MAX,
        stop,
        requests: vec![Request::default(); usize::from(workload.queue_depth + stock::spares(workload))],
        failure: None,
        repeats: Repeats::reserved(workload.queue_depth),
        late: false,
    }
}
