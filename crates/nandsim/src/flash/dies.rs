//! Timing of dies and channels.
//!
//! A read is scheduled on its die after all operations already scheduled there. Program and erase operations
//! are queued: each is scheduled only when the previous one completes, so that reads that have arrived by then
//! go first, but later ones do not. By default, a die is busy until its transfer ends, so reads and writes
//! share one bottleneck, as on real drives.

use std::collections::VecDeque;

use stdx::Rng;

use super::layout::Layout;
use super::timing::Timing;
use crate::Model;
use crate::events::{Events, NEVER};
use crate::link::Link;

#[derive(Debug, Clone, Copy)]
enum Job {
    /// A program operation, with the number of write buffer slots that it frees and the command that waits for
    /// it.
    Program {
        frees: u32,
        cache: bool,
        leaf: u32,
    },
    Erase,
}

#[derive(Debug, Clone, Copy)]
struct Op {
    ready_ns: u64,
    job: Job,
}

/// Used instead of an event leaf if no command waits for a program operation.
pub(crate) const NOBODY: u32 = u32::MAX;

/// Result of completing a program or erase operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Finished {
    /// Number of freed slots in the write buffer.
    pub(crate) freed: u32,
    /// Event leaf of the command that waits for the program operation, or [`NOBODY`].
    pub(crate) leaf: u32,
}

/// Used instead of a program unit if the next read on the die cannot be sequential.
const NO_UNIT: u32 = u32::MAX;

/// Slots in one program unit that are read together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadRange {
    unit: u32,
    slots: u32,
    sense_ns: u64,
}

impl ReadRange {
    /// Extends the time that the read occupies the die by `by_ns`.
    #[inline]
    pub(crate) fn longer(self, by_ns: u64) -> Self {
        Self { sense_ns: self.sense_ns + by_ns, ..self }
    }
}

struct Die {
    free_ns: u64,
    /// End of the scheduled program or erase operation; [`NEVER`] if there is none.
    end_ns: u64,
    /// Number of buffer slots that the scheduled operation frees.
    frees: u32,
    /// Event leaf of the command that waits for the scheduled operation, or [`NOBODY`].
    leaf: u32,
    waiting: VecDeque<Op>,
    /// The scheduled operation yields to reads that arrive before this time: its end, or 0 if it cannot be
    /// suspended.
    yields_ns: u64,
    /// Number of suspensions left.
    suspends: u32,
    /// End of the last read during a suspension.
    read_ns: u64,
    /// The program unit read last, unless a program or erase operation has started since.
    last_unit: u32,
    /// The channel; `None` if the die does not share it with other dies, in which case the die's own schedule
    /// is sufficient.
    channel: Option<usize>,
}

/// The dies and channels of a drive.
pub(crate) struct Flash {
    timing: Timing,
    /// Slots per program unit, as a shift.
    unit_shift: u32,
    dies: Vec<Die>,
    channels: Vec<Link>,
    spread: Rng,
    outstanding: u32,
}

impl Die {
    fn idle(channel: Option<usize>) -> Self {
        Self {
            free_ns: 0,
            end_ns: NEVER,
            frees: 0,
            leaf: NOBODY,
            waiting: VecDeque::new(),
            yields_ns: 0,
            suspends: 0,
            read_ns: 0,
            last_unit: NO_UNIT,
            channel,
        }
    }
}

impl Flash {
    /// Creates idle flash; `seed` determines the random variation of program times.
    pub(crate) fn new(model: &Model, layout: &Layout, seed: u64) -> Self {
        let timing = Timing::new(model, layout);
        let (count, per_channel) = (layout.dies(), layout.dies_per_channel());
        let shared = per_channel > 1 || !timing.held;
        let die = |i: u32| Die::idle(shared.then_some((i / per_channel) as usize));
        let channel = Link::new(timing.slot_transfer_ns);
        Self {
            timing,
            unit_shift: layout.unit_shift(),
            dies: (0..count).map(die).collect(),
            channels: vec![channel; (count / per_channel) as usize],
            spread: Rng::from_seed(seed),
            outstanding: 0,
        }
    }

    /// Returns the flash to its initial, idle state.
    pub(crate) fn renew(&mut self, seed: u64) {
        let channel = Link::new(self.timing.slot_transfer_ns);
        for die in &mut self.dies {
            *die = Die::idle(die.channel);
        }
        self.channels.fill(channel);
        self.spread = Rng::from_seed(seed);
        self.outstanding = 0;
    }

    /// Returns the time in ns that it takes to erase a superblock on one die.
    pub(crate) fn superblock_erase_ns(&self) -> u64 {
        u64::from(self.timing.erases) * self.timing.erase_ns
    }

    /// Returns a read of `slots` slots in one program unit, starting at `slot`.
    #[inline(always)]
    pub(crate) fn range(&self, slot: u32, slots: u32) -> ReadRange {
        let timing = &self.timing;
        let sense_ns = if slot < timing.cache_start { timing.sense_ns } else { timing.cache_sense_ns };
        ReadRange { unit: slot >> self.unit_shift, slots, sense_ns }
    }

    /// Returns the number of program and erase operations that are scheduled or waiting.
    pub(crate) fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// Returns the end of the last operation scheduled on `die`.
    pub(crate) fn free_ns(&self, die: usize) -> u64 {
        self.dies[die].free_ns
    }

    /// Returns the number of write buffer slots whose program operations have not completed.
    pub(crate) fn buffered(&self) -> u64 {
        let waiting = |die: &Die| {
            die.waiting
                .iter()
                .map(|op| match op.job {
                    Job::Program { frees, .. } => u64::from(frees),
                    Job::Erase => 0,
                })
                .sum::<u64>()
        };
        self.dies.iter().map(|die| u64::from(die.frees) + waiting(die)).sum()
    }

    /// Returns whether no operations wait on idle dies and the count of outstanding operations is correct.
    pub(crate) fn consistent(&self) -> bool {
        let count = |die: &Die| die.waiting.len() as u32 + u32::from(die.end_ns != NEVER);
        self.dies.iter().all(|die| die.end_ns != NEVER || (die.waiting.is_empty() && die.frees == 0))
            && self.dies.iter().map(count).sum::<u32>() == self.outstanding
    }

    /// Registers the pending completions with a new event queue.
    pub(crate) fn announce(&self, events: &mut Events) {
        for (leaf, die) in self.dies.iter().enumerate() {
            events.set_die(leaf, die.end_ns);
        }
    }

    /// Reads part of a program unit after all operations scheduled on its die. Returns the end in ns.
    #[inline(always)]
    pub(crate) fn read(&mut self, die: usize, at_ns: u64, part: ReadRange) -> u64 {
        let die = &mut self.dies[die];
        let mut sense_ns = part.sense_ns;
        if self.timing.read_ahead {
            let last = std::mem::replace(&mut die.last_unit, part.unit);
            let next = last != NO_UNIT && (part.unit == last || part.unit == last + self.timing.dies);
            if next {
                sense_ns = 0;
            }
        }
        let sensed = at_ns.max(die.free_ns) + sense_ns;
        let transfer = u64::from(part.slots) * self.timing.slot_transfer_ns;
        let end = match die.channel {
            None => sensed + transfer,
            Some(channel) => self.channels[channel].book(sensed, transfer),
        };
        die.free_ns = if self.timing.held { end } else { sensed };
        end
    }

    /// Same as [`read`](Self::read), but for the host: the read may suspend a program operation.
    #[inline(always)]
    pub(crate) fn read_first(&mut self, die: usize, at_ns: u64, part: ReadRange) -> u64 {
        if at_ns >= self.dies[die].yields_ns {
            return self.read(die, at_ns, part);
        }
        self.suspend(die, at_ns, part)
    }

    /// Postpones the end of the program operation, but not its event: many reads may suspend the same
    /// operation, and [`finish`](Self::finish) checks whether the end was postponed.
    fn suspend(&mut self, leaf: usize, at_ns: u64, part: ReadRange) -> u64 {
        let die = &mut self.dies[leaf];
        let start = at_ns.max(die.read_ns);
        let sensed = start + self.timing.suspend_ns + part.sense_ns;
        let transfer = u64::from(part.slots) * self.timing.slot_transfer_ns;
        let end = match die.channel {
            None => sensed + transfer,
            Some(channel) => self.channels[channel].book(sensed, transfer),
        };
        let until = if self.timing.held { end } else { sensed };
        die.suspends -= 1;
        die.read_ns = until;
        die.end_ns += until - start;
        die.free_ns += until - start;
        die.yields_ns = if die.suspends > 0 { die.end_ns } else { 0 };
        end
    }

    /// Transfers one more slot of the program unit sensed last on `die`. Returns the end in ns.
    #[inline]
    pub(crate) fn read_again(&mut self, die: usize, at_ns: u64) -> u64 {
        let die = &mut self.dies[die];
        let start = at_ns.max(die.free_ns);
        let end = match die.channel {
            None => start + self.timing.slot_transfer_ns,
            Some(channel) => self.channels[channel].book(start, self.timing.slot_transfer_ns),
        };
        if self.timing.held {
            die.free_ns = end;
        }
        end
    }

    /// Queues a program operation; [`finish`](Self::finish) returns the number of slots it frees.
    #[inline]
    pub(crate) fn program(&mut self, die: usize, ready_ns: u64, frees: u32, events: &mut Events) {
        self.queue(die, Op { ready_ns, job: Job::Program { frees, cache: false, leaf: NOBODY } }, events);
    }

    /// Same as [`program`](Self::program), but for host data that the command on an event leaf waits for.
    #[inline]
    pub(crate) fn program_for(
        &mut self,
        die: usize,
        ready_ns: u64,
        (frees, leaf): (u32, u32),
        events: &mut Events,
    ) {
        self.queue(die, Op { ready_ns, job: Job::Program { frees, cache: false, leaf } }, events);
    }

    /// Same as [`program_for`](Self::program_for), but with the cache's timing.
    pub(crate) fn program_cache(
        &mut self,
        die: usize,
        ready_ns: u64,
        (frees, leaf): (u32, u32),
        events: &mut Events,
    ) {
        self.queue(die, Op { ready_ns, job: Job::Program { frees, cache: true, leaf } }, events);
    }

    /// Detaches all commands from their program operations.
    pub(crate) fn forget_commands(&mut self) {
        for die in &mut self.dies {
            die.leaf = NOBODY;
            for op in &mut die.waiting {
                if let Job::Program { leaf, .. } = &mut op.job {
                    *leaf = NOBODY;
                }
            }
        }
    }

    /// Queues the erase operations of one superblock on `die`.
    pub(crate) fn erase(&mut self, die: usize, ready_ns: u64, events: &mut Events) {
        for _ in 0..self.timing.erases {
            self.queue(die, Op { ready_ns, job: Job::Erase }, events);
        }
    }

    #[inline]
    fn queue(&mut self, die: usize, op: Op, events: &mut Events) {
        self.outstanding += 1;
        if self.dies[die].end_ns == NEVER {
            self.start(die, op, events);
        } else {
            self.dies[die].waiting.push_back(op);
        }
    }

    #[inline]
    fn start(&mut self, leaf: usize, op: Op, events: &mut Events) {
        let die = &mut self.dies[leaf];
        let start = op.ready_ns.max(die.free_ns);
        (die.suspends, die.read_ns, die.last_unit) = (0, 0, NO_UNIT);
        let (end, frees, command) = match op.job {
            Job::Erase => (start + self.timing.erase_ns, 0, NOBODY),
            Job::Program { frees, cache, leaf } => {
                let transfer = self.timing.unit_transfer_ns;
                let loaded = match die.channel {
                    None => start + transfer,
                    Some(channel) if self.timing.held => self.channels[channel].book(start, transfer),
                    Some(channel) => self.channels[channel].book(op.ready_ns, transfer).max(start),
                };
                if self.timing.suspend_ns > 0 {
                    die.suspends = self.timing.suspends;
                }
                if cache {
                    (loaded + self.timing.cache_program_ns, frees, leaf)
                } else {
                    let spread = self.spread.below(self.timing.program_spread_ns + 1);
                    (loaded + self.timing.program_least_ns + spread, frees, leaf)
                }
            }
        };
        (die.free_ns, die.end_ns, die.frees, die.leaf) = (end, end, frees, command);
        die.yields_ns = if die.suspends > 0 { end } else { 0 };
        events.set_die(leaf, end);
    }

    /// Handles the completion of the scheduled operation on `die`: starts the next one and returns the result.
    /// If the end was postponed, only schedules the event again.
    #[inline]
    pub(crate) fn finish(&mut self, die: usize, now_ns: u64, events: &mut Events) -> Finished {
        let end_ns = self.dies[die].end_ns;
        if end_ns > now_ns {
            events.set_die(die, end_ns);
            return Finished { freed: 0, leaf: NOBODY };
        }
        self.outstanding -= 1;
        let freed = std::mem::take(&mut self.dies[die].frees);
        let leaf = std::mem::replace(&mut self.dies[die].leaf, NOBODY);
        (self.dies[die].end_ns, self.dies[die].yields_ns) = (NEVER, 0);
        match self.dies[die].waiting.pop_front() {
            Some(op) => self.start(die, op, events),
            None => events.set_die(die, NEVER),
        }
        Finished { freed, leaf }
    }
}
