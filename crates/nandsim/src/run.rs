//! The closed loop: commands in flight, ticks and the end of a run.

use stdx::access::{Access, Pattern, Stream};
use stdx::histogram::coarse::{Columns, Ledger, ROWS};

use crate::events::{Events, NEVER};
use crate::flash::NOBODY;
use crate::load::Failed;
use crate::ssd::Ssd;
use crate::{Cause, Direction, Failure, Load, Tally, Tick, Until};

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    submitted_ns: u64,
    offset_bytes: u64,
    block_bytes: u32,
    thread: u16,
    read: bool,
    busy: bool,
}

/// Maximum number of commands in flight.
pub const MOST_IN_FLIGHT: u32 = 1 << 16;
/// Mapping entries per CPU cache line.
const LINE_UNITS: u32 = 16;
/// The hardware prefetcher covers the rest.
const MOST_LINES: usize = 4;
/// Number of accesses generated ahead of their submission.
const AHEAD: usize = 32;

struct Thread {
    stream: Stream,
    /// Bytes still to submit.
    left_bytes: u64,
    /// A ring buffer of the next accesses. Half of it is generated at a time, so that the cache misses on their
    /// mapping entries overlap; the data those entries point to is fetched when the half is due.
    ahead: [Access; 2 * AHEAD],
    next: usize,
}

impl Thread {
    /// Generates the half after the one that is due.
    fn draw(&mut self) {
        let from = (self.next + AHEAD) % (2 * AHEAD);
        let mut places = self.ahead[from..from + AHEAD].iter_mut();
        let take = |access| *places.next().expect("as many places as accesses") = access;
        self.stream.draw(AHEAD, take);
    }

    /// The half that is due, and the one after it.
    fn halves(&self) -> [&[Access]; 2] {
        let (first, second) = self.ahead.split_at(AHEAD);
        if self.next.is_multiple_of(2 * AHEAD) { [first, second] } else { [second, first] }
    }
}

/// The state of a run, apart from the drive.
struct Run {
    slots: Vec<Slot>,
    threads: Vec<Thread>,
    completions: u64,
    tally: Tally,
    tick: Tick,
    tick_ns: u64,
    times: Ledger,
}

impl Ssd {
    /// Runs `load` and returns the results. Calls `on_tick` at the end of every tick and of the run; the run ends
    /// early if it returns false.
    ///
    /// A timed run ends exactly on time. Commands still in flight at the end are not counted, but the host waits
    /// for them, so the clock may be later than the end of the tally. The rest of a write that still waits for
    /// buffer space is dropped: on a scaled drive, writing it would take a much larger share of a cell than at
    /// scale 1. A run limited by bytes ends with its last completion.
    ///
    /// # Panics
    /// Panics if the span is outside the drive, holds no block per thread, or is not aligned to the logical block;
    /// if the thread count, queue depth or block size is zero; or if more than 65,536 commands would be in flight.
    /// Callers validate first.
    pub fn run(&mut self, load: &Load, on_tick: &mut dyn FnMut(&Tick) -> bool) -> Tally {
        self.run_pattern(load, &load.pattern(), on_tick)
    }

    /// Like [`run`](Self::run), with an access pattern that may mix block sizes, orders and zones. Ignores the
    /// order, read percentage, block size and span of `load`.
    ///
    /// # Panics
    /// Panics in the same cases as [`run`](Self::run).
    pub fn run_pattern(
        &mut self,
        load: &Load,
        pattern: &Pattern,
        on_tick: &mut dyn FnMut(&Tick) -> bool,
    ) -> Tally {
        self.assert_possible(load, pattern);
        let dies = self.plan.dies as usize;
        let mut run = Run::new(load, pattern, self.now_ns);
        self.begin(run.slots.len());
        let deadline = match load.until {
            Until::ForNs(ns) => self.now_ns + ns,
            Until::Bytes(_) => NEVER,
        };
        let gone_ns = self.gone_ns().map_or(NEVER, |at| at.max(self.now_ns));
        for slot in 0..run.slots.len() {
            self.submit_next(&mut run, slot);
        }
        let mut tick_end = if load.tick_ns == 0 { NEVER } else { self.now_ns + load.tick_ns };
        while self.in_flight > 0 {
            let (time, leaf) = self.events.next();
            let past = time > deadline && run.completions >= load.min_completions;
            // The host waits for the commands that will fail, and submits nothing new in the meantime.
            let waits = past && self.has_failing();
            if waits {
                run.threads.iter_mut().for_each(|thread| thread.left_bytes = 0);
            }
            let over = past && !waits;
            assert!(over || time.min(gone_ns) != NEVER, "a command in flight that never ends");
            let end = if over { deadline.max(self.now_ns) } else { time };
            let gone = end >= gone_ns;
            let end = end.min(gone_ns);
            while tick_end < end {
                self.now_ns = tick_end;
                if !run.end_tick(tick_end, on_tick) {
                    run.tally.stopped = true;
                    return self.end(run, on_tick);
                }
                tick_end += load.tick_ns;
            }
            self.now_ns = end;
            if gone {
                self.fail_all_in_flight(&mut run);
            }
            if over || gone {
                break;
            }
            if leaf < dies {
                self.die_event(leaf);
            } else {
                self.complete(&mut run, leaf, time);
            }
        }
        self.end(run, on_tick)
    }

    /// Prepares the events for `commands` commands in flight.
    pub(crate) fn begin(&mut self, commands: usize) {
        self.events = Events::new(self.plan.dies as usize, commands);
        self.flash.announce(&mut self.events);
        if let Some(through) = &mut self.through {
            through.begin(commands);
        }
    }

    /// Lets commands in flight complete, except writes that wait for the buffer, without counting them. If the
    /// drive disappears, they are dropped.
    pub(crate) fn drain_in_flight(&mut self) {
        let dies = self.plan.dies as usize;
        // On a drive that is gone, the blocked commands may have failed already.
        self.in_flight = self.in_flight.saturating_sub(self.blocked.len() as u32);
        self.blocked.clear();
        let gone_ns = self.gone_ns().unwrap_or(NEVER);
        while self.in_flight > 0 {
            let (time, leaf) = self.events.next();
            assert!(time.min(gone_ns) != NEVER, "a command in flight that never ends");
            if time >= gone_ns {
                self.now_ns = self.now_ns.max(gone_ns);
                break;
            }
            self.now_ns = time;
            if leaf < dies {
                self.die_event(leaf);
            } else {
                self.in_flight -= 1;
                self.struck(leaf);
                self.events.clear(leaf);
            }
        }
        self.in_flight = 0;
        if let Some(through) = &mut self.through {
            through.take(NOBODY);
            self.flash.forget_commands();
        }
        self.forget_failing();
        self.warm_up();
    }

    fn assert_possible(&self, load: &Load, pattern: &Pattern) {
        let sector = u64::from(self.plan.logical_block_bytes);
        let span = pattern.span;
        assert!(load.threads > 0 && load.queue_depth > 0, "no command in flight");
        let commands = u32::from(load.threads) * u32::from(load.queue_depth);
        assert!(commands <= MOST_IN_FLIGHT, "more than {MOST_IN_FLIGHT} commands in flight");
        let sizes = pattern.kinds.iter().map(|kind| u64::from(kind.block_bytes));
        for bytes in sizes.chain([span.start_bytes, span.segment_bytes, span.stride_bytes]) {
            assert!(bytes % sector == 0, "{bytes} bytes are not a multiple of the logical block");
        }
        assert!(span.end_bytes() <= self.plan.capacity_bytes, "the span ends beyond the end of the drive");
    }

    /// Finalizes the tally.
    fn end(&mut self, mut run: Run, on_tick: &mut dyn FnMut(&Tick) -> bool) -> Tally {
        run.tally.end_ns = self.now_ns;
        if run.tick_ns > 0 && !run.tally.stopped && self.now_ns > run.tick.start_ns {
            run.end_tick(self.now_ns, on_tick);
        }
        self.drain_in_flight();
        self.health.host_read_bytes += run.tally.read.bytes;
        Tally { times: run.times.finish(), ..run.tally }
    }

    /// Handles a completion: counts the command and submits the next one.
    #[inline]
    fn complete(&mut self, run: &mut Run, leaf: usize, time_ns: u64) {
        let index = leaf - self.plan.dies as usize;
        self.in_flight -= 1;
        match self.struck(leaf) {
            None => run.complete(index, time_ns),
            Some(cause) => run.fail(index, cause, time_ns),
        }
        self.submit_next(run, index);
    }

    /// The drive is gone: fails everything in flight.
    #[cold]
    fn fail_all_in_flight(&mut self, run: &mut Run) {
        let cause = self.gone_cause();
        for index in 0..run.slots.len() {
            if run.slots[index].busy {
                run.fail(index, cause, self.now_ns);
            }
        }
    }

    /// Prefetches the memory that the next accesses of a thread need.
    #[inline(never)]
    fn fetch_ahead(&self, thread: &Thread) {
        let shift = self.plan.map_unit_shift;
        let unit = |access: &Access| (access.offset_bytes >> shift) as u32;
        let [soon, later] = thread.halves();
        self.map.fetch_units(later.iter().map(unit));
        self.map.fetch_bits(soon.iter().filter(|access| !access.read).map(unit));
        // Larger accesses have their entries in several cache lines.
        for access in later.iter().filter(|access| access.block_bytes >> shift >= LINE_UNITS / 2) {
            let last = ((access.offset_bytes + u64::from(access.block_bytes) - 1) >> shift) as u32;
            let lines = (unit(access)..last).step_by(LINE_UNITS as usize).take(MOST_LINES).skip(1);
            self.map.fetch_units(lines.chain([last]));
        }
    }

    /// Submits the next command of a slot, or leaves it empty if its thread is done.
    #[inline]
    fn submit_next(&mut self, run: &mut Run, index: usize) {
        let leaf = self.plan.dies as usize + index;
        let slot = &mut run.slots[index];
        let thread = &mut run.threads[slot.thread as usize];
        slot.busy = thread.left_bytes > 0;
        if !slot.busy {
            self.events.clear(leaf);
            return;
        }
        if thread.next.is_multiple_of(AHEAD) {
            thread.draw();
            self.fetch_ahead(thread);
        }
        let access = thread.ahead[thread.next % (2 * AHEAD)];
        thread.next += 1;
        thread.left_bytes = thread.left_bytes.saturating_sub(access.block_bytes.into());
        (slot.submitted_ns, slot.read) = (self.now_ns, access.read);
        (slot.offset_bytes, slot.block_bytes) = (access.offset_bytes, access.block_bytes);
        self.take(leaf, access.read, access.offset_bytes, access.block_bytes);
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

    /// Counts a failed command and stops further submissions.
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
