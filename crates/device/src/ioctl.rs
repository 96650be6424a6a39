//! Typed wrappers for block device ioctls. Nothing else in the crate calls `ioctl`.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

use admin::{Data, NvmeCommand, ScsiAnswer};
use engine::{SgData, sg_io};

const BLK: u32 = 0x12;

/// Returns the capacity in bytes (`BLKGETSIZE64`).
pub(crate) fn capacity_bytes(fd: BorrowedFd<'_>) -> io::Result<u64> {
    let mut bytes = 0u64;
    // SAFETY: BLKGETSIZE64 writes one u64 to the pointer, which is valid for it during the call (the size_t
    // in its number is a historical mistake).
    check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::_IOR::<usize>(BLK, 114), &raw mut bytes) })?;
    Ok(bytes)
}

/// Returns the logical and physical block size in bytes (`BLKSSZGET`, `BLKPBSZGET`).
pub(crate) fn block_bytes(fd: BorrowedFd<'_>) -> io::Result<(u32, u32)> {
    Ok((rustix::fs::ioctl_blksszget(fd)?, rustix::fs::ioctl_blkpbszget(fd)?))
}

/// Returns whether the kernel refuses writes (`BLKROGET`).
pub(crate) fn is_read_only(fd: BorrowedFd<'_>) -> io::Result<bool> {
    let mut read_only: libc::c_int = 0;
    // SAFETY: BLKROGET writes one int to the pointer, which is valid for it during the call.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::_IO(BLK, 94), &raw mut read_only) })?;
    Ok(read_only != 0)
}

/// Discards `length_bytes` from byte 0 (`BLKDISCARD`).
pub(crate) fn discard(fd: BorrowedFd<'_>, length_bytes: u64) -> io::Result<()> {
    let range = [0u64, length_bytes];
    // SAFETY: BLKDISCARD reads two u64 (start and length in bytes) from the pointer, which is valid for
    // them during the call.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::_IO(BLK, 119), range.as_ptr()) })
}

/// Zeroes `length_bytes` from `start_bytes`, with the device's own command if available (`BLKZEROOUT`).
pub(crate) fn write_zeroes(fd: BorrowedFd<'_>, start_bytes: u64, length_bytes: u64) -> io::Result<()> {
    let range = [start_bytes, length_bytes];
    // SAFETY: BLKZEROOUT reads two u64 (start and length in bytes) from the pointer, which is valid for them
    // during the call.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::_IO(BLK, 127), range.as_ptr()) })
}

/// Returns the number of extents of a file (`FS_IOC_FIEMAP`; linux/fiemap.h, `struct fiemap`).
pub(crate) fn extents(fd: BorrowedFd<'_>) -> io::Result<u64> {
    #[repr(C)]
    struct Fiemap {
        start_bytes: u64,
        length_bytes: u64,
        flags: u32,
        extents: u32,
        /// Room for extents after the structure. If there is none, the kernel only counts the extents.
        room: u32,
        reserved: u32,
    }
    const _: () = assert!(size_of::<Fiemap>() == 32);
    let mut map =
        Fiemap { start_bytes: 0, length_bytes: u64::MAX, flags: 0, extents: 0, room: 0, reserved: 0 };
    let request = libc::_IOWR::<Fiemap>(u32::from(b'f'), 11);
    // SAFETY: FS_IOC_FIEMAP reads and writes one `struct fiemap`, and writes no extents because there is no room for
    // any; the pointer is valid for it during the call.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), request, &raw mut map) })?;
    Ok(map.extents.into())
}

/// The backing of a loop device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LoopStatus {
    /// `st_dev` of the backing file.
    pub(crate) volume: u64,
    /// `st_ino` of the backing file.
    pub(crate) inode: u64,
    /// `st_rdev` of the backing device; 0 for a file.
    pub(crate) backing_device: u64,
    pub(crate) offset_bytes: u64,
    /// Size limit; 0 for none.
    pub(crate) size_limit_bytes: u64,
}

/// Returns the backing of a loop device (`LOOP_GET_STATUS64`; linux/loop.h, `struct loop_info64`).
pub(crate) fn loop_status(fd: BorrowedFd<'_>) -> io::Result<LoopStatus> {
    const LOOP_GET_STATUS64: libc::c_ulong = 0x4C05;
    // The structure has 232 bytes; only the first five u64 are used: device, inode, rdevice, offset, sizelimit.
    let mut info = [0u64; 29];
    // SAFETY: LOOP_GET_STATUS64 writes one `struct loop_info64` of 232 bytes to the pointer, which is valid for 232
    // bytes during the call.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), LOOP_GET_STATUS64 as _, info.as_mut_ptr()) })?;
    let [volume, inode, backing_device, offset_bytes, size_limit_bytes, ..] = info;
    Ok(LoopStatus { volume, inode, backing_device, offset_bytes, size_limit_bytes })
}

/// `struct nvme_passthru_cmd` (linux/nvme_ioctl.h).
#[repr(C)]
#[derive(Default)]
struct NvmePassthrough {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    cdw2: u32,
    cdw3: u32,
    metadata: u64,
    address: u64,
    metadata_length: u32,
    data_length: u32,
    cdw10_to_15: [u32; 6],
    timeout_ms: u32,
    result: u32,
}
const _: () = assert!(size_of::<NvmePassthrough>() == 72);

/// Returns the namespace ID of a block or character device (`NVME_IOCTL_ID`).
pub(crate) fn nvme_namespace(fd: BorrowedFd<'_>) -> io::Result<u32> {
    // SAFETY: NVME_IOCTL_ID takes no argument and returns the ID as its return value.
    let answer = unsafe { libc::ioctl(fd.as_raw_fd(), libc::_IO(u32::from(b'N'), 0x40)) };
    check(answer)?;
    Ok(answer as u32)
}

/// Sends an NVMe admin command (`NVME_IOCTL_ADMIN_CMD`); returns its status (0 for success) and dword 0 of its
/// completion.
pub(crate) fn nvme_admin(
    fd: BorrowedFd<'_>,
    command: &NvmeCommand,
    data: Data<'_>,
) -> io::Result<(u16, u32)> {
    let (address, length) = match data {
        Data::None => (0, 0),
        Data::In(bytes) => (bytes.as_mut_ptr() as u64, bytes.len()),
        Data::Out(bytes) => (bytes.as_ptr() as u64, bytes.len()),
    };
    let mut passthrough = NvmePassthrough {
        opcode: command.opcode,
        namespace: command.namespace,
        address,
        data_length: length as u32,
        cdw10_to_15: command.cdw10_to_15,
        timeout_ms: milliseconds(command.timeout),
        ..NvmePassthrough::default()
    };
    let request = libc::_IOWR::<NvmePassthrough>(u32::from(b'N'), 0x41);
    // SAFETY: the structure is the kernel's; address and data_length describe a slice that is borrowed for the whole
    // call, and borrowed mutably if the lowest bits of the opcode let the device write to it (`NvmeCommand::of`).
    let answer = unsafe { libc::ioctl(fd.as_raw_fd(), request, &raw mut passthrough) };
    check(answer)?;
    Ok((answer as u16, passthrough.result))
}

/// Sends a SCSI command (`SG_IO`). Any response from the device is `Ok`, whatever its status.
pub(crate) fn scsi(
    fd: BorrowedFd<'_>,
    command: &[u8],
    data: Data<'_>,
    timeout: Duration,
) -> io::Result<ScsiAnswer> {
    let data = match data {
        Data::None => SgData::None,
        Data::Out(bytes) => SgData::Out(bytes.as_ptr(), bytes.len()),
        Data::In(bytes) => SgData::In(bytes.as_mut_ptr(), bytes.len()),
    };
    let mut sense = [0u8; 64];
    // SAFETY: the data is a slice that is borrowed for the whole call, and borrowed mutably if the device writes to it.
    let answer = unsafe { sg_io(fd, command, data, &mut sense, timeout) }?;
    match answer.host_status {
        0 => Ok(ScsiAnswer { status: answer.status, sense: sense[..answer.sense_bytes].to_vec() }),
        3 => Err(io::Error::from_raw_os_error(libc::ETIMEDOUT)),
        _ => Err(io::Error::from_raw_os_error(libc::EIO)),
    }
}

fn milliseconds(duration: Duration) -> u32 {
    u32::try_from(duration.as_millis()).unwrap_or(u32::MAX)
}

fn check(answer: libc::c_int) -> io::Result<()> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
