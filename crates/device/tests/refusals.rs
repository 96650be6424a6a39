//! Wrong targets: each is refused with a helpful message, and not a single byte of it changes.

mod support;

use std::os::unix::net::UnixListener;
use std::path::Path;

use device::{DriveError, ErrorKind, OpenOptions, Refusal, TargetError, Unconfirmed};
use record::{Commands, Workload, Zoned};
use support::{Loop, command, fingerprint, skip};

const SIZE: u64 = 64 << 20;

fn open(path: impl AsRef<Path>) -> Result<device::Drive, DriveError> {
    device::open(path.as_ref().to_str().expect("a printable path"), &OpenOptions::default())
}

/// Arms the target with the correct identity, so that only a refusal can prevent it, and checks for the
/// expected refusal.
#[track_caller]
fn assert_refused(path: &str, expected: impl Fn(&Refusal) -> bool, kind: ErrorKind) {
    let before = fingerprint(path);
    let drive = open(path).expect("something to look at");
    assert!(drive.refusals().iter().any(&expected), "{:?}", drive.refusals());
    let identity = drive.facts().identity.clone();
    let error = drive.arm(Some(&identity)).expect_err("a refusal");
    let DriveError::Refused { refusals, .. } = &error else { panic!("{error:?}") };
    assert!(refusals.iter().any(&expected), "{refusals:?}");
    assert_eq!(error.kind(), kind, "{error}");
    assert_eq!(fingerprint(path), before, "{error}");
}

fn is_signature(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::Signature { .. })
}

/// Runs a preparatory step; skips the test if a program or a permission is missing.
fn prepared(program: &str, arguments: &[&str]) -> bool {
    command(program, arguments).map_err(|reason| skip(&reason)).is_ok()
}

#[track_caller]
fn assert_unusable(path: impl AsRef<Path>, expected: &str) {
    let error = open(&path).expect_err(expected);
    assert_eq!(error.kind(), ErrorKind::Unusable, "{error}");
    assert!(error.to_string().contains(expected), "{error}");
    assert!(error.to_string().contains(path.as_ref().to_str().expect("a path")), "{error}");
}

#[test]
fn targets_without_zones_refuse_workloads_for_zones_before_they_run() {
    let file = support::file_of(SIZE);
    let drive = open(file.path()).expect("a file");
    let commands = Commands { zoned: Some(Zoned::default()), ..Commands::default() };
    let reads = Workload { read_percent: 100, commands: Some(Box::new(commands)), ..support::workload(SIZE) };
    let is_refused = |checked: Result<(), DriveError>| {
        let error = checked.expect_err("a file has no zones");
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        assert!(error.to_string().contains("not a block device"), "{error}");
    };
    is_refused(device::check(&reads, drive.facts()));
    let reader = drive.open_to_read().expect("a file that can be read");
    is_refused(reader.check_support(&reads));
    reader.check_support(&Workload { commands: None, ..reads }).expect("plain reads");
}

#[test]
fn mounted_file_systems() {
    let Some(device) = Loop::new(SIZE, &[]) else { return };
    if !prepared("mkfs.ext4", &["-q", &device.path]) {
        return;
    }
    assert_refused(&device.path, is_signature, ErrorKind::Refused);
    let dir = support::directory();
    let at = dir.path().to_str().expect("a path");
    if !prepared("mount", &["-o", "ro", &device.path, at]) {
        return;
    }
    let mounted = |r: &Refusal| matches!(r, Refusal::Mounted { at: place, .. } if place == at);
    let checked = std::panic::catch_unwind(|| assert_refused(&device.path, mounted, ErrorKind::Refused));
    command("umount", &[at]).expect("an end of the mount");
    checked.expect("a refusal of the mounted device");
}

#[test]
fn swap_in_use() {
    let Some(device) = Loop::new(SIZE, &[]) else { return };
    if !prepared("mkswap", &[&device.path]) {
        return;
    }
    assert_refused(&device.path, is_signature, ErrorKind::Refused);
    if !prepared("swapon", &[&device.path]) {
        return;
    }
    let swap = |r: &Refusal| matches!(r, Refusal::Swap { .. });
    let checked = std::panic::catch_unwind(|| assert_refused(&device.path, swap, ErrorKind::Refused));
    command("swapoff", &[&device.path]).expect("an end of the swapping");
    checked.expect("a refusal of the swap device");
}

#[test]
fn partitions_and_partition_tables() {
    let Some(device) = Loop::new(SIZE, &["--partscan"]) else { return };
    // One entry of type 83h from sector 2048, with a length of 32 MiB.
    let mut mbr = [0; 512];
    mbr[450] = 0x83;
    mbr[454..458].copy_from_slice(&2048u32.to_le_bytes());
    mbr[458..462].copy_from_slice(&(SIZE as u32 / 1024).to_le_bytes());
    mbr[510..].copy_from_slice(&[0x55, 0xaa]);
    std::fs::OpenOptions::new()
        .write(true)
        .open(&device.path)
        .and_then(|mut d| std::io::Write::write_all(&mut d, &mbr))
        .expect("a partition table");
    assert_refused(&device.path, is_signature, ErrorKind::Refused);
    if !prepared("addpart", &[&device.path, "1", "2048", "65536"]) {
        return;
    }
    let names = format!("{}p1", device.kname());
    assert_refused(
        &device.path,
        |r| matches!(r, Refusal::Partitions { names: found } if *found == names),
        ErrorKind::Refused,
    );
    let part = format!("/dev/{names}");
    if !Path::new(&part).exists() {
        return skip("no node for the partition");
    }
    assert_refused(&part, |r| matches!(r, Refusal::IsPartition { .. }), ErrorKind::Refused);
}

#[test]
fn read_only_devices() {
    let Some(device) = Loop::new(SIZE, &["--read-only"]) else { return };
    assert_refused(&device.path, |r| *r == Refusal::ReadOnly, ErrorKind::Unusable);
}

#[test]
fn lower_devices_must_be_writable() {
    let Some(lower) = Loop::new(SIZE, &["--read-only"]) else { return };
    // losetup(8) makes a device read-only only if the lower object is a read-only file, not a read-only device.
    let Some(upper) = Loop::over(Path::new(&lower.path), &[]) else { return };
    let below = |r: &Refusal| matches!(r, Refusal::ReadOnlyBelow { what } if *what == lower.kname());
    assert_refused(&upper.path, below, ErrorKind::Unusable);
}

#[test]
fn devices_and_files_that_others_hold() {
    let Some(device) = Loop::new(SIZE, &[]) else { return };
    let first = support::armed(&device.path, &OpenOptions::default());
    assert_refused(&device.path, |r| *r == Refusal::Busy, ErrorKind::Refused);
    drop(first);
    drop(support::armed(&device.path, &OpenOptions::default()));

    let image = device.image.to_str().expect("a path").to_owned();
    let by = device.kname().to_owned();
    assert_refused(&image, |r| *r == Refusal::LoopBacking { by: by.clone() }, ErrorKind::Refused);
    drop(device);

    let file = support::file();
    file.open().set_len(SIZE).expect("a length");
    let path = file.path().to_str().expect("a path");
    let _first = support::armed(path, &OpenOptions::default());
    assert_refused(path, |r| *r == Refusal::Busy, ErrorKind::Refused);
}

#[test]
fn erasing_needs_the_identity() {
    let Some(device) = Loop::new(SIZE, &[]) else { return };
    let before = fingerprint(&device.path);
    assert!(open(&device.path).expect("a device").needs_erase_confirmation());
    for wrong in [None, Some("loop99:1"), Some(""), Some(device.path.as_str())] {
        let error = open(&device.path).expect("a device").arm(wrong).expect_err("no confirmation");
        assert_eq!(error.kind(), ErrorKind::Refused);
        let DriveError::Unconfirmed(Unconfirmed::Target { identity, given, .. }) = error else {
            panic!("{error:?}")
        };
        assert_eq!((identity, given.as_deref()), (format!("{}:{SIZE}", device.kname()), wrong));
    }
    assert_eq!(fingerprint(&device.path), before);
}

#[test]
fn another_device_under_the_same_name_is_noticed() {
    let Some(mut device) = Loop::new(SIZE, &[]) else { return };
    let drive = open(&device.path).expect("a device");
    let identity = drive.facts().identity.clone();
    let image = support::file();
    image.open().set_len(SIZE).expect("a length");
    if let Err(reason) = device.exchange(image.path()) {
        return skip(&reason);
    }
    let error = drive.arm(Some(&identity)).expect_err("another device");
    assert!(error.to_string().contains("no longer the device"), "{error}");
}

#[test]
fn unsuitable_targets_are_refused() {
    let dir = support::directory();
    assert_unusable("/dev/no-such-device", "no such device");
    assert_unusable(dir.path().join("missing"), "no such file");
    assert_unusable(dir.path(), "directory");
    assert_unusable("/dev/null", "character device");
    let _socket = UnixListener::bind(dir.path().join("socket")).expect("a socket");
    assert_unusable(dir.path().join("socket"), "socket");
    if prepared("mkfifo", &[dir.path().join("pipe").to_str().expect("a path")]) {
        assert_unusable(dir.path().join("pipe"), "pipe");
    }
    std::fs::write(dir.path().join("small"), [1; 4096]).expect("a file");
    assert_unusable(dir.path().join("small"), "too small");
    std::fs::write(dir.path().join("empty"), "").expect("a file");
    assert_unusable(dir.path().join("empty"), "no capacity");
    let Some(device) = Loop::new(1 << 20, &[]) else { return };
    assert_unusable(&device.path, "too small");
}

#[test]
fn options_of_other_targets() {
    let scaled = OpenOptions { scale: Some("1/16".into()), ..OpenOptions::default() };
    let file = support::file();
    let path = file.path().to_str().expect("a path");
    assert_eq!(device::open(path, &scaled).expect_err("a scale").kind(), ErrorKind::Invalid);
    let Some(device) = Loop::new(SIZE, &[]) else { return };
    let sized = OpenOptions { size_bytes: Some(SIZE), ..OpenOptions::default() };
    let error = device::open(&device.path, &sized).expect_err("a size");
    assert!(matches!(error, DriveError::Target { problem: TargetError::SizeOfDrive, .. }), "{error:?}");
}

#[test]
fn files_need_confirmation_only_if_they_hold_data() {
    let dir = support::directory();
    let path = dir.path().join("target");
    let text = path.to_str().expect("a path");
    let options = OpenOptions { size_bytes: Some(SIZE), ..OpenOptions::default() };
    let planned = device::open(text, &options).expect("a file to be");
    assert!(!planned.needs_erase_confirmation() && planned.refusals().is_empty());
    assert!(!path.exists(), "looking creates nothing");
    let armed = planned.arm(None).expect("a new file");
    assert_eq!(std::fs::metadata(&path).expect("a file").len(), SIZE);
    drop(armed);
    assert!(!open(&path).expect("a file").needs_erase_confirmation(), "only a hole");

    std::fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .and_then(|f| std::os::unix::fs::FileExt::write_all_at(&f, b"precious", SIZE / 2))
        .expect("some data");
    let before = fingerprint(&path);
    let drive = open(&path).expect("a file");
    assert!(drive.needs_erase_confirmation());
    let error = drive.arm(None).expect_err("data");
    let unconfirmed = Unconfirmed::Target { target: text.into(), identity: "target".into(), given: None };
    assert!(matches!(&error, DriveError::Unconfirmed(error) if *error == unconfirmed), "{error:?}");
    assert_eq!(open(&path).expect("a file").arm(Some("other")).expect_err("data").kind(), ErrorKind::Refused);
    assert_eq!(fingerprint(&path), before);
    assert!(open(&path).expect("a file").arm(Some("target")).is_ok());
}

#[test]
fn files_without_space_are_not_created() {
    let dir = support::directory();
    let path = dir.path().join("huge");
    let options = OpenOptions { size_bytes: Some(1 << 50), ..OpenOptions::default() };
    let drive = device::open(path.to_str().expect("a path"), &options).expect("a file to be");
    let error = drive.arm(None).expect_err("no room for a PiB");
    assert_eq!(error.kind(), ErrorKind::Unusable);
    assert!(error.to_string().contains("free"), "{error}");
    assert!(!path.exists());
}

#[test]
fn symbolic_links_are_followed_to_the_device() {
    let Some(device) = Loop::new(SIZE, &[]) else { return };
    let dir = support::directory();
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(&device.path, &link).expect("a link");
    let drive = open(&link).expect("a device");
    assert_eq!(drive.facts().identity, format!("{}:{SIZE}", device.kname()));
    assert_eq!(drive.facts().path, link.to_str().expect("a path"));
}

/// The drive is only inspected: no test may ever arm one of the machine's own drives.
#[test]
fn the_drive_under_the_root_directory() {
    let Ok(source) = command("findmnt", &["--noheadings", "--output", "SOURCE", "/"]) else {
        return skip("no findmnt");
    };
    if !source.starts_with("/dev/") || !Path::new(&source).exists() {
        return skip("the root directory is not on a block device");
    }
    let drive = match open(&source) {
        Ok(drive) => drive,
        Err(reason) => return skip(&reason.to_string()),
    };
    let refusals = drive.refusals();
    let root = |r: &Refusal| matches!(r, Refusal::Mounted { at, .. } if at == "/");
    assert!(refusals.iter().any(root), "{refusals:?}");
}
