//! A drive's state, and read-only access to it.

use std::collections::VecDeque;

use super::fault_injector::FaultInjector;
use super::health::{Health, Smart};
use super::load_recorder::LoadRecorder;
use super::thermal::Thermal;
use super::timing::Timing;
use crate::flash::{Memory, RESERVE};
use crate::ftl::{HostWrite, Translation};
use crate::link::Link;
use crate::{Defects, Model, Scale, Sound};

/// A simulated drive with its own virtual clock. `D` determines its firmware's defects; by default, there are
/// none.
pub struct Ssd<D = Sound> {
    pub(super) ftl: Translation<D>,
    pub(super) timing: Timing,
    pub(super) seed: u64,
    logical_block_bytes: u32,
    /// Whether the buffer loses its contents on a power loss and is therefore a write cache that can be
    /// disabled.
    pub(super) volatile_buffer: bool,
    rated_erases: u32,
    pub(super) controller_free_ns: u64,
    pub(super) link_up: Link,
    pub(super) link_down: Link,
    /// Writes that are waiting for room in the buffer, in order of arrival.
    pub(super) blocked: VecDeque<HostWrite>,
    /// Commands that were accepted and have not completed yet.
    pub(super) in_flight: u32,
    /// Counters other than those of the translation layer.
    pub(super) counters: Health,
    /// Bytes of accepted reads, completed or not.
    pub(super) accepted_read_bytes: u64,
    pub(super) thermal: Thermal,
    pub(super) faults: FaultInjector,
    pub(super) recorder: Option<Box<LoadRecorder>>,
    /// Whether each command must be inspected because of faults, throttling or the load recorder.
    pub(super) inspects: bool,
}

impl Ssd<Sound> {
    /// Creates a drive in its fresh state (FOB); `seed` determines the random variation of its program times.
    #[must_use]
    pub fn new(model: &Model, scale: Scale, seed: u64) -> Self {
        Self::new_in(model, scale, seed, Memory::default())
    }

    /// Same as [`new`](Self::new), but with memory hooks for the mapping tables.
    #[must_use]
    pub fn new_in(model: &Model, scale: Scale, seed: u64, memory: Memory) -> Self {
        Self::with_defects(model, scale, seed, (memory, Sound))
    }
}

impl<D: Defects> Ssd<D> {
    pub(crate) fn with_defects(model: &Model, scale: Scale, seed: u64, means: (Memory, D)) -> Self {
        let timing = Timing::new(model, scale);
        let link = Link::new(timing.link_ns(4096));
        let mut device = Self {
            ftl: Translation::new(model, scale, seed, means),
            timing,
            seed,
            logical_block_bytes: model.geometry.logical_block_bytes,
            volatile_buffer: model.firmware.volatile_buffer,
            rated_erases: model.geometry.rated_erases,
            controller_free_ns: 0,
            link_up: link.clone(),
            link_down: link,
            blocked: VecDeque::new(),
            in_flight: 0,
            counters: Health::default(),
            accepted_read_bytes: 0,
            thermal: Thermal::new(model, scale),
            faults: FaultInjector::new(),
            recorder: None,
            inspects: false,
        };
        device.update_inspection();
        device
    }

    /// Returns the user capacity in bytes, a multiple of 1 MiB.
    #[must_use]
    pub fn capacity_bytes(&self) -> u64 {
        self.ftl.layout().capacity_bytes()
    }

    /// Returns the smallest addressable block in bytes.
    #[must_use]
    pub fn logical_block_bytes(&self) -> u32 {
        self.logical_block_bytes
    }

    /// Returns the virtual clock in ns, which never moves backwards.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.ftl.timeline().now_ns
    }

    #[inline]
    pub(super) fn set_now(&mut self, now_ns: u64) {
        self.ftl.timeline_mut().now_ns = now_ns;
    }

    /// Returns the over-provisioning as a fraction of the capacity, without the collector's reserve, after
    /// rounding to whole superblocks.
    #[must_use]
    pub fn effective_op(&self) -> f64 {
        let layout = self.ftl.layout();
        let slots = u64::from(layout.superblocks() - RESERVE) * u64::from(layout.superblock_slots());
        slots as f64 / f64::from(layout.map_units()) - 1.0
    }

    /// Returns the size of the write buffer in bytes.
    #[must_use]
    pub fn buffer_bytes(&self) -> u64 {
        u64::from(self.ftl.buffer_slots()) << self.ftl.layout().map_unit_shift()
    }

    /// Returns the size of the SLC cache in bytes, after rounding to whole superblocks; 0 if there is none.
    #[must_use]
    pub fn cache_bytes(&self) -> u64 {
        let layout = self.ftl.layout();
        u64::from(layout.cache_superblocks()) * layout.superblock_bytes()
    }

    /// Returns the number of map units that contain data.
    #[must_use]
    pub fn mapped_units(&self) -> u32 {
        self.ftl.map().mapped()
    }

    /// Returns the number of commands in flight.
    pub(crate) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Returns whether the drive was removed or lost power, and has not been power-cycled since.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.faults.is_gone(self.now_ns())
    }

    /// Returns the load recorded since [`record_load`](Self::record_load).
    #[must_use]
    pub fn load_recorder(&self) -> Option<&LoadRecorder> {
        self.recorder.as_deref()
    }

    /// Starts a new recording of the load, or stops the current recording.
    pub fn record_load(&mut self, on: bool) {
        self.recorder = on.then(|| Box::new(LoadRecorder::new()));
        self.update_inspection();
    }

    /// Determines whether each command must be inspected before it is accepted.
    pub(super) fn update_inspection(&mut self) {
        self.inspects = self.recorder.is_some() || self.thermal.may_throttle() || self.faults.is_active();
    }

    /// Updates the temperature to the current time.
    pub(super) fn update_temperature(&mut self) {
        let host = self.accepted_read_bytes + self.counters.host_written_bytes;
        self.thermal.advance(self.ftl.timeline().now_ns, host + self.ftl.programmed_bytes());
    }

    /// Returns the counters since the drive was created.
    #[must_use]
    pub fn health(&self) -> Health {
        let (nand_written_bytes, erases) = (self.ftl.programmed_bytes(), self.ftl.erases());
        Health { nand_written_bytes, erases, ..self.counters }
    }

    /// Returns the health log.
    #[must_use]
    pub fn smart(&self) -> Smart {
        let units = |bytes: u64| bytes.div_ceil(512_000);
        let health = self.health();
        let superblocks = u64::from(self.ftl.layout().all_superblocks());
        let (least_erases, most_erases) = self.ftl.wear();
        Smart {
            temperature_c: self.thermal.celsius(),
            percentage_used: health.erases * 100 / (superblocks * u64::from(self.rated_erases)),
            data_units_read: units(health.host_read_bytes),
            data_units_written: units(health.host_written_bytes),
            nand_units_written: units(health.nand_written_bytes),
            mean_erases: health.erases / superblocks,
            least_erases,
            most_erases,
            power_cycles: health.power_cycles,
            unsafe_shutdowns: health.unsafe_shutdowns,
            media_errors: health.media_errors,
            throttled: self.thermal.is_throttled() || self.faults.is_throttled(self.now_ns()),
        }
    }

    /// Returns a fingerprint of the mapping, the flash and the clock: drives with equal hashes have behaved
    /// identically.
    #[must_use]
    pub fn state_hash(&self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let add = |word: u64| {
            hash = (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            hash ^= hash >> 29;
        };
        let health = self.health();
        self.ftl
            .table_words()
            .chain([self.now_ns(), self.controller_free_ns])
            .chain(self.ftl.position_words())
            .chain([
                health.nand_written_bytes,
                health.host_written_bytes,
                health.host_read_bytes,
                health.erases,
            ])
            .chain(self.ftl.pending_table_words().into_iter().flatten())
            .for_each(add);
        hash
    }

    /// Checks that both directions of the mapping, the validity bits, the counts, the free list and the write
    /// buffer agree. This takes time proportional to the capacity.
    ///
    /// # Errors
    /// Returns an error that names the violated invariant and its location.
    pub fn check(&self) -> Result<(), String> {
        self.ftl.check()?;
        if !self.blocked.is_empty() {
            return Err(format!(
                "{} writes are blocked although no operation is pending",
                self.blocked.len()
            ));
        }
        Ok(())
    }
}
