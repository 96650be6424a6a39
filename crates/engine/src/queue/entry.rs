//! SQEs and CQEs as laid out in `linux/io_uring.h`.

use rustix::io_uring::IoringSetupFlags as Setup;

/// A submission queue entry (SQE, `struct io_uring_sqe`).
pub(crate) trait Submission: Copy {
    /// Setup flags of a ring with entries of this size.
    const FLAGS: Setup;
    /// Returns the fields that SQEs of all sizes have in common.
    fn head(&self) -> &Head;
}

/// The first 48 bytes of an SQE.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Head {
    pub(crate) opcode: u8,
    pub(crate) flags: u8,
    pub(crate) ioprio: u16,
    pub(crate) fd: i32,
    /// `off`, or `cmd_op` for a command.
    pub(crate) offset: u64,
    pub(crate) address: u64,
    pub(crate) length: u32,
    pub(crate) op_flags: u32,
    /// Value returned in the CQE.
    pub(crate) user_data: u64,
    pub(crate) buffer_index: u16,
    pub(crate) personality: u16,
    pub(crate) file_index: u32,
}

/// An SQE of the default size, 64 bytes.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Entry {
    pub(crate) head: Head,
    pub(crate) rest: [u64; 2],
}

/// An SQE of 128 bytes (`IORING_SETUP_SQE128`) that contains a command.
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

/// A completion queue entry (CQE, `struct io_uring_cqe`); it takes twice the space in a ring with 128-byte SQEs.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Done {
    pub(crate) user_data: u64,
    pub(crate) result: i32,
    _flags: u32,
}
