//! Checks `plateau list` and the health data that drives report.

use anyhow::{Context as _, ensure};
use serde_json::json;

use crate::vm_test::check::{Check, Group};
use vmlab::Lab;
use vmlab::hardware::{
    LIBRARY, NVME_512, NVME_4096, NVME_METADATA, NVME_SLOT, SATA, SCSI_512, SCSI_4096, VIRTIO,
};

pub const GROUP: Group = Group {
    name: "health",
    needs: Some("plateau help list"),
    checks: &[
        Check { name: "`list` shows every disk, and marks those in use", ci: true, run: list },
        Check {
            name: "namespaces of one controller need separate confirmations",
            ci: false,
            run: namespaces,
        },
        Check { name: "an NVMe drive reports its temperature and the amount written", ci: true, run: nvme },
        Check { name: "a critical warning from the drive is reported", ci: false, run: warning },
    ],
};

fn list(lab: &mut Lab) -> anyhow::Result<()> {
    let guest = lab.guest()?;
    let document = guest.json("list")?;
    let devices = document.as_array().context("no list")?;
    for target in [NVME_512, NVME_4096, NVME_METADATA, NVME_SLOT, SCSI_512, SCSI_4096, SATA, VIRTIO, LIBRARY]
    {
        let node = guest.device(target)?;
        let device = devices.iter().find(|device| device["path"] == node.as_str());
        let device = device.with_context(|| format!("`list` does not show {node}: {document}"))?;
        let is_library = target == LIBRARY;
        let identity = device["identity"].as_str().unwrap_or_default();
        ensure!(identity.starts_with(target.serial), "{device}");
        ensure!(device["in_use"] == is_library, "{device}");
        ensure!(device["can_be_tested"] != is_library, "{device}");
    }
    Ok(())
}

fn namespaces(lab: &mut Lab) -> anyhow::Result<()> {
    let guest = lab.guest()?;
    let mut identities = Vec::new();
    for target in [NVME_512, NVME_4096, NVME_METADATA] {
        let device = guest.device(target)?;
        identities.push(guest.identity(&device)?);
    }
    let all = identities.clone();
    identities.sort();
    identities.dedup();
    ensure!(identities.len() == 3, "the identities of three namespaces are not distinct: {all:?}");
    Ok(())
}

fn nvme(lab: &mut Lab) -> anyhow::Result<()> {
    let guest = lab.guest()?;
    let device = guest.device(NVME_SLOT)?;
    let identity = guest.identity(&device)?;
    let written = |info: &serde_json::Value| info["health"]["host_written_bytes"].as_u64();
    let before = guest.json(&format!("info {device}"))?;
    // The emulated sensor always reports 323 K.
    ensure!(before["health"]["temperature_celsius"] == 50, "{}", before["health"]);
    guest.json(&format!("load {device} --rw write --bs 128k --size 32MiB --erase '{identity}'"))?;
    let after = guest.json(&format!("info {device}"))?;
    let more = written(&after).context("bytes written")? - written(&before).context("bytes written")?;
    // Both readings of the health log are in thousands of sectors, rounded up.
    ensure!(more.abs_diff(32 << 20) <= 512_000, "the amount written increased by {more} bytes");
    Ok(())
}

fn warning(lab: &mut Lab) -> anyhow::Result<()> {
    let device = lab.guest()?.device(NVME_SLOT)?;
    let set = |bits: u8| json!({ "path": "/machine/peripheral/nvme1", "property": "smart_critical_warning", "value": bits });
    lab.ask_qemu("qom-set", set(4))?;
    let info = lab.guest()?.json(&format!("info {device}"));
    let text = lab.guest()?.plateau(&format!("info {device}"));
    lab.ask_qemu("qom-set", set(0))?;
    ensure!(info?["health"]["critical_warning"] == 4, "`info --json` does not report the warning");
    let text = text?.out;
    ensure!(text.contains("WARNING"), "`info` does not report the warning: {text}");
    Ok(())
}
