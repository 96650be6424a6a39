//! Checks that the LBA format of an NVMe namespace is changed for a run and restored afterwards.

use anyhow::{bail, ensure};

use crate::vm_test::check::{Check, Group, SHORT};
use vmlab::Lab;
use vmlab::hardware::{NVME_512, NVME_SLOT, SATA, Target};

pub const GROUP: Group = Group {
    name: "lba-format",
    needs: Some("plateau help run | grep -q lba-format"),
    checks: &[
        Check {
            name: "a run uses the requested format, and the original one is restored afterwards",
            ci: false,
            run: during,
        },
        Check {
            name: "a killed run is resumed in the requested format, and the original one is restored afterwards",
            ci: false,
            run: killed,
        },
        Check {
            name: "requesting a format that the drive does not support changes nothing",
            ci: true,
            run: impossible,
        },
    ],
};

/// Format with sectors of 4096 B and no metadata, one of eight formats in QEMU; format 0 has sectors of 512 B.
const LARGE: u8 = 4;

fn sector_bytes(lab: &mut Lab, target: Target) -> anyhow::Result<String> {
    let guest = lab.guest()?;
    let device = guest.device(target)?;
    guest.sh(&format!("cat /sys/block/{}/queue/logical_block_size", device.trim_start_matches("/dev/")))
}

/// Starts a run in that format, and waits until it is measuring.
fn start(lab: &mut Lab) -> anyhow::Result<()> {
    let guest = lab.guest()?;
    let device = guest.device(NVME_SLOT)?;
    let identity = guest.identity(&device)?;
    guest.sh("mkdir -p /runs/library && rm -rf /runs/library/* /runs/library/.[a-z]*")?;
    guest.start(&format!(
        "run tp-128 {device} --erase '{identity}' {SHORT} --cell-seconds 0.3 --lba-format {LARGE}"
    ))?;
    guest.wait_for("a cell", "grep -q '\"measured\"' /runs/library/*/journal")
}

fn assert_sectors(lab: &mut Lab, bytes: &str, when: &str) -> anyhow::Result<()> {
    let now = sector_bytes(lab, NVME_SLOT)?;
    ensure!(now.trim() == bytes, "{when}: sectors of {now} B instead of {bytes} B");
    Ok(())
}

fn during(lab: &mut Lab) -> anyhow::Result<()> {
    assert_sectors(lab, "512", "before the run")?;
    start(lab)?;
    assert_sectors(lab, "4096", "during the run")?;
    let ended = lab.guest()?.wait_for_end()?;
    ensure!(ended.code == 0, "ended with {}: {}", ended.code, ended.err);
    assert_sectors(lab, "512", "after the run")?;
    let events = lab.guest()?.sh("grep -c lba_format /runs/library/*/journal")?;
    ensure!(events.trim() == "2", "the journal has {events} records about the format");
    Ok(())
}

fn killed(lab: &mut Lab) -> anyhow::Result<()> {
    start(lab)?;
    lab.guest()?.sh("kill -9 $(pidof plateau)")?;
    lab.guest()?.wait_for_end()?;
    assert_sectors(lab, "4096", "after the kill")?;
    let id = lab.guest()?.sh("cd /runs/library && ls -d */ | tr -d /")?;
    let resumed = lab.guest()?.plateau(&format!("resume {id}"))?;
    ensure!(resumed.code == 0, "resume ended with {}: {}", resumed.code, resumed.err);
    assert_sectors(lab, "512", "after the resumed run")
}

fn impossible(lab: &mut Lab) -> anyhow::Result<()> {
    for (target, format) in [(NVME_512, 63), (SATA, 0)] {
        let guest = lab.guest()?;
        let device = guest.device(target)?;
        let identity = guest.identity(&device)?;
        let tried = guest
            .plateau(&format!("run tp-128 {device} --erase '{identity}' {SHORT} --lba-format {format}"))?;
        if tried.code != 2 || !tried.err.contains("LBA format") {
            bail!("{target:?} ended with {}: {}", tried.code, tried.err);
        }
        let sectors = sector_bytes(lab, target)?;
        ensure!(sectors.trim() == "512", "{target:?} now has sectors of {sectors} B");
    }
    Ok(())
}
