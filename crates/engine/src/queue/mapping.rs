//! Memory mappings: private pages of this process, or pages of a ring shared with the kernel.

use std::ffi::c_void;
use std::io;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;

use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};

/// Mapped pages. Returns pointers instead of references: their holders must prevent conflicting access.
#[derive(Debug)]
pub(crate) struct Mapping {
    memory: NonNull<c_void>,
    bytes: usize,
}

impl Mapping {
    /// Maps zeroed memory of this process.
    pub(crate) fn anonymous(bytes: usize) -> io::Result<Self> {
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: a new mapping at an address chosen by the kernel does not overlap anything.
        let memory = unsafe { mmap_anonymous(std::ptr::null_mut(), bytes, protection, flags) }?;
        Self::at_address(memory, bytes)
    }

    /// Maps the file, starting at this offset.
    pub(crate) fn shared(file: &OwnedFd, bytes: usize, offset: u64) -> io::Result<Self> {
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::POPULATE);
        // SAFETY: as above.
        let memory = unsafe { mmap(std::ptr::null_mut(), bytes, protection, flags, file, offset) }?;
        Self::at_address(memory, bytes)
    }

    fn at_address(memory: *mut c_void, bytes: usize) -> io::Result<Self> {
        Ok(Self { memory: NonNull::new(memory).ok_or(io::ErrorKind::OutOfMemory)?, bytes })
    }

    /// Returns a pointer to a `T` at this offset. Panics if the offset is not aligned or not inside the
    /// mapping.
    pub(crate) fn at<T>(&self, offset_bytes: usize) -> NonNull<T> {
        assert!(offset_bytes.is_multiple_of(align_of::<T>()), "not aligned");
        self.room(offset_bytes, size_of::<T>()).cast()
    }

    /// Returns a pointer to `bytes` bytes at this offset. Panics if the range is not inside the mapping.
    pub(crate) fn room(&self, offset_bytes: usize, bytes: usize) -> NonNull<u8> {
        assert!(offset_bytes + bytes <= self.bytes, "outside of the mapping");
        // SAFETY: the range lies inside the mapping, as just checked.
        unsafe { self.memory.byte_add(offset_bytes) }.cast()
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this mapping is our own, and owners of pointers into it drop it last.
        let unmapped = unsafe { munmap(self.memory.as_ptr(), self.bytes) };
        debug_assert!(unmapped.is_ok(), "munmap of our own mapping");
    }
}
