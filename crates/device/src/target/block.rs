//! A block device: its facts, the reasons not to write to it, and how it is opened and discarded.

use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use admin::{Capabilities, Fault, Protocol};
use engine::Clock;
use record::errno::reason;
use record::{OtherNamespace, TargetFacts, TargetKind};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::generic::Generic;
use super::opening::{Held, check_capacity, open_direct, open_nothing_else, open_to_load, write_permission};
use super::records;
use crate::error::DriveError;
use crate::error::target::TargetError;
use crate::kernel::Kernel;
use crate::refusal::Refusal;
use crate::usage::{self, Thing};
use crate::{ioctl, signature};
use sysfs::{DeviceNumber, Roots, SysDevice};

/// A block device after inspection.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub(crate) facts: TargetFacts,
    /// The device node with symbolic links resolved, so that the path cannot silently refer to another device later.
    node: PathBuf,
    number: DeviceNumber,
    /// Libraries of runs; a device that holds their files is refused.
    libraries: Vec<PathBuf>,
    roots: Roots,
}

impl Block {
    pub(crate) fn open(target: &str, roots: Roots, libraries: &[PathBuf]) -> Result<Self, DriveError> {
        let unusable = |error: std::io::Error| DriveError::target(target, error);
        let node = stdx::files::resolve(Path::new(target)).map_err(unusable)?;
        let device = File::from(open_nothing_else(&node, OFlags::RDONLY).map_err(|e| unusable(e.into()))?);
        let number = DeviceNumber::from_raw(device.metadata().map_err(unusable)?.rdev());
        let capacity_bytes = ioctl::capacity_bytes(device.as_fd()).map_err(unusable)?;
        check_capacity(capacity_bytes, TargetError::EmptyDevice)
            .map_err(|problem| DriveError::target(target, problem))?;
        let (logical, physical) = ioctl::block_bytes(device.as_fd()).map_err(unusable)?;
        let mut facts = TargetFacts {
            kind: TargetKind::Block,
            path: target.to_owned(),
            identity: format!("{number}:{capacity_bytes}"),
            attachment: None,
            vendor: None,
            model: None,
            serial: None,
            firmware: None,
            interface: None,
            nand: None,
            capacity_bytes,
            logical_block_bytes: logical,
            physical_block_bytes: physical.max(logical),
            rotational: None,
            simulated: None,
            array: None,
        };
        if let Ok(sys) = SysDevice::find(&roots, number) {
            describe(&mut facts, &sys, &roots);
        }
        Ok(Self { facts, node, number, libraries: libraries.to_vec(), roots })
    }

    pub(crate) fn roots(&self) -> &Roots {
        &self.roots
    }

    pub(crate) fn number(&self) -> DeviceNumber {
        self.number
    }

    /// Returns the device node with symbolic links resolved.
    pub(crate) fn node(&self) -> &Path {
        &self.node
    }

    pub(crate) fn is_same_device(&self, other: &Self) -> bool {
        self.number == other.number
    }

    /// Returns the kernel names of the underlying devices.
    pub(crate) fn lower_devices(&self) -> Vec<String> {
        let sys = SysDevice::find(&self.roots, self.number);
        sys.and_then(|sys| sys.lower_devices()).unwrap_or_default()
    }

    pub(crate) fn numa_node(&self) -> Option<u32> {
        SysDevice::find(&self.roots, self.number).ok()?.numa_node()
    }

    pub(crate) fn is_nvme(&self) -> bool {
        SysDevice::find(&self.roots, self.number).is_ok_and(|sys| sys.kname.starts_with("nvme"))
    }

    /// Returns whether the device is a whole disk that accepts SCSI commands.
    pub(crate) fn is_scsi_disk(&self) -> bool {
        SysDevice::find(&self.roots, self.number).is_ok_and(|sys| is_scsi_disk(&sys))
    }

    /// Opens the generic character device; the error says why it is not available.
    pub(crate) fn generic(&self, held: &Held, writable: bool) -> Result<Generic, String> {
        SysDevice::find(&self.roots, self.number)
            .and_then(|sys| Generic::of(&self.roots, held.fd.as_fd(), &sys, writable))
            .map_err(|error| reason(&error))
    }

    pub(crate) fn can_be_polled(&self) -> bool {
        let Ok(sys) = SysDevice::find(&self.roots, self.number) else { return false };
        // On a multipath drive, all paths need poll queues, because the kernel chooses the path.
        let has = |dir: &Path| {
            std::fs::read_to_string(dir.join("queue/io_poll")).is_ok_and(|flag| flag.trim() == "1")
        };
        has(sys.position()) && sys.nvme_paths().iter().all(|path| has(path))
    }

    pub(crate) fn refusals(&self) -> Vec<Refusal> {
        usage::settled(|| self.refusals_of_others(self.users()))
    }

    /// Returns all reasons not to write to the device; the given users are among them.
    pub(crate) fn refusals_of_others(&self, users: Vec<Refusal>) -> Vec<Refusal> {
        let mut found = users;
        found.extend(self.raid_troubles());
        found.extend(self.other_paths());
        let unknown =
            |e: std::io::Error| Refusal::Unknown { what: format!("{}: {}", self.node.display(), reason(&e)) };
        match self.open_to_read() {
            Ok(device) => {
                if !found.contains(&Refusal::OfRun) && records::begins_as_record(&device) {
                    found.push(Refusal::OfRun);
                }
                match signature::refusals(&device, self.facts.capacity_bytes, &self.facts.path) {
                    Ok(signatures) => found.extend(signatures),
                    Err(_) if self.is_locked() => found.push(Refusal::Locked { tried: None }),
                    Err(error) => found.push(unknown(error)),
                }
                match ioctl::is_read_only(device.as_fd()) {
                    Ok(true) => found.push(Refusal::ReadOnly),
                    Ok(false) => found.extend(write_permission(&self.node)),
                    Err(error) => found.push(unknown(error)),
                }
            }
            Err(error) => found.push(unknown(error)),
        }
        if !found.iter().any(Refusal::protects_data) && self.is_claimed() {
            found.push(Refusal::Busy);
        }
        found
    }

    /// Returns a refusal for each other device that reports the same identity.
    fn other_paths(&self) -> Vec<Refusal> {
        let same = || {
            let own = names(&SysDevice::find(&self.roots, self.number)?).1;
            let mut others = if own.is_some() { self.roots.block_devices()? } else { Vec::new() };
            others.retain(|other| other.number != self.number && names(other).1 == own);
            Ok(others)
        };
        same().map_or_else(
            |error: std::io::Error| vec![Refusal::Unknown { what: reason(&error) }],
            |others| others.into_iter().map(|other| Refusal::AnotherPath { name: other.kname }).collect(),
        )
    }

    /// Returns whether the device is a SATA drive that reports itself as locked.
    fn is_locked(&self) -> bool {
        let Ok(held) = self.hold_to_read() else { return false };
        self.protocol(&held, Clock::start()).is_locked()
    }

    /// Removes the password left by an interrupted Plateau purge; destroys nothing.
    pub(crate) fn unlock(&self) -> Result<(), DriveError> {
        let held = self.hold()?;
        admin::purge::unlock(&mut self.admin(&held, Clock::start())).map_err(|fault| DriveError::Refused {
            target: self.facts.path.clone(),
            refusals: vec![Refusal::Locked { tried: Some(fault.to_string()) }],
        })
    }

    /// Returns a refusal if the array is degraded or a background operation is in progress.
    fn raid_troubles(&self) -> Option<Refusal> {
        let missing = self.attribute("md/degraded").filter(|missing| missing != "0");
        let action = self.attribute("md/sync_action").filter(|action| action != "idle");
        let degraded = missing.map(|missing| Refusal::Degraded { missing });
        degraded.or_else(|| action.map(|action| Refusal::Resyncing { action }))
    }

    /// Returns whether the device is claimed, even in another mount namespace, by trying to claim it for
    /// reading. The `io_uring` instance of a process that just ended may still claim the device.
    fn is_claimed(&self) -> bool {
        let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC;
        rustix::fs::open(&self.node, flags, Mode::empty()).err() == Some(Errno::BUSY)
    }

    /// Opens the device again and verifies that it is still the same device.
    fn open_to_read(&self) -> std::io::Result<File> {
        let device = File::from(open_nothing_else(&self.node, OFlags::RDONLY)?);
        self.check_same(&device).map(|()| device)
    }

    fn check_same(&self, device: &File) -> std::io::Result<()> {
        let number = DeviceNumber::from_raw(device.metadata()?.rdev());
        let now_bytes = ioctl::capacity_bytes(device.as_fd())?;
        let mut now = TargetFacts { identity: format!("{number}:{now_bytes}"), ..self.facts.clone() };
        (now.capacity_bytes, now.attachment) = (now_bytes, None);
        if let Ok(sys) = SysDevice::find(&self.roots, number) {
            describe(&mut now, &sys, &self.roots);
        }
        let same =
            |facts: &TargetFacts| (facts.capacity_bytes, facts.identity.clone(), facts.attachment.clone());
        if number == self.number && same(&now) == same(&self.facts) {
            return Ok(());
        }
        Err(std::io::Error::other(format!(
            "it is no longer the device that was found: it was {}, but is now {}; it was replaced, resized \
             or reattached",
            shown(&self.facts),
            shown(&now)
        )))
    }

    pub(crate) fn hold(&self) -> Result<Held, DriveError> {
        let refused =
            |refusal| DriveError::Refused { target: self.facts.path.clone(), refusals: vec![refusal] };
        let mut held = open_direct(&self.node, OFlags::RDWR | OFlags::EXCL).map_err(|errno| match errno {
            Errno::BUSY => refused(Refusal::Busy),
            Errno::ROFS => refused(Refusal::ReadOnly),
            Errno::ACCESS | Errno::PERM => refused(Refusal::NoPermission),
            other => DriveError::target(&self.facts.path, std::io::Error::from(other)),
        })?;
        held.loops = usage::loops::backings(&self.roots, self.number);
        // Another program may have started to use the device between the inspection and the open.
        self.recheck(&held, false)?;
        Ok(held)
    }

    /// Opens the device read-only and non-exclusively, because reading endangers no data.
    pub(crate) fn hold_to_read(&self) -> Result<Held, DriveError> {
        let held = open_to_load(&self.node)
            .map_err(|errno| DriveError::target(&self.facts.path, std::io::Error::from(errno)))?;
        self.check_held(&held)?;
        Ok(held)
    }

    fn check_held(&self, held: &Held) -> Result<(), DriveError> {
        let problem = |error: std::io::Error| DriveError::target(&self.facts.path, error);
        let device = File::from(held.fd.try_clone().map_err(problem)?);
        self.check_same(&device).map_err(problem)?;
        let moved = usage::loops::moved(&held.loops).map(std::io::Error::other);
        moved.map_or(Ok(()), |moved| Err(problem(moved)))
    }

    /// Verifies that the device still maps to the bytes that were checked when it was opened. Takes about 0.2 ms for
    /// each loop device at or below the device. While the device is open, the kernel allows no other program to
    /// mount or claim it.
    pub(crate) fn check_in_between(&self, held: &Held) -> Result<(), DriveError> {
        let moved = usage::loops::moved(&held.loops).map(std::io::Error::other);
        let target = || self.facts.path.clone();
        moved.map_or(Ok(()), |source| Err(DriveError::Gone { target: target(), source }))
    }

    /// Verifies that the device is still the same and not in use; with `all_namespaces`, also that no other
    /// namespace of its NVMe subsystem is in use.
    pub(crate) fn recheck(&self, held: &Held, all_namespaces: bool) -> Result<(), DriveError> {
        self.check_held(held)?;
        let users = usage::settled(|| {
            let mut users = self.users();
            if all_namespaces {
                users.extend(self.users_of_others());
            }
            users
        });
        if users.is_empty() {
            return Ok(());
        }
        Err(DriveError::Refused { target: self.facts.path.clone(), refusals: users })
    }

    /// Updates the capacity and the sector size after a format.
    pub(crate) fn reread(&mut self, held: &Held) -> Result<(), DriveError> {
        let gone = |source: std::io::Error| DriveError::Gone { target: self.facts.path.clone(), source };
        let capacity_bytes = ioctl::capacity_bytes(held.fd.as_fd()).map_err(gone)?;
        let (logical, physical) = ioctl::block_bytes(held.fd.as_fd()).map_err(gone)?;
        let mut facts = TargetFacts { capacity_bytes, ..self.facts.clone() };
        (facts.logical_block_bytes, facts.physical_block_bytes) = (logical, physical.max(logical));
        if let Ok(sys) = SysDevice::find(&self.roots, self.number) {
            describe(&mut facts, &sys, &self.roots);
        }
        self.facts = facts;
        Ok(())
    }

    fn users_of_others(&self) -> Vec<Refusal> {
        let found = SysDevice::find(&self.roots, self.number)
            .and_then(|sys| self.roots.other_namespaces(&sys))
            .map(|others| {
                others.iter().flat_map(|other| users(&self.roots, other.number, &self.libraries)).collect()
            });
        found.unwrap_or_else(|error: std::io::Error| vec![Refusal::Unknown { what: reason(&error) }])
    }

    /// Returns an interface that sends commands to the device through `held`.
    pub(crate) fn admin<'a>(&'a self, held: &'a Held, clock: Clock) -> Kernel<'a> {
        let recheck = move |all_namespaces: bool| self.recheck(held, all_namespaces);
        Kernel::new(&held.fd, self.facts.capacity_bytes, clock, Box::new(recheck))
    }

    /// Queries the device's capabilities through `held`.
    pub(crate) fn capabilities(&self, held: &Held, clock: Clock) -> Capabilities {
        let sys = SysDevice::find(&self.roots, self.number);
        let has = |limit: &str| {
            let limit = sys.as_ref().ok().and_then(|sys| sys.attribute(limit));
            limit.is_some_and(|limit| limit != "0")
        };
        Capabilities {
            protocol: self.protocol(held, clock),
            capacity_bytes: self.facts.capacity_bytes,
            block_bytes: self.facts.logical_block_bytes,
            discard: has("queue/discard_max_bytes"),
            write_zeroes: has("queue/write_zeroes_max_bytes"),
        }
    }

    fn protocol(&self, held: &Held, clock: Clock) -> Protocol {
        let Ok(sys) = SysDevice::find(&self.roots, self.number) else {
            return Protocol::Unasked("it is not in /sys".into());
        };
        let mut kernel = self.admin(held, clock);
        let protocol = if sys.kname.starts_with("nvme") {
            self.roots.other_namespaces(&sys).map_err(Fault::Kernel).and_then(|others| {
                let number = ioctl::nvme_namespace(held.fd.as_fd()).map_err(Fault::Kernel)?;
                let others = others.iter().map(|sys| OtherNamespace {
                    name: sys.kname.clone(),
                    identity: names(sys).1.unwrap_or_else(|| sys.kname.clone()),
                });
                admin::ask_nvme(&mut kernel, number, others.collect())
            })
        } else if sys.kname.starts_with("sd") && self.facts.interface.as_deref() != Some("USB") {
            admin::ask_scsi(&mut kernel)
        } else {
            return Protocol::Plain;
        };
        protocol
            .unwrap_or_else(|fault| Protocol::Unasked(format!("the device could not be queried: {fault}")))
    }

    /// Returns all users of the device and of everything below it, without reading the device itself.
    pub(crate) fn users(&self) -> Vec<Refusal> {
        users(&self.roots, self.number, &self.libraries)
    }

    /// Returns an attribute in `/sys`.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        SysDevice::find(&self.roots, self.number).ok()?.attribute(name)
    }

    /// Returns the attribute from the nearest ancestor that has it, such as the PCIe function.
    pub(crate) fn upwards(&self, name: &str) -> Option<String> {
        let sys = SysDevice::find(&self.roots, self.number).ok()?;
        let above = std::fs::canonicalize(sys.position().join("device")).ok()?;
        let text = above.ancestors().find_map(|dir| std::fs::read_to_string(dir.join(name)).ok())?;
        Some(text.trim().to_owned())
    }

    /// Returns the kernel names of the members.
    pub(crate) fn members(&self) -> Vec<String> {
        let Ok(sys) = SysDevice::find(&self.roots, self.number) else { return Vec::new() };
        let entries = std::fs::read_dir(sys.position().join("slaves")).into_iter().flatten().flatten();
        let mut names: Vec<_> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Reports to the kernel whether the device has a write cache. If not, the kernel sends no flushes.
    pub(crate) fn tell_kernel_of_write_cache(&self, on: bool) {
        let Ok(sys) = SysDevice::find(&self.roots, self.number) else { return };
        let text = if on { "write back" } else { "write through" };
        // If the kernel rejects the setting, it continues to send flushes, which costs time but no data.
        drop(std::fs::write(sys.position().join("queue/write_cache"), text));
    }
}

/// Returns whether the device is a whole disk of the kernel's SCSI driver. Partitions and devices on top of disks pass
/// commands on, but their blocks have other numbers there.
fn is_scsi_disk(sys: &SysDevice) -> bool {
    sys.kname.starts_with("sd") && !sys.is_partition()
}

/// Returns all users of the device, its partitions, and everything below it.
fn users(roots: &Roots, number: DeviceNumber, libraries: &[PathBuf]) -> Vec<Refusal> {
    let target = Thing::Device(number);
    let facts = match usage::gather(roots, &[]) {
        Ok(facts) => facts,
        Err(error) => return vec![Refusal::Unknown { what: reason(&error) }],
    };
    let mut found = usage::users_and_claims(roots, &facts, target);
    if usage::files_below(&facts, target).into_iter().any(|file| records::are_in(libraries, file)) {
        found.push(Refusal::OfRun);
    }
    found
}

/// Describes a device in a message by the properties that distinguish it from others.
fn shown(facts: &TargetFacts) -> String {
    format!(
        "{} of {} B (attachment {})",
        facts.identity,
        facts.capacity_bytes,
        facts.attachment.as_deref().unwrap_or("unknown")
    )
}

/// Fills in the facts that sysfs reports. Missing attributes are normal: a loop device has hardly any.
fn describe(facts: &mut TargetFacts, sys: &SysDevice, roots: &Roots) {
    let (boot, sequence) = (roots.boot_id(), sys.attribute("diskseq"));
    facts.attachment = boot.zip(sequence).map(|(boot, sequence)| format!("{boot}:{sequence}"));
    // LOOP_SET_STATUS can move a loop device to other bytes of its file without detaching it.
    if let (Some(attachment), Some(offset)) = (&mut facts.attachment, sys.attribute("loop/offset")) {
        let limit = sys.attribute("loop/sizelimit").unwrap_or_default();
        attachment.push_str(&format!(":{offset}+{limit}"));
    }
    facts.vendor = sys.attribute("device/vendor").filter(|v| !v.starts_with("0x") && v != "ATA");
    facts.model = sys.attribute("device/model");
    let (serial, identity) = names(sys);
    facts.serial = serial;
    facts.firmware = sys.attribute("device/firmware_rev").or_else(|| sys.attribute("device/rev"));
    facts.rotational = sys.attribute("queue/rotational").map(|flag| flag == "1");
    facts.interface = interface(sys.position(), &sys.kname).map(str::to_owned);
    facts.identity = identity.unwrap_or_else(|| format!("{}:{}", sys.kname, facts.capacity_bytes));
}

/// Returns the serial number, and the identity if the device itself reports one (serial number or world-wide name). The
/// namespaces of an NVMe controller share its serial number, so all but the first append their own number.
fn names(sys: &SysDevice) -> (Option<String>, Option<String>) {
    let serial = sys
        .attribute("device/serial")
        .or_else(|| sys.attribute("serial"))
        .or_else(|| sys.attribute_bytes("device/vpd_pg80").and_then(|page| unit_serial(&page)));
    let wwn = ["wwid", "device/wwid"].iter().find_map(|name| sys.attribute(name));
    let number = sys.namespace_number().filter(|&number| number != 1);
    let identity = match (&serial, number) {
        (Some(serial), Some(number)) => Some(format!("{serial}:n{number}")),
        (Some(serial), None) => Some(serial.clone()),
        (None, _) => wwn,
    };
    (serial, identity)
}

/// Returns the serial number in SCSI's vital product data page 80h (SPC-4, 7.8.15).
fn unit_serial(page: &[u8]) -> Option<String> {
    let length = usize::from(u16::from_be_bytes([*page.get(2)?, *page.get(3)?]));
    let text = String::from_utf8_lossy(page.get(4..4 + length)?).trim().to_owned();
    (page[1] == 0x80 && !text.is_empty()).then_some(text)
}

fn interface(position: &Path, kname: &str) -> Option<&'static str> {
    let text = position.to_string_lossy();
    let ata = text.split('/').any(|part| {
        part.strip_prefix("ata").is_some_and(|n| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()))
    });
    match () {
        () if kname.starts_with("nvme") => Some("NVMe"),
        () if text.contains("/usb") => Some("USB"),
        () if ata => Some("SATA"),
        () if text.contains("/end_device-") => Some("SAS"),
        () if text.contains("/virtio") => Some("virtio"),
        () if kname.starts_with("mmcblk") => Some("MMC"),
        () => None,
    }
}

#[cfg(test)]
mod tests;
