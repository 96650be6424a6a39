//! Checks that fio's example job files for special drives run on such drives.

use anyhow::{Context as _, ensure};

use super::errors::{made, remove};
use crate::fio_examples::NEEDS_DRIVE;
use crate::vm_test::check::{Check, Group};
use vmlab::Lab;
use vmlab::guest::{Guest, Ran};
use vmlab::hardware::{NVME_512, NVME_PLACING};

pub const GROUP: Group = Group {
    name: "fio-jobs",
    needs: None,
    checks: &[
        Check { name: "fio's examples for SCSI disks run", ci: true, run: scsi },
        Check { name: "fio's examples for NVMe commands run", ci: true, run: nvme },
        Check { name: "fio's example for flexible data placement runs", ci: true, run: placement },
        Check { name: "fio's example for atomic writes runs", ci: false, run: atomic },
    ],
};

/// Options of the examples, with values for the small disks of the machine.
const SMALL: &[(&str, &str)] = &[("size=1G", "size=16M"), ("runtime=1000", "runtime=1")];

/// Returns the job file of an example, with this disk.
fn job_file(name: &str, device: &str) -> anyhow::Result<String> {
    let (_, (_, sections)) =
        NEEDS_DRIVE.iter().find(|(_, (known, _))| *known == name).context("no such example")?;
    let small = |option: &str| match SMALL.iter().find(|(large, _)| *large == option) {
        Some((_, small)) => (*small).to_owned(),
        None if option.starts_with("filename=") => format!("filename={device}"),
        None => option.to_owned(),
    };
    let section = |section: &&str| {
        let mut words = section.split_whitespace();
        let title = words.next().unwrap_or_default();
        let options: Vec<String> = words.map(small).collect();
        format!("[{title}]\\n{}\\n", options.join("\\n"))
    };
    Ok(sections.iter().map(section).collect())
}

/// Runs a job file, with line breaks written as `\n`, on a disk.
fn run(guest: &mut Guest, text: &str, device: &str) -> anyhow::Result<Ran> {
    ensure!(!text.contains('\''), "the file is quoted");
    let identity = guest.identity(device)?;
    guest.sh(&format!("printf %b '{text}' > /tmp/job.fio"))?;
    guest.plateau(&format!("load /tmp/job.fio --erase '{identity}' --json"))
}

fn scsi(lab: &mut Lab) -> anyhow::Result<()> {
    let guest = lab.guest()?;
    let device = made(guest)?;
    let ran = run(guest, &job_file("sg_verify", &device)?, &device)?;
    ensure!(ran.code == 0, "sg_verify ended with {}: {}{}", ran.code, ran.out, ran.err);
    // These end with a block that differs.
    for (name, bytes) in [("sg_verify-fail", 20 * 512), ("sg_write_same_ndob", 19 * 512)] {
        let ran = run(guest, &job_file(name, &device)?, &device)?;
        let expected = format!("a verification of 512 B at byte {bytes} failed");
        ensure!(ran.code == 5 && ran.err.contains(&expected), "{name}: {}: {}{}", ran.code, ran.out, ran.err);
    }
    remove(guest)
}

fn nvme(lab: &mut Lab) -> anyhow::Result<()> {
    lab.wipe(NVME_512)?;
    let guest = lab.guest()?;
    let device = guest.device(NVME_512)?;
    let generic = device.replace("/dev/nvme", "/dev/ng");
    for name in ["uring-cmd-ng", "uring-cmd-trim-multi-range"] {
        let ran = run(guest, &job_file(name, &generic)?, &device)?;
        ensure!(ran.code == 0, "{name} ended with {}: {}{}", ran.code, ran.out, ran.err);
    }
    // Of the commands that take the place of writes, QEMU's drive only has Write Zeroes.
    let text = job_file("uring-cmd-write-mode", &generic)?;
    let ran = run(guest, &text, &device)?;
    ensure!(
        ran.code == 2 && ran.err.contains("the drive has no Write Uncorrectable command"),
        "{}: {}{}",
        ran.code,
        ran.out,
        ran.err
    );
    let ran = run(guest, &text.replace("zeroes/30:uncor/20:verify/10", "zeroes/60"), &device)?;
    ensure!(ran.code == 0, "{}: {}{}", ran.code, ran.out, ran.err);
    Ok(())
}

fn placement(lab: &mut Lab) -> anyhow::Result<()> {
    let guest = lab.guest()?;
    let device = guest.device(NVME_PLACING)?;
    let name = "uring-cmd-fdp";
    let ran = run(guest, &job_file(name, &device.replace("/dev/nvme", "/dev/ng"))?, &device)?;
    ensure!(ran.code == 0, "{name} ended with {}: {}{}", ran.code, ran.out, ran.err);
    Ok(())
}

fn atomic(lab: &mut Lab) -> anyhow::Result<()> {
    lab.needs_linux((6, 11), "atomic writes")?;
    let guest = lab.guest()?;
    let device = guest.device(NVME_PLACING)?;
    let name = "atomic-verify";
    let ran = run(guest, &job_file(name, &device)?, &device)?;
    ensure!(ran.code == 0, "{name} ended with {}: {}{}", ran.code, ran.out, ran.err);
    Ok(())
}
