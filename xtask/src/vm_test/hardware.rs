//! The machine's disks. Checks name them by serial number and namespace, as one would a real drive: the
//! order in which a kernel finds them is nobody's promise.

/// Bytes of a disk under test: enough for a test (16 MiB), little enough for an emulated processor.
pub const DISK_BYTES: u64 = 32 << 20;
/// Bytes of the disk that runs are kept on.
pub const LIBRARY_BYTES: u64 = 256 << 20;

/// An image file on the host and how it is put into the machine.
pub struct Disk {
    /// Name of the image and of QEMU's block node.
    pub node: &'static str,
    pub bytes: u64,
    /// For `-device`; the node is its `drive`.
    pub device: &'static str,
}

/// A disk as the guest sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// Its image, as in [`DISKS`].
    pub node: &'static str,
    pub serial: &'static str,
    /// NVMe only.
    pub namespace: Option<u32>,
}

const fn disk(node: &'static str, serial: &'static str) -> Target {
    Target { node, serial, namespace: None }
}

const fn namespace(node: &'static str, serial: &'static str, id: u32) -> Target {
    Target { node, serial, namespace: Some(id) }
}

/// NVMe namespace with 512-byte sectors, one of three of its controller.
pub const NVME_512: Target = namespace("n1", "PLATNVME0", 1);
/// NVMe namespace with 4096-byte sectors.
pub const NVME_4096: Target = namespace("n2", "PLATNVME0", 2);
/// NVMe namespace with 4096-byte sectors and 8 bytes of metadata for each.
pub const NVME_METADATA: Target = namespace("n3", "PLATNVME0", 3);
/// NVMe controller with one namespace, in a slot from which it can be pulled.
pub const NVME_SLOT: Target = namespace("slot", "PLATNVME1", 1);
/// SCSI disk with 512-byte sectors and a world-wide name.
pub const SCSI_512: Target = disk("s512", "PLATSCSI0");
/// SCSI disk with 4096-byte sectors.
pub const SCSI_4096: Target = disk("s4096", "PLATSCSI1");
pub const SATA: Target = disk("sata", "PLATSATA0");
pub const VIRTIO: Target = disk("virtio", "PLATVIRT0");
/// The disk that runs are kept on; mounted.
pub const LIBRARY: Target = disk("library", "PLATLIBRARY");

/// The controller that can be pulled, by QEMU's name.
pub const SLOT_DEVICE: &str = "nvme1";
/// What puts it in, first or again.
pub const SLOT_ARGUMENTS: &[(&str, &str)] =
    &[("driver", "nvme"), ("id", SLOT_DEVICE), ("serial", "PLATNVME1"), ("bus", "slot1"), ("drive", "slot")];

/// Controllers and slots; what disks are put into.
pub const CONTROLLERS: &[&str] = &[
    "pcie-root-port,id=slot0,chassis=1,slot=1",
    "pcie-root-port,id=slot1,chassis=2,slot=2",
    "nvme,id=nvme0,serial=PLATNVME0,bus=slot0",
    "virtio-scsi-pci,id=scsi0",
];

pub const DISKS: &[Disk] = &[
    Disk {
        node: "n1",
        bytes: DISK_BYTES,
        device: "nvme-ns,bus=nvme0,nsid=1,logical_block_size=512,physical_block_size=512",
    },
    Disk {
        node: "n2",
        bytes: DISK_BYTES,
        device: "nvme-ns,bus=nvme0,nsid=2,logical_block_size=4096,physical_block_size=4096",
    },
    Disk {
        node: "n3",
        bytes: DISK_BYTES,
        device: "nvme-ns,bus=nvme0,nsid=3,logical_block_size=4096,physical_block_size=4096,ms=8",
    },
    Disk { node: "slot", bytes: DISK_BYTES, device: "nvme,id=nvme1,serial=PLATNVME1,bus=slot1" },
    Disk {
        node: "s512",
        bytes: DISK_BYTES,
        device: "scsi-hd,bus=scsi0.0,scsi-id=0,serial=PLATSCSI0,wwn=0x5000c500dead0001,rotation_rate=1",
    },
    Disk {
        node: "s4096",
        bytes: DISK_BYTES,
        device: "scsi-hd,bus=scsi0.0,scsi-id=1,serial=PLATSCSI1,logical_block_size=4096,\
                 physical_block_size=4096,rotation_rate=1",
    },
    Disk {
        node: "sata",
        bytes: DISK_BYTES,
        device: "ide-hd,bus=ide.0,serial=PLATSATA0,model=PLATEAU-SSD,rotation_rate=1",
    },
    Disk { node: "virtio", bytes: DISK_BYTES, device: "virtio-blk-pci,serial=PLATVIRT0" },
    Disk { node: "library", bytes: LIBRARY_BYTES, device: "virtio-blk-pci,serial=PLATLIBRARY" },
];

/// Modules that the guest loads, in this order; what they need is loaded first.
pub const MODULES: &[&str] = &[
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_in_the_machine() {
        let all: Vec<&str> = CONTROLLERS.iter().copied().chain(DISKS.iter().map(|d| d.device)).collect();
        for target in
            [NVME_512, NVME_4096, NVME_METADATA, NVME_SLOT, SCSI_512, SCSI_4096, SATA, VIRTIO, LIBRARY]
        {
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
