//! The closed loop: commands in flight, their way through the drive, ticks and the end of a run.

use stdx::access::{Access, Stream, share};

use crate::events::{Events, NEVER};
use crate::map::NONE;
use crate::ssd::Ssd;
use crate::write::Pending;
use crate::{Direction, Load, Tally, Tick, Until};

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    submitted_ns: u64,
    thread: u16,
    read: bool,
}

/// Most commands in flight that a drive takes.
const MOST_IN_FLIGHT: u32 = 1 << 16;
/// Accesses drawn ahead of their submission; a power of two.
const AHEAD: usize = 16;

struct Thread {
    stream: Stream,
    /// Commands still to submit.
    left: u64,
    /// The next accesses, drawn early so that their mapping entries are on their way from memory.
    ahead: [Access; AHEAD],
    next: usize,
}

/// What a run keeps beside the drive.
struct Run {
    block_bytes: u32,
    slots: Vec<Slot>,
    threads: Vec<Thread>,
    in_flight: u32,
    completions: u64,
    tally: Tally,
    tick: Tick,
    tick_ns: u64,
}

impl Ssd {
    /// Runs `load` and reports what completed. `on_tick` is called at the end of every tick and of the
    /// run; when it returns false the run ends there.
    ///
    /// A timed run ends at its exact time: commands still in flight then are not counted, and of a write
    /// that waits for the buffer the rest is never written. A run of bytes ends with its last completion.
    ///
    /// # Panics
    /// Panics when the span lies outside the drive, holds no block per thread, or is not aligned to the
    /// logical block, when threads, queue depth or block size are zero, and when more than 65,536 commands
    /// would be in flight; callers validate first.
    pub fn run(&mut self, load: &Load, on_tick: &mut dyn FnMut(&Tick) -> bool) -> Tally {
        self.assert_possible(load);
        let dies = self.plan.dies as usize;
        let mut run = Run::new(load, self.now_ns);
        self.events = Events::new(dies + run.slots.len());
        self.flash.announce(&mut self.events);
        let deadline = match load.until {
            Until::ForNs(ns) => self.now_ns + ns,
            Until::Bytes(_) => NEVER,
        };
        for slot in 0..run.slots.len() {
            self.submit(&mut run, slot);
        }
        let mut tick_end = if load.tick_ns == 0 { NEVER } else { self.now_ns + load.tick_ns };
        while run.in_flight > 0 {
            let (time, leaf) = self.events.next();
            let over = time > deadline && run.completions >= load.min_completions;
            let end = if over { deadline.max(self.now_ns) } else { time };
            while tick_end < end {
                self.now_ns = tick_end;
                if !run.end_tick(tick_end, on_tick) {
                    run.tally.stopped = true;
                    return self.end(run, on_tick);
                }
                tick_end += load.tick_ns;
            }
            self.now_ns = end;
            if over {
                break;
            }
            if leaf < dies {
                self.die_event(leaf);
            } else {
                run.complete(leaf - dies, time);
                self.submit(&mut run, leaf - dies);
            }
        }
        self.end(run, on_tick)
    }

    fn assert_possible(&self, load: &Load) {
        let sector = u64::from(self.plan.logical_block_bytes);
        let span = load.span;
        assert!(load.threads > 0 && load.queue_depth > 0, "no command in flight");
        let commands = u32::from(load.threads) * u32::from(load.queue_depth);
        assert!(commands <= MOST_IN_FLIGHT, "more than {MOST_IN_FLIGHT} commands in flight");
        assert!(load.read_percent <= 100, "more than 100 percent reads");
        for bytes in [load.block_bytes.into(), span.start_bytes, span.segment_bytes, span.stride_bytes] {
            assert!(bytes % sector == 0, "{bytes} bytes are no multiple of the logical block");
        }
        assert!(load.block_bytes > 0, "blocks without bytes");
        assert!(span.end_bytes() <= self.plan.capacity_bytes, "the span ends behind the drive");
    }

    /// Closes the books: what was accepted stays accepted, what was not is dropped.
    fn end(&mut self, mut run: Run, on_tick: &mut dyn FnMut(&Tick) -> bool) -> Tally {
        self.blocked.clear();
        std::hint::black_box(self.touched);
        run.tally.end_ns = self.now_ns;
        if run.tick_ns > 0 && !run.tally.stopped && self.now_ns > run.tick.start_ns {
            run.end_tick(self.now_ns, on_tick);
        }
        self.health.host_read_bytes += run.tally.read.bytes;
        run.tally
    }

    /// Submits the next command of a slot, or leaves it empty when its thread is done.
    #[inline]
    fn submit(&mut self, run: &mut Run, index: usize) {
        let leaf = self.plan.dies as usize + index;
        let slot = &mut run.slots[index];
        let thread = &mut run.threads[slot.thread as usize];
        if thread.left == 0 {
            self.events.set(leaf, NEVER);
            return;
        }
        thread.left -= 1;
        run.in_flight += 1;
        let drawn = thread.stream.next_access();
        let access = std::mem::replace(&mut thread.ahead[thread.next], drawn);
        thread.next = (thread.next + 1) % AHEAD;
        self.touched ^= self.map.l2p[(drawn.offset_bytes >> self.plan.map_unit_shift) as usize];
        (slot.submitted_ns, slot.read) = (self.now_ns, access.read);
        let end = if access.read {
            self.read_command(access.offset_bytes, run.block_bytes)
        } else {
            self.write_command(leaf as u32, access.offset_bytes, run.block_bytes).unwrap_or(NEVER)
        };
        self.events.set(leaf, end);
    }

    #[inline]
    fn controller(&mut self, command_ns: u64, units: u32) -> u64 {
        let cost = command_ns + u64::from(units) * self.plan.map_unit_ns;
        self.controller_free_ns = self.controller_free_ns.max(self.now_ns) + cost;
        self.controller_free_ns
    }

    #[inline]
    fn write_command(&mut self, leaf: u32, offset: u64, bytes: u32) -> Option<u64> {
        let shift = self.plan.map_unit_shift;
        let end = offset + u64::from(bytes);
        let inside = (1u64 << shift) - 1;
        let next_unit = (offset >> shift) as u32;
        let end_unit = ((end + inside) >> shift) as u32;
        let ready_ns = self.controller(self.plan.write_command_ns, end_unit - next_unit);
        self.health.host_written_bytes += u64::from(bytes);
        self.write(Pending {
            leaf,
            next_unit,
            end_unit,
            partial_head: offset & inside != 0,
            partial_tail: end & inside != 0,
            ready_ns,
            bytes,
        })
    }

    #[inline]
    fn read_command(&mut self, offset: u64, bytes: u32) -> u64 {
        let shift = self.plan.map_unit_shift;
        let first = (offset >> shift) as u32;
        let last = ((offset + u64::from(bytes) - 1) >> shift) as u32;
        let start = self.controller(self.plan.read_command_ns, last + 1 - first);
        let (mut first_ns, mut last_ns) = (NEVER, start);
        let mut unit = first;
        while unit <= last {
            let slot = self.map.l2p[unit as usize];
            unit += 1;
            // What was never written, and what the buffer still holds, needs no flash.
            if slot == NONE || self.in_buffer(slot) {
                first_ns = start;
                continue;
            }
            // Neighbours in one program unit are sensed together.
            let mut together = 1;
            while unit <= last
                && self.map.l2p[unit as usize] == slot + together
                && (slot + together) >> self.plan.unit_shift == slot >> self.plan.unit_shift
            {
                together += 1;
                unit += 1;
            }
            let end = self.flash.read(self.plan.die_of(slot), start, together, 0);
            first_ns = first_ns.min(end);
            last_ns = last_ns.max(end);
        }
        let sent = self.link_up.book(first_ns, self.plan.link_ns(bytes));
        sent.max(last_ns) + self.plan.read_latency_ns
    }
}

impl Run {
    fn new(load: &Load, now_ns: u64) -> Self {
        let ios = match load.until {
            Until::ForNs(_) => None,
            Until::Bytes(bytes) => Some(bytes / u64::from(load.block_bytes)),
        };
        let thread = |index: u16| {
            let part = ios.map(|ios| share(ios, index, load.threads));
            let mut stream = Stream::new(
                load.seed,
                index,
                load.threads,
                load.order,
                load.read_percent,
                load.block_bytes,
                load.span,
            );
            let ahead = std::array::from_fn(|_| stream.next_access());
            Thread { stream, left: part.map_or(u64::MAX, |part| part.end - part.start), ahead, next: 0 }
        };
        let commands = u32::from(load.threads) * u32::from(load.queue_depth);
        let slot = |i: u32| Slot { thread: (i / u32::from(load.queue_depth)) as u16, ..Slot::default() };
        Self {
            block_bytes: load.block_bytes,
            slots: (0..commands).map(slot).collect(),
            threads: (0..load.threads).map(thread).collect(),
            in_flight: 0,
            completions: 0,
            tally: Tally {
                start_ns: now_ns,
                end_ns: now_ns,
                read: Direction::default(),
                write: Direction::default(),
                ticks: Vec::new(),
                stopped: false,
            },
            tick: Tick { start_ns: now_ns, ..Tick::default() },
            tick_ns: load.tick_ns,
        }
    }

    #[inline]
    fn complete(&mut self, index: usize, time_ns: u64) {
        let slot = self.slots[index];
        let latency = time_ns - slot.submitted_ns;
        let bytes = u64::from(self.block_bytes);
        self.in_flight -= 1;
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

    fn end_tick(&mut self, end_ns: u64, on_tick: &mut dyn FnMut(&Tick) -> bool) -> bool {
        self.tick.end_ns = end_ns;
        let tick = std::mem::replace(&mut self.tick, Tick { start_ns: end_ns, ..Tick::default() });
        self.tally.ticks.push(tick);
        on_tick(&tick)
    }
}
