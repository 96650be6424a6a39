//! Replays individual I/Os on a simulated drive, in its virtual time. Times in a trace are not scaled.

use std::time::Instant;

use engine::{Due, Flow, Pace, ReplayLog, ReplayOptions, ReplaySource, Replayed, Started};
use nandsim::{Command, MOST_IN_FLIGHT, Queue};
use stdx::access::Access;

use super::concurrent::all_failures;
use super::{Simulated, TICK_EVERY};
use crate::error::DriveError;

/// The I/Os in flight.
struct Playing {
    log: ReplayLog,
    free: Vec<usize>,
    /// For each tag, its I/O and when it started.
    starts: Vec<Option<(Due, u64)>>,
}

impl Playing {
    /// Starts an I/O; returns false if no tag is free.
    fn submit(&mut self, due: Due, pace: Pace, queue: &mut Queue<'_>) -> bool {
        let Some(tag) = self.free.pop() else { return false };
        let (now_ns, due_ns) = (queue.now_ns(), self.log.start_ns() + due.due_ns);
        let is_open = pace == Pace::Open;
        self.log.started(Started {
            due_ns,
            at_ns: now_ns,
            is_open,
            // Virtual time stands still between completions, so an I/O is late only if it had to wait.
            is_held_back: is_open && now_ns > due_ns,
            outstanding: self.starts.len() - self.free.len(),
        });
        self.starts[tag] = Some((due, now_ns));
        let Access { read, offset_bytes, block_bytes: length_bytes } = due.access;
        queue.submit(tag, Command { read, offset_bytes, length_bytes });
        true
    }
}

impl Simulated {
    /// Replays checked I/Os. Returns `None` if `on_progress` stopped the replay.
    pub(crate) fn replay(
        &mut self,
        options: &ReplayOptions,
        source: &mut ReplaySource<'_>,
        on_progress: &mut dyn FnMut(u64) -> Flow,
    ) -> Result<Option<Replayed>, DriveError> {
        if u32::from(options.depth) > MOST_IN_FLIGHT {
            let outstanding = options.depth.into();
            return Err(DriveError::TooManyInFlight { outstanding, most: MOST_IN_FLIGHT });
        }
        let replayed = self.replay_powered(options, source, on_progress);
        if replayed.is_err() {
            self.restore_power();
        }
        replayed
    }

    fn replay_powered(
        &mut self,
        options: &ReplayOptions,
        source: &mut ReplaySource<'_>,
        on_progress: &mut dyn FnMut(u64) -> Flow,
    ) -> Result<Option<Replayed>, DriveError> {
        let (free, starts) = ((0..options.depth.into()).rev().collect(), vec![None; options.depth.into()]);
        let mut playing = Playing { log: ReplayLog::new(self.ssd.now_ns()), free, starts };
        let mut queue = self.ssd.queue(options.depth.into());
        let (mut batch, mut next, mut completed, mut shown) = (Vec::new(), 0, 0, Instant::now());
        source(&mut batch);
        loop {
            let mut until_ns = u64::MAX;
            while let Some(due) = batch.get(next) {
                let due_ns = playing.log.start_ns() + due.due_ns;
                if options.pace == Pace::Open && due_ns > queue.now_ns() {
                    until_ns = due_ns;
                    break;
                }
                if !playing.submit(*due, options.pace, &mut queue) {
                    break;
                }
                next += 1;
                if next == batch.len() {
                    batch.clear();
                    next = 0;
                    source(&mut batch);
                }
            }
            if batch.is_empty() && playing.free.len() == playing.starts.len() {
                break;
            }
            let Some(done) = queue.next_completion(until_ns) else { continue };
            if done.failed.is_some() {
                return Err(all_failures(&done, &mut queue));
            }
            let (due, since_ns) = playing.starts[done.tag].take().expect("only submitted commands complete");
            playing.log.completed(due.access, since_ns, done.completed_ns);
            playing.free.push(done.tag);
            completed += 1;
            if shown.elapsed() >= TICK_EVERY {
                shown = Instant::now();
                if on_progress(completed) == Flow::Stop {
                    return Ok(None);
                }
            }
        }
        drop(queue);
        Ok(Some(playing.log.finish()))
    }
}
