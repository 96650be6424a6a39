//! What a ring submits for an access: a read, a write, an NVMe command, or a no-op.

use std::io;

use record::PathRemark;
use rustix::io_uring::{IoringFsyncFlags, IoringOp, IoringSqeFlags};
use stdx::access::Access;

use super::buffers::Buffers;
use super::entry::{Entry, Head, Submission};
use super::ring::Ring;
use super::{Shape, Slot, Sync};

/// SQEs refer to the registered file by its index.
pub(super) const REGISTERED_FILE: u8 = IoringSqeFlags::FIXED_FILE.bits();

/// Operation that a ring performs for each access.
pub(crate) trait Operation: Sized {
    type Submission: Submission;
    /// What the operation needs in addition to the file.
    type Target: Clone;
    /// Whether the operation accesses the target; if not, polling is pointless.
    const REACHES_TARGET: bool;
    /// Whether trying a first I/O is the only way to find out if the kernel supports the operation.
    const NEEDS_A_TRIAL: bool;
    /// Whether the kernel may merge adjacent I/Os that one system call submits. It never merges commands.
    const MAY_BE_MERGED: bool = true;

    /// Registers the file and the buffers with the kernel. The returned remarks name the registrations that the
    /// kernel refused.
    fn new(
        ring: &Ring<Self::Submission>,
        shape: &Shape,
        buffers: &Buffers,
        target: Self::Target,
    ) -> io::Result<(Self, Vec<PathRemark>)>;
    /// Whether the buffer has room for the data of an I/O. If not, it contains something else.
    const FILLS_BUFFER: bool = true;
    /// Prepares an I/O that is submitted next on this slot.
    #[inline]
    fn prepare(&mut self, _: Slot, _: Access) {}
    /// Adds a range to the next trim on this slot; `index` counts its ranges. For operations with several ranges.
    fn put_range(&mut self, _: Slot, _: u16, _: Access, _: &mut [u8]) {}
    /// Returns the SQE for an access with this buffer. The `user_data` of the SQE is the slot.
    fn entry(&self, slot: Slot, buffer: *mut u8, access: Access) -> Self::Submission;
    /// Returns the SQE for a sync. The `user_data` of the SQE is the slot.
    fn sync_entry(&self, slot: Slot, sync: Sync) -> Self::Submission;
    /// Converts the `res` of a CQE to bytes transferred or a negative error number.
    fn result(result: i32, length_bytes: u32) -> i32;
    /// Sets the kernel's number of the priority of the next I/Os on this slot; for operations with priorities.
    fn set_priority(&mut self, _: Slot, _: u16) {}
    /// Returns whether io-wq workers perform the operation because the target may block.
    fn is_helped(_: &Shape) -> bool {
        false
    }
}

/// Reads and writes the file.
pub(crate) struct Transfer {
    /// Whether the buffers are registered.
    pub(super) registered: bool,
}

impl Operation for Transfer {
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
        ring.register_file(shape.fd)?;
        let refused = register_buffers(ring, shape, buffers).err();
        let registered = refused.is_none();
        let remark =
            refused.map(|error| PathRemark::UnregisteredBuffers { cause: record::errno::reason(&error) });
        Ok((Self { registered }, remark.into_iter().collect()))
    }

    #[inline]
    fn entry(&self, slot: Slot, buffer: *mut u8, access: Access) -> Entry {
        let opcode = match (self.registered, access.read) {
            (true, true) => IoringOp::ReadFixed,
            (true, false) => IoringOp::WriteFixed,
            (false, true) => IoringOp::Read,
            (false, false) => IoringOp::Write,
        };
        let head = Head {
            opcode: opcode as u8,
            flags: REGISTERED_FILE,
            offset: access.offset_bytes,
            address: buffer as u64,
            length: access.block_bytes,
            user_data: slot.into(),
            buffer_index: slot,
            ..Head::default()
        };
        Entry { head, ..Entry::default() }
    }

    fn sync_entry(&self, slot: Slot, sync: Sync) -> Entry {
        let flags = match sync {
            Sync::Fsync => IoringFsyncFlags::empty(),
            Sync::Fdatasync => IoringFsyncFlags::DATASYNC,
        };
        let head = Head {
            opcode: IoringOp::Fsync as u8,
            flags: REGISTERED_FILE,
            op_flags: flags.bits(),
            user_data: slot.into(),
            ..Head::default()
        };
        Entry { head, ..Entry::default() }
    }

    #[inline]
    fn result(result: i32, _: u32) -> i32 {
        result
    }

    fn is_helped(shape: &Shape) -> bool {
        super::helped::may_block(shape.fd)
    }
}

/// `IORING_OP_NOP`: enters the kernel but does not access the target.
pub(crate) struct NoOp;

impl Operation for NoOp {
    type Submission = Entry;
    type Target = ();
    const REACHES_TARGET: bool = false;
    const NEEDS_A_TRIAL: bool = false;
    const MAY_BE_MERGED: bool = false;

    fn new(_: &Ring<Entry>, _: &Shape, _: &Buffers, (): ()) -> io::Result<(Self, Vec<PathRemark>)> {
        Ok((Self, Vec::new()))
    }

    #[inline]
    fn entry(&self, slot: Slot, _: *mut u8, _: Access) -> Entry {
        let head = Head { opcode: IoringOp::Nop as u8, user_data: slot.into(), ..Head::default() };
        Entry { head, ..Entry::default() }
    }

    fn sync_entry(&self, slot: Slot, _: Sync) -> Entry {
        let head = Head { opcode: IoringOp::Nop as u8, user_data: slot.into(), ..Head::default() };
        Entry { head, ..Entry::default() }
    }

    #[inline]
    fn result(result: i32, length_bytes: u32) -> i32 {
        match result {
            0 => length_bytes.cast_signed(),
            error => error,
        }
    }
}

pub(super) fn register_buffers<S: Submission>(
    ring: &Ring<S>,
    shape: &Shape,
    buffers: &Buffers,
) -> io::Result<()> {
    // SAFETY: the vectors point into `buffers`, which outlives every I/O: the queue waits for all I/Os in its
    // drop.
    unsafe { ring.register_buffers(&buffers.vectors(shape.slots())) }
}
