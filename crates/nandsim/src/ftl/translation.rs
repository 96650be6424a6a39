//! The interface between the device and its translation layer.

use super::block_manager::BlockManager;
use super::host_write::HostWrite;
use super::hybrid::Hybrid;
use super::layer::Ftl;
use super::page_mapped::PageMapped;
use super::placement::read;
use super::superblocks::OpenSuperblock;
use super::unprogrammed::UnprogrammedSlots;
use super::write_through::WriteThrough;
use crate::flash::{Finished, Layout, Map, Memory, NOBODY, NONE};
use crate::timeline::Timeline;
use crate::{Defects, Model, Scale};

/// The kinds of translation layer; the choice between them is made once per call, not once per map unit.
enum Layer {
    PageMapped(PageMapped),
    Hybrid(Hybrid),
}

/// A translation layer with its block manager.
pub(crate) struct Translation<D> {
    blocks: BlockManager<D>,
    layer: Layer,
}

/// Evaluates an expression on the layer, whatever its kind.
macro_rules! each {
    ($layer:expr, $it:ident => $call:expr) => {
        match $layer {
            Layer::PageMapped($it) => $call,
            Layer::Hybrid($it) => $call,
        }
    };
}

impl<D: Defects> Translation<D> {
    /// Creates a layer over erased flash; `seed` determines the random variation of program times.
    pub(crate) fn new(model: &Model, scale: Scale, seed: u64, means: (Memory, D)) -> Self {
        let layout = Layout::new(model, scale);
        let layer = match &model.hybrid {
            Some(hybrid) => Layer::Hybrid(Hybrid::new(model, hybrid, scale, &layout)),
            None => Layer::PageMapped(PageMapped::new(model, &layout)),
        };
        Self { blocks: BlockManager::new(model, scale, layout, seed, means), layer }
    }

    #[inline]
    pub(crate) fn layout(&self) -> &Layout {
        &self.blocks.layout
    }

    #[inline]
    pub(crate) fn map(&self) -> &Map {
        &self.blocks.map
    }

    #[inline]
    pub(crate) fn defects(&self) -> &D {
        &self.blocks.defects
    }

    #[inline]
    pub(crate) fn timeline(&self) -> &Timeline {
        &self.blocks.timeline
    }

    #[inline]
    pub(crate) fn timeline_mut(&mut self) -> &mut Timeline {
        &mut self.blocks.timeline
    }

    /// Prepares for the events of `commands` commands in flight.
    pub(crate) fn prepare(&mut self, commands: usize) {
        let blocks = &mut self.blocks;
        blocks.timeline.renew(blocks.layout.dies(), commands);
        blocks.flash.announce(&mut blocks.timeline.events);
        if let Some(write_through) = &mut blocks.write_through {
            write_through.prepare(commands);
        }
    }

    /// Handles the completion of a program or erase operation on `die`.
    #[inline]
    pub(crate) fn finish(&mut self, die: usize) -> Finished {
        self.blocks.finish(die)
    }

    /// Accepts as many map units of `write` as fit into the buffer. Returns true when the whole write has
    /// been accepted.
    #[inline]
    pub(crate) fn admit(&mut self, write: &mut HostWrite) -> bool {
        if let Some(write_through) = &mut self.blocks.write_through {
            write_through.accept_for(write.leaf());
        }
        each!(&mut self.layer, layer => layer.admit(&mut self.blocks, write))
    }

    /// Reads the map units from `first` to `last`, starting at `start_ns`. Returns the times at which the first
    /// of them and all of them are available.
    #[inline]
    pub(crate) fn read(&mut self, units: (u32, u32), start_ns: u64) -> (u64, u64) {
        each!(&self.layer, layer => read(layer, &mut self.blocks, units, start_ns))
    }

    /// Returns whether write commands' changes to the mapping table are accounted for.
    #[inline]
    pub(crate) fn writes_table(&self) -> bool {
        self.blocks.policy.map_bytes_per_write > 0
    }

    /// Accounts for the changes that a write command makes to the mapping table.
    #[inline]
    pub(crate) fn write_table(&mut self, ready_ns: u64) {
        self.blocks.write_table(ready_ns);
    }

    /// Performs the work that is due after a command.
    #[inline]
    pub(crate) fn work_under_load(&mut self) {
        each!(&mut self.layer, layer => layer.work_under_load(&mut self.blocks));
    }

    /// Works ahead of the host until the dies have enough to do or there is nothing left to do.
    pub(crate) fn work_ahead(&mut self) {
        let enough = 2 * self.blocks.layout.dies();
        while self.blocks.flash.outstanding() < enough
            && each!(&mut self.layer, layer => layer.work_ahead(&mut self.blocks))
        {}
    }

    /// Sends all partial program units to their dies; their remaining slots stay empty. Returns the number of
    /// empty slots.
    pub(crate) fn flush(&mut self) -> u32 {
        let before = self.blocks.host.next;
        self.blocks.flush_host_unit();
        self.blocks.host.next - before + each!(&mut self.layer, layer => layer.flush(&mut self.blocks))
    }

    /// Returns whether writes complete only when their data is on flash.
    #[inline]
    pub(crate) fn is_write_through(&self) -> bool {
        self.blocks.write_through.is_some()
    }

    /// Sets whether writes complete when their data is on flash, or when it is in the buffer.
    pub(crate) fn set_write_through(&mut self, on: bool) {
        self.blocks.write_through = on.then(|| WriteThrough::new(self.blocks.layout.dies()));
    }

    /// Called when all data of a write-through command is in the buffer. The command's last program unit is
    /// sent even if it is partial, because the command that would fill it may never arrive. Small writes
    /// therefore take extra program operations and space, as on real drives. Returns the completion time if
    /// there is no program operation left to wait for.
    pub(crate) fn complete_through(&mut self, leaf: u32, ready_ns: u64) -> Option<u64> {
        let empty = self.flush();
        let blocks = &mut self.blocks;
        // The empty slots are space that the collector must reclaim.
        if blocks.host.next <= blocks.layout.cache_start() {
            (0..empty).for_each(|_| blocks.pace_collector());
        }
        blocks.write_through.as_mut().expect("only without a cache").all_sent(leaf, ready_ns)
    }

    /// Called when a program operation that the command on `leaf` is waiting for completes. Returns the command's
    /// earliest completion time if it waits for no more operations.
    pub(crate) fn program_ended(&mut self, leaf: u32) -> Option<u64> {
        self.blocks.write_through.as_mut()?.program_ended(leaf)
    }

    /// Detaches all commands from their program operations.
    pub(crate) fn forget_commands(&mut self) {
        if let Some(write_through) = &mut self.blocks.write_through {
            write_through.accept_for(NOBODY);
            self.blocks.flash.forget_commands();
        }
    }

    /// Unmaps a map unit.
    #[inline]
    pub(crate) fn unmap(&mut self, unit: u32) {
        self.blocks.unmap(unit);
    }

    /// Starts or stops tracking the data that a power loss would destroy.
    pub(crate) fn track_unprogrammed(&mut self, on: bool) {
        self.blocks.unprogrammed = on.then(|| Box::new(UnprogrammedSlots::new(self.blocks.layout.dies())));
    }

    /// Discards data that exists only in the buffer, if it is being tracked.
    pub(crate) fn lose_buffer(&mut self) {
        let mut none = OpenSuperblock::default();
        let log = each!(&mut self.layer, layer => Ftl::<D>::open_log_mut(layer)).unwrap_or(&mut none);
        self.blocks.lose_buffer(log);
    }

    /// Erases everything; only the clock and the counters remain.
    pub(crate) fn renew(&mut self, seed: u64) {
        self.blocks.renew(seed);
        each!(&mut self.layer, layer => layer.renew(&self.blocks));
    }

    /// Returns the time in ns that it takes to erase all superblocks.
    pub(crate) fn erase_all_ns(&self) -> u64 {
        u64::from(self.blocks.layout.all_superblocks()) * self.blocks.flash.superblock_erase_ns()
    }

    /// Returns the number of slots in the write buffer.
    pub(crate) fn buffer_slots(&self) -> u32 {
        self.blocks.policy.buffer_slots
    }

    /// Returns the number of used slots in the write buffer.
    pub(crate) fn buffer_used(&self) -> u32 {
        self.blocks.buffer_used
    }

    /// Returns the time at which the dies and the layer's own work are done.
    pub(crate) fn busy_ns(&self) -> u64 {
        self.free_ns().chain([self.layer_busy_ns()]).max().unwrap_or(0)
    }

    fn free_ns(&self) -> impl Iterator<Item = u64> {
        (0..self.blocks.layout.dies() as usize).map(|die| self.blocks.flash.free_ns(die))
    }

    fn layer_busy_ns(&self) -> u64 {
        each!(&self.layer, layer => Ftl::<D>::busy_ns(layer))
    }

    fn open_log(&self) -> OpenSuperblock {
        each!(&self.layer, layer => Ftl::<D>::open_log(layer))
    }

    /// Returns the bytes programmed since the drive was created.
    #[inline]
    pub(crate) fn programmed_bytes(&self) -> u64 {
        self.blocks.programmed_bytes
    }

    /// Returns the number of superblock erases since the drive was created.
    pub(crate) fn erases(&self) -> u64 {
        self.blocks.superblocks.erases_total
    }

    /// Returns the lowest and highest number of erases among all superblocks.
    pub(crate) fn wear(&self) -> (u64, u64) {
        let erases = &self.blocks.superblocks.erases;
        let (least, most) = (erases.iter().min(), erases.iter().max());
        (least.map_or(0, |&erases| erases.into()), most.map_or(0, |&erases| erases.into()))
    }

    /// Checks the invariants. This takes time proportional to the capacity.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.blocks.check(self.open_log())?;
        each!(&self.layer, layer => layer.check(&self.blocks))
    }

    /// Returns the tables as input for a fingerprint: mapping, free superblocks, wear and dies.
    pub(crate) fn table_words(&self) -> impl Iterator<Item = u64> {
        let superblocks = &self.blocks.superblocks;
        let lists = superblocks.free.iter().chain(&superblocks.erases).copied();
        self.blocks.map.words().chain(lists).map(u64::from).chain(self.free_ns())
    }

    /// Returns the layer's write positions as input for a fingerprint.
    pub(crate) fn position_words(&self) -> [u64; 7] {
        let (blocks, log) = (&self.blocks, self.open_log());
        [
            blocks.buffer_used.into(),
            blocks.host.next.into(),
            blocks.copies.next.into(),
            log.next.into(),
            self.layer_busy_ns(),
            blocks.victim.as_ref().map_or(NONE, |victim| victim.superblock).into(),
            blocks.owed.into(),
        ]
    }

    /// Returns the pending changes to the mapping table, if they are accounted for.
    pub(crate) fn pending_table_words(&self) -> Option<[u64; 2]> {
        let (bytes, die) = self.blocks.table;
        self.writes_table().then_some([bytes.into(), die as u64])
    }
}
