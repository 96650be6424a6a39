//! Page-aligned memory for I/O, divided into one slice per slot.

use std::io;

use super::Slot;
use super::mapping::Mapping;

const PAGE_BYTES: usize = 4096;

/// Zeroed memory of `slots` times `block_bytes`, in which each slice starts on a page boundary.
///
/// Returns pointers instead of references, because a slice belongs to the I/O in flight on its slot.
#[derive(Debug)]
pub(crate) struct Buffers {
    memory: Mapping,
    stride_bytes: usize,
    block_bytes: usize,
}

// SAFETY: the mapping is plain memory of this process, not tied to a thread; it is freed once, on drop.
unsafe impl Send for Buffers {}
// SAFETY: `&Buffers` returns only addresses; the queues ensure that a slot has one user at a time.
unsafe impl Sync for Buffers {}

impl Buffers {
    pub(crate) fn new(slots: u16, block_bytes: u32) -> io::Result<Self> {
        let block_bytes = block_bytes as usize;
        let stride_bytes = block_bytes.next_multiple_of(PAGE_BYTES);
        let memory = Mapping::anonymous(stride_bytes * usize::from(slots))?;
        Ok(Self { memory, stride_bytes, block_bytes })
    }

    /// Returns the start of the slice of `slot`, which is `block_bytes` long.
    #[inline]
    pub(crate) fn at(&self, slot: Slot) -> *mut u8 {
        self.memory.room(usize::from(slot) * self.stride_bytes, self.block_bytes).as_ptr()
    }

    pub(crate) fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// Returns the slices as `iovec`s for registration with the kernel.
    pub(crate) fn vectors(&self, slots: u16) -> Vec<libc::iovec> {
        (0..slots).map(|s| libc::iovec { iov_base: self.at(s).cast(), iov_len: self.block_bytes }).collect()
    }
}
