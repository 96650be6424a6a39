//! Device mapper (linux/dm-ioctl.h) and md (Documentation/admin-guide/md.rst), if the kernel supports them.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::kernel::patiently;
use super::plan::{Kernel, Level, Mapping};

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

/// Issues one ioctl: the header, followed by the command's payload.
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
    // SAFETY: these commands read and write the number of bytes that the header specifies, which is the
    // length of the buffer.
    let result = unsafe { libc::ioctl(control.as_raw_fd(), command as _, buffer.as_mut_ptr()) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(buffer) }
}

/// Creates a device-mapper device on top of `lower`, with its node in `folder`.
pub fn map(name: &str, folder: &Path, mapping: Mapping, lower: &[PathBuf]) -> io::Result<PathBuf> {
    let rows = rows(mapping, lower)?;
    let created = call(DEV_CREATE, name, 0, &[])?;
    let made = call(TABLE_LOAD, name, rows.len() as u32, &table(&rows))
        .and_then(|_| call(DEV_SUSPEND, name, 0, &[]))
        .and_then(|_| node(&created, &folder.join(name)));
    made.inspect_err(|_| drop(remove(name)))
}

fn node(created: &[u8], path: &Path) -> io::Result<PathBuf> {
    let mut number = [0; 8];
    number.copy_from_slice(&created[DEVICE_AT..DEVICE_AT + 8]);
    let number = u64::from_ne_bytes(number);
    let text = std::ffi::CString::new(path.as_os_str().as_encoded_bytes())?;
    // SAFETY: a NUL-terminated string that is valid during the call.
    if unsafe { libc::mknod(text.as_ptr(), libc::S_IFBLK | 0o600, number) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(path.into())
}

/// A line of a table: sectors, target type and its parameters (Documentation/admin-guide/device-mapper).
struct Row(u64, &'static str, String);

/// AES in XTS mode with a 256-bit key.
const CIPHER: &str = "aes-xts-plain64 000102030405060708090a0b0c0d0e0ff0e1d2c3b4a5968778695a4b3c2d1e0f 0";

fn rows(mapping: Mapping, lower: &[PathBuf]) -> io::Result<Vec<Row>> {
    let numbers = lower.iter().map(|path| number(path)).collect::<io::Result<Vec<_>>>()?;
    Ok(match mapping {
        Mapping::Linear => {
            let row = |(path, number): (&PathBuf, &String)| {
                Ok(Row(sectors(path)?, "linear", format!("{number} 0")))
            };
            lower.iter().zip(&numbers).map(row).collect::<io::Result<_>>()?
        }
        Mapping::Crypt => vec![Row(sectors(&lower[0])?, "crypt", format!("{CIPHER} {} 0", numbers[0]))],
        Mapping::Snapshot => {
            vec![Row(sectors(&lower[0])?, "snapshot", format!("{} {} N 8", numbers[0], numbers[1]))]
        }
    })
}

fn table(rows: &[Row]) -> Vec<u8> {
    let (mut payload, mut start) = (Vec::new(), 0u64);
    for Row(sectors, kind, parameters) in rows {
        // The parameters are NUL-terminated, and the next line is aligned to 8 bytes.
        let padded = (parameters.len() + 1).next_multiple_of(8);
        let mut target = [0u8; 40];
        target[..8].copy_from_slice(&start.to_ne_bytes());
        target[8..16].copy_from_slice(&sectors.to_ne_bytes());
        target[20..24].copy_from_slice(&((40 + padded) as u32).to_ne_bytes());
        target[24..24 + kind.len()].copy_from_slice(kind.as_bytes());
        payload.extend(target);
        payload.extend(parameters.as_bytes());
        payload.resize(payload.len() + padded - parameters.len(), 0);
        start += sectors;
    }
    payload
}

/// Returns the device number as text, such as `8:16`.
fn number(path: &Path) -> io::Result<String> {
    let device = fs::metadata(path)?.rdev();
    Ok(format!("{}:{}", libc::major(device), libc::minor(device)))
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

/// Creates an array without metadata, so that its members contain only data and parity.
pub fn array(name: &str, level: Level, lower: &[PathBuf], each_bytes: u64) -> io::Result<PathBuf> {
    fs::write("/sys/module/md_mod/parameters/new_array", name)?;
    let folder = PathBuf::from(format!("/sys/block/{name}/md"));
    let started = start_array(&folder, level, lower, each_bytes);
    if let Err(error) = started {
        drop(stop_array(name));
        return Err(error);
    }
    Ok(PathBuf::from(format!("/dev/{name}")))
}

fn start_array(folder: &Path, level: Level, lower: &[PathBuf], each_bytes: u64) -> io::Result<()> {
    let set = |attribute: &str, value: &str| {
        fs::write(folder.join(attribute), value)
            .map_err(|error| io::Error::new(error.kind(), format!("{attribute}: {error}")))
    };
    // Layouts: left-symmetric for RAID 5, two near copies for RAID 10 (md(4)).
    let (level, layout) = match level {
        Level::Raid0 => ("raid0", None),
        Level::Raid1 => ("raid1", None),
        Level::Raid5 => ("raid5", Some("2")),
        Level::Raid10 => ("raid10", Some("258")),
    };
    let each_kib = (each_bytes / 1024).to_string();
    set("metadata_version", "none")?;
    set("level", level)?;
    set("raid_disks", &lower.len().to_string())?;
    if level != "raid1" {
        set("chunk_size", "65536")?;
    }
    layout.map_or(Ok(()), |layout| set("layout", layout))?;
    for (slot, path) in lower.iter().enumerate() {
        let number = number(path)?;
        set("new_dev", &number)?;
        let kname = fs::canonicalize(format!("/sys/dev/block/{number}"))?;
        let kname = kname.file_name().unwrap_or_default().to_string_lossy().into_owned();
        set(&format!("dev-{kname}/size"), &each_kib)?;
        set(&format!("dev-{kname}/slot"), &slot.to_string())?;
    }
    set("component_size", &each_kib)?;
    if level != "raid0" {
        // In sync from the start, so that no resync writes to the members.
        set("resync_start", "none")?;
    }
    set("array_state", "active")
}

pub fn stop_array(name: &str) -> io::Result<()> {
    patiently(|| fs::write(format!("/sys/block/{name}/md/array_state"), "clear"))
}

/// Returns the features of the running kernel.
pub fn kernel() -> Kernel {
    Kernel {
        has_mapper: File::options().read(true).write(true).open(CONTROL).is_ok(),
        has_md: Path::new("/sys/module/md_mod/parameters/new_array").exists(),
    }
}
