//! Checks that the wrong disk is refused however it is specified, and that every byte is unchanged.

use anyhow::{Context as _, bail, ensure};

use crate::vm_test::check::{Check, Group};
use vmlab::Lab;
use vmlab::hardware::{LIBRARY, SATA, SCSI_512, Target, VIRTIO};

pub const GROUP: Group = Group {
    name: "refusals",
    needs: None,
    checks: &[
        Check {
            name: "virtio: a disk that is in use or contains data keeps every byte",
            ci: true,
            run: used_virtio,
        },
        Check {
            name: "SCSI: a disk that is in use or contains data keeps every byte",
            ci: false,
            run: used_scsi,
        },
        Check { name: "nothing is written without the right identity", ci: true, run: unconfirmed },
        Check { name: "the disk under the runs is refused", ci: true, run: library },
        Check { name: "a write-protected disk cannot be used", ci: false, run: read_only },
    ],
};

/// A way for a disk to be in use or contain data. `$D` is the device node, `$N` its name without `/dev`.
struct Case {
    what: &'static str,
    prepare: &'static str,
    undo: &'static str,
    /// Suffix of the device node that is passed to plateau.
    suffix: &'static str,
    /// Text that the refusal must contain.
    named: &'static str,
}

const CASES: &[Case] = &[
    Case {
        what: "mounted",
        prepare: "mke2fs -q $D && mount -o ro -t ext4 $D /mnt",
        undo: "umount /mnt",
        suffix: "",
        named: "mounted at /mnt",
    },
    Case { what: "a file system", prepare: "mke2fs -q $D", undo: "true", suffix: "", named: "ext" },
    Case {
        what: "a partition table",
        prepare: "printf 'o\\nn\\np\\n1\\n\\n\\nw\\n' | fdisk $D >/dev/null; test -b ${D}1",
        undo: "true",
        suffix: "",
        named: "partition",
    },
    Case {
        what: "a partition",
        prepare: "printf 'o\\nn\\np\\n1\\n\\n\\nw\\n' | fdisk $D >/dev/null; test -b ${D}1",
        undo: "true",
        suffix: "1",
        named: "it is a partition",
    },
    Case {
        what: "a mounted partition",
        prepare: "printf 'o\\nn\\np\\n1\\n\\n\\nw\\n' | fdisk $D >/dev/null; mke2fs -q ${D}1 && mount -o ro -t \
                  ext4 ${D}1 /mnt",
        undo: "umount /mnt",
        suffix: "",
        named: "mounted at /mnt",
    },
    Case {
        what: "swap in use",
        prepare: "mkswap $D >/dev/null && swapon $D",
        undo: "swapoff $D",
        suffix: "",
        named: "swap",
    },
    Case { what: "swap", prepare: "mkswap $D >/dev/null", undo: "true", suffix: "", named: "swap" },
    Case {
        what: "under a loop device",
        prepare: "losetup /dev/loop7 $D",
        undo: "losetup -d /dev/loop7",
        suffix: "",
        named: "loop7",
    },
    Case {
        what: "a member of an array",
        // Linux 7.3 keeps the name of an array after the array has been cleared.
        prepare: "{ echo md_plateau > /sys/module/md_mod/parameters/new_array || test -e \
                  /sys/block/md_plateau; } && cd /sys/block/md_plateau/md && \
                  echo none > metadata_version && echo raid1 > level && echo 1 > raid_disks && cat \
                  /sys/block/$N/dev > new_dev && echo 0 > dev-$N/slot && echo 32768 > component_size && echo \
                  active > array_state",
        undo: "echo clear > /sys/block/md_plateau/md/array_state",
        suffix: "",
        named: "md_plateau",
    },
];

fn used_virtio(lab: &mut Lab) -> anyhow::Result<()> {
    used(lab, VIRTIO)
}

fn used_scsi(lab: &mut Lab) -> anyhow::Result<()> {
    used(lab, SCSI_512)
}

fn used(lab: &mut Lab, target: Target) -> anyhow::Result<()> {
    let mut wrong = Vec::new();
    for case in CASES {
        lab.wipe(target)?;
        let device = lab.guest()?.device(target)?;
        let outcome = refuse(lab, target, case);
        if let Err(error) = outcome {
            wrong.push(format!("{device}, {}: {error:#}", case.what));
        }
        lab.guest()?.run(&shell(&device, case.undo))?;
    }
    lab.wipe(target)?;
    if wrong.is_empty() { Ok(()) } else { bail!(wrong.join("\n")) }
}

fn shell(device: &str, command: &str) -> String {
    format!("D={device}; N={}; {command}", device.trim_start_matches("/dev/"))
}

fn refuse(lab: &mut Lab, target: Target, case: &Case) -> anyhow::Result<()> {
    let guest = lab.guest()?;
    let device = &guest.device(target)?;
    let identity = guest.identity(device)?;
    guest.sh(&shell(device, case.prepare)).context("cannot prepare the disk")?;
    let runs = guest.sh("ls /runs/library 2>/dev/null | wc -l")?;
    let before = lab.content(target)?;
    let guest = lab.guest()?;
    for command in ["run lat", "load --rw write --size 1MiB"] {
        let output = guest.fails(3, &format!("{command} {device}{} --erase '{identity}'", case.suffix))?;
        ensure!(output.contains(case.named), "`{command}` does not name the reason: {output}");
    }
    let info = guest.json(&format!("info {device}{}", case.suffix))?;
    ensure!(info["refusals"].to_string().contains(case.named), "`info` reports {}", info["refusals"]);
    ensure!(guest.sh("ls /runs/library 2>/dev/null | wc -l")? == runs, "a run was started");
    ensure!(lab.content(target)? == before, "the content changed");
    Ok(())
}

fn unconfirmed(lab: &mut Lab) -> anyhow::Result<()> {
    let guest = lab.guest()?;
    let (device, other) = (guest.device(SATA)?, guest.device(VIRTIO)?);
    let (identity, others) = (guest.identity(&device)?, guest.identity(&other)?);
    let before = lab.content(SATA)?;
    let guest = lab.guest()?;
    let lower = identity.to_lowercase();
    for erase in [
        String::new(),
        "--erase ''".into(),
        format!("--erase '{others}'"),
        format!("--erase '{lower}'"),
        format!("--erase '{device}'"),
        format!("--erase '{}'", &identity[..identity.len() - 1]),
    ] {
        for command in ["run lat", "load --rw randwrite --runtime 0.1"] {
            let output = guest.fails(3, &format!("{command} {device} {erase}"))?;
            ensure!(
                output.contains(&format!("--erase '{identity}'")),
                "the message does not say what to type: {output}"
            );
        }
    }
    ensure!(lab.content(SATA)? == before, "the content changed");
    Ok(())
}

fn library(lab: &mut Lab) -> anyhow::Result<()> {
    let guest = lab.guest()?;
    let device = guest.device(LIBRARY)?;
    let output = guest.fails(3, &format!("run lat {device} --erase {}", LIBRARY.serial))?;
    ensure!(output.contains("mounted at /runs"), "{output}");
    Ok(())
}

fn read_only(lab: &mut Lab) -> anyhow::Result<()> {
    let guest = lab.guest()?;
    let device = guest.device(SATA)?;
    let identity = guest.identity(&device)?;
    guest.sh(&format!("blockdev --setro {device}"))?;
    let output = guest.fails(4, &format!("run lat {device} --erase '{identity}'"));
    guest.sh(&format!("blockdev --setrw {device}"))?;
    ensure!(output?.contains("read-only"), "the message does not name the reason");
    Ok(())
}
