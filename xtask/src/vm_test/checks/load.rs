//! Runs `plateau load` with one workload through every I/O path that these disks support.

use anyhow::{Context as _, ensure};

use crate::vm_test::check::{Check, Group};
use vmlab::Lab;
use vmlab::hardware::{
    NVME_512, NVME_4096, NVME_METADATA, NVME_SLOT, SATA, SCSI_512, SCSI_4096, Target, VIRTIO,
};

pub const GROUP: Group = Group {
    name: "load",
    needs: None,
    checks: &[
        Check {
            name: "every disk is written and read completely, and the kernel's counters agree",
            ci: false,
            run: counted,
        },
        Check { name: "reads do not need confirmation and change nothing", ci: false, run: reads },
        Check {
            name: "completions are polled if the drive has poll queues, and only then",
            ci: false,
            run: polled,
        },
        Check {
            name: "blocks of half a sector are refused before anything is touched",
            ci: false,
            run: half_a_sector,
        },
    ],
};

const ALL: &[Target] = &[NVME_512, NVME_4096, NVME_METADATA, NVME_SLOT, SCSI_512, SCSI_4096, SATA, VIRTIO];

/// Returns the kernel's counts of 512-byte sectors read and written on a disk.
fn sectors(lab: &mut Lab, device: &str) -> anyhow::Result<(u64, u64)> {
    let name = device.trim_start_matches("/dev/");
    let text = lab.guest()?.sh(&format!("cat /sys/block/{name}/stat"))?;
    let counts: Vec<u64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    Ok((*counts.get(2).context("stat")?, *counts.get(6).context("stat")?))
}

fn counted(lab: &mut Lab) -> anyhow::Result<()> {
    for &target in ALL {
        let device = lab.guest()?.device(target)?;
        let identity = lab.guest()?.identity(&device)?;
        for (rw, depth) in [("write", 1), ("read", 8), ("randwrite", 4)] {
            let before = sectors(lab, &device)?;
            let erase = if rw == "read" { String::new() } else { format!("--erase '{identity}'") };
            let command = format!("load {device} --rw {rw} --bs 64k --iodepth {depth} --size 4MiB {erase}");
            let document = lab.guest()?.json(&command).with_context(|| format!("{target:?}"))?;
            let after = sectors(lab, &device)?;
            let (read, written) = (after.0 - before.0, after.1 - before.1);
            let wrong = || format!("{target:?} {rw}: {read} and {written} sectors; {document}");
            let expected = (4 << 20) / 512;
            if rw == "read" {
                // The search for signatures also reads a few sectors.
                ensure!(written == 0 && (expected..expected * 3 / 2).contains(&read), wrong());
            } else {
                ensure!(written == expected, wrong());
            }
        }
    }
    Ok(())
}

fn reads(lab: &mut Lab) -> anyhow::Result<()> {
    for target in [NVME_512, SATA, SCSI_4096] {
        let device = lab.guest()?.device(target)?;
        let before = sectors(lab, &device)?.1;
        lab.guest()?.json(&format!("load {device} --rw randread --bs 4k --runtime 0.3"))?;
        ensure!(sectors(lab, &device)?.1 == before, "{target:?} was written to");
    }
    Ok(())
}

fn polled(lab: &mut Lab) -> anyhow::Result<()> {
    for target in [NVME_512, NVME_4096, SCSI_512] {
        let device = lab.guest()?.device(target)?;
        let name = device.trim_start_matches("/dev/");
        let can = lab.guest()?.sh(&format!("cat /sys/block/{name}/queue/io_poll"))?.trim() == "1";
        let expected =
            if can { "io_uring; completions polled" } else { "not polled: the device has no poll queues" };
        for depth in [1, 8] {
            let command =
                format!("load {device} --rw randread --bs 4k --iodepth {depth} --size 4MiB --hipri");
            let document = lab.guest()?.json(&command)?.to_string();
            ensure!(document.contains(expected), "{target:?} at depth {depth}: {document}");
        }
    }
    Ok(())
}

fn half_a_sector(lab: &mut Lab) -> anyhow::Result<()> {
    for target in [NVME_4096, SCSI_4096] {
        let device = lab.guest()?.device(target)?;
        let identity = lab.guest()?.identity(&device)?;
        let before = sectors(lab, &device)?.1;
        let output =
            lab.guest()?.fails(2, &format!("load {device} --rw write --bs 512 --erase '{identity}'"))?;
        ensure!(output.contains("4096") || output.contains("4 KiB"), "{output}");
        ensure!(sectors(lab, &device)?.1 == before, "{target:?} was written to");
    }
    Ok(())
}
