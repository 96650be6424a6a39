//! The placement identifiers of a namespace with Flexible Data Placement.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};

use super::no_command::NoCommand;
use super::passthrough::{COMMAND_BYTES, Namespace};

/// `NVME_IOCTL_IO_CMD` (linux/nvme_ioctl.h), for a structure of the same size as that of io_uring.
const IO_COMMAND: libc::Ioctl = libc::_IOWR::<[u8; COMMAND_BYTES]>(b'N' as u32, 0x43);
/// I/O Management Receive (Base 2.1, figure 92).
const MANAGEMENT_RECEIVE: u8 = 0x12;
/// Management operation: Reclaim Unit Handle Status.
const HANDLE_STATUS: u32 = 0x01;
const HEAD_BYTES: usize = 16;
const DESCRIPTOR_BYTES: usize = 32;
/// Largest number of handles that are read.
const MOST_HANDLES: usize = 256;
const STATUS_BYTES: usize = HEAD_BYTES + MOST_HANDLES * DESCRIPTOR_BYTES;

/// Returns the placement identifiers with these indices; all of them if there are no indices.
pub(crate) fn placement_ids(
    file: BorrowedFd<'_>,
    namespace: &Namespace,
    indices: &[u16],
) -> Result<Vec<u16>, NoCommand> {
    let mut status = vec![0u8; STATUS_BYTES];
    let mut command = command(namespace, status.as_mut_ptr() as u64);
    // SAFETY: the command has the size of the kernel's structure. The drive writes at most STATUS_BYTES to `status`, which
    // outlives the call.
    let answer = unsafe { libc::ioctl(file.as_raw_fd(), IO_COMMAND, command.as_mut_ptr()) };
    match answer {
        0 => chosen(&status, indices),
        1.. => Err(NoCommand::NoPlacement(answer)),
        _ => Err(NoCommand::Unknown(io::Error::last_os_error())),
    }
}

/// Returns the command that reads the status of all handles, as a `struct nvme_passthru_cmd`.
fn command(namespace: &Namespace, address: u64) -> [u8; COMMAND_BYTES] {
    let mut bytes = [0; COMMAND_BYTES];
    bytes[0] = MANAGEMENT_RECEIVE;
    bytes[4..8].copy_from_slice(&namespace.number.to_ne_bytes());
    bytes[24..32].copy_from_slice(&address.to_ne_bytes());
    bytes[36..40].copy_from_slice(&(STATUS_BYTES as u32).to_ne_bytes());
    bytes[40..44].copy_from_slice(&HANDLE_STATUS.to_ne_bytes());
    // The number of dwords is a 0's based value.
    bytes[44..48].copy_from_slice(&(STATUS_BYTES as u32 / 4 - 1).to_ne_bytes());
    bytes
}

/// Selects placement identifiers from a status.
fn chosen(status: &[u8], indices: &[u16]) -> Result<Vec<u16>, NoCommand> {
    let count = usize::from(u16::from_le_bytes([status[14], status[15]])).min(MOST_HANDLES);
    let descriptors = status[HEAD_BYTES..].chunks_exact(DESCRIPTOR_BYTES).take(count);
    let all: Vec<u16> = descriptors.map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]])).collect();
    if indices.is_empty() && !all.is_empty() {
        return Ok(all);
    }
    let id = |index: &u16| {
        all.get(usize::from(*index)).copied().ok_or(NoCommand::NoHandle { count, index: *index })
    };
    let first = if indices.is_empty() { &[0][..] } else { indices };
    first.iter().map(id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_reads_the_status_of_the_handles() {
        let namespace = Namespace { number: 3, block_shift: 12, writable: true, optional_commands: 0 };
        let mut expected = [0; COMMAND_BYTES];
        expected[0] = 0x12;
        expected[4] = 3;
        expected[24..32].copy_from_slice(&0x1000u64.to_ne_bytes());
        expected[36..40].copy_from_slice(&8208u32.to_ne_bytes());
        expected[40..44].copy_from_slice(&1u32.to_ne_bytes());
        expected[44..48].copy_from_slice(&2051u32.to_ne_bytes());
        assert_eq!(command(&namespace, 0x1000), expected);
        assert_eq!(IO_COMMAND as u32, 0xc048_4e43);
    }

    #[test]
    fn indices_select_identifiers() {
        let mut status = vec![0; STATUS_BYTES];
        status[14] = 3;
        for (index, id) in [0x0100u16, 0x0005, 0x0007].iter().enumerate() {
            let at = HEAD_BYTES + index * DESCRIPTOR_BYTES;
            status[at..at + 2].copy_from_slice(&id.to_le_bytes());
        }
        assert_eq!(chosen(&status, &[]).expect("three"), [0x0100, 0x0005, 0x0007]);
        assert_eq!(chosen(&status, &[2, 0]).expect("two"), [0x0007, 0x0100]);
        let error = chosen(&status, &[3]).expect_err("three only");
        assert!(error.to_string().contains("has 3 placement handles"), "{error}");
        assert!(chosen(&vec![0; STATUS_BYTES], &[]).is_err());
        status[14..16].fill(0xff);
        assert_eq!(chosen(&status, &[]).expect("bounded").len(), MOST_HANDLES);
    }
}
