//! What is shared with the kernel through an io_uring, as `linux/io_uring.h` lays it out.

use rustix::io_uring::IoringSetupFlags as Setup;

/// What is asked of the kernel (`struct io_uring_sqe`).
pub(crate) trait Submission: Copy {
    /// What a ring of these entries asks for.
    const FLAGS: Setup;
    /// What entries of all lengths have.
    fn head(&self) -> &Head;
}

/// The first 48 bytes of an entry.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Head {
    pub(crate) opcode: u8,
    pub(crate) flags: u8,
    pub(crate) ioprio: u16,
    pub(crate) fd: i32,
    /// Or the operation of a command.
    pub(crate) offset: u64,
    pub(crate) address: u64,
    pub(crate) length: u32,
    pub(crate) op_flags: u32,
    /// Comes back with the completion.
    pub(crate) user_data: u64,
    pub(crate) buffer_index: u16,
    pub(crate) personality: u16,
    pub(crate) file_index: u32,
}

/// An entry of the usual length.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Entry {
    pub(crate) head: Head,
    pub(crate) rest: [u64; 2],
}

/// An entry of twice the length, with a command in it.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct BigEntry {
    pub(crate) head: Head,
    pub(crate) command: [u8; 80],
}

const _: () = assert!(size_of::<Entry>() == 64 && size_of::<BigEntry>() == 128);

impl Submission for Entry {
    const FLAGS: Setup = Setup::empty();

    #[inline]
    fn head(&self) -> &Head {
        &self.head
    }
}

impl Submission for BigEntry {
    const FLAGS: Setup = Setup::SQE128.union(Setup::CQE32);

    #[inline]
    fn head(&self) -> &Head {
        &self.head
    }
}

/// What comes back (`struct io_uring_cqe`); of twice the length where the entries are.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Done {
    pub(crate) user_data: u64,
    pub(crate) result: i32,
    _flags: u32,
}
