//! Gathers the facts about block devices and their users from `/sys`, `/proc` and the loop driver.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use record::errno::reason;

use super::facts::{By, Facts, Kind, Span};
use super::overlay::{Overlays, Stored};
use super::procfs::{entries, read};
use super::stored::{add_stored, node_at};
use super::thing::{Thing, thing_at};
use super::{loops, mounts, processes as running};
use crate::refusal::Refusal;
use sysfs::{Roots, SysDevice, parse_number};

const SECTOR_BYTES: u64 = 512;

/// Gathers the facts about all block devices and the relevant files: the target, if it is a file, and the files
/// below loop devices and mounts.
///
/// # Errors
/// Returns an error if a required list cannot be read, because the target may then be in use.
pub(crate) fn gather(roots: &Roots, files: &[(Thing, &Path)]) -> io::Result<Facts> {
    let mut facts = Facts::default();
    let namespaces = mounts::all_namespaces(roots)?;
    let overlays = Overlays::of(&namespaces);
    for &(thing, path) in files {
        let node = facts.node(thing, "it");
        match overlays.stored(thing, path) {
            // Writes to the target go to a copy, not to this file.
            Stored::Lower { .. } => {}
            stored => add_stored(&mut facts, &overlays, node, stored),
        }
    }
    let devices = devices(roots, &mut facts)?;
    for (place, device) in &devices {
        if let Err(error) = layers(roots, &mut facts, *place, device, &overlays)
            && device.position().exists()
        {
            let what = format!("{}: {}", device.kname, reason(&error));
            facts.nodes[*place].problem = Some(Refusal::Unknown { what });
        }
    }
    mounts::gather(roots, &mut facts, &namespaces, &overlays);
    mounts::swaps(roots, &mut facts)?;
    exports(roots, &mut facts, &overlays);
    running::gather(roots, &mut facts, &overlays);
    running::locks(roots, &mut facts);
    Ok(facts)
}

/// Returns all block devices with a number, including partitions.
fn devices(roots: &Roots, facts: &mut Facts) -> io::Result<Vec<(usize, SysDevice)>> {
    let folder = roots.sys.join("dev/block");
    let mut found = Vec::new();
    let entries = fs::read_dir(&folder)
        .map_err(|e| io::Error::new(e.kind(), format!("{}: {}", folder.display(), reason(&e))))?;
    for entry in entries {
        let name = entry?.file_name();
        let Some(number) = name.to_str().and_then(parse_number) else { continue };
        // A device that disappeared after the folder was listed has no users.
        let Ok(device) = SysDevice::find(roots, number) else { continue };
        let place = facts.node(Thing::Device(number), roots.described(&device.kname));
        facts.nodes[place].is_read_only = device.attribute("ro").as_deref() == Some("1");
        found.push((place, device));
    }
    Ok(found)
}

/// Adds the devices and files below `device`, and the devices built on it.
fn layers(
    roots: &Roots,
    facts: &mut Facts,
    place: usize,
    device: &SysDevice,
    overlays: &Overlays<'_>,
) -> io::Result<()> {
    if device.is_partition() {
        let disk = device.disk_number()?;
        let sectors = |name: &str| device.attribute(name).and_then(|text| text.parse::<u64>().ok());
        // A partition whose location is unknown may be anywhere on the disk.
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
        let lower = node_at(facts, overlays, thing, Path::new(&backing));
        facts.layer(place, lower, Span::ALL, Kind::Stacked);
    }
    loops::add(facts, place, device, overlays);
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

/// Adds devices and files that the kernel exports to other hosts without claiming them.
fn exports(roots: &Roots, facts: &mut Facts, overlays: &Overlays<'_>) {
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
        let path = Path::new(path.trim());
        if let Some(thing) = thing_at(path) {
            let name = dir.strip_prefix(&config).unwrap_or(&dir).display().to_string();
            node_at(facts, overlays, thing, path);
            facts.used(thing, "", By::Export { name });
        }
    }
}
