//! The drive: its state and everything but the command path.

use std::collections::VecDeque;

use crate::collect::Victim;
use crate::events::{Events, NEVER};
use crate::flash::Flash;
use crate::lane::Lane;
use crate::map::{Map, NONE};
use crate::plan::{Plan, RESERVE};
use crate::write::{Open, Pending};
use crate::{Model, Scale};

/// Purges end on a multiple of this, so that everything behind one repeats to the nanosecond.
const PURGE_GRID_NS: u64 = 1 << 30;

/// What a superblock is for at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    Free,
    Open,
    Sealed,
    Victim,
}

/// Counters since the drive was made; a purge does not reset them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Health {
    /// Bytes read by the host.
    pub host_read_bytes: u64,
    /// Bytes written by the host.
    pub host_written_bytes: u64,
    /// Bytes programmed into flash, for the host and for the collector.
    pub nand_written_bytes: u64,
    /// Erases of superblocks.
    pub erases: u64,
}

impl Health {
    /// Flash bytes written per host byte written; none before the first write.
    #[must_use]
    pub fn write_amplification(&self) -> Option<f64> {
        (self.host_written_bytes > 0).then(|| self.nand_written_bytes as f64 / self.host_written_bytes as f64)
    }

    /// The counters of the time since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            host_read_bytes: self.host_read_bytes - earlier.host_read_bytes,
            host_written_bytes: self.host_written_bytes - earlier.host_written_bytes,
            nand_written_bytes: self.nand_written_bytes - earlier.nand_written_bytes,
            erases: self.erases - earlier.erases,
        }
    }
}

/// A simulated drive with a clock of its own.
pub struct Ssd {
    pub(crate) plan: Plan,
    seed: u64,
    pub(crate) now_ns: u64,
    pub(crate) map: Map,
    pub(crate) uses: Vec<Use>,
    pub(crate) free: VecDeque<u32>,
    pub(crate) host: Open,
    pub(crate) copies: Open,
    pub(crate) victim: Option<Victim>,
    /// Copies that the collector owes to the host's writes.
    pub(crate) owed: u32,
    pub(crate) flash: Flash,
    pub(crate) events: Events,
    pub(crate) controller_free_ns: u64,
    pub(crate) link_up: Lane,
    pub(crate) link_down: Lane,
    pub(crate) buffer_used: u32,
    pub(crate) blocked: VecDeque<Pending>,
    pub(crate) health: Health,
    /// Keeps early looks at the mapping from being optimised away; means nothing.
    pub(crate) touched: u32,
}

impl Ssd {
    /// A drive fresh out of the box; `seed` sets the spread of its programming times.
    #[must_use]
    pub fn new(model: &Model, scale: Scale, seed: u64) -> Self {
        let plan = Plan::new(model, scale);
        let link = Lane::new(plan.link_ns(4096));
        Self {
            seed,
            now_ns: 0,
            map: Map::new(plan.map_units, plan.superblocks, plan.superblock_slots),
            uses: vec![Use::Free; plan.superblocks as usize],
            free: (0..plan.superblocks).collect(),
            host: Open::default(),
            copies: Open::default(),
            victim: None,
            owed: 0,
            flash: Flash::new(&plan, seed),
            events: Events::new(plan.dies as usize),
            controller_free_ns: 0,
            link_up: link.clone(),
            link_down: link,
            buffer_used: 0,
            blocked: VecDeque::new(),
            health: Health::default(),
            touched: 0,
            plan,
        }
    }

    /// User capacity in bytes, a multiple of 1 MiB.
    #[must_use]
    pub fn capacity_bytes(&self) -> u64 {
        self.plan.capacity_bytes
    }

    /// Smallest addressable block in bytes.
    #[must_use]
    pub fn logical_block_bytes(&self) -> u32 {
        self.plan.logical_block_bytes
    }

    /// The virtual clock in ns; it never goes back.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Counters since the drive was made.
    #[must_use]
    pub fn health(&self) -> Health {
        self.health
    }

    /// Flash beyond the capacity and the collector's reserve, as a share of the capacity, after rounding
    /// to whole superblocks.
    #[must_use]
    pub fn effective_op(&self) -> f64 {
        let slots = u64::from(self.plan.superblocks - RESERVE) * u64::from(self.plan.superblock_slots);
        slots as f64 / f64::from(self.plan.map_units) - 1.0
    }

    /// Erases everything: the drive is as it was new, but for its clock and its counters.
    ///
    /// What was in flight ends first; the clock then stands on a multiple of 2^30 ns, so that the same
    /// loads behind any two purges take the same time.
    pub fn purge(&mut self) {
        self.drain_until(NEVER);
        let busy = (0..self.plan.dies as usize).map(|die| self.flash.free_ns(die)).max().unwrap_or(0);
        let over = self.now_ns.max(busy).max(self.controller_free_ns) + self.plan.purge_ns;
        self.now_ns = over.next_multiple_of(PURGE_GRID_NS);
        self.health.erases += u64::from(self.plan.superblocks);

        self.map.clear();
        self.uses.fill(Use::Free);
        self.free = (0..self.plan.superblocks).collect();
        (self.host, self.copies) = (Open::default(), Open::default());
        (self.victim, self.owed, self.buffer_used) = (None, 0, 0);
        self.flash = Flash::new(&self.plan, self.seed);
        self.events = Events::new(self.plan.dies as usize);
        let link = Lane::new(self.plan.link_ns(4096));
        (self.link_up, self.link_down) = (link.clone(), link);
    }

    /// Forgets the map units that lie wholly inside `len_bytes` from `start_bytes`; takes no time.
    ///
    /// What lies beyond the capacity is ignored.
    pub fn trim(&mut self, start_bytes: u64, len_bytes: u64) {
        let shift = self.plan.map_unit_shift;
        let end = start_bytes.saturating_add(len_bytes).min(self.plan.capacity_bytes) >> shift;
        for unit in start_bytes.div_ceil(1 << shift)..end {
            self.map.unmap(unit as u32);
        }
    }

    /// Lets `ns` of virtual time pass; after the model's idle delay the collector works ahead.
    pub fn idle(&mut self, ns: u64) {
        let end = self.now_ns + ns;
        let ahead_from = (self.now_ns + self.plan.idle_delay_ns).min(end);
        self.drain_until(ahead_from);
        self.now_ns = ahead_from;
        while self.now_ns < end {
            while self.flash.outstanding() < 2 * self.plan.dies && self.collect_ahead() {}
            let (time, die) = self.events.next();
            if time > end {
                break;
            }
            self.now_ns = time;
            self.die_event(die);
        }
        self.now_ns = end;
    }

    /// Lets everything happen that happens up to `end_ns`, without new work.
    fn drain_until(&mut self, end_ns: u64) {
        self.events = Events::new(self.plan.dies as usize);
        self.flash.announce(&mut self.events);
        loop {
            let (time, die) = self.events.next();
            if time == NEVER || time > end_ns {
                break;
            }
            self.now_ns = time;
            self.die_event(die);
        }
    }

    /// A program or erase has ended.
    #[inline]
    pub(crate) fn die_event(&mut self, die: usize) {
        let freed = self.flash.finish(die, &mut self.events);
        self.buffer_used -= freed;
        if freed > 0 && !self.blocked.is_empty() {
            self.admit_blocked();
        }
    }

    /// A fingerprint of mapping, flash and clock: two drives with the same one did the same.
    #[must_use]
    pub fn state_hash(&self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut add = |word: u64| {
            hash = (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            hash ^= hash >> 29;
        };
        self.map.l2p.iter().for_each(|&slot| add(slot.into()));
        self.map.valid.iter().for_each(|&count| add(count.into()));
        self.free.iter().for_each(|&superblock| add(superblock.into()));
        (0..self.plan.dies as usize).for_each(|die| add(self.flash.free_ns(die)));
        let victim = self.victim.as_ref().map_or(NONE, |v| v.superblock);
        for word in [
            self.now_ns,
            self.controller_free_ns,
            self.buffer_used.into(),
            self.host.next.into(),
            self.copies.next.into(),
            victim.into(),
            self.owed.into(),
            self.health.nand_written_bytes,
            self.health.host_written_bytes,
            self.health.host_read_bytes,
            self.health.erases,
        ] {
            add(word);
        }
        hash
    }
}
