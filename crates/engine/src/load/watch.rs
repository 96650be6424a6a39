//! Reports progress to the caller while a workload runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use record::{Until, Workload};

use super::interval::Interval;
use super::message::Message;
use super::stillness::{PULSE, Stillness};
use super::target::{INTERVAL_NS, Target};
use crate::clock::Vigil;
use crate::disturbance::Disturbance;
use crate::progress::{Flow, Tick};

/// Workers report an interval with the first completion after it ends. The display waits this long for them.
const TICK_GRACE_NS: u64 = 50_000_000;

/// Longest interval between checks of the clock.
const LONGEST: Duration = Duration::from_nanos(INTERVAL_NS + TICK_GRACE_NS);

/// How a workload ended.
pub(super) struct Watched {
    /// Whether the caller stopped the workload.
    pub stopped: bool,
    /// Whether the caller ended the workload early, with its results.
    pub finished: bool,
    /// Why the measurement is invalid.
    pub disturbed: Option<Disturbance>,
}

/// Reports progress to the caller about once per second, until all workers have exited.
pub(super) fn watch(
    target: &Target<'_>,
    workload: &Workload,
    (start_ns, vigil): (u64, &Vigil),
    mut workers: usize,
    messages: &Receiver<Message>,
    stop: &AtomicBool,
    on_tick: &mut dyn FnMut(&Tick) -> Flow,
) -> Watched {
    let (mut sums, mut syncs, mut total_bytes) = (Interval::default(), 0, 0u64);
    let (mut last_tick_ns, mut next_ns) = (start_ns, start_ns + INTERVAL_NS + TICK_GRACE_NS);
    let (mut stopped, mut finished, mut stillness) = (false, false, Stillness::watch());
    let mut next_look = Instant::now() + LONGEST;
    while workers > 0 {
        let wait_ns = next_ns.saturating_sub(target.clock.now_ns());
        let wait = Duration::from_nanos(wait_ns).min(PULSE);
        let received = stillness.during(wait, |wait| messages.recv_timeout(wait));
        finished |= target.finish.is_some_and(|finish| finish.load(Ordering::Relaxed));
        if finished || stillness.disturbance().is_some() {
            stop.store(true, Ordering::Relaxed);
        }
        match received {
            Ok(Message::Interval { closed, syncs: completed }) => {
                sums.add(&closed);
                syncs += completed;
            }
            Ok(Message::Gone) => workers -= 1,
            Ok(Message::Ready(_)) => {}
            Err(RecvTimeoutError::Disconnected) => break,
            // Wait for at most a second of `Instant` time, because the clock of the measurement may be wrong.
            Err(RecvTimeoutError::Timeout)
                if wait_ns > PULSE.as_nanos() as u64 && Instant::now() < next_look => {}
            Err(RecvTimeoutError::Timeout) if vigil.disturbance().is_some() => {
                next_look = Instant::now() + LONGEST;
                stop.store(true, Ordering::Relaxed);
                next_ns = target.clock.now_ns() + INTERVAL_NS;
            }
            Err(RecvTimeoutError::Timeout) => {
                next_look = Instant::now() + LONGEST;
                let now_ns = target.clock.now_ns();
                total_bytes += sums.bytes;
                let tick = Tick {
                    elapsed_ns: now_ns - start_ns,
                    interval_ns: now_ns - last_tick_ns,
                    read_ios: sums.read_ios,
                    write_ios: sums.write_ios,
                    syncs: std::mem::take(&mut syncs),
                    bytes: sums.bytes,
                    latency_mean_ns: sums.latency_mean_ns(),
                    latency_max_ns: sums.latency_max_ns,
                    share_done: share_done(workload, now_ns - start_ns, total_bytes),
                };
                if !stopped {
                    let flow = on_tick(&tick);
                    (stopped, finished) = (flow == Flow::Stop, finished || flow == Flow::Finish);
                }
                if stopped || finished {
                    stop.store(true, Ordering::Relaxed);
                }
                sums = Interval::default();
                last_tick_ns = now_ns;
                // Stays on the one-second grid and skips ticks that a slow caller missed.
                let passed = (now_ns - start_ns).saturating_sub(TICK_GRACE_NS) / INTERVAL_NS;
                next_ns = start_ns + (passed + 1) * INTERVAL_NS + TICK_GRACE_NS;
            }
        }
    }
    Watched { stopped, finished, disturbed: vigil.disturbance().or(stillness.disturbance()) }
}

fn share_done(workload: &Workload, elapsed_ns: u64, bytes_done: u64) -> f64 {
    let (done, all) = match workload.until {
        Until::DurationNs(ns) => (elapsed_ns, ns.saturating_add(workload.regime.ramp_ns)),
        Until::AmountBytes(bytes) => (bytes_done, bytes),
    };
    (done as f64 / all as f64).min(1.0)
}
