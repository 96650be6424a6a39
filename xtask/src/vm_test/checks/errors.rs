//! Checks how failing disks are handled: an unreadable sector, a medium error and the removal of a scsi_debug
//! disk.

use anyhow::{Context as _, ensure};

use crate::vm_test::check::{Check, Group, SHORT};
use vmlab::Lab;
use vmlab::guest::{CONTENT, Guest};
use vmlab::hardware::{FLAW_BYTES, FLAWED};

pub const GROUP: Group = Group {
    name: "errors",
    needs: None,
    checks: &[
        Check { name: "a sector that cannot be read is reported, and ends a load", ci: true, run: flawed },
        Check {
            name: "a sector that cannot be read ends a run, and every completed step is kept",
            ci: false,
            run: flawed_in_a_run,
        },
        Check {
            name: "scsi_debug: UNMAP empties the disk, and FORMAT UNIT, which it does not support, is an \
                   error",
            ci: true,
            run: purged,
        },
        Check { name: "scsi_debug: a medium error is reported", ci: true, run: medium_error },
        Check { name: "scsi_debug: removing the disk ends a load", ci: true, run: taken_away },
    ],
};

fn flawed(lab: &mut Lab) -> anyhow::Result<()> {
    let guest = lab.guest()?;
    let device = guest.device(FLAWED)?;
    for words in ["--bs 4k", "--bs 64k --ioengine libaio", "--bs 4k --ioengine psync"] {
        let output = guest.fails(5, &format!("load {device} --rw read --iodepth 1 {words}"))?;
        ensure!(output.contains(&format!("at byte {FLAW_BYTES} failed with EIO")), "{words}: {output}");
    }
    Ok(())
}

fn flawed_in_a_run(lab: &mut Lab) -> anyhow::Result<()> {
    let guest = lab.guest()?;
    let device = guest.device(FLAWED)?;
    let identity = guest.identity(&device)?;
    guest.sh("mkdir -p /runs/library && rm -rf /runs/library/*")?;
    let run = format!("run tp-128 {device} --erase '{identity}' {SHORT} --cell-seconds 2");
    let output = guest.fails(5, &run)?;
    ensure!(output.contains("failed with EIO") && output.contains(&device), "{output}");
    let journal = guest.sh("cat /runs/library/*/journal")?;
    for event in ["\"purged\"", "\"preconditioned\"", "\"cut\"", "\"interrupted\""] {
        ensure!(journal.contains(event), "no {event} in {journal}");
    }
    let id = guest.sh("ls /runs/library")?;
    ensure!(
        guest.plateau(&format!("show {id}"))?.out.contains("not complete"),
        "`show` does not say that the run is not complete"
    );
    Ok(())
}

/// Creates a scsi_debug disk in kernel memory; returns its device node.
pub fn made(guest: &mut Guest) -> anyhow::Result<String> {
    guest.sh(
        "test -d /sys/module/scsi_debug || insmod /modules/scsi_debug.ko dev_size_mb=32 lbpu=1 lbpws=1 delay=0",
    )?;
    let found = "ls /sys/bus/pseudo/drivers/scsi_debug/adapter0/host*/target*/*:*:*:*/block 2>/dev/null";
    guest.wait_for("a disk of scsi_debug", &format!("{found} | grep -q ."))?;
    Ok(format!("/dev/{}", guest.sh(found)?))
}

pub fn remove(guest: &mut Guest) -> anyhow::Result<()> {
    // The kernel releases a disk some time after the last process has closed it.
    guest.wait_for("scsi_debug to be unused", "rmmod scsi_debug")
}

fn purged(lab: &mut Lab) -> anyhow::Result<()> {
    let guest = lab.guest()?;
    let device = made(guest)?;
    let identity = guest.identity(&device)?;
    guest.fill(&device)?;
    let refused = guest.plateau(&format!("purge {device} --method scsi-format-unit --erase '{identity}'"))?;
    ensure!(refused.code != 0, "FORMAT UNIT, which the disk does not support, succeeded: {}", refused.out);
    guest.sh(&format!("cmp {CONTENT} {device}")).context("the content of the disk changed")?;
    guest.json(&format!("purge {device} --method discard --verify-purge --erase '{identity}'"))?;
    let left = guest.sh(&format!("dd if={device} bs=1M 2>/dev/null | tr -d '\\0' | wc -c"))?;
    ensure!(left == "0", "{left} bytes are left");
    remove(guest)
}

fn medium_error(lab: &mut Lab) -> anyhow::Result<()> {
    // First of ten bad sectors of 512 B that are built into scsi_debug.
    const BAD_SECTOR: u64 = 0x1234;
    let guest = lab.guest()?;
    let device = made(guest)?;
    guest.sh("echo 2 > /sys/bus/pseudo/drivers/scsi_debug/opts")?;
    let output = guest.fails(5, &format!("load {device} --rw read --bs 4k --iodepth 1"))?;
    let block = BAD_SECTOR * 512 / 4096 * 4096;
    ensure!(output.contains(&format!("at byte {block} failed with ENODATA")), "{output}");
    guest.sh("echo 0 > /sys/bus/pseudo/drivers/scsi_debug/opts")?;
    remove(guest)
}

fn taken_away(lab: &mut Lab) -> anyhow::Result<()> {
    let guest = lab.guest()?;
    let device = made(guest)?;
    let name = device.trim_start_matches("/dev/").to_owned();
    guest.start(&format!("load {device} --rw randread --bs 4k --iodepth 4 --time_based --runtime 60"))?;
    guest.wait_for("reads", &format!("test $(cut -c1-9 /sys/block/{name}/stat) -gt 300"))?;
    guest.sh(&format!("echo 1 > /sys/block/{name}/device/delete"))?;
    let ended = guest.wait_for_end()?;
    ensure!(ended.code == 5 && ended.err.contains(&device), "ended with {}: {}", ended.code, ended.err);
    remove(guest).context("cannot remove scsi_debug")
}
