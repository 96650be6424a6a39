//! Writes that complete when their data is durable. They are a separate operation, so that other writes need not
//! handle flags.

use std::io;

use record::PathRemark;
use stdx::access::Access;

use super::buffers::Buffers;
use super::entry::Entry;
use super::operation::{Operation, Transfer};
use super::ring::Ring;
use super::{Shape, Slot, Sync};

/// Reads, and writes with `RWF_DSYNC` or `RWF_SYNC`.
pub(crate) struct DurableTransfer {
    transfer: Transfer,
    write_flags: u32,
}

impl Operation for DurableTransfer {
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
        Ok((Self { transfer, write_flags: shape.write_flags().bits() }, remarks))
    }

    #[inline]
    fn entry(&self, slot: Slot, buffer: *mut u8, access: Access) -> Entry {
        let mut entry = self.transfer.entry(slot, buffer, access);
        if !access.read {
            entry.head.op_flags = self.write_flags;
        }
        entry
    }

    fn sync_entry(&self, slot: Slot, sync: Sync) -> Entry {
        self.transfer.sync_entry(slot, sync)
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

    #[test]
    fn only_writes_have_flags() {
        let write_flags = ReadWriteFlags::DSYNC.bits();
        let durable = DurableTransfer { transfer: Transfer { registered: true }, write_flags };
        let flags = |read| {
            let access = Access { read, block_bytes: 512, offset_bytes: 0 };
            durable.entry(1, std::ptr::null_mut(), access).head.op_flags
        };
        assert_eq!((flags(false), flags(true)), (write_flags, 0));
        let sync = |sync| durable.sync_entry(1, sync).head.op_flags;
        assert_eq!((sync(Sync::Fsync), sync(Sync::Fdatasync)), (0, IoringFsyncFlags::DATASYNC.bits()));
    }
}
