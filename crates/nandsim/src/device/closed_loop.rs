//! The closed loop: commands in flight, ticks and the end of a run.

use stdx::access::{Access, Pattern, Stream};
use stdx::histogram::coarse::{Columns, Ledger, ROWS};

use super::driver::{Advance, MOST_IN_FLIGHT};
use super::load::{Direction, Failed, Load, Tally, Tick, Until};
use super::state::Ssd;
use crate::events::NEVER;
use crate::{Cause, Defects, Failure, Sound};

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    submitted_ns: u64,
    offset_bytes: u64,
    block_bytes: u32,
    thread: u16,
    read: bool,
    busy: bool,
}

/// Mapping entries per CPU cache line.
const LINE_UNITS: u32 = 16;
/// Maximum number of cache lines to prefetch per access; the hardware prefetcher covers the rest.
const MOST_LINES: usize = 4;
/// Number of accesses generated ahead of their submission.
const AHEAD: usize = 32;

struct Thread {
    stream: Stream,
    /// Number of bytes still to submit.
    left_bytes: u64,
    /// A ring buffer of the next accesses. Half of the buffer is generated at a time, so that the cache misses
    /// on mapping entries overlap; what these entries point to is prefetched when the half is due.
    ahead: [Access; 2 * AHEAD],
    next: usize,
}

impl Thread {
    /// Generates the half after the one that is due.
    fn draw(&mut self) {
        let from = (self.next + AHEAD) % (2 * AHEAD);
        let mut places = self.ahead[from..from + AHEAD].iter_mut();
        let take = |access| *places.next().expect("as many entries as accesses") = access;
        self.stream.draw(AHEAD, take);
    }

    /// Returns the half of the buffer that is due, followed by the other half.
    fn halves(&self) -> [&[Access]; 2] {
        let (first, second) = self.ahead.split_at(AHEAD);
        if self.next.is_multiple_of(2 * AHEAD) { [first, second] } else { [second, first] }
    }
}

/// The state of a run, except for the drive.
struct Run {
    slots: Vec<Slot>,
    threads: Vec<Thread>,
    completions: u64,
    tally: Tally,
    tick: Tick,
    tick_ns: u64,
    times: Ledger,
}

impl Ssd<Sound> {
    /// Same as [`run`](Self::run), but with an access pattern that may mix block sizes, orders and zones. The
    /// order, read percentage, block size and span of `load` are ignored.
    ///
    /// The loop is compiled here, with the optimisation of this crate, because this function is not generic.
    ///
    /// # Panics
    /// Panics in the same cases as [`run`](Self::run).
    pub fn run_pattern(
        &mut self,
        load: &Load,
        pattern: &Pattern,
        on_tick: &mut dyn FnMut(&Tick) -> bool,
    ) -> Tally {
        self.run_accesses(load, pattern, on_tick)
    }
}

impl<D: Defects> Ssd<D> {
    /// Runs `load` and returns the results. Calls `on_tick` at the end of each tick and at the end of the
    /// run; if it returns false, the run ends early.
    ///
    /// A timed run ends exactly on time. Commands still in flight at the end are not counted, but the host
    /// waits for them, so the clock may be later than the run's end time. What remains of a write that is still
    /// waiting for buffer space is dropped: on a scaled drive, writing it would take a much larger share of a
    /// cell than at scale 1. A run limited by bytes ends with its last completion.
    ///
    /// # Panics
    /// Panics if the span extends beyond the drive, has less than one block per thread, or is not aligned to the
    /// logical block size. Also panics if the thread count, queue depth or block size is zero, or if more than 65,536
    /// commands would be in flight. Callers validate first.
    pub fn run(&mut self, load: &Load, on_tick: &mut dyn FnMut(&Tick) -> bool) -> Tally {
        self.run_accesses(load, &load.pattern(), on_tick)
    }

    /// Same as [`run_pattern`](Ssd::run_pattern), for drives with any defects.
    pub(crate) fn run_accesses(
        &mut self,
        load: &Load,
        pattern: &Pattern,
        on_tick: &mut dyn FnMut(&Tick) -> bool,
    ) -> Tally {
        self.assert_possible(load, pattern);
        let now_ns = self.now_ns();
        let mut run = Run::new(load, pattern, now_ns);
        self.prepare(run.slots.len());
        let deadline_ns = match load.until {
            Until::ForNs(ns) => now_ns + ns,
            Until::Bytes(_) => NEVER,
        };
        let gone_ns = self.gone_ns();
        for slot in 0..run.slots.len() {
            self.submit_next(&mut run, slot);
        }
        let mut tick_end = if load.tick_ns == 0 { NEVER } else { now_ns + load.tick_ns };
        // After the deadline, the host waits for commands that are going to fail, but submits no new ones.
        let mut awaits_failure = false;
        while self.in_flight > 0 {
            let bound = run.completions >= load.min_completions && !awaits_failure;
            let end_ns = if bound { deadline_ns } else { NEVER };
            match self.advance(end_ns.min(tick_end), gone_ns) {
                Advance::Completed { command, cause } => {
                    self.complete(&mut run, command, cause);
                    awaits_failure = awaits_failure && self.faults.has_failing();
                    continue;
                }
                Advance::Gone => {
                    self.fail_all_in_flight(&mut run);
                    break;
                }
                Advance::Limit => {}
            }
            let next_ns = self.ftl.timeline().events.next().0;
            assert!(next_ns.min(gone_ns).min(end_ns) != NEVER, "a command in flight never completes");
            if tick_end < end_ns {
                if !run.end_tick(tick_end, on_tick) {
                    run.tally.stopped = true;
                    break;
                }
                tick_end += load.tick_ns;
            } else if self.faults.has_failing() {
                awaits_failure = true;
                run.stop_submitting();
            } else {
                break;
            }
        }
        self.end(run, on_tick)
    }

    fn assert_possible(&self, load: &Load, pattern: &Pattern) {
        let sector = u64::from(self.logical_block_bytes());
        let span = pattern.span;
        assert!(load.threads > 0 && load.queue_depth > 0, "no command in flight");
        let commands = u32::from(load.threads) * u32::from(load.queue_depth);
        assert!(commands <= MOST_IN_FLIGHT, "more than {MOST_IN_FLIGHT} commands in flight");
        let sizes = pattern.kinds.iter().map(|kind| u64::from(kind.block_bytes));
        for bytes in sizes.chain([span.start_bytes, span.segment_bytes, span.stride_bytes]) {
            assert!(bytes % sector == 0, "{bytes} bytes are not a multiple of the logical block");
        }
        assert!(span.end_bytes() <= self.capacity_bytes(), "the span extends beyond the end of the drive");
    }

    /// Finalizes the tally.
    fn end(&mut self, mut run: Run, on_tick: &mut dyn FnMut(&Tick) -> bool) -> Tally {
        run.tally.end_ns = self.now_ns();
        if run.tick_ns > 0 && !run.tally.stopped && self.now_ns() > run.tick.start_ns {
            run.end_tick(self.now_ns(), on_tick);
        }
        self.drain_in_flight();
        self.counters.host_read_bytes += run.tally.read.bytes;
        Tally { times: run.times.finish(), ..run.tally }
    }

    /// Handles a completion: counts the command and submits the next one.
    #[inline]
    fn complete(&mut self, run: &mut Run, index: usize, cause: Option<Cause>) {
        let time_ns = self.ftl.timeline().now_ns;
        match cause {
            None => run.complete(index, time_ns),
            Some(cause) => run.fail(index, cause, time_ns),
        }
        self.submit_next(run, index);
    }

    /// The drive has been removed or has lost power, so all commands in flight fail.
    #[cold]
    fn fail_all_in_flight(&mut self, run: &mut Run) {
        let cause = self.faults.gone_cause();
        for index in 0..run.slots.len() {
            if run.slots[index].busy {
                run.fail(index, cause, self.now_ns());
            }
        }
    }

    /// Prefetches the memory that a thread's next accesses will need.
    #[inline(never)]
    fn fetch_ahead(&self, thread: &Thread) {
        let (shift, map) = (self.ftl.layout().map_unit_shift(), self.ftl.map());
        let unit = |access: &Access| (access.offset_bytes >> shift) as u32;
        let [soon, later] = thread.halves();
        map.fetch_units(later.iter().map(unit));
        map.fetch_bits(soon.iter().filter(|access| !access.read).map(unit));
        // The mapping entries of larger accesses span several cache lines.
        for access in later.iter().filter(|access| access.block_bytes >> shift >= LINE_UNITS / 2) {
            let last = ((access.offset_bytes + u64::from(access.block_bytes) - 1) >> shift) as u32;
            let lines = (unit(access)..last).step_by(LINE_UNITS as usize).take(MOST_LINES).skip(1);
            map.fetch_units(lines.chain([last]));
        }
    }

    /// Submits the next command of a slot, or leaves the slot empty if its thread is done.
    #[inline]
    fn submit_next(&mut self, run: &mut Run, index: usize) {
        let leaf = self.ftl.layout().dies() as usize + index;
        let slot = &mut run.slots[index];
        let thread = &mut run.threads[slot.thread as usize];
        slot.busy = thread.left_bytes > 0;
        if !slot.busy {
            self.ftl.timeline_mut().events.clear(leaf);
            return;
        }
        if thread.next.is_multiple_of(AHEAD) {
            thread.draw();
            self.fetch_ahead(thread);
        }
        let access = thread.ahead[thread.next % (2 * AHEAD)];
        thread.next += 1;
        thread.left_bytes = thread.left_bytes.saturating_sub(access.block_bytes.into());
        (slot.submitted_ns, slot.read) = (self.ftl.timeline().now_ns, access.read);
        (slot.offset_bytes, slot.block_bytes) = (access.offset_bytes, access.block_bytes);
        self.accept(leaf, access.read, access.offset_bytes, access.block_bytes);
    }
}

impl Run {
    fn new(load: &Load, pattern: &Pattern, now_ns: u64) -> Self {
        let thread = |index: u16| {
            let left_bytes = match load.until {
                Until::ForNs(_) => u64::MAX,
                Until::Bytes(bytes) => pattern.share_bytes(bytes, index, load.threads),
            };
            let stream = Stream::new(load.seed, index, load.threads, pattern);
            let none = Access { read: false, block_bytes: 0, offset_bytes: 0 };
            let mut thread = Thread { stream, left_bytes, ahead: [none; 2 * AHEAD], next: AHEAD };
            thread.draw();
            thread.next = 0;
            thread
        };
        let commands = u32::from(load.threads) * u32::from(load.queue_depth);
        let slot = |i: u32| Slot { thread: (i / u32::from(load.queue_depth)) as u16, ..Slot::default() };
        Self {
            slots: (0..commands).map(slot).collect(),
            threads: (0..load.threads).map(thread).collect(),
            completions: 0,
            tally: Tally {
                start_ns: now_ns,
                end_ns: now_ns,
                read: Direction::default(),
                write: Direction::default(),
                ticks: Vec::new(),
                times: Columns::default(),
                stopped: false,
                failed: None,
            },
            tick: Tick { start_ns: now_ns, ..Tick::default() },
            tick_ns: load.tick_ns,
            times: Ledger::growing(),
        }
    }

    #[inline]
    fn complete(&mut self, index: usize, time_ns: u64) {
        let slot = self.slots[index];
        let latency = time_ns - slot.submitted_ns;
        let bytes = u64::from(slot.block_bytes);
        self.completions += 1;
        let direction = if slot.read { &mut self.tally.read } else { &mut self.tally.write };
        direction.ios += 1;
        direction.bytes += bytes;
        direction.latency.record(latency);
        let tick = &mut self.tick;
        tick.latency_sum_ns += latency;
        tick.latency_max_ns = tick.latency_max_ns.max(latency);
        if slot.read {
            tick.read_ios += 1;
            tick.read_bytes += bytes;
        } else {
            tick.write_ios += 1;
            tick.write_bytes += bytes;
        }
    }

    /// Counts a failed command and prevents further submissions.
    #[cold]
    fn fail(&mut self, index: usize, cause: Cause, at_ns: u64) {
        let slot = self.slots[index];
        let failure = Failure {
            cause,
            read: slot.read,
            offset_bytes: slot.offset_bytes,
            length_bytes: slot.block_bytes,
            at_ns,
        };
        self.tally.failed.get_or_insert(Failed::none(failure)).count(cause);
        self.stop_submitting();
    }

    fn stop_submitting(&mut self) {
        self.threads.iter_mut().for_each(|thread| thread.left_bytes = 0);
    }

    fn end_tick(&mut self, end_ns: u64, on_tick: &mut dyn FnMut(&Tick) -> bool) -> bool {
        self.tick.end_ns = end_ns;
        let tick = std::mem::replace(&mut self.tick, Tick { start_ns: end_ns, ..Tick::default() });
        self.tally.ticks.push(tick);
        if tick.read_ios + tick.write_ios == 0 {
            self.times.close_empty();
        } else {
            let mut sums = [0; ROWS];
            self.tally.read.latency.add_rows(&mut sums);
            self.tally.write.latency.add_rows(&mut sums);
            self.times.close(&sums);
        }
        on_tick(&tick)
    }
}
