//! What differs between translation layers.

use super::block_manager::BlockManager;
use super::host_write::HostWrite;
use super::superblocks::OpenSuperblock;

/// A flash translation layer, which determines which slots the host's data goes to. Each layer has its own
/// block manager.
pub(super) trait Ftl<D> {
    /// Accepts as many map units of `write` as fit into the buffer. Returns true when the whole write has
    /// been accepted.
    fn admit(&mut self, blocks: &mut BlockManager<D>, write: &mut HostWrite) -> bool;

    /// Returns whether `slot` belongs to an open program unit: a write to it is merged, and a read of it is a
    /// buffer hit.
    fn is_buffered(&self, blocks: &BlockManager<D>, slot: u32) -> bool;

    /// Seals the host's open superblock and opens another one.
    fn open_host_superblock(&mut self, blocks: &mut BlockManager<D>);

    /// Frees superblocks that the collector cannot free. Returns false if there are none to free.
    fn reclaim(&mut self, _: &mut BlockManager<D>) -> bool {
        false
    }

    /// Performs the work that is due after a command.
    fn work_under_load(&mut self, _: &mut BlockManager<D>) {}

    /// Performs one step of work in idle time. Returns false if there is nothing left to do.
    fn work_ahead(&mut self, blocks: &mut BlockManager<D>) -> bool;

    /// Sends the layer's own partial program unit to its die. Returns the number of slots that remain empty.
    fn flush(&mut self, _: &mut BlockManager<D>) -> u32 {
        0
    }

    /// Resets the layer after the flash was erased.
    fn renew(&mut self, blocks: &BlockManager<D>);

    /// Returns the superblock for small writes, if the layer has one in addition to the host's.
    fn open_log(&self) -> OpenSuperblock {
        OpenSuperblock::default()
    }

    /// Same as [`open_log`](Self::open_log), but mutable.
    fn open_log_mut(&mut self) -> Option<&mut OpenSuperblock> {
        None
    }

    /// Returns the time at which the controller finishes the layer's own work.
    fn busy_ns(&self) -> u64 {
        0
    }

    /// Checks the layer's own lists.
    fn check(&self, blocks: &BlockManager<D>) -> Result<(), String>;
}
