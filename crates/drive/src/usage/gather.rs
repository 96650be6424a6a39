//! Gathers the facts from `/sys`, `/proc` and the loop driver about block devices and their users.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, StatxFlags};

use super::{By, Facts, Kind, Span, Thing, mounts, processes as running};
use crate::error::reason;
use crate::host::{DeviceNumber, Roots, SysDevice};
use crate::ioctl::{self, LoopStatus};

const SECTOR_BYTES: u64 = 512;
/// Maximum depth of stacked loop devices; no real stack has as many.
const MOST_LOOPS: usize = 32;

/// Gathers the facts about all block devices, and about the relevant files: `target`, and those below loop devices.
///
/// # Errors
/// When a required list cannot be read: "not in use" may only be concluded from a list that was read.
pub(crate) fn gather(roots: &Roots, target: Option<Thing>) -> io::Result<Facts> {
    let mut facts = Facts::default();
    if let Some(file @ Thing::File { .. }) = target {
        facts.node(file, "it");
    }
    let devices = devices(roots, &mut facts)?;
    for (place, device) in &devices {
        if let Err(error) = layers(roots, &mut facts, *place, device)
            && device.position().exists()
        {
            facts.nodes[*place].problem = Some(format!("{}: {}", device.kname, reason(&error)));
        }
    }
    mounts::gather(roots, &mut facts)?;
    mounts::swaps(roots, &mut facts)?;
    exports(roots, &mut facts);
    running::gather(roots, &mut facts);
    running::locks(roots, &mut facts);
    Ok(facts)
}

/// Returns every block device with a number, including partitions.
fn devices(roots: &Roots, facts: &mut Facts) -> io::Result<Vec<(usize, SysDevice)>> {
    let folder = roots.sys.join("dev/block");
    let mut found = Vec::new();
    let entries = fs::read_dir(&folder)
        .map_err(|e| io::Error::new(e.kind(), format!("{}: {}", folder.display(), reason(&e))))?;
    for entry in entries {
        let name = entry?.file_name();
        let Some(number) = name.to_str().and_then(crate::host::parse_number) else { continue };
        // A device that disappeared since the folder was listed has no users.
        let Ok(device) = SysDevice::find(roots, number) else { continue };
        let place = facts.node(Thing::Device(number), roots.described(&device.kname));
        facts.nodes[place].is_read_only = device.attribute("ro").as_deref() == Some("1");
        found.push((place, device));
    }
    Ok(found)
}

/// Adds what `device` is built on, and what is built on it.
fn layers(roots: &Roots, facts: &mut Facts, place: usize, device: &SysDevice) -> io::Result<()> {
    if device.is_partition() {
        let disk = device.disk_number()?;
        let sectors = |name: &str| device.attribute(name).and_then(|text| text.parse::<u64>().ok());
        // A partition with an unknown location may be anywhere on the disk.
        let span = sectors("start").zip(sectors("size")).map_or(Span::ALL, |(start, size)| {
            Span::of(start.saturating_mul(SECTOR_BYTES), size.saturating_mul(SECTOR_BYTES))
        });
        let lower = facts.node(Thing::Device(disk), disk.to_string());
        facts.layer(place, lower, span, Kind::Partition);
    }
    for holder in device.holders()? {
        let upper = named(roots, facts, &holder);
        facts.layer(upper, place, Span::ALL, Kind::Stacked);
    }
    for lower in device.lower_devices().unwrap_or_default() {
        let lower = named(roots, facts, &lower);
        facts.layer(place, lower, Span::ALL, Kind::Stacked);
    }
    if let Some(backing) = device.attribute("backing_dev").filter(|path| path != "none")
        && let Some(thing) = thing_at(Path::new(&backing))
    {
        let lower = facts.node(thing, backing);
        facts.layer(place, lower, Span::ALL, Kind::Stacked);
    }
    backing_of_loop(facts, place, device);
    Ok(())
}

/// Returns the node of a device from its kernel name in `/sys`.
fn named(roots: &Roots, facts: &mut Facts, kname: &str) -> usize {
    let label = roots.described(kname);
    match roots.number_of(kname) {
        Some(number) => facts.node(Thing::Device(number), label),
        None => facts.add(None, label),
    }
}

/// Adds the backing of a loop device as reported by the driver: the path in `/sys` may be that of another file by
/// now.
fn backing_of_loop(facts: &mut Facts, place: usize, device: &SysDevice) {
    let Some(path) = device.attribute("loop/backing_file") else { return };
    match loop_status(device) {
        Ok(status) => {
            let thing = thing_of(&status);
            let span = Span::of(status.offset_bytes, status.size_limit_bytes);
            let lower = facts.node(thing, path);
            facts.layer(place, lower, span, Kind::Loop);
        }
        Err(_) => match thing_at(Path::new(&path)) {
            // This user may not query the driver; the path is the best remaining information.
            Some(thing) => {
                let lower = facts.node(thing, path);
                facts.layer(place, lower, Span::ALL, Kind::Loop);
            }
            None => facts.unseen_loops.push(device.kname.clone()),
        },
    }
}

fn thing_of(status: &LoopStatus) -> Thing {
    match status.backing_device {
        0 => Thing::File { volume: DeviceNumber::from_raw(status.volume), inode: status.inode },
        number => Thing::Device(DeviceNumber::from_raw(number)),
    }
}

fn loop_status(device: &SysDevice) -> io::Result<LoopStatus> {
    ioctl::loop_status(opened(device, OFlags::RDONLY)?.as_fd())
}

/// Opens the device through any of its nodes that still refers to it.
fn opened(device: &SysDevice, flags: OFlags) -> io::Result<OwnedFd> {
    let nodes = [format!("/dev/{}", device.kname), format!("/dev/block/{}", device.number)];
    let is_it = |node: &&String| thing_at(Path::new(node)) == Some(Thing::Device(device.number));
    let node = nodes.iter().find(is_it).ok_or(io::ErrorKind::NotFound)?;
    let opened = rustix::fs::open(node.as_str(), flags | OFlags::CLOEXEC, Mode::empty())?;
    if thing_of_file(&opened) != Some(Thing::Device(device.number)) {
        return Err(io::ErrorKind::NotFound.into());
    }
    Ok(opened)
}

/// Whether a device reached only through loop devices is claimed: loop devices claim nothing themselves, so the
/// kernel would not stop a second user. A claim on a disk with partitions does not show which bytes are in use.
pub(crate) fn is_claimed_below(roots: &Roots, target: DeviceNumber) -> bool {
    let below = |number: DeviceNumber| {
        let device = SysDevice::find(roots, number).ok()?;
        device.attribute("loop/backing_file")?;
        let lower = loop_status(&device).ok()?.backing_device;
        (lower != 0).then(|| DeviceNumber::from_raw(lower))
    };
    let is_claimed = |number: DeviceNumber| {
        let Ok(device) = SysDevice::find(roots, number) else { return false };
        let has_partitions = entries(device.position()).iter().any(|entry| entry.join("partition").exists());
        let claimed = opened(&device, OFlags::RDONLY | OFlags::EXCL);
        // Further devices of a btrfs are in no list of mounts.
        let is_of_btrfs = || {
            let volumes = entries(&roots.sys.join("fs/btrfs"));
            let name = device.position().file_name();
            volumes.iter().any(|volume| name.is_some_and(|name| volume.join("devices").join(name).exists()))
        };
        (!has_partitions || is_of_btrfs())
            && claimed.is_err_and(|error| error.raw_os_error() == Some(libc::EBUSY))
    };
    std::iter::successors(below(target), |&lower| below(lower)).take(MOST_LOOPS).any(is_claimed)
}

/// Adds devices and files that the kernel exports to other hosts without claiming them.
fn exports(roots: &Roots, facts: &mut Facts) {
    let config = roots.sys.join("kernel/config");
    let paths = |folder: PathBuf, depth: usize| {
        let mut folders = vec![folder];
        for _ in 0..depth {
            folders = folders.iter().flat_map(|folder| entries(folder)).collect();
        }
        folders
    };
    // LIO: target/core/iblock_0/NAME/udev_path; nvmet: nvmet/subsystems/NQN/namespaces/1/device_path.
    let of_lio = paths(config.join("target/core"), 2).into_iter().map(|dir| (dir.join("udev_path"), dir));
    let subsystems = paths(config.join("nvmet/subsystems"), 1);
    let of_nvmet = subsystems.iter().flat_map(|dir| entries(&dir.join("namespaces")));
    let of_nvmet = of_nvmet.map(|dir| (dir.join("device_path"), dir));
    for (attribute, dir) in of_lio.chain(of_nvmet) {
        let Ok(path) = read(&attribute) else { continue };
        if let Some(thing) = thing_at(Path::new(path.trim())) {
            let name = dir.strip_prefix(&config).unwrap_or(&dir).display().to_string();
            facts.used(thing, path.trim(), By::Export { name });
        }
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// Returns the IDs and folders of all visible processes.
pub(super) fn processes(roots: &Roots) -> Vec<(u32, PathBuf)> {
    let number = |path: PathBuf| Some((path.file_name()?.to_str()?.parse().ok()?, path));
    entries(&roots.proc).into_iter().filter_map(number).collect()
}

/// Returns what is at a path, following symbolic links. Does not query a file server, which could hang.
pub(crate) fn thing_at(path: &Path) -> Option<Thing> {
    thing(rustix::fs::statx(CWD, path, AtFlags::STATX_DONT_SYNC, FLAGS).ok()?)
}

/// Returns what an open descriptor refers to.
pub(crate) fn thing_of_file(file: impl AsFd) -> Option<Thing> {
    thing(rustix::fs::statx(file, "", AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC, FLAGS).ok()?)
}

const FLAGS: StatxFlags = StatxFlags::TYPE.union(StatxFlags::INO);

fn thing(found: rustix::fs::Statx) -> Option<Thing> {
    match FileType::from_raw_mode(u32::from(found.stx_mode)) {
        FileType::BlockDevice => {
            let number = DeviceNumber { major: found.stx_rdev_major, minor: found.stx_rdev_minor };
            Some(Thing::Device(number))
        }
        FileType::RegularFile => {
            let volume = DeviceNumber { major: found.stx_dev_major, minor: found.stx_dev_minor };
            Some(Thing::File { volume, inode: found.stx_ino })
        }
        _ => None,
    }
}

/// Returns the text of a file in `/proc` or `/sys`; the error names it.
pub(super) fn read(path: &Path) -> io::Result<String> {
    fs::read(path)
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .map_err(|e| io::Error::new(e.kind(), format!("{}: {}", path.display(), reason(&e))))
}
