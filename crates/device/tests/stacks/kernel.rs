//! Direct kernel interfaces: loop devices, partitions, mounts, nodes, swap. The numbers are part of Linux's stable
//! ABI (linux/loop.h, linux/blkpg.h).

use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

const LOOP_CLR_FD: libc::c_ulong = 0x4C01;
const LOOP_GET_STATUS64: libc::c_ulong = 0x4C05;
const LOOP_CONFIGURE: libc::c_ulong = 0x4C0A;
const LOOP_CTL_ADD: libc::c_ulong = 0x4C80;
const LOOP_CTL_REMOVE: libc::c_ulong = 0x4C81;
const LO_FLAGS_READ_ONLY: u32 = 1;
const LO_FLAGS_PARTSCAN: u32 = 8;
const BLKPG: libc::c_ulong = 0x1269;
const BLKPG_ADD_PARTITION: libc::c_int = 1;

/// Number of attempts at operations that become possible shortly after another call has returned.
const ATTEMPTS: u32 = 200;
const PAUSE: Duration = Duration::from_millis(10);

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn text(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)
}

/// Retries an action while it fails with EBUSY.
pub fn patiently<T>(mut action: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for _ in 1..ATTEMPTS {
        match action() {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => std::thread::sleep(PAUSE),
            other => return other,
        }
    }
    action()
}

#[repr(C)]
struct LoopInfo {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    sizelimit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

#[repr(C)]
struct LoopConfig {
    fd: u32,
    block_size: u32,
    info: LoopInfo,
    reserved: [u64; 8],
}

/// Attaches the loop device with this number; `None` if the number is taken.
pub fn attach_loop(
    number: u32,
    backing: &Path,
    offset: u64,
    length: u64,
    is_read_only: bool,
) -> io::Result<Option<PathBuf>> {
    let control = File::open("/dev/loop-control")?;
    // SAFETY: LOOP_CTL_ADD takes an int and does not access the memory of this process.
    if unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_ADD as _, number) } < 0 {
        let error = io::Error::last_os_error();
        return if error.kind() == io::ErrorKind::AlreadyExists { Ok(None) } else { Err(error) };
    }
    let path = PathBuf::from(format!("/dev/loop{number}"));
    let configured = configure_loop(&path, backing, offset, length, is_read_only);
    if let Err(error) = configured {
        remove_loop(number);
        // Another process requested any free device and got this one.
        return if error.raw_os_error() == Some(libc::EBUSY) { Ok(None) } else { Err(error) };
    }
    Ok(Some(path))
}

fn configure_loop(
    path: &Path,
    backing: &Path,
    offset: u64,
    length: u64,
    is_read_only: bool,
) -> io::Result<()> {
    let device = File::options().read(true).write(true).open(path)?;
    let file = File::options().read(true).write(!is_read_only).open(backing)?;
    let flags = LO_FLAGS_PARTSCAN | if is_read_only { LO_FLAGS_READ_ONLY } else { 0 };
    // SAFETY: both are plain structs of integers, for which all zeros are a valid value.
    let mut config: LoopConfig = unsafe { std::mem::zeroed() };
    (config.fd, config.block_size) = (file.as_raw_fd() as u32, 512);
    (config.info.offset, config.info.sizelimit, config.info.flags) = (offset, length, flags);
    // SAFETY: LOOP_CONFIGURE reads one `struct loop_config` of 304 bytes, which is valid during the call.
    check(unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CONFIGURE as _, &raw const config) })
}

/// Detaches a loop device if its backing file still has this device number and inode, and removes it.
pub fn detach_loop(number: u32, backing: (u64, u64)) -> io::Result<()> {
    let path = PathBuf::from(format!("/dev/loop{number}"));
    patiently(|| {
        let device = match File::open(&path) {
            Ok(device) => device,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        if status(&device).is_none_or(|status| status != backing) {
            return Ok(());
        }
        // SAFETY: LOOP_CLR_FD takes no argument.
        drop(check(unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CLR_FD as _) }));
        drop(device);
        // If other processes have the device open, the kernel detaches it when they close it.
        let device = File::open(&path)?;
        match status(&device) {
            Some(status) if status == backing => Err(io::Error::from_raw_os_error(libc::EBUSY)),
            _ => Ok(()),
        }
    })?;
    remove_loop(number);
    Ok(())
}

/// Returns the device number and inode of the backing file.
fn status(device: &File) -> Option<(u64, u64)> {
    // SAFETY: a plain struct of integers, for which all zeros are a valid value.
    let mut info: LoopInfo = unsafe { std::mem::zeroed() };
    // SAFETY: LOOP_GET_STATUS64 writes one `struct loop_info64`, which is valid during the call.
    check(unsafe { libc::ioctl(device.as_raw_fd(), LOOP_GET_STATUS64 as _, &raw mut info) }).ok()?;
    Some((info.device, info.inode))
}

/// Returns the device number and inode that the loop driver will report for a backing file or node.
pub fn as_backing(path: &Path) -> io::Result<(u64, u64)> {
    let metadata = fs::metadata(path)?;
    Ok((metadata.dev(), metadata.ino()))
}

fn remove_loop(number: u32) {
    let remove = || {
        let control = File::open("/dev/loop-control")?;
        // SAFETY: LOOP_CTL_REMOVE takes an int and does not access the memory of this process.
        check(unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_REMOVE as _, number) })
    };
    // Another process may have requested any free device and got this one.
    drop(patiently(remove));
}

#[repr(C)]
struct Partition {
    start: i64,
    length: i64,
    number: libc::c_int,
    names: [u8; 128],
}

#[repr(C)]
struct PartitionCommand {
    command: libc::c_int,
    flags: libc::c_int,
    length: libc::c_int,
    data: *mut Partition,
}

/// Adds a partition, which disappears with its disk.
pub fn add_partition(disk: &Path, number: u32, start: u64, length: u64) -> io::Result<()> {
    let device = File::open(disk)?;
    let mut partition = Partition {
        start: start as i64,
        length: length as i64,
        number: number as libc::c_int,
        names: [0; 128],
    };
    let mut command = PartitionCommand {
        command: BLKPG_ADD_PARTITION,
        flags: 0,
        length: size_of::<Partition>() as libc::c_int,
        data: &raw mut partition,
    };
    // SAFETY: BLKPG reads the command and the partition that it points to; both are valid during the call.
    check(unsafe { libc::ioctl(device.as_raw_fd(), BLKPG as _, &raw mut command) })
}

pub fn mount(source: &Path, at: &Path, kind: &str, flags: libc::c_ulong, data: &str) -> io::Result<()> {
    let (source, at) = (text(source)?, text(at)?);
    let (kind, data) = (CString::new(kind)?, CString::new(data)?);
    // SAFETY: five pointers to NUL-terminated strings that are valid during the call.
    check(unsafe { libc::mount(source.as_ptr(), at.as_ptr(), kind.as_ptr(), flags, data.as_ptr().cast()) })
}

pub fn unmount(at: &Path) -> io::Result<()> {
    let at = text(at)?;
    // SAFETY: a NUL-terminated string that is valid during the call.
    patiently(|| check(unsafe { libc::umount2(at.as_ptr(), 0) }))
}

/// Enters a private mount namespace, whose mounts do not propagate to others.
pub fn own_namespace() -> io::Result<()> {
    // SAFETY: takes flags and does not access the memory of this process, which has a single thread at this
    // point.
    check(unsafe { libc::unshare(libc::CLONE_NEWNS) })?;
    mount(Path::new("none"), Path::new("/"), "", libc::MS_REC | libc::MS_PRIVATE, "")
}

/// Creates another node for the same block device.
pub fn block_node(like: &Path, at: &Path) -> io::Result<()> {
    let device = fs::metadata(like)?.rdev();
    let at = text(at)?;
    // SAFETY: a NUL-terminated string that is valid during the call.
    check(unsafe { libc::mknod(at.as_ptr(), libc::S_IFBLK | 0o600, device) })
}

pub fn swap_on(path: &Path) -> io::Result<()> {
    let path = text(path)?;
    // SAFETY: a NUL-terminated string that is valid during the call.
    check(unsafe { libc::swapon(path.as_ptr(), 0) })
}

pub fn swap_off(path: &Path) -> io::Result<()> {
    let path = text(path)?;
    // SAFETY: a NUL-terminated string that is valid during the call.
    patiently(|| check(unsafe { libc::swapoff(path.as_ptr()) }))
}
