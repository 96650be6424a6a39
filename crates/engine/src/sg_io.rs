//! SCSI commands to a device (`SG_IO`).

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::time::Duration;

/// `SG_IO` (scsi/sg.h).
const SG_IO: libc::Ioctl = 0x2285;

/// Data of a SCSI command.
#[derive(Debug, Clone, Copy)]
pub enum SgData {
    /// No data.
    None,
    /// Data for the device: address and length.
    Out(*const u8, usize),
    /// Room for data from the device: address and length.
    In(*mut u8, usize),
}

/// The response to a SCSI command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SgAnswer {
    /// SCSI status; 0 for success.
    pub status: u8,
    /// Status of the host adapter; 0 for success, 3 for a command without a response in time.
    pub host_status: u16,
    /// Number of bytes of sense data.
    pub sense_bytes: usize,
    /// Number of bytes of data that were not transferred.
    pub residue_bytes: i32,
}

/// `struct sg_io_hdr` (scsi/sg.h), version 3.
#[repr(C)]
struct Header {
    interface: i32,
    direction: i32,
    command_length: u8,
    sense_length: u8,
    vectors: u16,
    data_length: u32,
    data: *mut libc::c_void,
    command: *const u8,
    sense: *mut u8,
    timeout_ms: u32,
    flags: u32,
    pack_id: i32,
    user: *mut libc::c_void,
    status: u8,
    masked_status: u8,
    message_status: u8,
    sense_written: u8,
    host_status: u16,
    driver_status: u16,
    residue: i32,
    duration_ms: u32,
    info: u32,
}
const _: () = assert!(size_of::<Header>() == 88);

/// Sends a SCSI command, and waits for the response.
///
/// # Safety
/// The addresses in `data` must be valid for reads or writes of the length during the call, and nothing else may use the
/// room for data from the device meanwhile.
///
/// # Errors
/// Returns the kernel's error if the command was not sent. Any response from the device is `Ok`.
pub unsafe fn sg_io(
    fd: BorrowedFd<'_>,
    command: &[u8],
    data: SgData,
    sense: &mut [u8; 64],
    timeout: Duration,
) -> io::Result<SgAnswer> {
    let (direction, address, length) = match data {
        SgData::None => (-1, std::ptr::null_mut(), 0),
        SgData::Out(address, length) => (-2, address.cast_mut(), length),
        SgData::In(address, length) => (-3, address, length),
    };
    let mut header = Header {
        interface: i32::from(b'S'),
        direction,
        command_length: command.len() as u8,
        sense_length: sense.len() as u8,
        vectors: 0,
        data_length: length as u32,
        data: address.cast(),
        command: command.as_ptr(),
        sense: sense.as_mut_ptr(),
        timeout_ms: u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX),
        flags: 0,
        pack_id: 0,
        user: std::ptr::null_mut(),
        status: 0,
        masked_status: 0,
        message_status: 0,
        sense_written: 0,
        host_status: 0,
        driver_status: 0,
        residue: 0,
        duration_ms: 0,
        info: 0,
    };
    // SAFETY: the structure is the kernel's. Command and sense point to memory that outlives the call; the caller
    // guarantees the same of the data, to which the kernel writes only if the direction is -3.
    let answer = unsafe { libc::ioctl(fd.as_raw_fd(), SG_IO, &raw mut header) };
    if answer < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(SgAnswer {
        status: header.status,
        host_status: header.host_status,
        sense_bytes: usize::from(header.sense_written).min(sense.len()),
        residue_bytes: header.residue,
    })
}
