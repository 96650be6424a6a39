//! The table of zones: where the next I/O of a thread goes. It knows no device.

use std::ops::Range;

use record::{Access as Order, Workload, Zoned};
use stdx::access::Access;

use crate::early::Resets;
use crate::placed::{Found, Placed};
use crate::zone::{Zone, ZoneReport};

/// A zone and the I/Os to it.
#[derive(Debug)]
struct Entry {
    zone: Zone,
    /// Whether a write, a reset or a finish is in flight.
    is_busy: bool,
    readers: u32,
    /// The thread that made the zone one of the zones that are written.
    holder: Option<u32>,
    /// The thread that waits to reset the zone. Until then, no read of the zone is issued.
    wanted_by: Option<u32>,
    /// Whether the zone had data before the claimed write or trim, which resets it.
    is_emptied: bool,
}

/// How one thread uses the zones.
#[derive(Debug, Clone)]
pub struct ZoneJob {
    /// The zones of its range.
    pub zones: Range<usize>,
    /// Start of its range.
    pub start_bytes: u64,
    /// Length of its range.
    pub length_bytes: u64,
    /// The smallest I/O; all are multiples of it.
    least_bytes: u64,
    is_random: bool,
    writes: bool,
    /// Whether it resets zones.
    pub trims: bool,
    reads_beyond: bool,
    /// Most zones that the thread may open; 0 for no limit.
    limit: u32,
    thread: u32,
    /// Its early resets in the table.
    resets: Option<usize>,
}

/// The zones of a target, and the I/Os to them.
#[derive(Debug)]
pub struct Table {
    zone_bytes: u64,
    entries: Vec<Entry>,
    /// Most zones that are written at a time; 0 for no limit.
    limit: u32,
    /// The zones that are written at a time, if there is a limit.
    targets: Vec<usize>,
    resets: Vec<Resets>,
    threads: u32,
    /// Number of claims.
    claims: u64,
    /// Number of claims that have ended.
    ended: u64,
}

impl Table {
    /// Creates the table of these zones, of which at most `limit` are written at a time.
    #[must_use]
    pub fn new(report: ZoneReport, limit: u32) -> Self {
        let entry = |zone| Entry {
            zone,
            is_busy: false,
            readers: 0,
            holder: None,
            wanted_by: None,
            is_emptied: false,
        };
        Self {
            zone_bytes: report.zone_bytes,
            entries: report.zones.into_iter().map(entry).collect(),
            limit,
            targets: Vec::new(),
            resets: Vec::new(),
            threads: 0,
            claims: 0,
            ended: 0,
        }
    }

    /// Adds a thread of a workload.
    pub fn job(&mut self, workload: &Workload, zoned: Zoned, least_bytes: u64) -> ZoneJob {
        let (start_bytes, length_bytes) = (workload.range.start_bytes, workload.range.segment_bytes);
        let zones = (start_bytes / self.zone_bytes) as usize
            ..(start_bytes + length_bytes).div_ceil(self.zone_bytes) as usize;
        let thread = self.threads;
        self.threads += 1;
        let writes = workload.writes() && !workload.regime.trims;
        let job = ZoneJob {
            zones: zones.start..zones.end.min(self.entries.len()),
            start_bytes,
            length_bytes,
            least_bytes,
            is_random: workload.access == Order::Random,
            writes,
            trims: workload.regime.trims,
            reads_beyond: zoned.reads_beyond,
            limit: zoned.thread_max_open_zones,
            thread,
            resets: zoned.early_resets.filter(|_| writes).map(|early| {
                let threshold_milli = u128::from(early.threshold_milli);
                let threshold_bytes = (u128::from(length_bytes) * threshold_milli / 1000) as u64;
                self.resets_of(zones, threshold_bytes, early.writes_per_reset())
            }),
        };
        if writes {
            self.hold_open_zones(&job);
        }
        job
    }

    /// Returns the early resets of a range, which all threads of a workload share.
    fn resets_of(&mut self, zones: Range<usize>, threshold_bytes: u64, every: u32) -> usize {
        let same = |resets: &Resets| {
            resets.zones == zones && resets.threshold_bytes == threshold_bytes && resets.every == every
        };
        if let Some(known) = self.resets.iter().position(same) {
            return known;
        }
        let of_range = self.entries[zones.start..zones.end.min(self.entries.len())].iter();
        let written = of_range.filter(|entry| entry.zone.is_sequential);
        let written_bytes = written.map(|entry| entry.zone.pointer_bytes - entry.zone.start_bytes).sum();
        self.resets.push(Resets { zones, written_bytes, threshold_bytes, every, left: every });
        self.resets.len() - 1
    }

    /// Counts the zones that are open on the device already as zones that are written.
    fn hold_open_zones(&mut self, job: &ZoneJob) {
        if self.limit == 0 {
            return;
        }
        for index in job.zones.clone() {
            let entry = &mut self.entries[index];
            // Only the first job finds them open: from then on, the table knows which zones are written.
            let is_open = std::mem::take(&mut entry.zone.is_open);
            if is_open && entry.zone.is_sequential && entry.zone.is_writable && entry.holder.is_none() {
                entry.holder = Some(job.thread);
                self.targets.push(index);
            }
        }
    }

    fn index(&self, offset_bytes: u64) -> usize {
        (offset_bytes / self.zone_bytes) as usize
    }

    /// Places an access of a thread, and claims its zone.
    pub fn place(&mut self, job: &ZoneJob, access: Access) -> Placed {
        let placed = if access.read {
            self.read(job, access)
        } else if job.trims {
            self.trim(job, access)
        } else {
            self.write(job, access)
        };
        self.claims += u64::from(matches!(placed, Placed::Issue(_) | Placed::Reset(..) | Placed::Finish(_)));
        placed
    }

    /// Returns the number of claims so far if none is left, so that nothing becomes free by itself.
    pub fn idle_after(&self) -> Option<u64> {
        (self.claims == self.ended).then_some(self.claims)
    }

    fn read(&mut self, job: &ZoneJob, access: Access) -> Placed {
        let index = self.index(access.offset_bytes);
        let first = self.entries[index].zone;
        if job.reads_beyond && first.is_readable {
            self.entries[index].readers += 1;
            return Placed::Issue(first.within(access));
        }
        let readable = self.readable_bytes(index);
        if !job.is_random {
            let from_start = access.offset_bytes - first.start_bytes;
            if from_start + job.least_bytes > readable {
                return Placed::Skip(first.end_bytes());
            }
            return self.issue_read(job, index, access, readable - from_start);
        }
        let found = match readable >= job.least_bytes {
            true => Some(index),
            false => self.nearest(job, index, |table, at| table.readable_bytes(at) >= job.least_bytes),
        };
        let Some(found) = found else {
            // As in fio, a mix begins with writes if there is nothing to read.
            return match job.writes {
                true => self.write(job, Access { read: false, ..access }),
                false if self.any_wanted(job) => Placed::Busy,
                false => Placed::Over,
            };
        };
        let (zone, readable) = (self.entries[found].zone, self.readable_bytes(found));
        if !zone.is_sequential {
            let offset_bytes = zone.start_bytes + (access.offset_bytes - first.start_bytes);
            self.entries[found].readers += 1;
            return Placed::Issue(zone.within(Access { offset_bytes, ..access }));
        }
        // The offset within the zone, modulo the data, as in fio.
        let length = u64::from(access.block_bytes);
        let from_start = match readable > length {
            false => 0,
            true => {
                let from_start = (access.offset_bytes - first.start_bytes) % (readable - length);
                from_start / job.least_bytes * job.least_bytes
            }
        };
        let offset_bytes = zone.start_bytes + from_start;
        self.issue_read(job, found, Access { offset_bytes, ..access }, readable - from_start)
    }

    /// Issues a read of at most `left_bytes`.
    fn issue_read(&mut self, job: &ZoneJob, index: usize, access: Access, left_bytes: u64) -> Placed {
        self.entries[index].readers += 1;
        let block_bytes = u64::from(access.block_bytes).min(left_bytes) / job.least_bytes * job.least_bytes;
        Placed::Issue(Access { block_bytes: block_bytes as u32, ..access })
    }

    fn readable_bytes(&self, index: usize) -> u64 {
        let entry = &self.entries[index];
        if entry.wanted_by.is_some() { 0 } else { entry.zone.readable_bytes() }
    }

    fn any_wanted(&self, job: &ZoneJob) -> bool {
        self.entries[job.zones.clone()].iter().any(|entry| entry.wanted_by.is_some())
    }

    /// Returns the nearest zone with a property, of two the later one.
    fn nearest(
        &self,
        job: &ZoneJob,
        index: usize,
        is_suitable: impl Fn(&Self, usize) -> bool,
    ) -> Option<usize> {
        let Range { start, end } = job.zones;
        (1..end - start)
            .flat_map(|distance| [index.checked_add(distance), index.checked_sub(distance)])
            .flatten()
            .filter(|at| (start..end).contains(at))
            .find(|at| is_suitable(self, *at))
    }

    fn trim(&mut self, job: &ZoneJob, access: Access) -> Placed {
        let index = self.index(access.offset_bytes);
        let first = self.entries[index].zone;
        let can_be_reset = first.is_sequential && first.is_writable;
        if !job.is_random && !can_be_reset {
            return Placed::Skip(first.end_bytes());
        }
        let is_free = |table: &Self, at: usize| {
            let entry = &table.entries[at];
            !entry.is_busy && entry.readers == 0
        };
        let has_data = |table: &Self, at: usize| {
            let zone = &table.entries[at].zone;
            zone.is_sequential && zone.is_writable && zone.pointer_bytes > zone.start_bytes
        };
        let suits = |table: &Self, at: usize| has_data(table, at) && is_free(table, at);
        let found = match job.is_random {
            _ if suits(self, index) => Some(index),
            true => self.nearest(job, index, suits),
            false => is_free(self, index).then_some(index),
        };
        let Some(found) = found else {
            let waits_for =
                if has_data(self, index) { Some(index) } else { self.nearest(job, index, has_data) };
            let is_any_busy = || self.entries[job.zones.clone()].iter().any(|entry| entry.is_busy);
            if waits_for.is_none() && job.is_random && !is_any_busy() {
                return Placed::Over;
            }
            self.want(job, waits_for.unwrap_or(index));
            return Placed::Busy;
        };
        self.empty(found);
        let zone = self.entries[found].zone;
        self.entries[found].is_busy = true;
        Placed::Issue(Access {
            read: false,
            block_bytes: zone.length_bytes as u32,
            offset_bytes: zone.start_bytes,
        })
    }

    /// Lets no more reads of a zone start, because it is to be reset.
    fn want(&mut self, job: &ZoneJob, index: usize) {
        let entry = &mut self.entries[index];
        if !entry.is_busy && entry.readers > 0 {
            entry.wanted_by.get_or_insert(job.thread);
        }
    }

    fn write(&mut self, job: &ZoneJob, access: Access) -> Placed {
        let index = self.index(access.offset_bytes);
        let Entry { zone, is_busy, .. } = &self.entries[index];
        if !zone.is_sequential {
            return Placed::Issue(zone.within(access));
        }
        if !job.is_random && !is_busy {
            let is_full = zone.remaining_bytes() < job.least_bytes;
            let is_passed = access.offset_bytes + u64::from(access.block_bytes) <= zone.pointer_bytes;
            if !zone.is_writable || (is_full && access.offset_bytes != zone.start_bytes) {
                return Placed::Skip(zone.end_bytes());
            }
            if is_passed && !is_full {
                return Placed::Skip(access.offset_bytes + u64::from(access.block_bytes));
            }
        }
        match self.write_zone(job, index, access.offset_bytes) {
            Found::Zone(found) => self.claim(job, found, access),
            Found::Finish(found) => {
                let entry = &mut self.entries[found];
                entry.is_busy = true;
                Placed::Finish((entry.zone.start_bytes, entry.zone.length_bytes))
            }
            Found::Busy => {
                let is_unlimited = self.limit == 0 && job.limit == 0;
                let is_possible = is_unlimited || self.entries[index].holder.is_some() || self.may_open(job);
                if is_possible && self.entries[index].zone.remaining_bytes() < job.least_bytes {
                    self.want(job, index);
                }
                Placed::Busy
            }
        }
    }

    /// Returns whether a zone can be written now, after a reset if it is full.
    fn is_free(&self, job: &ZoneJob, index: usize) -> bool {
        let Entry { zone, is_busy, readers, .. } = &self.entries[index];
        let is_reset = zone.remaining_bytes() < job.least_bytes && !self.has_small_rest(job, index);
        zone.is_sequential && zone.is_writable && !is_busy && (*readers == 0 || !is_reset)
    }

    fn may_open(&self, job: &ZoneJob) -> bool {
        let of_thread =
            || self.targets.iter().filter(|at| self.entries[**at].holder == Some(job.thread)).count();
        let is_below = |limit: u32, count: usize| limit == 0 || count < limit as usize;
        is_below(self.limit, self.targets.len()) && (job.limit == 0 || is_below(job.limit, of_thread()))
    }

    /// Returns the zone for a write that was drawn for zone `index`. As in fio, this is that zone unless too many others are
    /// written; then it is one of these. If the zone is busy, it is the next one, unless I/O is sequential.
    fn write_zone(&self, job: &ZoneJob, index: usize, offset_bytes: u64) -> Found {
        let Range { start, end } = job.zones;
        let others = if job.is_random { end - start } else { 1 };
        let mut candidates = (0..others).map(|ahead| start + (index - start + ahead) % (end - start));
        if self.limit == 0 && job.limit == 0 {
            return candidates.find(|at| self.is_free(job, *at)).map_or(Found::Busy, Found::Zone);
        }
        let may_open = self.may_open(job);
        let is_held = |at: usize| self.entries[at].holder.is_some();
        if (may_open || is_held(index)) && self.is_free(job, index) {
            return self.finished_first(job, index);
        }
        let share = u128::from(offset_bytes - job.start_bytes) * self.targets.len() as u128;
        let first = (share / u128::from(job.length_bytes.max(1))) as usize;
        let held = (0..self.targets.len()).map(|ahead| self.targets[(first + ahead) % self.targets.len()]);
        // A zone that is only busy is waited for by sequential I/O, which would otherwise spread over other zones.
        let waits = !job.is_random && is_held(index);
        let of_range = held.filter(|at| !waits && job.zones.contains(at));
        if let Some(found) = of_range.into_iter().find(|at| self.is_free(job, *at)) {
            return self.finished_first(job, found);
        }
        if !may_open {
            return Found::Busy;
        }
        candidates.find(|at| !is_held(*at) && self.is_free(job, *at)).map_or(Found::Busy, Found::Zone)
    }

    /// Returns whether a zone that is written has a rest that is too small for a write. Until such a zone is finished, it
    /// counts as open.
    fn has_small_rest(&self, job: &ZoneJob, index: usize) -> bool {
        let Entry { zone, holder, .. } = &self.entries[index];
        holder.is_some() && (1..job.least_bytes).contains(&zone.remaining_bytes())
    }

    fn finished_first(&self, job: &ZoneJob, index: usize) -> Found {
        if self.has_small_rest(job, index) { Found::Finish(index) } else { Found::Zone(index) }
    }

    /// Claims a free zone for a write.
    fn claim(&mut self, job: &ZoneJob, index: usize, access: Access) -> Placed {
        let is_due = self.entries[index].readers == 0 && self.is_reset_due(job);
        let is_full = self.entries[index].zone.remaining_bytes() < job.least_bytes;
        if is_due || is_full {
            self.empty(index);
        }
        if (self.limit > 0 || job.limit > 0) && self.entries[index].holder.is_none() {
            self.entries[index].holder = Some(job.thread);
            self.targets.push(index);
        }
        let entry = &mut self.entries[index];
        entry.is_busy = true;
        let zone = entry.zone;
        let most = u64::from(access.block_bytes).min(zone.remaining_bytes());
        let access = Access {
            read: false,
            block_bytes: (most / job.least_bytes * job.least_bytes) as u32,
            offset_bytes: zone.pointer_bytes,
        };
        match is_due || is_full {
            true => Placed::Reset(access, (zone.start_bytes, zone.length_bytes)),
            false => Placed::Issue(access),
        }
    }

    /// Returns whether this write resets its zone early. Counts the write.
    fn is_reset_due(&mut self, job: &ZoneJob) -> bool {
        job.resets.and_then(|at| self.resets.get_mut(at)).is_some_and(Resets::is_due)
    }

    /// Notes that a zone is about to be reset: nothing in it can be read.
    fn empty(&mut self, index: usize) {
        let entry = &mut self.entries[index];
        let before = entry.zone.pointer_bytes - entry.zone.start_bytes;
        entry.zone.pointer_bytes = entry.zone.start_bytes;
        entry.zone.is_open = false;
        entry.wanted_by = None;
        entry.is_emptied = before > 0;
        for resets in self.resets.iter_mut().filter(|resets| resets.zones.contains(&index)) {
            resets.written_bytes = resets.written_bytes.saturating_sub(before);
        }
    }

    /// Ends the claim of an I/O. Returns whether a zone with data was reset for it, or by it: as in fio, the reset of an empty
    /// zone does not count.
    pub fn ended(&mut self, job: &ZoneJob, access: Access, is_done: bool) -> bool {
        self.ended += 1;
        let index = self.index(access.offset_bytes);
        let entry = &mut self.entries[index];
        if access.read {
            entry.readers = entry.readers.saturating_sub(1);
            return false;
        }
        if !entry.zone.is_sequential {
            return false;
        }
        entry.is_busy = false;
        let is_emptied = std::mem::take(&mut entry.is_emptied) && is_done;
        // After a failure, the write pointer is unknown.
        entry.zone.is_writable &= is_done;
        if is_done && !job.trims {
            entry.zone.pointer_bytes += u64::from(access.block_bytes);
            for resets in self.resets.iter_mut().filter(|resets| resets.zones.contains(&index)) {
                resets.written_bytes += u64::from(access.block_bytes);
            }
        }
        if job.trims || !is_done || self.entries[index].zone.remaining_bytes() == 0 {
            self.release(index);
        }
        is_emptied
    }

    /// Ends the claim of a zone that was finished.
    pub fn finished(&mut self, start_bytes: u64, is_done: bool) {
        self.ended += 1;
        let index = self.index(start_bytes);
        let Entry { zone, is_busy, .. } = &mut self.entries[index];
        *is_busy = false;
        zone.is_writable &= is_done;
        if is_done {
            // Its data can still be read.
            zone.pointer_bytes = zone.start_bytes + zone.capacity_bytes;
        }
        self.release(index);
    }

    /// Notes that a zone is no longer one of those that are written.
    fn release(&mut self, index: usize) {
        self.entries[index].holder = None;
        self.targets.retain(|target| *target != index);
    }

    /// Returns the write pointer of each zone.
    #[must_use]
    pub fn pointers(&self) -> Vec<u64> {
        self.entries.iter().map(|entry| entry.zone.pointer_bytes).collect()
    }

    /// Notes that a thread has ended.
    pub fn left(&mut self, job: &ZoneJob) {
        for entry in &mut self.entries[job.zones.clone()] {
            if entry.wanted_by == Some(job.thread) {
                entry.wanted_by = None;
            }
        }
    }
}
