//! The drive: its state, and everything except the command path.

use std::collections::VecDeque;

use crate::cache::Cache;
use crate::collect::Victim;
use crate::events::{Events, NEVER};
use crate::faults::InjectedFaults;
use crate::flash::{Finished, Flash, NOBODY};
use crate::health::Health;
use crate::hybrid::Log;
use crate::link::Link;
use crate::map::{Map, Memory, NONE};
use crate::plan::{Plan, RESERVE};
use crate::power::UnprogrammedSlots;
use crate::thermal::Thermal;
use crate::witness::LoadRecorder;
use crate::write::{Open, Pending};
use crate::write_through::Through;
use crate::{Model, Scale};

/// Current use of a superblock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SuperblockState {
    Free,
    Open,
    Sealed,
    Victim,
    /// Full, in the cache.
    Cache,
    Folding,
    /// Full, in the log.
    Log,
    Merging,
    CacheFree,
}

/// A simulated drive with its own virtual clock.
pub struct Ssd {
    pub(crate) plan: Plan,
    pub(crate) seed: u64,
    pub(crate) now_ns: u64,
    pub(crate) map: Map,
    pub(crate) states: Vec<SuperblockState>,
    pub(crate) free: VecDeque<u32>,
    pub(crate) host: Open,
    pub(crate) copies: Open,
    pub(crate) victim: Option<Victim>,
    /// Full superblocks, oldest first; empty if the victim policy does not depend on age.
    pub(crate) sealed: VecDeque<u32>,
    pub(crate) cache: Cache,
    pub(crate) log: Log,
    /// Erases of each superblock since the drive was created.
    pub(crate) wear: Vec<u32>,
    /// Credit of a ring towards skipping a superblock without garbage, in 1/65,536.
    pub(crate) ring_saved: u32,
    /// Copies still owed by the collector for the host's writes.
    pub(crate) owed: u32,
    /// Pending bytes of the mapping table, and the die they will be written to.
    pub(crate) table: (u32, usize),
    pub(crate) flash: Flash,
    pub(crate) events: Events,
    pub(crate) controller_free_ns: u64,
    pub(crate) link_up: Link,
    pub(crate) link_down: Link,
    pub(crate) buffer_used: u32,
    pub(crate) blocked: VecDeque<Pending>,
    /// State of the writes that wait for flash; `None` while the write cache is on.
    pub(crate) through: Option<Through>,
    /// Commands accepted and not yet completed.
    pub(crate) in_flight: u32,
    pub(crate) health: Health,
    /// Bytes of accepted reads, completed or not.
    pub(crate) taken_read_bytes: u64,
    pub(crate) thermal: Thermal,
    pub(crate) faults: Option<Box<InjectedFaults>>,
    /// Whether fault injection is enabled.
    pub(crate) faulty: bool,
    pub(crate) unwritten: Option<Box<UnprogrammedSlots>>,
    pub(crate) witness: Option<Box<LoadRecorder>>,
    /// Whether every command must be inspected, because of faults, throttling or the witness.
    pub(crate) attended: bool,
    /// A planted bug.
    #[cfg(test)]
    pub(crate) bug: Option<crate::check::canary::Bug>,
}

impl Ssd {
    /// Creates a drive that is fresh out of the box (FOB); `seed` determines the spread of its program times.
    #[must_use]
    pub fn new(model: &Model, scale: Scale, seed: u64) -> Self {
        Self::new_in(model, scale, seed, Memory::default())
    }

    /// Like [`new`](Self::new), with memory hooks for the mapping tables.
    #[must_use]
    pub fn new_in(model: &Model, scale: Scale, seed: u64, memory: Memory) -> Self {
        let plan = Plan::new(model, scale);
        let link = Link::new(plan.link_ns(4096));
        let mut states = vec![SuperblockState::Free; plan.superblocks as usize];
        states.resize((plan.superblocks + plan.cache_superblocks) as usize, SuperblockState::CacheFree);
        let mut ssd = Self {
            seed,
            now_ns: 0,
            map: Map::new(
                plan.map_units,
                plan.superblocks + plan.cache_superblocks,
                plan.superblock_slots,
                memory,
            ),
            states,
            free: (0..plan.superblocks).collect(),
            host: Open::default(),
            copies: Open::default(),
            victim: None,
            sealed: VecDeque::new(),
            cache: Cache::new(&plan),
            log: Log::default(),
            wear: vec![0; (plan.superblocks + plan.cache_superblocks) as usize],
            ring_saved: 0,
            owed: 0,
            table: (0, 0),
            flash: Flash::new(&plan, seed),
            events: Events::new(plan.dies as usize, 0),
            controller_free_ns: 0,
            link_up: link.clone(),
            link_down: link,
            buffer_used: 0,
            blocked: VecDeque::new(),
            through: None,
            in_flight: 0,
            health: Health::default(),
            taken_read_bytes: 0,
            thermal: Thermal::new(model, scale),
            faults: None,
            faulty: true,
            unwritten: None,
            witness: None,
            attended: false,
            #[cfg(test)]
            bug: None,
            plan,
        };
        ssd.attend();
        ssd
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

    /// The virtual clock in ns; it never goes backwards.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Over-provisioning as a fraction of the capacity, without the collector's reserve, after rounding to whole
    /// superblocks.
    #[must_use]
    pub fn effective_op(&self) -> f64 {
        let slots = u64::from(self.plan.superblocks - RESERVE) * u64::from(self.plan.superblock_slots);
        slots as f64 / f64::from(self.plan.map_units) - 1.0
    }

    /// Size of the write buffer in bytes.
    #[must_use]
    pub fn buffer_bytes(&self) -> u64 {
        u64::from(self.plan.buffer_slots) << self.plan.map_unit_shift
    }

    /// Size of the SLC cache in bytes, after rounding to whole superblocks; 0 for none.
    #[must_use]
    pub fn cache_bytes(&self) -> u64 {
        let slots = u64::from(self.plan.cache_superblocks) * u64::from(self.plan.superblock_slots);
        slots << self.plan.map_unit_shift
    }

    /// Lets `ns` of virtual time pass; after the model's idle delay, the collector works ahead.
    pub fn idle(&mut self, ns: u64) {
        let end = self.now_ns + ns;
        let ahead_from = (self.now_ns + self.plan.idle_delay_ns).min(end);
        self.drain_until(ahead_from);
        self.now_ns = ahead_from;
        while self.now_ns < end {
            while self.flash.outstanding() < 2 * self.plan.dies
                && (self.collect_ahead() || self.fold_next() || self.merge_ahead())
            {}
            let (time, die) = self.events.next();
            if time > end {
                break;
            }
            self.now_ns = time;
            self.die_event(die);
        }
        self.now_ns = end;
        self.warm_up();
    }

    /// Processes all events up to `end_ns`, without starting new work.
    pub(crate) fn drain_until(&mut self, end_ns: u64) {
        self.events = Events::new(self.plan.dies as usize, 0);
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

    /// Handles the end of a program or erase.
    #[inline]
    pub(crate) fn die_event(&mut self, die: usize) {
        let Finished { freed, leaf } = self.flash.finish(die, self.now_ns, &mut self.events);
        #[cfg(test)]
        let freed = if self.errs(crate::check::canary::Bug::LeaksBuffer, self.now_ns) { 0 } else { freed };
        self.buffer_used -= freed;
        if freed > 0
            && let Some(unwritten) = &mut self.unwritten
        {
            unwritten.ended(die);
        }
        if leaf != NOBODY {
            self.programmed(leaf);
        }
        if freed > 0 && !self.blocked.is_empty() {
            self.admit_blocked();
        }
    }

    /// A fingerprint of the mapping, the flash and the clock: drives with equal hashes have behaved identically.
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
        self.wear.iter().for_each(|&erases| add(erases.into()));
        (0..self.plan.dies as usize).for_each(|die| add(self.flash.free_ns(die)));
        let victim = self.victim.as_ref().map_or(NONE, |v| v.superblock);
        for word in [
            self.now_ns,
            self.controller_free_ns,
            self.buffer_used.into(),
            self.host.next.into(),
            self.copies.next.into(),
            self.log.open.next.into(),
            self.log.busy_ns,
            victim.into(),
            self.owed.into(),
            self.health.nand_written_bytes,
            self.health.host_written_bytes,
            self.health.host_read_bytes,
            self.health.erases,
        ] {
            add(word);
        }
        if self.plan.map_bytes_per_write > 0 {
            add(self.table.0.into());
            add(self.table.1 as u64);
        }
        hash
    }
}
