//! The file system of an open file.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use record::FileSystemFacts;
use rustix::fs::{AtFlags, StatxFlags};

use crate::below::{attribute, described, folder_of, names};
use crate::counters::Counters;
use crate::host::Roots;
use crate::mountinfo::{Mount, parse};
use crate::number::DeviceNumber;

/// A file system and the counters of the devices below it.
#[derive(Debug)]
pub struct Found {
    /// Properties of the file system.
    pub facts: FileSystemFacts,
    /// `None` if the file system has no block device, or if a device is unknown.
    pub counters: Option<Counters>,
}

/// Finds the file system of an open file; `None` if the mount table does not contain it.
#[must_use]
pub fn look(file: impl AsFd, roots: &Roots) -> Option<Found> {
    let file = file.as_fd();
    let statx = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).ok()?;
    if statx.stx_mask & StatxFlags::MNT_ID.bits() == 0 {
        return None;
    }
    let table = std::fs::read(roots.proc.join("self/mountinfo")).ok()?;
    let table = String::from_utf8_lossy(&table).into_owned();
    let mount = table.lines().filter_map(parse).find(|mount| mount.id == statx.stx_mnt_id)?;
    let block_bytes = rustix::fs::fstatvfs(file).ok()?.f_bsize;
    let folders = folders(roots, &mount);
    let devices = folders.iter().map(|folder| described(roots, folder)).collect::<Option<Vec<_>>>();
    let facts = FileSystemFacts {
        kind: mount.file_system,
        block_bytes: u32::try_from(block_bytes).ok()?,
        mount_options: mount.options,
        devices: devices.unwrap_or_default(),
    };
    let counters = Counters::of(folders).filter(|_| !facts.devices.is_empty());
    Some(Found { facts, counters })
}

/// Returns the sysfs folders of a file system's devices.
fn folders(roots: &Roots, mount: &Mount) -> Vec<PathBuf> {
    if mount.number.major != 0 {
        return folder_of(roots, mount.number).into_iter().collect();
    }
    if mount.file_system != "btrfs" {
        return Vec::new();
    }
    of_btrfs(roots, &mount.source)
}

/// Returns the devices of a btrfs file system, which has no device number of its own. The mount table shows one device,
/// and the kernel lists all of them under the UUID of the file system.
fn of_btrfs(roots: &Roots, source: &Path) -> Vec<PathBuf> {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(node) = std::fs::metadata(source) else { return Vec::new() };
    let Some(folder) = folder_of(roots, DeviceNumber::from_raw(node.rdev())) else { return Vec::new() };
    let Some(name) = folder.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let all = roots.sys.join("fs/btrfs");
    let volumes = names(&all).into_iter().map(|uuid| names(&all.join(uuid).join("devices")));
    let Some(devices) = volumes.into_iter().find(|devices| devices.iter().any(|device| device == name))
    else {
        return Vec::new();
    };
    let folders = devices.iter().map(|device| {
        let number = attribute(&roots.sys.join("class/block").join(device), "dev")?;
        folder_of(roots, crate::number::parse_number(&number)?)
    });
    // The counters of only some of the devices would be too low.
    folders.collect::<Option<Vec<_>>>().unwrap_or_default()
}
