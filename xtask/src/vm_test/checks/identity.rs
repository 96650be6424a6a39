//! Checks that `plateau info` identifies every kind of disk correctly.

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::vm_test::check::{Check, Group};
use vmlab::Lab;
use vmlab::hardware::{
    DISK_BYTES, NVME_512, NVME_4096, NVME_METADATA, NVME_SLOT, SATA, SCSI_512, SCSI_4096, Target, VIRTIO,
};

pub const GROUP: Group = Group {
    name: "identity",
    needs: None,
    checks: &[
        Check {
            name: "serial number, size, sectors and interface of every kind of disk are correct",
            ci: true,
            run: facts,
        },
        Check {
            name: "a device that does not exist is reported, and no run is started",
            ci: false,
            run: unknown,
        },
    ],
};

/// Disk, logical block size in bytes, interface, part of the model name.
const KNOWN: &[(Target, u64, &str, &str)] = &[
    (NVME_512, 512, "NVMe", "QEMU NVMe"),
    (NVME_4096, 4096, "NVMe", "QEMU NVMe"),
    (NVME_METADATA, 4096, "NVMe", "QEMU NVMe"),
    (NVME_SLOT, 512, "NVMe", "QEMU NVMe"),
    (SCSI_512, 512, "virtio", "QEMU HARDDISK"),
    (SCSI_4096, 4096, "virtio", "QEMU HARDDISK"),
    (SATA, 512, "SATA", "PLATEAU-SSD"),
    (VIRTIO, 512, "virtio", ""),
];

fn facts(lab: &mut Lab) -> anyhow::Result<()> {
    let guest = lab.guest()?;
    for &(target, block_bytes, interface, model) in KNOWN {
        let device = guest.device(target)?;
        let info = guest.json(&format!("info {device}"))?;
        let facts = &info["target"];
        let text = |name: &str| facts[name].as_str().unwrap_or_default().to_owned();
        let wrong = || format!("{target:?}: {facts}");
        ensure!(text("serial") == target.serial, wrong());
        ensure!(text("interface") == interface, wrong());
        ensure!(text("model").contains(model), wrong());
        ensure!(facts["logical_block_bytes"] == block_bytes, wrong());
        // In a namespace with metadata, some of the bytes are used for metadata.
        let bytes = facts["capacity_bytes"].as_u64().with_context(wrong)?;
        ensure!(bytes <= DISK_BYTES && bytes > DISK_BYTES * 99 / 100, wrong());
        ensure!(bytes == DISK_BYTES || target == NVME_METADATA, wrong());
        ensure!(info["refusals"] == Value::Array(Vec::new()), "{target:?}: {}", info["refusals"]);
        ensure!(info["erase_confirmation_needed"] == true, wrong());
    }
    Ok(())
}

fn unknown(lab: &mut Lab) -> anyhow::Result<()> {
    let guest = lab.guest()?;
    for device in ["/dev/nvme9n1", "/dev/null", "/dev/ttyS1", "/dev", "/dev/nvme0"] {
        let output = guest.fails(4, &format!("run lat {device} --erase PLATNVME0"))?;
        ensure!(output.contains(device), "{device}: {output}");
    }
    Ok(())
}
