//! Topology of a block device: its disk, its controller, and the links between the device and the CPU.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::host::{Roots, SysDevice};

/// Beginning of the name of the link from a drive to its slot in an enclosure.
const SLOT_LINK: &[u8] = b"enclosure_device:";
/// Number of folders from a partition up to its SCSI device: `H:C:T:L/block/sda/sda1`.
const MOST_LEVELS: usize = 4;

/// A link that several drives may share.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// Kind and location, such as `PCIe 0000:00:1c.0`, `SATA ata3`, `USB usb2`.
    pub name: String,
    /// Maximum throughput, net of encoding overhead; `None` if the kernel does not report it.
    pub bytes_per_second: Option<f64>,
}

/// An enclosure of drives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Enclosure {
    /// By its logical id, such as `0x5003048001a2b37f`, which is the same for every host that is connected to it.
    Id(String),
    /// By the kernel's name, such as `6:0:12:0`, which is valid on this host only.
    Local(String),
}

/// Position of a target in the topology.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Attached {
    /// The whole disk, or the disk that contains the partition, such as `sda`.
    pub disk: Option<String>,
    /// The NVMe controller, or the subsystem if there are several paths, such as `nvme0`.
    pub controller: Option<String>,
    /// Links from the drive to the CPU; those of all paths for a multipath NVMe namespace.
    pub links: Vec<Link>,
    /// The enclosure of the drive, if it reports its slots.
    pub enclosure: Option<Enclosure>,
    /// The drive's slot, such as `Slot 01`, as named by the enclosure; for an NVMe drive, as the host names its PCIe
    /// slots.
    pub slot: Option<String>,
    /// The nearest NUMA node, if reported by the kernel.
    pub numa_node: Option<u32>,
}

impl Attached {
    /// Looks up the topology of a block device.
    #[must_use]
    pub fn of(roots: &Roots, device: &SysDevice) -> Self {
        let found = of_directory(device.position());
        // The namespace itself is below its subsystem, which is not on any link.
        let paths = device.nvme_paths();
        let links = if paths.is_empty() { found.links } else { links_of_paths(&paths) };
        let slot = found.slot.or_else(|| pcie_slot(device.position(), &paths, roots));
        Self { numa_node: device.numa_node(), links, slot, ..found }
    }
}

/// Returns the links above a device, nearest first.
fn links_above(dir: &Path) -> impl Iterator<Item = Link> + '_ {
    dir.ancestors().skip(1).filter_map(|above| link(above, &above.file_name()?.to_string_lossy()))
}

/// Returns the links above the paths to a namespace, each of them once.
fn links_of_paths(paths: &[PathBuf]) -> Vec<Link> {
    let mut links = Vec::new();
    for link in paths.iter().flat_map(|path| links_above(path)) {
        if !links.contains(&link) {
            links.push(link);
        }
    }
    links
}

/// Looks up the topology from the device's directory in `/sys/devices`.
fn of_directory(dir: &Path) -> Attached {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let disk = if dir.join("partition").exists() { dir.parent() } else { Some(dir) };
    let controller = dir
        .ancestors()
        .skip(1)
        .filter_map(name)
        .find(|name| is_numbered(name, "nvme") || is_numbered(name, "nvme-subsys"));
    let links = links_above(dir).collect();
    let slot = enclosure_slot(dir);
    Attached {
        disk: disk.and_then(name),
        controller,
        links,
        enclosure: slot.as_deref().and_then(enclosure),
        slot: slot.as_deref().and_then(name),
        numa_node: None,
    }
}

/// Returns the folder of a drive's slot in an enclosure, according to SCSI Enclosure Services (SES). The kernel adds a
/// link to the slot to the drive's SCSI device, which is a parent of the disk or the partition.
fn enclosure_slot(dir: &Path) -> Option<PathBuf> {
    let is_slot = |entry: &fs::DirEntry| entry.file_name().as_encoded_bytes().starts_with(SLOT_LINK);
    let slot_of =
        |device: &Path| fs::read_dir(device).ok()?.flatten().find(is_slot)?.path().canonicalize().ok();
    dir.ancestors().take(MOST_LEVELS).find_map(slot_of)
}

/// Returns the name of the PCIe slot that contains an NVMe drive, if the host's firmware or its hot-plug controller
/// describes one. The slot of an HBA is not the slot of the drives attached to it, and that of a switch is not the slot
/// of a drive: only the drive's own function counts.
fn pcie_slot(position: &Path, paths: &[PathBuf], roots: &Roots) -> Option<String> {
    let own = [position.to_owned()];
    let places = if paths.is_empty() { &own[..] } else { paths };
    let functions: Vec<String> = places.iter().map(|place| nvme_function(place)).collect::<Option<_>>()?;
    let slots = fs::read_dir(roots.sys.join("bus/pci/slots")).ok()?.flatten();
    let addressed = slots.filter_map(|slot| {
        let address = fs::read_to_string(slot.path().join("address")).ok()?.trim().to_owned();
        Some((address, slot.file_name().to_string_lossy().into_owned()))
    });
    let addressed: BTreeMap<String, String> = addressed.collect();
    // The address of a slot has no function number. The two ports of a drive may be two devices.
    let slot_of = |function: &String| addressed.get(function.rsplit_once('.')?.0);
    let first = slot_of(functions.first()?)?;
    functions.iter().all(|function| slot_of(function) == Some(first)).then(|| first.clone())
}

/// Returns the PCI function of an NVMe namespace or of a path to one: `0000:01:00.0`, given
/// `.../0000:01:00.0/nvme/nvme0/nvme0n1`.
fn nvme_function(dir: &Path) -> Option<String> {
    let class = dir.ancestors().find(|above| above.file_name().is_some_and(|name| name == "nvme"))?;
    Some(class.parent()?.file_name()?.to_string_lossy().into_owned())
}

/// Returns the enclosure that contains a slot.
fn enclosure(slot: &Path) -> Option<Enclosure> {
    let enclosure = slot.parent()?;
    let id = fs::read_to_string(enclosure.join("id")).unwrap_or_default().trim().to_owned();
    // Some enclosures report only zeros.
    if id.strip_prefix("0x").is_some_and(|digits| digits.bytes().any(|digit| digit != b'0')) {
        return Some(Enclosure::Id(id));
    }
    Some(Enclosure::Local(enclosure.file_name()?.to_string_lossy().into_owned()))
}

fn is_numbered(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

fn link(dir: &Path, name: &str) -> Option<Link> {
    let read = |file: &str| Some(fs::read_to_string(dir.join(file)).ok()?.trim().to_owned());
    if let Some(speed) = read("current_link_speed") {
        let bytes_per_second = pcie(&speed, &read("current_link_width")?);
        return Some(Link { name: format!("PCIe {name}"), bytes_per_second });
    }
    if is_numbered(name, "ata") {
        return Some(Link { name: format!("SATA {name}"), bytes_per_second: sata(dir, name) });
    }
    // Only hubs and ports carry the traffic of the devices attached to them. The interfaces of a USB device
    // have no speed.
    let megabits: f64 = read("busnum").and_then(|_| read("speed"))?.parse().ok()?;
    Some(Link { name: format!("USB {name}"), bytes_per_second: Some(usb(megabits)) })
}

/// Returns the throughput of a PCIe link, net of encoding overhead, given `8.0 GT/s PCIe` and `4` lanes.
fn pcie(speed: &str, width: &str) -> Option<f64> {
    let transfers: f64 = speed.split_whitespace().next()?.parse().ok()?;
    let lanes: f64 = width.parse().ok().filter(|lanes| *lanes > 0.0)?;
    let share = if transfers <= 5.0 { 8.0 / 10.0 } else { 128.0 / 130.0 };
    Some(transfers * 1e9 * share / 8.0 * lanes)
}

/// Returns the throughput of the port's link, given `6.0 Gbps` and 8b/10b encoding.
fn sata(dir: &Path, port: &str) -> Option<f64> {
    let number = port.strip_prefix("ata")?;
    let file = dir.join(format!("link{number}/ata_link/link{number}/sata_spd"));
    let gigabits: f64 = fs::read_to_string(file).ok()?.split_whitespace().next()?.parse().ok()?;
    Some(gigabits * 1e9 / 10.0)
}

/// 8b/10b encoding up to 5 Gb/s, 128b/132b above that.
fn usb(megabits: f64) -> f64 {
    let share = if megabits <= 5000.0 { 8.0 / 10.0 } else { 128.0 / 132.0 };
    megabits * 1e6 * share / 8.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::DeviceNumber;

    /// Creates these files in a mock `/sys/devices`.
    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        dir
    }

    #[test]
    fn namespaces_of_a_controller_share_it_and_its_slot() {
        let root = "pci0000:00/0000:00:1d.0";
        let slot = format!("{root}/0000:01:00.0");
        let dir = tree(&[
            (&format!("{root}/current_link_speed"), "8.0 GT/s PCIe\n"),
            (&format!("{root}/current_link_width"), "4\n"),
            (&format!("{slot}/nvme/nvme0/nvme0n1/size"), "1"),
            (&format!("{slot}/nvme/nvme0/nvme0n1/nvme0n1p2/partition"), "2"),
        ]);
        let found = of_directory(&dir.path().join(&slot).join("nvme/nvme0/nvme0n1/nvme0n1p2"));
        assert_eq!((found.disk.as_deref(), found.controller.as_deref()), (Some("nvme0n1"), Some("nvme0")));
        let [link] = &found.links[..] else { panic!("{:?}", found.links) };
        assert_eq!(link.name, "PCIe 0000:00:1d.0");
        assert!((link.bytes_per_second.unwrap() / 3.938e9 - 1.0).abs() < 1e-3);
    }

    #[test]
    fn drives_on_a_port_multiplier_share_the_port() {
        let port = "pci0000:00/0000:00:17.0/ata3";
        let disk = |n: u32| {
            format!("{port}/host2/target2:{n}:0/2:{n}:0:0/block/sd{}", if n == 0 { 'a' } else { 'b' })
        };
        let dir = tree(&[
            (&format!("{port}/link3/ata_link/link3/sata_spd"), "6.0 Gbps\n"),
            (&format!("{}/size", disk(0)), "1"),
            (&format!("{}/size", disk(1)), "1"),
        ]);
        let [a, b] = [0, 1].map(|n| of_directory(&dir.path().join(disk(n))));
        assert_eq!((a.disk.as_deref(), b.disk.as_deref()), (Some("sda"), Some("sdb")));
        assert_eq!(a.links, b.links);
        assert_eq!(a.links, [Link { name: "SATA ata3".into(), bytes_per_second: Some(6e8) }]);
    }

    #[test]
    fn drives_of_an_enclosure_have_its_id() {
        let port = "pci0000:00/0000:00:03.0/host6/port-6:0/expander-6:0";
        let disk = |n: u32| format!("{port}/end_device-6:0:{n}/target6:0:{n}/6:0:{n}:0");
        let enclosure = format!("{port}/end_device-6:0:9/target6:0:9/6:0:9:0/enclosure/6:0:9:0");
        let dir = tree(&[
            (&format!("{}/block/sda/sda1/partition", disk(0)), "1"),
            (&format!("{}/block/sdb/size", disk(1)), "1"),
            (&format!("{}/block/sdc/size", disk(2)), "1"),
            (&format!("{enclosure}/id"), "0x5003048001a2b37f\n"),
            (&format!("{enclosure}/Slot 01/status"), "OK"),
            (&format!("{enclosure}/Slot 02/status"), "OK"),
        ]);
        for (n, slot) in [(0, "Slot 01"), (1, "Slot 02")] {
            let link = dir.path().join(disk(n)).join(format!("enclosure_device:{slot}"));
            std::os::unix::fs::symlink(dir.path().join(&enclosure).join(slot), link).unwrap();
        }
        let slot = |path: String| of_directory(&dir.path().join(path)).slot;
        assert_eq!(slot(format!("{}/block/sda/sda1", disk(0))).as_deref(), Some("Slot 01"));
        assert_eq!(slot(format!("{}/block/sdb", disk(1))).as_deref(), Some("Slot 02"));
        assert_eq!(slot(format!("{}/block/sdc", disk(2))), None, "it has no slot");
        let of = |path: String| of_directory(&dir.path().join(path)).enclosure;
        let id = Some(Enclosure::Id("0x5003048001a2b37f".into()));
        assert_eq!(of(format!("{}/block/sda/sda1", disk(0))), id);
        assert_eq!(of(format!("{}/block/sdb", disk(1))), id);
        assert_eq!(of(format!("{}/block/sdc", disk(2))), None, "it has no slot");
        for unknown in ["0x0000000000000000\n", ""] {
            fs::write(dir.path().join(&enclosure).join("id"), unknown).unwrap();
            assert_eq!(of(format!("{}/block/sdb", disk(1))), Some(Enclosure::Local("6:0:9:0".into())));
        }
    }

    #[test]
    fn an_nvme_drive_is_in_the_slot_of_its_own_function() {
        let root = "devices/pci0000:00";
        let (one, other) =
            (format!("{root}/0000:00:1d.0/0000:01:00.0"), format!("{root}/0000:00:1e.0/0000:02:00.0"));
        let hba = format!("{root}/0000:00:03.0/0000:03:00.0/host6/target6:0:0/6:0:0:0/block/sda");
        let subsystem = "devices/virtual/nvme-subsystem/nvme-subsys2";
        let dir = tree(&[
            (&format!("{one}/nvme/nvme0/nvme0n1/nvme0n1p2/partition"), "2"),
            (&format!("{other}/nvme/nvme1/nvme1n1/size"), "1"),
            (&format!("{hba}/size"), "1"),
            (&format!("{subsystem}/nvme2n1/nvme2n1p1/partition"), "1"),
            (&format!("{one}/nvme/nvme2/nvme2c2n1/size"), "1"),
            (&format!("{other}/nvme/nvme3/nvme2c3n1/size"), "1"),
            (&format!("{root}/0000:00:1d.0/current_link_speed"), "8.0 GT/s PCIe\n"),
            (&format!("{root}/0000:00:1d.0/current_link_width"), "2\n"),
            (&format!("{root}/0000:00:1e.0/current_link_speed"), "8.0 GT/s PCIe\n"),
            (&format!("{root}/0000:00:1e.0/current_link_width"), "2\n"),
            ("bus/pci/slots/5/address", "0000:01:00\n"),
            ("bus/pci/slots/1-2/address", "0000:03:00\n"),
            ("bus/pci/slots/1-3/address", "0000:00:1e\n"),
        ]);
        let roots = Roots { sys: dir.path().to_owned(), ..Roots::default() };
        std::fs::create_dir_all(dir.path().join("dev/block")).unwrap();
        let attached = |minor: u32, path: &str| {
            let number = DeviceNumber { major: 259, minor };
            let link = dir.path().join(format!("dev/block/{number}"));
            std::os::unix::fs::symlink(dir.path().join(path), &link).unwrap();
            let found = Attached::of(&roots, &SysDevice::find(&roots, number).unwrap());
            std::fs::remove_file(link).unwrap();
            found
        };
        let slot = |minor, path: &str| attached(minor, path).slot;
        let links = |minor, path: &str| {
            attached(minor, path).links.into_iter().map(|link| link.name).collect::<Vec<_>>()
        };
        assert_eq!(slot(1, &format!("{one}/nvme/nvme0/nvme0n1/nvme0n1p2")).as_deref(), Some("5"));
        assert_eq!(
            slot(2, &format!("{other}/nvme/nvme1/nvme1n1")),
            None,
            "the slot is that of the port above"
        );
        assert_eq!(slot(3, &hba), None, "the slot is that of the HBA");
        let controller = |name: &str, place: &str| {
            let link = dir.path().join(subsystem).join(name);
            std::os::unix::fs::symlink(dir.path().join(place).join("nvme").join(name), link).unwrap();
        };
        controller("nvme2", &one);
        assert_eq!(slot(4, &format!("{subsystem}/nvme2n1")).as_deref(), Some("5"), "a multipath namespace");
        assert_eq!(links(6, &format!("{subsystem}/nvme2n1")), ["PCIe 0000:00:1d.0"]);
        controller("nvme3", &other);
        assert_eq!(slot(5, &format!("{subsystem}/nvme2n1")), None, "its paths are not in one slot");
        let both = ["PCIe 0000:00:1d.0", "PCIe 0000:00:1e.0"];
        assert_eq!(links(7, &format!("{subsystem}/nvme2n1")), both, "the links of all paths");
        assert_eq!(
            links(8, &format!("{subsystem}/nvme2n1/nvme2n1p1")),
            both,
            "a partition has those of its disk"
        );
    }

    #[test]
    fn usb_devices_share_their_hub() {
        let hub = "pci0000:00/0000:00:14.0/usb2/2-1";
        let disk = format!("{hub}/2-1.2/2-1.2:1.0/host6/target6:0:0/6:0:0:0/block/sdc");
        let dir = tree(&[
            ("pci0000:00/0000:00:14.0/usb2/speed", "10000\n"),
            ("pci0000:00/0000:00:14.0/usb2/busnum", "2\n"),
            (&format!("{hub}/speed"), "5000\n"),
            (&format!("{hub}/busnum"), "2\n"),
            (&format!("{disk}/size"), "1"),
        ]);
        let found = of_directory(&dir.path().join(&disk));
        let names: Vec<_> =
            found.links.iter().map(|link| (link.name.as_str(), link.bytes_per_second)).collect();
        assert_eq!(names[0], ("USB 2-1", Some(5e8)));
        assert_eq!((names[1].0, names.len()), ("USB usb2", 2));
    }
}
