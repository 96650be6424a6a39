//! A table of ways to name the wrong target. Each target is refused before a byte is written, and neither the target
//! nor a neighbouring device changes.
//!
//! Devices are loop devices created by the test. If this kernel lacks a type of device (device mapper, RAID,
//! NVMe), a real device is used with mock `/sys` and `/proc`.

mod making;
#[path = "../../tests/support/mod.rs"]
mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use support::{Loop, command, fingerprint};

use crate::OpenOptions;
use crate::error::ErrorKind;
use making::{
    After, Host, SIZE, Typed, Wrong, attached_anew, carrying, device, exchanged, in_folder, mounted,
    prepared, put, resized,
};

/// A way to specify the wrong target.
struct Case {
    name: &'static str,
    /// Part of the refusal message.
    reason: &'static str,
    /// Returns `None` if this machine cannot create the target.
    make: fn() -> Option<Wrong>,
}

const SMALL: usize = 4096;
const ENOUGH: usize = 17 << 20;

/// The cases, each with a part of the expected refusal.
const CASES: &[Case] = &[
    Case {
        name: "a mounted file system",
        reason: "mounted at",
        make: || {
            let (device, mount, dir) = mounted()?;
            Some(Wrong::at(&device.path).keep(device).keep(dir).keep(mount))
        },
    },
    Case {
        name: "a symbolic link to a mounted device",
        reason: "mounted at",
        make: || {
            let (device, mount, dir) = mounted()?;
            let links = support::directory();
            symlink(&device.path, links.path().join("link")).ok()?;
            Some(
                Wrong::at(links.path().join("link").to_str()?).keep(device).keep(dir).keep(mount).keep(links),
            )
        },
    },
    Case {
        name: "the disk that the runs are on",
        reason: "mounted at",
        make: || {
            let (device, mount, dir) = mounted()?;
            dir.path()
                .join("runs")
                .is_dir()
                .then(|| Wrong::at(&device.path).keep(device).keep(dir).keep(mount))
        },
    },
    Case {
        name: "a file of a run",
        reason: "it belongs to a Plateau run",
        make: || {
            in_folder("journal", |path| {
                fs::write(path.with_file_name("run.json"), "{}").ok()?;
                fs::write(path, vec![1; ENOUGH]).ok()
            })
        },
    },
    Case {
        name: "an ext4 file system",
        reason: "ext4",
        make: || {
            let device = prepared("mkfs.ext4", device()?)?;
            Some(Wrong::at(&device.path).keep(device))
        },
    },
    Case {
        name: "swap space in use",
        reason: "active swap space",
        make: || {
            let device = prepared("mkswap", device()?)?;
            command("swapon", &[&device.path]).ok()?;
            let off = After("swapoff", device.path.clone());
            Some(Wrong::at(&device.path).keep(device).keep(off))
        },
    },
    Case { name: "swap space", reason: "swap space", make: || carrying(4086, b"SWAPSPACE2") },
    Case { name: "a GPT", reason: "GPT", make: || carrying(512, b"EFI PART") },
    Case { name: "the backup of a GPT", reason: "GPT", make: || carrying(SIZE - 512, b"EFI PART") },
    Case { name: "an LVM physical volume", reason: "LVM", make: || carrying(512, b"LABELONE") },
    Case {
        name: "a member of an md array, at its start",
        reason: "Linux RAID (1.2)",
        make: || carrying(4096, b"\xfc\x4e\x2b\xa9"),
    },
    Case {
        name: "a member of an md array, at its end",
        reason: "Linux RAID (0.90)",
        make: || carrying(SIZE - (64 << 10), b"\xfc\x4e\x2b\xa9"),
    },
    Case {
        name: "a member of a ZFS pool",
        reason: "ZFS",
        make: || carrying(128 << 10, b"\x0c\xb1\xba\0\0\0\0\0"),
    },
    Case {
        name: "a member of a ZFS pool, by its last label",
        reason: "ZFS",
        make: || carrying(SIZE - (128 << 10), b"\0\0\0\0\0\xba\xb1\x0c"),
    },
    Case { name: "a btrfs file system", reason: "btrfs", make: || carrying(65_600, b"_BHRfS_M") },
    Case { name: "an XFS file system", reason: "XFS", make: || carrying(0, b"XFSB") },
    Case { name: "an encrypted volume", reason: "LUKS", make: || carrying(0, b"LUKS\xba\xbe") },
    Case { name: "a Ceph device", reason: "Ceph", make: || carrying(0, b"bluestore block device") },
    Case {
        name: "a member of a firmware RAID",
        reason: "Intel RAID",
        make: || carrying(SIZE - 1024, b"Intel Raid ISM Cfg Sig. "),
    },
    Case {
        name: "a drive with partitions, and one of them",
        reason: "it is a partition",
        make: || {
            let device = Loop::new(SIZE, &["--partscan"])?;
            command("addpart", &[&device.path, "1", "2048", "36864"]).ok()?;
            let part = format!("{}p1", device.path);
            Path::new(&part).exists().then(|| Wrong::at(part).keep(device))
        },
    },
    Case {
        name: "the image behind a loop device",
        reason: "loop device",
        make: || {
            let device = device()?;
            Some(Wrong::at(device.image.to_str()?).keep(device))
        },
    },
    Case {
        name: "a device below a loop device",
        reason: "loop device",
        make: || {
            let device = device()?;
            let upper = Loop::over(Path::new(&device.path), &[])?;
            Some(Wrong::at(&device.path).keep(device).keep(upper))
        },
    },
    Case {
        name: "a write-protected device",
        reason: "read-only",
        make: || {
            let device = Loop::new(SIZE, &["--read-only"])?;
            Some(Wrong::at(&device.path).keep(device))
        },
    },
    Case {
        name: "a device that another test holds",
        reason: "EBUSY",
        make: || {
            let device = device()?;
            let held = support::armed(&device.path, &OpenOptions::default());
            Some(Wrong::at(&device.path).keep(device).keep(held))
        },
    },
    Case { name: "below device mapper", reason: "dm-7", make: || Host::new()?.held_by("dm-7", "") },
    Case {
        name: "a path of a multipath device",
        reason: "dm-0 (multipath)",
        make: || Host::new()?.held_by("dm-0", "mpath-3600508b400105e210000900000490000\n"),
    },
    Case {
        name: "a physical volume in use",
        reason: "dm-1 (LVM)",
        make: || Host::new()?.held_by("dm-1", "LVM-abcdef\n"),
    },
    Case {
        name: "below an open encrypted volume",
        reason: "dm-2 (dm-crypt)",
        make: || Host::new()?.held_by("dm-2", "CRYPT-LUKS2-abcdef\n"),
    },
    Case {
        name: "a member of a running md array",
        reason: "md127",
        make: || Host::new()?.held_by("md127", ""),
    },
    Case {
        name: "a second path to a drive",
        reason: "the same drive",
        make: || {
            let host = Host::new()?.with("device/wwid", "naa.5000000000000001\n");
            host.with_other("sdq", "dev", "65:0\n")
                .with_other("sdq", "device/wwid", "naa.5000000000000001\n")
                .wrong()
        },
    },
    Case {
        name: "two drives of one serial number",
        reason: "the same drive",
        make: || {
            let host = Host::new()?.with("device/serial", "123456789\n");
            host.with_other("sdr", "dev", "65:16\n").with_other("sdr", "device/serial", "123456789\n").wrong()
        },
    },
    Case {
        name: "a btrfs that shows another device number",
        reason: "mounted at /data",
        make: || {
            let host = Host::new()?;
            let mount = format!("30 1 0:44 / /data rw - btrfs {} rw\n", host.device.path);
            host.write("proc/self/mountinfo", &mount);
            host.wrong()
        },
    },
    Case {
        name: "a host that does not report users of devices",
        reason: "cannot determine whether it is in use",
        make: || {
            let host = Host::new()?;
            fs::remove_file(host.path("proc/self/mountinfo")).ok()?;
            host.wrong()
        },
    },
    Case {
        name: "no identity typed",
        reason: "would be lost",
        make: || {
            let device = device()?;
            Some(Wrong::at(&device.path).typing(Typed::Nothing).keep(device))
        },
    },
    Case {
        name: "another serial number typed",
        reason: "would be lost",
        make: || {
            let wrong = Host::new()?.with("device/serial", "S1\n").wrong()?;
            Some(wrong.typing(Typed::This("S2".into())))
        },
    },
    Case {
        name: "the path typed for the identity",
        reason: "would be lost",
        make: || {
            let device = device()?;
            Some(Wrong::at(&device.path).typing(Typed::This(device.path.clone())).keep(device))
        },
    },
    Case {
        name: "another size typed",
        reason: "would be lost",
        make: || {
            let device = device()?;
            let typed = format!("{}:{}", device.kname(), 2 * SIZE);
            Some(Wrong::at(&device.path).typing(Typed::This(typed)).keep(device))
        },
    },
    Case {
        name: "the identity of a neighbouring device",
        reason: "would be lost",
        make: || {
            let (device, other) = (device()?, device()?);
            let typed = format!("{}:{SIZE}", other.kname());
            Some(Wrong::at(&device.path).typing(Typed::This(typed)).keep(device).keep(other))
        },
    },
    Case { name: "another device under the same path", reason: "no longer the device", make: exchanged },
    Case { name: "another medium in the same device", reason: "no longer the device", make: attached_anew },
    Case { name: "a device that was resized", reason: "no longer the device", make: resized },
    Case { name: "a character device", reason: "character device", make: || Some(Wrong::at("/dev/null")) },
    Case {
        name: "a directory",
        reason: "directory",
        make: || in_folder("dir", |path| fs::create_dir(path).ok()),
    },
    Case {
        name: "a pipe",
        reason: "pipe",
        make: || in_folder("pipe", |path| command("mkfifo", &[path.to_str()?]).ok().map(drop)),
    },
    Case {
        name: "a symbolic link to nothing",
        reason: "dangling symbolic link",
        make: || in_folder("link", |path| symlink("nowhere", path).ok()),
    },
    Case {
        name: "a device that is not there",
        reason: "no such device",
        make: || Some(Wrong::at("/dev/no-such-device")),
    },
    Case {
        name: "a file that is too small to be intended",
        reason: "too small",
        make: || in_folder("small", |path| fs::write(path, [1; SMALL]).ok()),
    },
    Case {
        name: "a file that holds something",
        reason: "would be lost",
        make: || {
            Some(in_folder("full", |path| fs::write(path, vec![1; ENOUGH]).ok())?.typing(Typed::Nothing))
        },
    },
];

/// Returns a fingerprint of the target's content, if it can be read.
fn content(path: &str) -> Option<u32> {
    let kind = fs::metadata(path).ok()?.file_type();
    let holds = kind.is_file() || std::os::unix::fs::FileTypeExt::is_block_device(&kind);
    holds.then(|| fingerprint(path))
}

#[test]
fn every_wrong_target_is_refused_and_nothing_changes() {
    let Some(bystander) = device() else { return };
    put(&bystander.path, SIZE / 2, b"precious");
    let before = fingerprint(&bystander.path);
    let mut tried = 0;
    for Case { name, reason, make } in CASES {
        let Some(mut wrong) = make() else {
            support::skip(&format!("{name}: cannot be created here"));
            continue;
        };
        let (held, is_exchanged) = (content(&wrong.path), wrong.meddle.is_some());
        let (message, kind) = match wrong.attempt() {
            Ok(message) => message,
            Err(why) => {
                support::skip(&format!("{name}: {why}"));
                continue;
            }
        };
        assert!(message.contains(reason), "{name}: {message}");
        assert!(matches!(kind, ErrorKind::Refused | ErrorKind::Unusable), "{name}: {kind:?}: {message}");
        // Skip the comparison if the target was replaced, because the replacement is a different target.
        assert!(is_exchanged || content(&wrong.path) == held, "{name}: its content changed");
        tried += 1;
    }
    assert!(fingerprint(&bystander.path) == before, "a neighbouring device changed");
    assert!(CASES.len() >= 45 && tried >= 25, "{tried} of {} were tried", CASES.len());
}
