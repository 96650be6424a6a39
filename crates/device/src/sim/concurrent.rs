//! Loads on a simulated drive other than a single closed loop: concurrent loads, and loads with schedules or ramps.
//!
//! The drive's queue processes these loads command by command, in the drive's virtual time. Scaling is the
//! same as for any other workload: durations and ramps are divided, rates are not.

use std::time::Instant;

use engine::{Answer, Flow, Interval, LoadOutcome, Recorder, Schedule, Tick, merge};
use nandsim::{Command, Completion, Failed, MOST_IN_FLIGHT, Queue};
use record::{Segment, Until, Workload};
use stdx::access::{Access, Stream};
use stdx::units::SECOND_NS;

use super::{COMPLETIONS_PER_OUTSTANDING, Simulated, TICK_EVERY, device_error};
use crate::error::DriveError;

/// One thread of a workload.
struct Thread {
    stream: Stream,
    schedule: Option<Schedule>,
    left_bytes: u64,
    free: Vec<usize>,
}

/// One workload.
struct Party {
    threads: Vec<Thread>,
    recorder: Recorder,
    counts_from_ns: u64,
    deadline_ns: u64,
    /// Number of I/Os that must still complete before the deadline can end the workload.
    still_required: u64,
    in_flight: u32,
    late: bool,
    /// Sums since the last displayed tick.
    sums: Interval,
    done_bytes: u64,
}

/// Origin of a command.
#[derive(Clone, Copy)]
struct Tag {
    party: usize,
    thread: usize,
    due_ns: u64,
    access: Access,
}

impl Party {
    fn new(workload: &Workload, start_ns: u64, divisor: u64, first_tag: usize) -> Self {
        let pattern = workload.pattern();
        let scaled = |ns: u64| (ns / divisor).max(1);
        let ramp_ns = workload.regime.ramp_ns / divisor;
        let duration_ns = match workload.until {
            Until::DurationNs(ns) => Some(scaled(ns)),
            Until::AmountBytes(_) => workload.regime.limit_ns.map(scaled),
        };
        let depth = usize::from(workload.queue_depth);
        let thread = |index: u16| Thread {
            stream: Stream::new(workload.seed, index, workload.threads, &pattern),
            schedule: workload
                .regime
                .arrivals
                .map(|arrivals| Schedule::new(arrivals, workload.seed, index, workload.threads, start_ns)),
            left_bytes: match workload.until {
                Until::DurationNs(_) => u64::MAX,
                Until::AmountBytes(bytes) => pattern.share_bytes(bytes, index, workload.threads),
            },
            free: (0..depth).rev().map(|slot| first_tag + usize::from(index) * depth + slot).collect(),
        };
        let mut recorder = Recorder::without_display(SECOND_NS / divisor, duration_ns);
        recorder.start(start_ns, ramp_ns);
        let counts_from_ns = start_ns + ramp_ns;
        // If there is a schedule, its rate determines the number of I/Os; a closed loop must not end after only a few
        // I/Os.
        let timed = matches!(workload.until, Until::DurationNs(_)) && workload.regime.arrivals.is_none();
        let still_required =
            if timed { COMPLETIONS_PER_OUTSTANDING * u64::from(workload.outstanding()) } else { 0 };
        Self {
            threads: (0..workload.threads).map(thread).collect(),
            recorder,
            counts_from_ns,
            deadline_ns: duration_ns.map_or(u64::MAX, |ns| counts_from_ns.saturating_add(ns)),
            still_required,
            in_flight: 0,
            late: false,
            sums: Interval::default(),
            done_bytes: 0,
        }
    }

    fn is_timed_out(&self, now_ns: u64) -> bool {
        now_ns >= self.deadline_ns && self.still_required == 0
    }

    fn is_open(&self, now_ns: u64) -> bool {
        !self.is_timed_out(now_ns) && self.threads.iter().any(|thread| thread.left_bytes > 0)
    }

    fn is_over(&self, now_ns: u64) -> bool {
        self.is_timed_out(now_ns) || (self.in_flight == 0 && !self.is_open(now_ns))
    }

    /// Returns when the workload will next act without waiting for a completion.
    fn next_ns(&self, now_ns: u64) -> u64 {
        if now_ns >= self.deadline_ns || self.is_over(now_ns) {
            return u64::MAX;
        }
        let due = |thread: &Thread| {
            let waits = thread.left_bytes > 0 && !thread.free.is_empty();
            thread.schedule.as_ref().filter(|_| waits).map_or(u64::MAX, Schedule::due_ns)
        };
        self.threads.iter().map(due).min().unwrap_or(u64::MAX).min(self.deadline_ns)
    }

    /// Submits the I/Os that are due; a closed loop submits as many as its depth permits.
    fn submit(&mut self, party: usize, tags: &mut [Option<Tag>], queue: &mut Queue<'_>) {
        let now_ns = queue.now_ns();
        if self.is_timed_out(now_ns) {
            return;
        }
        for (index, thread) in self.threads.iter_mut().enumerate() {
            while thread.left_bytes > 0 && thread.schedule.as_ref().is_none_or(|s| s.due_ns() <= now_ns) {
                let Some(tag) = thread.free.pop() else { break };
                let due_ns = thread.schedule.as_mut().map_or(now_ns, Schedule::take);
                let access = thread.stream.next_access();
                thread.left_bytes = thread.left_bytes.saturating_sub(access.block_bytes.into());
                tags[tag] = Some(Tag { party, thread: index, due_ns, access });
                let Access { read, block_bytes: length_bytes, offset_bytes } = access;
                queue.submit(tag, Command { read, offset_bytes, length_bytes });
                self.in_flight += 1;
            }
        }
    }

    fn complete(&mut self, number: usize, tag: Tag, completed_ns: u64) {
        self.in_flight -= 1;
        self.threads[tag.thread].free.push(number);
        if self.is_timed_out(completed_ns) {
            self.late = true;
            return;
        }
        if completed_ns >= self.counts_from_ns && self.still_required > 0 {
            self.still_required -= 1;
            if self.still_required == 0 {
                self.deadline_ns = self.deadline_ns.max(completed_ns);
            }
        }
        let latency_ns = completed_ns - tag.due_ns;
        self.recorder.record(tag.access, tag.due_ns, completed_ns);
        let read = u64::from(tag.access.read);
        let bytes = u64::from(tag.access.block_bytes);
        let one = Interval {
            read_ios: read,
            write_ios: 1 - read,
            bytes,
            latency_sum_ns: latency_ns,
            read_latency_sum_ns: latency_ns * read,
            latency_max_ns: latency_ns,
        };
        self.sums.add(&one);
        self.done_bytes += bytes;
    }

    fn segment(self, workload: &Workload, interval_ns: u64) -> Segment {
        let late = self.late || self.in_flight > 0 || self.threads.iter().any(|thread| thread.left_bytes > 0);
        let notes = self.recorder.finish();
        let end_ns = match workload.until {
            Until::DurationNs(_) => self.deadline_ns,
            Until::AmountBytes(_) if late => self.deadline_ns,
            Until::AmountBytes(_) => notes.last_done_ns,
        };
        let start_ns = self.counts_from_ns;
        let (read, write, series) = merge(&[notes], interval_ns, end_ns - start_ns);
        Segment::simulated(workload.clone(), (start_ns, end_ns), (read, write), series)
    }
}

/// Progress display.
struct Display {
    start_ns: u64,
    shown_ns: u64,
    last: Instant,
    /// Interval between ticks on the drive's clock; `None` to use the host's clock.
    every_ns: Option<u64>,
}

impl Display {
    /// Reports progress if a tick is due. Returns whether the load continues.
    fn show(
        &mut self,
        now_ns: u64,
        parties: &mut [Party],
        workloads: &[Workload],
        on_tick: &mut dyn FnMut(usize, &Tick) -> Flow,
    ) -> bool {
        let is_due = match self.every_ns {
            Some(every_ns) => now_ns - self.shown_ns >= every_ns,
            None => self.last.elapsed() >= TICK_EVERY,
        };
        if !is_due {
            return true;
        }
        let mut continues = true;
        for (index, (party, workload)) in parties.iter_mut().zip(workloads).enumerate() {
            let sums = std::mem::take(&mut party.sums);
            let share_done = match workload.until {
                Until::AmountBytes(bytes) => party.done_bytes as f64 / bytes as f64,
                Until::DurationNs(_) => {
                    (now_ns - self.start_ns) as f64 / (party.deadline_ns - self.start_ns).max(1) as f64
                }
            };
            let tick = Tick {
                elapsed_ns: now_ns - self.start_ns,
                interval_ns: (now_ns - self.shown_ns).max(1),
                read_ios: sums.read_ios,
                write_ios: sums.write_ios,
                syncs: 0,
                bytes: sums.bytes,
                latency_mean_ns: sums.latency_mean_ns(),
                latency_max_ns: sums.latency_max_ns,
                share_done: share_done.min(1.0),
            };
            continues &= on_tick(index, &tick) == Flow::Continue;
        }
        (self.shown_ns, self.last) = (now_ns, Instant::now());
        continues
    }
}

impl Simulated {
    /// Runs validated workloads concurrently. After a power loss, the drive is powered on again before the error
    /// is returned.
    pub(crate) fn run_concurrently(
        &mut self,
        workloads: &[Workload],
        on_tick: &mut dyn FnMut(usize, &Tick) -> Flow,
    ) -> Result<Vec<Answer>, DriveError> {
        let answers = self.run_queued(workloads, on_tick);
        if answers.is_err() {
            self.restore_power();
        }
        answers
    }

    /// Same as `run_concurrently`, but does not restore power after a power loss.
    pub(super) fn run_queued(
        &mut self,
        workloads: &[Workload],
        on_tick: &mut dyn FnMut(usize, &Tick) -> Flow,
    ) -> Result<Vec<Answer>, DriveError> {
        let all: u32 = workloads.iter().map(Workload::outstanding).fold(0, u32::saturating_add);
        if all > MOST_IN_FLIGHT {
            return Err(DriveError::TooManyInFlight { outstanding: all, most: MOST_IN_FLIGHT });
        }
        let (start_ns, divisor) = (self.ssd.now_ns(), self.divisor);
        let mut first = 0;
        let mut parties: Vec<Party> = Vec::with_capacity(workloads.len());
        for workload in workloads {
            parties.push(Party::new(workload, start_ns, divisor, first));
            first += workload.outstanding() as usize;
        }
        let mut tags: Vec<Option<Tag>> = vec![None; first];
        let mut queue = self.ssd.queue(first.max(1));
        let every_ns = self.virtual_ticks.then_some(SECOND_NS / divisor);
        let mut display = Display { start_ns, shown_ns: start_ns, last: self.last_tick, every_ns };
        loop {
            for (index, party) in parties.iter_mut().enumerate() {
                party.submit(index, &mut tags, &mut queue);
            }
            let now_ns = queue.now_ns();
            if parties.iter().all(|party| party.is_over(now_ns)) {
                break;
            }
            let next_ns = parties.iter().map(|party| party.next_ns(now_ns)).min().unwrap_or(u64::MAX);
            let Some(done) = queue.next_completion(next_ns) else { continue };
            if done.failed.is_some() {
                return Err(all_failures(&done, &mut queue));
            }
            let tag = tags[done.tag].take().expect("only submitted commands complete");
            parties[tag.party].complete(done.tag, tag, done.completed_ns);
            if !display.show(queue.now_ns(), &mut parties, workloads, on_tick) {
                let stopped = Answer { outcome: LoadOutcome::Stopped, verified: None };
                return Ok(vec![stopped; workloads.len()]);
            }
        }
        // Wait for the I/Os in flight to find out which of them failed.
        while queue.will_fail() {
            let Some(done) = queue.next_completion(u64::MAX) else { break };
            if done.failed.is_some() {
                return Err(all_failures(&done, &mut queue));
            }
        }
        drop(queue);
        self.last_tick = display.last;
        let interval_ns = SECOND_NS / divisor;
        let answer = |(party, workload): (Party, &Workload)| Answer {
            outcome: LoadOutcome::Finished(party.segment(workload, interval_ns)),
            verified: None,
        };
        Ok(parties.into_iter().zip(workloads).map(answer).collect())
    }
}

/// Combines the first failure with the failures of the other commands in flight.
pub(super) fn all_failures(first: &Completion, queue: &mut Queue<'_>) -> DriveError {
    let mut failed: Option<Failed> = None;
    let mut note = |completion: &Completion| {
        if let Some(failure) = completion.failed {
            match &mut failed {
                Some(failed) => failed.count(failure.cause),
                None => failed = Some(Failed::first(failure)),
            }
        }
    };
    note(first);
    while let Some(done) = queue.next_completion(u64::MAX) {
        note(&done);
    }
    device_error(&failed.expect("the first one failed"))
}
