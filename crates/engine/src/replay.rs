//! Replays individual I/Os: unlike the I/Os of a workload, each has its own offset, length and due time.
//!
//! In an open loop, each I/O starts when it is due, whether or not earlier I/Os have completed. How late each I/O
//! actually started is recorded. In a closed loop, due times are ignored, and a fixed number of I/Os is kept
//! outstanding.

mod feed;
mod fitting;
mod log;
mod player;
mod terms;

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use record::ErrorCount;
use record::errno::name;

use crate::clock::Vigil;
use crate::disturbance::Disturbance;
use crate::error::{EngineError, FailedOperation, FailureCause, IoFailure};
use crate::load::target::Target;
use crate::load::way::Way;
use crate::progress::Flow;
use crate::queue::aio::Aio;
use crate::queue::operation::Transfer;
use crate::queue::threads::Threads;
use crate::queue::uring::Uring;
use crate::queue::{Queue, Shape};
use feed::{Feed, feed};
use player::{Played, Player};

pub use fitting::{Bounds, Fitting};
pub use log::{ReplayLog, Started};
pub use terms::{BATCH, Due, Pace, ReplayOptions, Replayed, Source};

/// Interval between calls to the progress function.
const TICK: Duration = Duration::from_millis(100);
/// Time between two attempts to pass on a batch; even at the highest rate of a single thread, a batch lasts
/// longer.
const PAUSE: Duration = Duration::from_millis(1);

/// Replays I/Os on a target. `on_progress` receives the number of completed I/Os several times per second. Returns
/// `None` if `on_progress` stopped the replay.
///
/// # Errors
/// Returns an error if the queue cannot be set up, an I/O fails, or the host disturbs the replay.
pub fn replay(
    target: &Target<'_>,
    options: &ReplayOptions,
    source: &mut Source<'_>,
    on_progress: &mut dyn FnMut(u64) -> Flow,
) -> Result<Option<Replayed>, EngineError> {
    let shape = Shape {
        fd: target.raw_fd(),
        depth: options.depth,
        spares: 0,
        block_bytes: options.largest_bytes,
        each_write: None,
        trims: false,
        zoned: false,
        atomic: false,
        apart: true,
        thread: 0,
        space: None,
        clock: target.clock,
        polling: target.options.polling,
    };
    let mut failed = None;
    for &way in Way::of(target, options.depth) {
        let mut stage = Stage { target, options, source: &mut *source, on_progress: &mut *on_progress };
        let ended = match way {
            Way::Uring => stage.play(|| Ok(Uring::<Transfer>::new(shape, ())?.0)),
            Way::Aio => stage.play(|| Aio::new(shape)),
            Way::Threads => stage.play(|| Threads::new(shape)),
            Way::UringCommands | Way::Scsi | Way::Space | Way::Files | Way::Null | Way::NoOpRing => continue,
        };
        match ended {
            Err(Unplayed::Setup(error)) => failed = Some(error),
            Err(Unplayed::Engine(error)) => return Err(error),
            Ok(replayed) => {
                let io_path = Some(way.engine().into());
                return Ok(replayed.map(|replayed| Replayed { io_path, ..replayed }));
            }
        }
    }
    let (queue_depth, block_bytes) = (options.depth, options.largest_bytes);
    let source = failed.unwrap_or_else(|| io::Error::other("no engine suits this target"));
    Err(EngineError::Setup { threads: 1, queue_depth, block_bytes, source })
}

/// Why a replay by one engine failed.
enum Unplayed {
    /// The engine could not be set up; nothing was read or written.
    Setup(io::Error),
    Engine(EngineError),
}

impl From<EngineError> for Unplayed {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

/// A replay by one engine.
struct Stage<'a, 'b> {
    target: &'a Target<'a>,
    options: &'a ReplayOptions,
    source: &'a mut Source<'b>,
    on_progress: &'a mut dyn FnMut(u64) -> Flow,
}

impl Stage<'_, '_> {
    /// Plays the I/Os on a separate thread, while the calling thread feeds it and reports progress.
    fn play<Q: Queue>(
        &mut self,
        new_queue: impl FnOnce() -> io::Result<Q> + Send,
    ) -> Result<Option<Replayed>, Unplayed> {
        let Self { target, options, .. } = *self;
        let seating = target.options.places.seat(1, 0).map_err(EngineError::from)?;
        let (stop, done) = (AtomicBool::new(false), AtomicU64::new(0));
        let vigil = Vigil::start(target.clock);
        let mut stopped = false;
        let played = std::thread::scope(|scope| {
            let (outlet, receiver, returned) = Feed::channels();
            let (ready, is_ready) = sync_channel(1);
            let (stop, done, seating, clock) = (&stop, &done, &seating, target.clock);
            let task = move || {
                // If the thread cannot be pinned, it may start I/Os late, which is recorded.
                let _ = seating.take(0);
                let (queue, set_up) = match new_queue() {
                    Ok(queue) => (Some(queue), Ok(())),
                    Err(error) => (None, Err(error)),
                };
                // The receiver waits for this message.
                let _ = ready.send(set_up);
                queue.map(|queue| {
                    Player::new(clock, queue, options, Feed::new(receiver, returned), stop, done).play()
                })
            };
            let player = std::thread::Builder::new().name("replay".into()).spawn_scoped(scope, task);
            let player = player.map_err(EngineError::WorkloadThread)?;
            is_ready.recv().map_err(io::Error::other).and_then(|set_up| set_up).map_err(Unplayed::Setup)?;
            let mut last = Instant::now();
            let mut goes_on = |waits: bool| {
                if last.elapsed() >= TICK {
                    last = Instant::now();
                    stopped |= (self.on_progress)(done.load(Ordering::Relaxed)) == Flow::Stop;
                    stop.fetch_or(stopped, Ordering::Relaxed);
                }
                if waits {
                    std::thread::sleep(PAUSE);
                }
                !stopped && !player.is_finished()
            };
            feed(self.source, outlet, &mut goes_on);
            while !player.is_finished() {
                goes_on(true);
            }
            Ok::<_, Unplayed>(player.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })?;
        let played = played.ok_or_else(|| Unplayed::Setup(io::Error::other("the queue is missing")))?;
        Ok(concluded(target, played, vigil.disturbance(), stopped)?)
    }
}

fn concluded(
    target: &Target<'_>,
    played: Played,
    disturbed: Option<Disturbance>,
    stopped: bool,
) -> Result<Option<Replayed>, EngineError> {
    if let Some(failure) = played.failure {
        let kind = if failure.errno == 0 { "short".to_owned() } else { name(failure.errno) };
        return Err(EngineError::Io(Box::new(IoFailure {
            target: target.name.to_owned(),
            operation: FailedOperation::of(failure.access),
            length_bytes: failure.access.block_bytes.into(),
            offset_bytes: failure.access.offset_bytes,
            cause: match failure.errno {
                0 => FailureCause::Short(failure.transferred_bytes.into()),
                errno => FailureCause::Errno(errno),
            },
            in_read_back: false,
            repeats: 0,
            errors: vec![ErrorCount { kind, count: failure.count }],
            cut: None,
        })));
    }
    if let Some(source) = played.queue_error {
        return Err(EngineError::Wait { target: target.name.to_owned(), source });
    }
    if stopped {
        return Ok(None);
    }
    if let Some(disturbance) = disturbed {
        return Err(EngineError::ReplayDisturbed { target: target.name.to_owned(), disturbance });
    }
    Ok(Some(played.replayed))
}
