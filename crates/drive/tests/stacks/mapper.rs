//! Device mapper (linux/dm-ioctl.h) and md (Documentation/admin-guide/md.rst), where the kernel has them.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::kernel::patiently;

const CONTROL: &str = "/dev/mapper/control";
const VERSION: [u32; 3] = [4, 0, 0];
const DEV_CREATE: libc::c_ulong = 0xC138_FD03;
const DEV_REMOVE: libc::c_ulong = 0xC138_FD04;
const DEV_SUSPEND: libc::c_ulong = 0xC138_FD06;
const TABLE_LOAD: libc::c_ulong = 0xC138_FD09;
const HEADER_BYTES: usize = 312;
const BUFFER_BYTES: usize = 4096;
const NAME_AT: usize = 48;
const DEVICE_AT: usize = 40;

/// One call: the header, then what belongs to the command.
fn call(command: libc::c_ulong, name: &str, targets: u32, payload: &[u8]) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0u8; BUFFER_BYTES];
    let mut put = |at: usize, value: u32| buffer[at..at + 4].copy_from_slice(&value.to_ne_bytes());
    VERSION.iter().enumerate().for_each(|(index, part)| put(4 * index, *part));
    put(12, BUFFER_BYTES as u32);
    put(16, HEADER_BYTES as u32);
    put(20, targets);
    buffer[NAME_AT..NAME_AT + name.len()].copy_from_slice(name.as_bytes());
    buffer[HEADER_BYTES..HEADER_BYTES + payload.len()].copy_from_slice(payload);
    let control = File::options().read(true).write(true).open(CONTROL)?;
    // SAFETY: these commands read and write as many bytes as the header says, which is the length of the buffer.
    let result = unsafe { libc::ioctl(control.as_raw_fd(), command as _, buffer.as_mut_ptr()) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(buffer) }
}

/// Two devices behind one another, with a node in `folder`.
pub fn linear(name: &str, folder: &Path, lower: &[PathBuf]) -> io::Result<PathBuf> {
    let created = call(DEV_CREATE, name, 0, &[])?;
    let made = table(lower).and_then(|payload| {
        call(TABLE_LOAD, name, lower.len() as u32, &payload)?;
        call(DEV_SUSPEND, name, 0, &[])
    });
    if let Err(error) = made {
        drop(remove(name));
        return Err(error);
    }
    let mut number = [0; 8];
    number.copy_from_slice(&created[DEVICE_AT..DEVICE_AT + 8]);
    let number = u64::from_ne_bytes(number);
    let path = folder.join(name);
    let text = std::ffi::CString::new(path.as_os_str().as_encoded_bytes())?;
    // SAFETY: a string that ends with zero and is valid during the call.
    if unsafe { libc::mknod(text.as_ptr(), libc::S_IFBLK | 0o600, number) } < 0 {
        let error = io::Error::last_os_error();
        drop(remove(name));
        return Err(error);
    }
    Ok(path)
}

fn table(lower: &[PathBuf]) -> io::Result<Vec<u8>> {
    let (mut payload, mut start) = (Vec::new(), 0u64);
    for path in lower {
        let sectors = sectors(path)?;
        let device = fs::metadata(path)?.rdev();
        let parameters = format!("{}:{} 0\0", libc::major(device), libc::minor(device));
        let padded = parameters.len().next_multiple_of(8);
        let mut target = [0u8; 40];
        target[..8].copy_from_slice(&start.to_ne_bytes());
        target[8..16].copy_from_slice(&sectors.to_ne_bytes());
        target[20..24].copy_from_slice(&((40 + padded) as u32).to_ne_bytes());
        target[24..30].copy_from_slice(b"linear");
        payload.extend(target);
        payload.extend(parameters.as_bytes());
        payload.resize(payload.len() + padded - parameters.len(), 0);
        start += sectors;
    }
    Ok(payload)
}

fn sectors(path: &Path) -> io::Result<u64> {
    let metadata = fs::metadata(path)?;
    if !metadata.file_type().is_block_device() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let device = metadata.rdev();
    let size = format!("/sys/dev/block/{}:{}/size", libc::major(device), libc::minor(device));
    fs::read_to_string(size)?.trim().parse().map_err(io::Error::other)
}

pub fn remove(name: &str) -> io::Result<()> {
    patiently(|| call(DEV_REMOVE, name, 0, &[]).map(drop))
}

/// A RAID 1 without metadata, whose members are exact copies of it.
pub fn mirror(name: &str, lower: &[PathBuf], bytes: u64) -> io::Result<PathBuf> {
    fs::write("/sys/module/md_mod/parameters/new_array", name)?;
    let folder = PathBuf::from(format!("/sys/block/{name}/md"));
    let started = start_array(&folder, lower, bytes);
    if let Err(error) = started {
        drop(stop_array(name));
        return Err(error);
    }
    Ok(PathBuf::from(format!("/dev/{name}")))
}

fn start_array(folder: &Path, lower: &[PathBuf], bytes: u64) -> io::Result<()> {
    let set = |attribute: &str, value: &str| fs::write(folder.join(attribute), value);
    set("metadata_version", "none")?;
    set("level", "raid1")?;
    set("raid_disks", &lower.len().to_string())?;
    for (slot, path) in lower.iter().enumerate() {
        let device = fs::metadata(path)?.rdev();
        let number = format!("{}:{}", libc::major(device), libc::minor(device));
        set("new_dev", &number)?;
        let kname = fs::canonicalize(format!("/sys/dev/block/{number}"))?;
        let kname = kname.file_name().unwrap_or_default().to_string_lossy().into_owned();
        set(&format!("dev-{kname}/slot"), &slot.to_string())?;
    }
    set("component_size", &(bytes / 1024).to_string())?;
    // In sync from the beginning: no resync writes to the members.
    set("resync_start", "none")?;
    set("array_state", "active")
}

pub fn stop_array(name: &str) -> io::Result<()> {
    patiently(|| fs::write(format!("/sys/block/{name}/md/array_state"), "clear"))
}
