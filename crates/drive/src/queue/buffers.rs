//! Page-aligned memory for I/O, one slice per slot.

use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use super::Slot;

const PAGE_BYTES: usize = 4096;

/// Zeroed memory of `slots` times `block_bytes`, every slice on a page of its own.
///
/// It hands out pointers, not references: who has a slot's I/O in flight, owns its slice.
#[derive(Debug)]
pub(crate) struct Buffers {
    memory: NonNull<c_void>,
    mapped_bytes: usize,
    stride_bytes: usize,
    block_bytes: usize,
}

// SAFETY: the mapping is plain memory of this process, tied to no thread; it is freed once, on drop.
unsafe impl Send for Buffers {}
// SAFETY: `&Buffers` gives out addresses only; the queues see to it that one slot has one user at a time.
unsafe impl Sync for Buffers {}

impl Buffers {
    pub(crate) fn new(slots: u16, block_bytes: u32) -> io::Result<Self> {
        let block_bytes = block_bytes as usize;
        let stride_bytes = block_bytes.next_multiple_of(PAGE_BYTES);
        let mapped_bytes = stride_bytes * usize::from(slots);
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: a new anonymous mapping at a place of the kernel's choice overlaps nothing.
        let memory = unsafe { mmap_anonymous(std::ptr::null_mut(), mapped_bytes, protection, flags) }?;
        let memory = NonNull::new(memory).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { memory, mapped_bytes, stride_bytes, block_bytes })
    }

    /// Start of the slice of `slot`, which is `block_bytes` long.
    pub(crate) fn at(&self, slot: Slot) -> *mut u8 {
        let start = usize::from(slot) * self.stride_bytes;
        assert!(start + self.block_bytes <= self.mapped_bytes, "no such slot");
        // SAFETY: the slice lies inside the mapping, as just checked.
        unsafe { self.memory.as_ptr().cast::<u8>().add(start) }
    }

    pub(crate) fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// The slices as the kernel wants them for registration.
    pub(crate) fn vectors(&self, slots: u16) -> Vec<libc::iovec> {
        (0..slots).map(|s| libc::iovec { iov_base: self.at(s).cast(), iov_len: self.block_bytes }).collect()
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: this is the mapping made in `new`, and nobody has a pointer into it any more: queues drop
        // their buffers only when no I/O is in flight.
        let unmapped = unsafe { munmap(self.memory.as_ptr(), self.mapped_bytes) };
        debug_assert!(unmapped.is_ok(), "munmap of an own mapping");
    }
}
