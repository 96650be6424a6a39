//! Writes with flags, such as those that complete when their data is durable, and I/Os with priorities of their own. They
//! are a separate operation, so that other I/Os need not handle either.

use std::io;

use record::PathRemark;
use stdx::access::Access;

use super::buffers::Buffers;
use super::entry::Entry;
use super::operation::{Operation, Transfer};
use super::ring::Ring;
use super::{Shape, Slot, Sync};

/// Reads and writes, each with a priority, and writes with flags.
pub(crate) struct FlaggedTransfer {
    transfer: Transfer,
    write_flags: u32,
    /// By slot; 0 for the priority of the thread.
    priorities: Box<[u16]>,
}

impl Operation for FlaggedTransfer {
    type Submission = Entry;
    type Target = ();
    const REACHES_TARGET: bool = true;
    const NEEDS_A_TRIAL: bool = false;

    fn new(
        ring: &Ring<Entry>,
        shape: &Shape,
        buffers: &Buffers,
        (): (),
    ) -> io::Result<(Self, Vec<PathRemark>)> {
        let (transfer, remarks) = Transfer::new(ring, shape, buffers, ())?;
        let priorities = vec![0; shape.slots().into()].into();
        Ok((Self { transfer, write_flags: shape.write_flags().bits(), priorities }, remarks))
    }

    #[inline]
    fn entry(&self, slot: Slot, buffer: *mut u8, access: Access) -> Entry {
        let mut entry = self.transfer.entry(slot, buffer, access);
        entry.head.ioprio = self.priorities[usize::from(slot)];
        if !access.read {
            entry.head.op_flags = self.write_flags;
        }
        entry
    }

    fn sync_entry(&self, slot: Slot, sync: Sync) -> Entry {
        self.transfer.sync_entry(slot, sync)
    }

    fn set_priority(&mut self, slot: Slot, priority: u16) {
        self.priorities[usize::from(slot)] = priority;
    }

    #[inline]
    fn result(result: i32, length_bytes: u32) -> i32 {
        Transfer::result(result, length_bytes)
    }

    fn is_helped(shape: &Shape) -> bool {
        Transfer::is_helped(shape)
    }
}

#[cfg(test)]
mod tests {
    use rustix::io::ReadWriteFlags;
    use rustix::io_uring::IoringFsyncFlags;

    use super::*;

    fn flagged(write_flags: u32) -> FlaggedTransfer {
        FlaggedTransfer { transfer: Transfer { registered: true }, write_flags, priorities: [0; 2].into() }
    }

    #[test]
    fn only_writes_have_flags() {
        let write_flags = ReadWriteFlags::DSYNC.bits();
        let durable = flagged(write_flags);
        let flags = |read| {
            let access = Access { read, block_bytes: 512, offset_bytes: 0 };
            durable.entry(1, std::ptr::null_mut(), access).head.op_flags
        };
        assert_eq!((flags(false), flags(true)), (write_flags, 0));
        let sync = |sync| durable.sync_entry(1, sync).head.op_flags;
        assert_eq!((sync(Sync::Fsync), sync(Sync::Fdatasync)), (0, IoringFsyncFlags::DATASYNC.bits()));
    }

    #[test]
    fn each_slot_has_the_priority_that_was_set_last() {
        let mut flagged = flagged(0);
        flagged.set_priority(1, 0x2000);
        let priority = |flagged: &FlaggedTransfer, slot| {
            let access = Access { read: true, block_bytes: 512, offset_bytes: 0 };
            flagged.entry(slot, std::ptr::null_mut(), access).head.ioprio
        };
        assert_eq!([0, 1].map(|slot| priority(&flagged, slot)), [0, 0x2000]);
        flagged.set_priority(1, 0);
        assert_eq!(priority(&flagged, 1), 0);
    }
}
