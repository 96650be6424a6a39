//! Runs host checks and tuning on drives with a scheduler and a PCIe link.

use anyhow::ensure;

use crate::vm_test::check::{Check, Group};
use vmlab::Lab;
use vmlab::hardware::{NVME_SLOT, SATA, SCSI_512, VIRTIO};

pub const GROUP: Group = Group {
    name: "host-checks",
    needs: Some("plateau help check"),
    checks: &[
        Check { name: "every kind of disk is checked", ci: false, run: looked_at },
        Check { name: "tuning sets the scheduler and restores it", ci: true, run: tuned },
    ],
};

fn looked_at(lab: &mut Lab) -> anyhow::Result<()> {
    for target in [NVME_SLOT, SATA, SCSI_512, VIRTIO] {
        let guest = lab.guest()?;
        let device = guest.device(target)?;
        let output = guest.plateau(&format!("check {device}"))?;
        // Findings are allowed, because the guest may indeed be too busy for measurements.
        ensure!([0, 7].contains(&output.code), "{target:?} ended with {}: {}", output.code, output.err);
        let named = ["scheduler", "PCIe link", "other load", "power saving", "kernel mitigations"];
        let missing = named.iter().find(|name| !output.out.contains(*name));
        ensure!(missing.is_none(), "{target:?}: the checks {missing:?} are missing in {}", output.out);
    }
    Ok(())
}

fn tuned(lab: &mut Lab) -> anyhow::Result<()> {
    let guest = lab.guest()?;
    let device = guest.device(SATA)?;
    let queue = format!("/sys/block/{}/queue", device.trim_start_matches("/dev/"));
    guest.sh(&format!("echo 0 > {queue}/nomerges; echo 1 > {queue}/iostats"))?;
    let now = format!("cat {queue}/scheduler {queue}/nomerges {queue}/iostats");
    let before = guest.sh(&now)?;
    let output = guest.plateau(&format!("check {device} --tune"))?;
    ensure!([0, 7].contains(&output.code), "ended with {}: {}", output.code, output.err);
    ensure!(output.out.contains("nomerges of"), "the setting was not tuned: {}", output.out);
    let after = guest.sh(&now)?;
    ensure!(before == after, "{before} before, {after} after");
    Ok(())
}
