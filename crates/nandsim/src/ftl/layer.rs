//! What distinguishes one translation layer from another.

use super::block_manager::BlockManager;
use super::host_write::HostWrite;
use super::superblocks::OpenSuperblock;

/// A flash translation layer: it decides which slots take the host's data. Each layer has a block manager of
/// its own.
pub(super) trait Ftl<D> {
    /// Accepts as many map units of `write` as the buffer has room for. Returns true once all of it has been
    /// accepted.
    fn admit(&mut self, blocks: &mut BlockManager<D>, write: &mut HostWrite) -> bool;

    /// Whether `slot` belongs to an open program unit: a write to it merges, and a read of it is a buffer hit.
    fn is_buffered(&self, blocks: &BlockManager<D>, slot: u32) -> bool;

    /// Seals the host's open superblock and opens another one.
    fn open_host_superblock(&mut self, blocks: &mut BlockManager<D>);

    /// Frees superblocks that the collector cannot free. Returns false if there are none.
    fn reclaim(&mut self, _: &mut BlockManager<D>) -> bool {
        false
    }

    /// Does the work that is due after a command.
    fn work_under_load(&mut self, _: &mut BlockManager<D>) {}

    /// Takes one step of work in idle time. Returns false if nothing is left to do.
    fn work_ahead(&mut self, blocks: &mut BlockManager<D>) -> bool;

    /// Sends the layer's own partial program unit to its die. Returns the number of slots left empty.
    fn flush(&mut self, _: &mut BlockManager<D>) -> u32 {
        0
    }

    /// Resets the layer after the flash was erased.
    fn renew(&mut self, blocks: &BlockManager<D>);

    /// The superblock that takes small writes, if the layer has one in addition to the host's.
    fn open_log(&self) -> OpenSuperblock {
        OpenSuperblock::default()
    }

    /// Like [`open_log`](Self::open_log), but mutable.
    fn open_log_mut(&mut self) -> Option<&mut OpenSuperblock> {
        None
    }

    /// When the controller finishes the layer's own work.
    fn busy_ns(&self) -> u64 {
        0
    }

    /// Checks the layer's own lists.
    fn check(&self, blocks: &BlockManager<D>) -> Result<(), String>;
}
