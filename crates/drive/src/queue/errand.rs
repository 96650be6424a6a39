//! What a ring is asked to do for an access: to read or write a file, or nothing.

use std::io;

use io_uring::{Submitter, cqueue, opcode, squeue, types};
use stdx::access::Access;

use super::buffers::Buffers;
use super::{Shape, Slot};

/// What a ring does.
pub(crate) trait Errand: Sized {
    type Submission: squeue::EntryMarker + 'static;
    type Completion: cqueue::EntryMarker + 'static;
    /// What has to be known of the target beside its file.
    type Target: Copy;
    /// Without a target there is nothing to poll.
    const REACHES_TARGET: bool;
    /// Whether the kernel does it shows at the first I/O only.
    const NEEDS_A_TRIAL: bool;

    /// Registers what the kernel may know beforehand; the text says what it did not take.
    fn new(
        submitter: &Submitter<'_>,
        shape: &Shape,
        buffers: &Buffers,
        target: Self::Target,
    ) -> io::Result<(Self, Option<String>)>;
    /// The entry for an access with this buffer.
    fn entry(&self, slot: Slot, buffer: *mut u8, access: Access) -> Self::Submission;
    /// Bytes transferred, or a negative error number.
    fn result(completion: &Self::Completion, length_bytes: u32) -> i32;
}

/// Reads and writes the file.
pub(crate) struct Transfer {
    /// The kernel knows the buffers.
    registered: bool,
}

impl Errand for Transfer {
    type Submission = squeue::Entry;
    type Completion = cqueue::Entry;
    type Target = ();
    const REACHES_TARGET: bool = true;
    const NEEDS_A_TRIAL: bool = false;

    fn new(
        submitter: &Submitter<'_>,
        shape: &Shape,
        buffers: &Buffers,
        (): (),
    ) -> io::Result<(Self, Option<String>)> {
        submitter.register_files(&[shape.fd])?;
        let refused = register_buffers(submitter, shape, buffers).err();
        let note = refused.map(|e| format!("unregistered buffers: {}", crate::error::reason(&e)));
        Ok((Self { registered: note.is_none() }, note))
    }

    #[inline]
    fn entry(&self, slot: Slot, buffer: *mut u8, access: Access) -> squeue::Entry {
        let file = types::Fixed(0);
        let Access { read, block_bytes: length, offset_bytes } = access;
        match (self.registered, read) {
            (true, true) => opcode::ReadFixed::new(file, buffer, length, slot).offset(offset_bytes).build(),
            (true, false) => opcode::WriteFixed::new(file, buffer, length, slot).offset(offset_bytes).build(),
            (false, true) => opcode::Read::new(file, buffer, length).offset(offset_bytes).build(),
            (false, false) => opcode::Write::new(file, buffer, length).offset(offset_bytes).build(),
        }
    }

    #[inline]
    fn result(completion: &cqueue::Entry, _: u32) -> i32 {
        completion.result()
    }
}

/// Passes through the kernel and reaches no target.
pub(crate) struct NoOp;

impl Errand for NoOp {
    type Submission = squeue::Entry;
    type Completion = cqueue::Entry;
    type Target = ();
    const REACHES_TARGET: bool = false;
    const NEEDS_A_TRIAL: bool = false;

    fn new(_: &Submitter<'_>, _: &Shape, _: &Buffers, (): ()) -> io::Result<(Self, Option<String>)> {
        Ok((Self, None))
    }

    #[inline]
    fn entry(&self, _: Slot, _: *mut u8, _: Access) -> squeue::Entry {
        opcode::Nop::new().build()
    }

    #[inline]
    fn result(completion: &cqueue::Entry, length_bytes: u32) -> i32 {
        match completion.result() {
            0 => length_bytes.cast_signed(),
            error => error,
        }
    }
}

pub(super) fn register_buffers(
    submitter: &Submitter<'_>,
    shape: &Shape,
    buffers: &Buffers,
) -> io::Result<()> {
    // SAFETY: the vectors point into `buffers`, which outlives every I/O: the queue waits for them in its drop.
    unsafe { submitter.register_buffers(&buffers.vectors(shape.depth)) }
}
