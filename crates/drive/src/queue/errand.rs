//! What a ring is asked to do for an access: to read or write a file, or nothing.

use std::io;

use record::PathRemark;
use rustix::io_uring::{IoringOp, IoringSqeFlags};
use stdx::access::Access;

use super::buffers::Buffers;
use super::entry::{Entry, Head, Submission};
use super::ring::Ring;
use super::{Shape, Slot};

/// Entries name the registered file by its place.
pub(super) const REGISTERED_FILE: u8 = IoringSqeFlags::FIXED_FILE.bits();

/// What a ring does.
pub(crate) trait Errand: Sized {
    type Submission: Submission;
    /// What has to be known of the target beside its file.
    type Target: Copy;
    /// Without a target there is nothing to poll.
    const REACHES_TARGET: bool;
    /// Whether the kernel does it shows at the first I/O only.
    const NEEDS_A_TRIAL: bool;

    /// Registers what the kernel may know beforehand; the text says what it did not take.
    fn new(
        ring: &Ring<Self::Submission>,
        shape: &Shape,
        buffers: &Buffers,
        target: Self::Target,
    ) -> io::Result<(Self, Vec<PathRemark>)>;
    /// The entry for an access with this buffer; its user data is the slot.
    fn entry(&self, slot: Slot, buffer: *mut u8, access: Access) -> Self::Submission;
    /// Bytes transferred, or a negative error number, from what the kernel gave.
    fn result(result: i32, length_bytes: u32) -> i32;
    /// Whether threads of the kernel do it, because the target may block.
    fn is_helped(_: &Shape) -> bool {
        false
    }
}

/// Reads and writes the file.
pub(crate) struct Transfer {
    /// The kernel knows the buffers.
    registered: bool,
}

impl Errand for Transfer {
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
            refused.map(|error| PathRemark::UnregisteredBuffers { cause: crate::error::reason(&error) });
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

    #[inline]
    fn result(result: i32, _: u32) -> i32 {
        result
    }

    fn is_helped(shape: &Shape) -> bool {
        super::helped::may_block(shape.fd)
    }
}

/// Passes through the kernel and reaches no target.
pub(crate) struct NoOp;

impl Errand for NoOp {
    type Submission = Entry;
    type Target = ();
    const REACHES_TARGET: bool = false;
    const NEEDS_A_TRIAL: bool = false;

    fn new(_: &Ring<Entry>, _: &Shape, _: &Buffers, (): ()) -> io::Result<(Self, Vec<PathRemark>)> {
        Ok((Self, Vec::new()))
    }

    #[inline]
    fn entry(&self, slot: Slot, _: *mut u8, _: Access) -> Entry {
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
    // SAFETY: the vectors point into `buffers`, which outlives every I/O: the queue waits for them in its drop.
    unsafe { ring.register_buffers(&buffers.vectors(shape.slots())) }
}
