//! Runs one workload on a real target: a thread per TC, each with its own queue, and this thread, which
//! watches.
//!
//! Every way out joins every thread, and every thread takes back every I/O it gave the kernel. How long
//! that takes after a stop is up to the device; a device that never answers is timed out by its driver.

mod conclude;
pub(crate) mod effort;
pub(crate) mod fill;
pub(crate) mod recorder;
pub(crate) mod worker;

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use record::{Effort, Until, Workload};
use stdx::access::{Access, Stream};
use stdx::units::SECOND_NS;

use crate::clock::{Clock, Vigil};
use crate::error::{DriveError, reason};
use crate::placement::Seating;
use crate::queue::aio::Aio;
use crate::queue::null::Null;
use crate::queue::threads::Threads;
use crate::queue::uring::Uring;
use crate::queue::{Queue, Shape};
use crate::target::Held;
use crate::{Engine, Flow, Manner, Outcome, Polling, Tick};
use conclude::conclude;
use fill::Fill;
use recorder::{Interval, Notes, Recorder};
use worker::{Failure, Worker};

/// Ring entries and registered buffers have limits in the kernel; this is within all of them.
const MAX_QUEUE_DEPTH: u16 = 4096;
pub(crate) const INTERVAL_NS: u64 = SECOND_NS;
/// Workers hand over an interval with their first completion after it; the display waits this long for it.
const TICK_GRACE_NS: u64 = 50_000_000;
const MESSAGES_PER_WORKER: usize = 8;

/// A real target, armed.
pub(crate) struct Device<'a> {
    pub(crate) name: &'a str,
    pub(crate) fd: RawFd,
    pub(crate) buffered: Option<&'a str>,
    pub(crate) clock: Clock,
    pub(crate) manner: &'a Manner,
    /// Length of an interval of the series.
    pub(crate) interval_ns: u64,
}

impl<'a> Device<'a> {
    pub(crate) fn of(name: &'a str, held: &'a Held, clock: Clock, manner: &'a Manner) -> Self {
        let (fd, buffered) = (held.fd.as_raw_fd(), held.buffered.as_deref());
        Self { name, fd, buffered, clock, manner, interval_ns: INTERVAL_NS }
    }
}

/// From the workers to the watcher.
pub(crate) enum Message {
    /// Set-up went well; with a remark for the engine text, or did not.
    Ready(io::Result<Option<String>>),
    /// One more interval is over.
    Interval(Interval),
    /// The worker has ended.
    Gone,
}

/// Sends [`Message::Gone`] however the worker ends.
struct Farewell(SyncSender<Message>);

impl Drop for Farewell {
    fn drop(&mut self) {
        // Without a watcher nobody waits for it.
        let _ = self.0.send(Message::Gone);
    }
}

/// Where workers wait for the common start.
#[derive(Default)]
struct Gate {
    start: Mutex<Option<Option<u64>>>,
    changed: Condvar,
}

impl Gate {
    /// Opens for a start at this time, or for going home.
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

/// What workers and watcher share.
struct Control {
    gate: Gate,
    stop: AtomicBool,
    seating: Seating,
}

/// Opens the gate and stops the workers when the watcher ends, also by a panic in the caller's tick.
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

/// How a worker ended.
struct Ended {
    notes: Notes,
    failure: Option<Failure>,
    queue_error: Option<io::Error>,
    effort: Effort,
    polled: bool,
}

/// What came of one attempt. The error of an attempt: it could not be set up; nothing was read or written.
struct Ran {
    start_ns: u64,
    stopped: bool,
    /// Why nothing of it is worth anything.
    disturbed: Option<String>,
    note: Option<String>,
    seating: Seating,
    workers: Vec<Ended>,
}

/// A way into the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Uring,
    Aio,
    Threads,
    /// No kernel: every I/O is done at once.
    Null,
    /// The kernel's ring, but no target.
    NoOpRing,
}

impl Way {
    /// The ways to try, best first.
    fn of(device: &Device<'_>, queue_depth: u16) -> &'static [Self] {
        match device.manner.engine {
            Engine::Threads => &[Self::Threads],
            Engine::IoUring => &[Self::Uring],
            Engine::Libaio => &[Self::Aio],
            // Only io_uring polls.
            Engine::Auto if device.manner.polling != Polling::No => &[Self::Uring, Self::Aio, Self::Threads],
            // With one I/O at a time a plain system call is the shorter way: it adds less to every response time.
            Engine::Auto if queue_depth == 1 => &[Self::Threads],
            // Through the page cache libaio would do one I/O after the other.
            Engine::Auto if device.buffered.is_some() => &[Self::Uring, Self::Threads],
            Engine::Auto => &[Self::Uring, Self::Aio, Self::Threads],
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Uring => "io_uring",
            Self::Aio => "libaio",
            Self::Threads => "threads",
            Self::Null => "null",
            Self::NoOpRing => "no-op ring",
        }
    }
}

/// Whether a thread can have that many I/Os outstanding.
pub(crate) fn check_depth(workload: &Workload) -> Result<(), DriveError> {
    if workload.queue_depth <= MAX_QUEUE_DEPTH {
        return Ok(());
    }
    Err(DriveError::Invalid(format!(
        "workload {workload}: a queue depth of {} per thread; at most {MAX_QUEUE_DEPTH} is possible, use more threads",
        workload.queue_depth
    )))
}

/// Runs a workload to its end.
pub(crate) fn run(
    device: &Device<'_>,
    workload: &Workload,
    on_tick: &mut dyn FnMut(&Tick) -> Flow,
) -> Result<Outcome, DriveError> {
    let ways = Way::of(device, workload.queue_depth);
    let mut failed: Vec<(Way, io::Error)> = Vec::new();
    for &way in ways {
        match attempt_by(way, device, workload, on_tick) {
            Err(error) => failed.push((way, error)),
            Ok(ran) => {
                let engine = match (device.manner.engine, way, workload.queue_depth) {
                    (Engine::Auto, Way::Threads, 1) if failed.is_empty() => {
                        "pread and pwrite (depth 1)".to_owned()
                    }
                    _ => with_reasons(way, &failed),
                };
                return conclude(device, workload, engine, ran);
            }
        }
    }
    Err(DriveError::Unusable(format!(
        "{} threads with {} outstanding I/Os of {} B each cannot be set up: {}; choose fewer, or the other engine",
        workload.threads,
        workload.queue_depth,
        workload.block_bytes,
        failed.last().map_or_else(String::new, |(_, error)| reason(error))
    )))
}

/// Runs a workload that reaches no target.
pub(crate) fn rehearse(way: Way, device: &Device<'_>, workload: &Workload) -> Result<Outcome, DriveError> {
    let ran = attempt_by(way, device, workload, &mut |_| Flow::Continue)
        .map_err(|error| DriveError::Unusable(format!("{}: {}", way.name(), reason(&error))))?;
    conclude(device, workload, way.name().to_owned(), ran)
}

/// `threads (io_uring: Too many open files; libaio: …)`.
fn with_reasons(way: Way, failed: &[(Way, io::Error)]) -> String {
    if failed.is_empty() {
        return way.name().to_owned();
    }
    let reasons: Vec<_> = failed.iter().map(|(way, e)| format!("{}: {}", way.name(), reason(e))).collect();
    format!("{} ({})", way.name(), reasons.join("; "))
}

/// One attempt; each way has its own compiled loop.
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
    let seating = device.manner.places.seat(workload.threads, helpers).map_err(io::Error::other)?;
    match way {
        Way::Uring => attempt(device, workload, seating, on_tick, Uring::<false>::new),
        Way::NoOpRing => attempt(device, workload, seating, on_tick, Uring::<true>::new),
        Way::Aio => attempt(device, workload, seating, on_tick, |shape| Ok((Aio::new(shape)?, None))),
        Way::Threads => attempt(device, workload, seating, on_tick, |shape| Ok((Threads::new(shape)?, None))),
        Way::Null => attempt(device, workload, seating, on_tick, |shape| Ok((Null::new(shape)?, None))),
    }
}

fn attempt<Q: Queue>(
    device: &Device<'_>,
    workload: &Workload,
    seating: Seating,
    on_tick: &mut dyn FnMut(&Tick) -> Flow,
    new_queue: impl Fn(Shape) -> io::Result<(Q, Option<String>)> + Sync,
) -> io::Result<Ran> {
    let control = Control { gate: Gate::default(), stop: AtomicBool::new(false), seating };
    std::thread::scope(|scope| {
        let release = Release(&control);
        let (sender, messages) = sync_channel(usize::from(workload.threads) * MESSAGES_PER_WORKER);
        let mut handles = Vec::with_capacity(usize::from(workload.threads));
        for thread in 0..workload.threads {
            let (sender, control, new_queue) = (sender.clone(), &control, &new_queue);
            let builder = std::thread::Builder::new().name(format!("load-{thread}"));
            match builder
                .spawn_scoped(scope, move || work(device, workload, thread, control, sender, new_queue))
            {
                Ok(handle) => handles.push(handle),
                Err(error) => return Err(error),
            }
        }
        drop(sender);
        let note = gather(&messages, handles.len())?;
        let vigil = Vigil::start(device.clock);
        let start_ns = device.clock.now_ns();
        control.gate.open(Some(start_ns));
        let watched =
            watch(device, workload, (start_ns, &vigil), handles.len(), &messages, &control.stop, on_tick);
        let (stopped, disturbed) = (watched, vigil.disturbance());
        drop(release);
        let workers = handles
            .into_iter()
            .filter_map(|h| h.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect();
        Ok(Ran { start_ns, stopped, disturbed, note, seating: control.seating.clone(), workers })
    })
}

/// Waits until every worker is ready.
fn gather(messages: &Receiver<Message>, workers: usize) -> io::Result<Option<String>> {
    let mut note = None;
    for _ in 0..workers {
        match messages.recv() {
            Ok(Message::Ready(answer)) => note = answer?.or(note),
            _ => return Err(io::Error::other("a worker ended while it was set up")),
        }
    }
    Ok(note)
}

/// One worker from set-up to end; none when the run was called off before its start.
fn work<Q: Queue>(
    device: &Device<'_>,
    workload: &Workload,
    thread: u16,
    control: &Control,
    sender: SyncSender<Message>,
    new_queue: &impl Fn(Shape) -> io::Result<(Q, Option<String>)>,
) -> Option<Ended> {
    let _farewell = Farewell(sender.clone());
    // Before the buffers: memory comes from the node of the processor that touches it first.
    let unpinned = control.seating.take(thread);
    let shape = Shape {
        fd: device.fd,
        depth: workload.queue_depth,
        block_bytes: workload.block_bytes,
        clock: device.clock,
        polling: device.manner.polling,
    };
    let duration_ns = match workload.until {
        Until::DurationNs(ns) => Some(ns),
        Until::AmountBytes(_) => None,
    };
    let (queue, ready) = match new_queue(shape) {
        Ok((queue, note)) => (Some(queue), Ok(note.or(unpinned))),
        Err(error) => (None, Err(error)),
    };
    let recorder = Recorder::new(device.interval_ns, duration_ns, sender.clone());
    let mut worker = queue.map(|queue| new_worker(workload, thread, queue, recorder, &control.stop));
    // Without a watcher the gate says so as well.
    let _ = sender.send(Message::Ready(ready));
    let start_ns = control.gate.pass()?;
    let worker = worker.as_mut()?;
    worker.recorder.start(start_ns);
    worker.deadline_ns = duration_ns.map_or(u64::MAX, |ns| start_ns.saturating_add(ns));
    let before = effort::of_this_thread();
    let queue_error = worker.run().err();
    let mut effort = effort::of_this_thread().since(&before);
    effort.add(&worker.queue.retire());
    if queue_error.is_some() {
        control.stop.store(true, Ordering::Relaxed);
    }
    let recorder =
        std::mem::replace(&mut worker.recorder, Recorder::new(device.interval_ns, Some(0), sender));
    let polled = worker.queue.is_polling();
    Some(Ended { notes: recorder.finish(), failure: worker.failure.take(), queue_error, effort, polled })
}

fn new_worker<'a, Q: Queue>(
    workload: &Workload,
    thread: u16,
    queue: Q,
    recorder: Recorder,
    stop: &'a AtomicBool,
) -> Worker<'a, Q> {
    let pattern = workload.pattern();
    let left_bytes = match workload.until {
        Until::DurationNs(_) => u64::MAX,
        Until::AmountBytes(bytes) => pattern.share_bytes(bytes, thread, workload.threads),
    };
    Worker {
        queue,
        stream: Stream::new(workload.seed, thread, workload.threads, &pattern),
        fill: Fill::new(workload.data_pattern, workload.seed, thread),
        recorder,
        depth: workload.queue_depth,
        left_bytes,
        deadline_ns: u64::MAX,
        stop,
        requests: vec![
            Access { read: false, block_bytes: 0, offset_bytes: 0 };
            usize::from(workload.queue_depth)
        ],
        failure: None,
        repeats: 0,
    }
}

/// Tells the caller about once a second how it goes; whether the caller stopped the run.
fn watch(
    device: &Device<'_>,
    workload: &Workload,
    (start_ns, vigil): (u64, &Vigil),
    mut workers: usize,
    messages: &Receiver<Message>,
    stop: &AtomicBool,
    on_tick: &mut dyn FnMut(&Tick) -> Flow,
) -> bool {
    let (mut sums, mut total_bytes) = (Interval::default(), 0u64);
    let (mut told_ns, mut next_ns) = (start_ns, start_ns + INTERVAL_NS + TICK_GRACE_NS);
    let mut stopped = false;
    while workers > 0 {
        // Not longer than this, whatever the clock says: it may be the clock that went wrong.
        let wait_ns = next_ns.saturating_sub(device.clock.now_ns()).min(INTERVAL_NS + TICK_GRACE_NS);
        let wait = Duration::from_nanos(wait_ns);
        match messages.recv_timeout(wait) {
            Ok(Message::Interval(interval)) => sums.add(&interval),
            Ok(Message::Gone) => workers -= 1,
            Ok(Message::Ready(_)) => {}
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) if vigil.disturbance().is_some() => {
                stop.store(true, Ordering::Relaxed);
                next_ns = device.clock.now_ns() + INTERVAL_NS;
            }
            Err(RecvTimeoutError::Timeout) => {
                let now_ns = device.clock.now_ns();
                total_bytes += sums.bytes;
                let tick = Tick {
                    elapsed_ns: now_ns - start_ns,
                    interval_ns: now_ns - told_ns,
                    read_ios: sums.read_ios,
                    write_ios: sums.write_ios,
                    bytes: sums.bytes,
                    latency_mean_ns: sums.latency_mean_ns(),
                    latency_max_ns: sums.latency_max_ns,
                    share_done: share_done(workload, now_ns - start_ns, total_bytes),
                };
                if !stopped && on_tick(&tick) == Flow::Stop {
                    stopped = true;
                    stop.store(true, Ordering::Relaxed);
                }
                sums = Interval::default();
                told_ns = now_ns;
                // Keeps to the grid of seconds, and skips what a slow caller slept through.
                let passed = (now_ns - start_ns).saturating_sub(TICK_GRACE_NS) / INTERVAL_NS;
                next_ns = start_ns + (passed + 1) * INTERVAL_NS + TICK_GRACE_NS;
            }
        }
    }
    stopped
}

fn share_done(workload: &Workload, elapsed_ns: u64, bytes_done: u64) -> f64 {
    let (done, all) = match workload.until {
        Until::DurationNs(ns) => (elapsed_ns, ns),
        Until::AmountBytes(bytes) => (bytes_done, bytes),
    };
    (done as f64 / all as f64).min(1.0)
}
