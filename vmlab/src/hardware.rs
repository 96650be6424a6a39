//! The machine's disks. As with real drives, checks identify disks by serial number and namespace, because
//! the kernel does not guarantee their order.

/// Size of a disk under test: sufficient for a test (16 MiB), yet small enough for an emulated CPU.
pub const DISK_BYTES: u64 = 32 << 20;
/// Size of the disk that contains the library of runs.
pub(crate) const LIBRARY_BYTES: u64 = 256 << 20;

/// An image file on the host, and how it is attached to the machine.
pub(crate) struct Disk {
    /// Name of the image and of QEMU's block node.
    pub node: &'static str,
    pub bytes: u64,
    /// Options of a block driver between image and device, ending with the key for the image's node.
    pub layer: Option<&'static str>,
    /// Options for `-device`, without `drive`, which is set to the node.
    pub device: &'static str,
}

/// A disk as seen by the guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// Node of its image, as in `DISKS`.
    pub node: &'static str,
    /// Serial number.
    pub serial: &'static str,
    /// Namespace id; NVMe only.
    pub namespace: Option<u32>,
}

const fn disk(node: &'static str, serial: &'static str) -> Target {
    Target { node, serial, namespace: None }
}

const fn namespace(node: &'static str, serial: &'static str, id: u32) -> Target {
    Target { node, serial, namespace: Some(id) }
}

/// NVMe namespace with 512-byte sectors, one of three on its controller.
pub const NVME_512: Target = namespace("n1", "PLATNVME0", 1);
/// NVMe namespace with 4096-byte sectors.
pub const NVME_4096: Target = namespace("n2", "PLATNVME0", 2);
/// NVMe namespace with 4096-byte sectors and 8 bytes of metadata per sector.
pub const NVME_METADATA: Target = namespace("n3", "PLATNVME0", 3);
/// NVMe namespace with flexible data placement (FDP), and atomic writes of up to 16 KiB.
pub const NVME_PLACING: Target = namespace("fdp", "PLATFDP", 1);
/// NVMe controller with one namespace, in a hot-plug slot.
pub const NVME_SLOT: Target = namespace("slot", "PLATNVME1", 1);
/// SCSI disk with 512-byte sectors and a world-wide name.
pub const SCSI_512: Target = disk("s512", "PLATSCSI0");
/// SCSI disk with 4096-byte sectors.
pub const SCSI_4096: Target = disk("s4096", "PLATSCSI1");
/// SATA disk.
pub const SATA: Target = disk("sata", "PLATSATA0");
/// Virtio disk.
pub const VIRTIO: Target = disk("virtio", "PLATVIRT0");
/// NVMe drive whose IOPS QEMU limits.
pub const PACED: Target = namespace("paced", "PLATPACED", 1);
/// Virtio disk with an unreadable sector.
pub const FLAWED: Target = disk("flawed", "PLATFLAWED");
/// Offset of that sector in bytes: in the middle of the disk, where no signature is expected.
pub const FLAW_BYTES: u64 = 16 << 20;
/// Throttle group of [`PACED`].
pub const PACE: &str = "/objects/pace";
/// Disk with the library of runs; mounted.
pub const LIBRARY: Target = disk("library", "PLATLIBRARY");

/// QEMU's name of the removable controller.
pub(crate) const SLOT_DEVICE: &str = "nvme1";
/// Arguments to add the removable controller, without its serial number.
pub(crate) const SLOT_ARGUMENTS: &[(&str, &str)] =
    &[("driver", "nvme"), ("id", SLOT_DEVICE), ("bus", "slot1"), ("drive", "slot")];

/// Controllers and slots for the disks.
pub(crate) const CONTROLLERS: &[&str] = &[
    "pcie-root-port,id=slot0,chassis=1,slot=1",
    "pcie-root-port,id=slot1,chassis=2,slot=2",
    "nvme,id=nvme0,serial=PLATNVME0,bus=slot0",
    "nvme-subsys,id=placing,nqn=placing,fdp=on,fdp.nrg=1,fdp.nruh=8,fdp.runs=4M",
    "nvme,id=nvme3,serial=PLATFDP,subsys=placing,atomic.awun=31,atomic.awupf=31",
    "virtio-scsi-pci,id=scsi0",
];

pub(crate) const DISKS: &[Disk] = &[
    Disk {
        node: "n1",
        bytes: DISK_BYTES,
        layer: None,
        device: "nvme-ns,bus=nvme0,nsid=1,logical_block_size=512,physical_block_size=512",
    },
    Disk {
        node: "n2",
        bytes: DISK_BYTES,
        layer: None,
        device: "nvme-ns,bus=nvme0,nsid=2,logical_block_size=4096,physical_block_size=4096",
    },
    Disk {
        node: "n3",
        bytes: DISK_BYTES,
        layer: None,
        device: "nvme-ns,bus=nvme0,nsid=3,logical_block_size=4096,physical_block_size=4096,ms=8",
    },
    Disk { node: "fdp", bytes: DISK_BYTES, layer: None, device: "nvme-ns,bus=nvme3,nsid=1,fdp.ruhs=0-7" },
    Disk { node: "slot", bytes: DISK_BYTES, layer: None, device: "nvme,id=nvme1,serial=PLATNVME1,bus=slot1" },
    Disk {
        node: "s512",
        bytes: DISK_BYTES,
        layer: None,
        device: "scsi-hd,bus=scsi0.0,scsi-id=0,serial=PLATSCSI0,wwn=0x5000c500dead0001,rotation_rate=1",
    },
    Disk {
        node: "s4096",
        bytes: DISK_BYTES,
        layer: None,
        device: "scsi-hd,bus=scsi0.0,scsi-id=1,serial=PLATSCSI1,logical_block_size=4096,\
                 physical_block_size=4096,rotation_rate=1",
    },
    Disk {
        node: "sata",
        bytes: DISK_BYTES,
        layer: None,
        device: "ide-hd,bus=ide.0,serial=PLATSATA0,model=PLATEAU-SSD,rotation_rate=1",
    },
    Disk { node: "virtio", bytes: DISK_BYTES, layer: None, device: "virtio-blk-pci,serial=PLATVIRT0" },
    Disk {
        node: "paced",
        bytes: DISK_BYTES,
        layer: Some("driver=throttle,throttle-group=pace,file"),
        device: "nvme,id=nvme2,serial=PLATPACED",
    },
    Disk {
        node: "flawed",
        bytes: DISK_BYTES,
        layer: Some(
            "driver=blkdebug,inject-error.0.event=none,inject-error.0.iotype=read,inject-error.0.errno=5,\
             inject-error.0.sector=32768,image",
        ),
        device: "virtio-blk-pci,serial=PLATFLAWED",
    },
    Disk { node: "library", bytes: LIBRARY_BYTES, layer: None, device: "virtio-blk-pci,serial=PLATLIBRARY" },
];

/// Modules that the guest loads at boot, in this order, each after its dependencies.
pub(crate) const MODULES: &[&str] = &[
    "crc32c_generic",
    "virtio_pci",
    "virtio_blk",
    "virtio_scsi",
    "sd_mod",
    "sg",
    "ahci",
    "nvme",
    "ext4",
    "loop",
    "md_mod",
    "raid0",
    "raid1",
    "raid10",
    "raid456",
    "dm_mod",
];

/// Modules that checks load with `insmod` when needed; their dependencies are loaded at boot.
pub(crate) const LATER: &[&str] = &[
    "null_blk",
    "scsi_debug",
    "aes_generic",
    "ecb",
    "xts",
    "dm_crypt",
    "dm_snapshot",
    "erofs",
    "dm_flakey",
    "xfs",
    "nvmet_tcp",
    "nvme_tcp",
    "veth",
    "sch_netem",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flaw_is_at_the_stated_place() {
        let layer = DISKS.iter().find(|d| d.node == FLAWED.node).unwrap().layer.unwrap();
        assert!(layer.contains(&format!("sector={},", FLAW_BYTES / 512)));
    }

    #[test]
    fn every_target_is_in_the_machine() {
        let all: Vec<&str> = CONTROLLERS.iter().copied().chain(DISKS.iter().map(|d| d.device)).collect();
        let nvme = [NVME_512, NVME_4096, NVME_METADATA, NVME_PLACING, NVME_SLOT, PACED];
        let others = [SCSI_512, SCSI_4096, SATA, VIRTIO, FLAWED, LIBRARY];
        for target in nvme.into_iter().chain(others) {
            let serial = format!("serial={}", target.serial);
            let found = all.iter().any(|d| d.split(',').any(|part| part == serial));
            assert!(found && DISKS.iter().any(|d| d.node == target.node), "{target:?}");
        }
    }

    #[test]
    fn the_slot_is_filled_again_as_it_was() {
        let device = DISKS.iter().find(|d| d.node == "slot").unwrap().device;
        for (name, value) in SLOT_ARGUMENTS.iter().filter(|(name, _)| !["driver", "drive"].contains(name)) {
            assert!(device.contains(&format!("{name}={value}")), "{name}={value}");
        }
    }
}
