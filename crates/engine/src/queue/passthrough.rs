//! NVMe commands through io_uring (`io_uring_cmd`), which bypass the kernel's block layer.
//!
//! SQEs are twice as long as usual, because each contains a command. The kernel accepts them on the generic
//! character device of a namespace, and with registered buffers since Linux 6.1.

use std::io;
use std::os::fd::BorrowedFd;

use record::PathRemark;
use rustix::io_uring::{IoringOp, IoringUringCmdFlags};
use stdx::access::Access;

use super::buffers::Buffers;
use super::entry::{BigEntry, Head};
use super::operation::{Operation, REGISTERED_FILE, register_buffers};
use super::ring::Ring;
use super::{Shape, Slot, Sync};

/// Size of `struct nvme_uring_cmd` (linux/nvme_ioctl.h).
pub(super) const COMMAND_BYTES: usize = 72;
/// `NVME_URING_CMD_IO`.
const OPERATION: u32 = libc::_IOWR::<[u8; COMMAND_BYTES]>(b'N' as u32, 0x80) as u32;
/// NVM Command Set 1.0c, figure 21.
const FLUSH: u8 = 0x00;
const WRITE: u8 = 0x01;
const READ: u8 = 0x02;

/// Namespace addressed by a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Namespace {
    /// Number of the namespace.
    pub number: u32,
    /// Base-2 logarithm of the logical block size in bytes.
    pub block_shift: u32,
    /// Whether writes are allowed. Checked here, because the kernel allows root to write through a file opened
    /// for reading.
    pub writable: bool,
    /// The optional commands that the controller supports (ONCS; Base 2.0c, figure 275).
    pub optional_commands: u16,
}

/// An optional command: its bit in ONCS and its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Optional(pub(crate) u16, pub(crate) &'static str);

impl Optional {
    pub(crate) const UNCORRECTABLE: Self = Self(1 << 1, "Write Uncorrectable");
    pub(crate) const DATASET: Self = Self(1 << 2, "Dataset Management");
    pub(crate) const ZEROES: Self = Self(1 << 3, "Write Zeroes");
    pub(crate) const VERIFY: Self = Self(1 << 7, "Verify");
}

/// A character device that accepts commands for an NVMe namespace.
#[derive(Debug, Clone, Copy)]
pub struct CommandDevice<'a> {
    /// The open device.
    pub fd: BorrowedFd<'a>,
    /// The namespace to which the commands are sent.
    pub namespace: Namespace,
}

/// Reads and writes a namespace.
pub(crate) struct Command {
    namespace: Namespace,
}

impl Operation for Command {
    type Submission = BigEntry;
    type Target = Namespace;
    const REACHES_TARGET: bool = true;
    const NEEDS_A_TRIAL: bool = true;
    const MAY_BE_MERGED: bool = false;

    fn new(
        ring: &Ring<BigEntry>,
        shape: &Shape,
        buffers: &Buffers,
        namespace: Namespace,
    ) -> io::Result<(Self, Vec<PathRemark>)> {
        ring.register_file(shape.fd)?;
        register_buffers(ring, shape, buffers)?;
        Ok((Self { namespace }, Vec::new()))
    }

    #[inline]
    fn entry(&self, slot: Slot, buffer: *mut u8, access: Access) -> BigEntry {
        with_data(slot, command(&self.namespace, buffer as u64, access))
    }

    /// A flush has no data, so it needs no buffer. NVMe does not distinguish data from metadata.
    fn sync_entry(&self, slot: Slot, _: Sync) -> BigEntry {
        without_data(slot, flush(&self.namespace))
    }

    #[inline]
    fn result(result: i32, length_bytes: u32) -> i32 {
        match result {
            0 => length_bytes.cast_signed(),
            error @ ..0 => error,
            status => -errno_of(status as u16),
        }
    }
}

/// Returns the SQE for a command with data in the buffer of its slot.
#[inline]
pub(super) fn with_data(slot: Slot, command: [u8; 80]) -> BigEntry {
    let mut entry = without_data(slot, command);
    entry.head.op_flags = IoringUringCmdFlags::FIXED.bits();
    entry.head.buffer_index = slot;
    entry
}

/// Returns the SQE for a command without data.
#[inline]
pub(super) fn without_data(slot: Slot, command: [u8; 80]) -> BigEntry {
    let head = Head {
        opcode: IoringOp::UringCmd as u8,
        flags: REGISTERED_FILE,
        offset: OPERATION.into(),
        user_data: slot.into(),
        ..Head::default()
    };
    BigEntry { head, command }
}

/// Returns the command for an access with the buffer at `address`, as a `struct nvme_uring_cmd`.
#[inline]
pub(super) fn command(namespace: &Namespace, address: u64, access: Access) -> [u8; 80] {
    let Access { read, block_bytes, offset_bytes } = access;
    assert!(read || namespace.writable, "the target was opened for reading only");
    let first_block = offset_bytes >> namespace.block_shift;
    // NLB is a 0's based value.
    let blocks = (block_bytes >> namespace.block_shift) - 1;
    let mut bytes = [0; 80];
    bytes[0] = if read { READ } else { WRITE };
    bytes[4..8].copy_from_slice(&namespace.number.to_ne_bytes());
    bytes[24..32].copy_from_slice(&address.to_ne_bytes());
    bytes[36..40].copy_from_slice(&block_bytes.to_ne_bytes());
    bytes[40..44].copy_from_slice(&(first_block as u32).to_ne_bytes());
    bytes[44..48].copy_from_slice(&((first_block >> 32) as u32).to_ne_bytes());
    bytes[48..52].copy_from_slice(&blocks.to_ne_bytes());
    bytes
}

/// Returns the command that makes all completed writes to a namespace durable.
fn flush(namespace: &Namespace) -> [u8; 80] {
    let mut bytes = [0; 80];
    bytes[0] = FLUSH;
    bytes[4..8].copy_from_slice(&namespace.number.to_ne_bytes());
    bytes
}

/// Maps an NVMe status (code and type, bits 10:0) to the error number that the kernel's block layer would
/// return, so that errors are counted in the same way for every engine.
fn errno_of(status: u16) -> i32 {
    match status & 0x7ff {
        // Capacity exceeded.
        0x081 => libc::ENOSPC,
        // Bad opcode, field or namespace, command not supported, bad attributes.
        0x001 | 0x002 | 0x00b | 0x015 | 0x180 => libc::EOPNOTSUPP,
        // LBA out of range, command interrupted, namespace not ready.
        0x080 | 0x021 | 0x082 => libc::EREMOTEIO,
        // Read-only range, write fault, unrecovered read error, compare failure, access denied, unwritten block.
        0x182 | 0x280 | 0x281 | 0x285 | 0x286 | 0x287 => libc::ENODATA,
        // Guard, application tag and reference tag.
        0x181 | 0x282 | 0x283 | 0x284 => libc::EILSEQ,
        // Reservation conflict.
        0x083 => libc::EBADE,
        // Host path error.
        0x370 => libc::ENOLINK,
        _ => libc::EIO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMESPACE: Namespace =
        Namespace { number: 3, block_shift: 12, writable: true, optional_commands: 0 };

    fn words(access: Access) -> [u32; 20] {
        let bytes = command(&NAMESPACE, 0x1122_3344_5566_7788, access);
        std::array::from_fn(|i| u32::from_ne_bytes(bytes[4 * i..4 * i + 4].try_into().expect("four bytes")))
    }

    #[test]
    fn the_number_of_the_operation_is_the_kernels() {
        assert_eq!(OPERATION, 0xc048_4e80);
    }

    #[test]
    fn commands_name_blocks_beyond_two_to_the_32() {
        let offset_bytes = 0x1_2345_6789 << 12;
        let words = words(Access { read: true, block_bytes: 128 << 10, offset_bytes });
        assert_eq!(words[0].to_ne_bytes(), [READ, 0, 0, 0]);
        assert_eq!((words[1], words[9]), (3, 128 << 10));
        assert_eq!((words[10], words[11], words[12]), (0x2345_6789, 1, 31));
        let address = [words[6], words[7]].map(u32::to_ne_bytes).concat();
        assert_eq!(address, 0x1122_3344_5566_7788_u64.to_ne_bytes());
    }

    #[test]
    fn one_block_is_counted_as_zero_and_a_write_is_a_write() {
        let words = words(Access { read: false, block_bytes: 4096, offset_bytes: 4096 });
        assert_eq!((words[0].to_ne_bytes()[0], words[10], words[12]), (WRITE, 1, 0));
    }

    #[test]
    fn a_flush_names_only_its_namespace() {
        let mut expected = [0; 80];
        expected[4..8].copy_from_slice(&3u32.to_ne_bytes());
        assert_eq!(flush(&NAMESPACE), expected);
    }

    #[test]
    fn errors_of_the_drive_have_the_kernels_numbers() {
        // The upper bits, such as do-not-retry (14) and more (13), are ignored.
        for (status, errno) in
            [(0x4281, libc::ENODATA), (0x80, libc::EREMOTEIO), (0x2081, libc::ENOSPC), (0x6, libc::EIO)]
        {
            assert_eq!(errno_of(status), errno, "{status:#x}");
        }
    }

    #[test]
    #[should_panic(expected = "for reading only")]
    fn nothing_is_written_through_a_target_that_was_opened_for_reading() {
        let namespace = Namespace { writable: false, ..NAMESPACE };
        command(&namespace, 0, Access { read: false, block_bytes: 4096, offset_bytes: 0 });
    }
}
