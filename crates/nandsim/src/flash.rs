//! Dies and channels: what takes time in flash.
//!
//! A read books its die behind everything that is already booked there. Programs and erases queue:
//! one is booked at a time, the next only when it ends, so that reads which came meanwhile go first,
//! but never more than those. By default a die is held until its transfer is over, so reads and
//! writes share one bottleneck, as they do in real drives.

use std::collections::VecDeque;

use stdx::Rng;

use crate::events::{Events, NEVER};
use crate::lane::Lane;
use crate::plan::{FlashPlan, Plan};

#[derive(Debug, Clone, Copy)]
enum Job {
    /// A program that frees so many slots of the write buffer.
    Program {
        frees: u32,
    },
    Erase,
}

#[derive(Debug, Clone, Copy)]
struct Op {
    ready_ns: u64,
    job: Job,
}

struct Die {
    free_ns: u64,
    /// End of the booked program or erase; [`NEVER`] when there is none.
    end_ns: u64,
    /// Buffer slots that the booked operation frees.
    frees: u32,
    waiting: VecDeque<Op>,
    /// The channel that it shares; none when the die's own time says it all.
    channel: Option<usize>,
}

pub(crate) struct Flash {
    plan: FlashPlan,
    dies: Vec<Die>,
    channels: Vec<Lane>,
    spread: Rng,
    outstanding: u32,
}

impl Flash {
    pub(crate) fn new(plan: &Plan, seed: u64) -> Self {
        let shared = plan.dies_per_channel > 1 || !plan.flash.held;
        let die = |i: u32| Die {
            free_ns: 0,
            end_ns: NEVER,
            frees: 0,
            waiting: VecDeque::new(),
            channel: shared.then_some((i / plan.dies_per_channel) as usize),
        };
        let channel = Lane::new(plan.flash.slot_transfer_ns);
        Self {
            plan: plan.flash.clone(),
            dies: (0..plan.dies).map(die).collect(),
            channels: vec![channel; (plan.dies / plan.dies_per_channel) as usize],
            spread: Rng::from_seed(seed),
            outstanding: 0,
        }
    }

    /// Programs and erases that are booked or waiting.
    pub(crate) fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// Time at which `die` has nothing booked any more.
    pub(crate) fn free_ns(&self, die: usize) -> u64 {
        self.dies[die].free_ns
    }

    /// Slots of the write buffer that wait for their program to end.
    pub(crate) fn buffered(&self) -> u64 {
        let waiting = |die: &Die| {
            die.waiting
                .iter()
                .map(|op| match op.job {
                    Job::Program { frees } => u64::from(frees),
                    Job::Erase => 0,
                })
                .sum::<u64>()
        };
        self.dies.iter().map(|die| u64::from(die.frees) + waiting(die)).sum()
    }

    /// Whether every die keeps the rules: what waits does so behind something, and the count is right.
    pub(crate) fn consistent(&self) -> bool {
        let count = |die: &Die| die.waiting.len() as u32 + u32::from(die.end_ns != NEVER);
        self.dies.iter().all(|die| die.end_ns != NEVER || (die.waiting.is_empty() && die.frees == 0))
            && self.dies.iter().map(count).sum::<u32>() == self.outstanding
    }

    /// Puts the pending ends into a new set of events.
    pub(crate) fn announce(&self, events: &mut Events) {
        for (leaf, die) in self.dies.iter().enumerate() {
            events.set(leaf, die.end_ns);
        }
    }

    /// Reads `slots` of one program unit: the end in ns. `held_ns` is more time on the die.
    #[inline]
    pub(crate) fn read(&mut self, die: usize, at_ns: u64, slots: u32, held_ns: u64) -> u64 {
        let die = &mut self.dies[die];
        let sensed = at_ns.max(die.free_ns) + self.plan.sense_ns + held_ns;
        let transfer = u64::from(slots) * self.plan.slot_transfer_ns;
        let end = match die.channel {
            None => sensed + transfer,
            Some(channel) => self.channels[channel].book(sensed, transfer),
        };
        die.free_ns = if self.plan.held { end } else { sensed };
        end
    }

    /// Transfers one more slot of the program unit that was sensed last on `die`: the end in ns.
    #[inline]
    pub(crate) fn read_again(&mut self, die: usize, at_ns: u64) -> u64 {
        let die = &mut self.dies[die];
        let start = at_ns.max(die.free_ns);
        let end = match die.channel {
            None => start + self.plan.slot_transfer_ns,
            Some(channel) => self.channels[channel].book(start, self.plan.slot_transfer_ns),
        };
        if self.plan.held {
            die.free_ns = end;
        }
        end
    }

    /// Queues a program; the slots it frees come back from [`finish`](Self::finish).
    #[inline]
    pub(crate) fn program(&mut self, die: usize, ready_ns: u64, frees: u32, events: &mut Events) {
        self.queue(die, Op { ready_ns, job: Job::Program { frees } }, events);
    }

    /// Queues the erases of one superblock on `die`.
    pub(crate) fn erase(&mut self, die: usize, ready_ns: u64, events: &mut Events) {
        for _ in 0..self.plan.erases {
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
        let (end, frees) = match op.job {
            Job::Erase => (start + self.plan.erase_ns, 0),
            Job::Program { frees } => {
                let transfer = self.plan.unit_transfer_ns;
                let loaded = match die.channel {
                    None => start + transfer,
                    Some(channel) if self.plan.held => self.channels[channel].book(start, transfer),
                    Some(channel) => self.channels[channel].book(op.ready_ns, transfer).max(start),
                };
                let spread = self.spread.below(self.plan.program_spread_ns + 1);
                (loaded + self.plan.program_least_ns + spread, frees)
            }
        };
        (die.free_ns, die.end_ns, die.frees) = (end, end, frees);
        events.set(leaf, end);
    }

    /// The booked operation of `die` has ended: starts the next one and gives the buffer slots freed.
    #[inline]
    pub(crate) fn finish(&mut self, die: usize, events: &mut Events) -> u32 {
        self.outstanding -= 1;
        let freed = std::mem::take(&mut self.dies[die].frees);
        self.dies[die].end_ns = NEVER;
        match self.dies[die].waiting.pop_front() {
            Some(op) => self.start(die, op, events),
            None => events.set(die, NEVER),
        }
        freed
    }
}
