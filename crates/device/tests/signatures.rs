//! File systems, volume managers and labels as created by their own tools. Devices must be refused while a
//! signature or a backup copy of it exists, and accepted after the instructions in the refusal have been followed
//! to the letter.

mod support;

use std::fs::File;
use std::os::unix::fs::FileExt;

use device::{OpenOptions, Refusal, Signature};
use rustix::fs::SeekFrom;
use support::{Loop, command, skip};

const MIB: u64 = 1 << 20;

/// Metadata that a tool creates on a device.
struct Case {
    name: &'static str,
    /// Names that the refusal may use for the metadata.
    called: &'static [&'static str],
    bytes: u64,
    program: &'static str,
    /// `DEV` stands for the device.
    arguments: &'static [&'static str],
    /// Copies that remain after the primary signature is wiped.
    leaves: Leaves,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaves {
    Nothing,
    /// Copies remain after `wipefs -a`.
    Copies,
    /// Copies remain after this many bytes at the start are zeroed; `wipefs -a` would also remove the copies.
    CopiesOfStart(usize),
}
use Leaves::{Copies, CopiesOfStart, Nothing};

const fn case(
    name: &'static str,
    called: &'static [&'static str],
    mib: u64,
    program: &'static str,
    arguments: &'static [&'static str],
    leaves: Leaves,
) -> Case {
    Case { name, called, bytes: mib * MIB, program, arguments, leaves }
}

const EXT: &[&str] = &["ext4"];

#[rustfmt::skip]
const CASES: &[Case] = &[
    case("ext4 in blocks of 1 KiB", EXT, 64, "mkfs.ext4", &["-q", "-b", "1024", "DEV"], Copies),
    case("ext4 in blocks of 2 KiB", EXT, 128, "mkfs.ext4", &["-q", "-b", "2048", "DEV"], Copies),
    case("ext4 in blocks of 4 KiB", EXT, 512, "mkfs.ext4", &["-q", "-b", "4096", "DEV"], Copies),
    case("ext2 without sparse_super", EXT, 64, "mke2fs", &["-q", "-t", "ext2", "-O", "^sparse_super,^resize_inode", "-b", "1024", "DEV"], Copies),
    case("XFS", &["XFS"], 320, "mkfs.xfs", &["-q", "-f", "DEV"], Copies),
    case("XFS with 7 groups", &["XFS"], 640, "mkfs.xfs", &["-q", "-f", "-d", "agcount=7", "DEV"], Copies),
    case("XFS with groups of 128 MiB", &["XFS"], 800, "mkfs.xfs", &["-q", "-f", "-d", "agsize=128m", "DEV"], Copies),
    case("btrfs", &["btrfs"], 256, "mkfs.btrfs", &["-q", "-f", "DEV"], Copies),
    case("F2FS", &["F2FS"], 128, "mkfs.f2fs", &["-f", "DEV"], Copies),
    case("NTFS", &["NTFS"], 64, "mkfs.ntfs", &["-F", "-Q", "DEV"], Copies),
    case("FAT32", &["FAT"], 64, "mkfs.vfat", &["-F", "32", "DEV"], Copies),
    case("FAT16", &["FAT"], 64, "mkfs.vfat", &["-F", "16", "DEV"], Nothing),
    case("exFAT", &["exFAT"], 64, "mkfs.exfat", &["DEV"], Copies),
    case("JFS", &["JFS"], 64, "mkfs.jfs", &["-q", "DEV"], Copies),
    case("NILFS2", &["NILFS2"], 160, "mkfs.nilfs2", &["-f", "DEV"], CopiesOfStart(4096)),
    case("UDF", &["UDF", "MBR"], 64, "mkfs.udf", &["DEV"], Copies),
    case("ReiserFS", &["ReiserFS"], 64, "mkfs.reiserfs", &["-q", "-ff", "DEV"], Nothing),
    case("minix", &["minix"], 20, "mkfs.minix", &["DEV"], Nothing),
    case("minix 2", &["minix"], 20, "mkfs.minix", &["-2", "DEV"], Nothing),
    case("minix 3", &["minix"], 20, "mkfs.minix", &["-3", "DEV"], Nothing),
    case("SCO BFS", &["SCO BFS"], 20, "mkfs.bfs", &["DEV"], Nothing),
    case("HFS", &["HFS"], 20, "hformat", &["-f", "DEV"], Copies),
    case("swap", &["swap"], 20, "mkswap", &["DEV"], Nothing),
    case("GPT", &["GPT", "MBR"], 64, "sgdisk", &["-n", "1", "DEV"], CopiesOfStart(1024)),
    case("Sun label", &["Sun"], 64, "sh", &["-c", "echo 'label: sun' | sfdisk -q --no-reread --no-tell-kernel DEV"], Nothing),
    case("SGI label", &["SGI"], 64, "sh", &["-c", "echo 'label: sgi' | sfdisk -q --no-reread --no-tell-kernel DEV"], Nothing),
    case("LUKS1", &["LUKS"], 64, "cryptsetup", &["luksFormat", "--type", "luks1", "-q", "--pbkdf-force-iterations", "1000", "DEV", "/proc/version"], Nothing),
    case("LUKS2", &["LUKS"], 64, "cryptsetup", &["luksFormat", "--type", "luks2", "-q", "--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000", "DEV", "/proc/version"], CopiesOfStart(4096)),
    case("LUKS2 with a header of 128 KiB", &["LUKS"], 64, "cryptsetup", &["luksFormat", "--type", "luks2", "--luks2-metadata-size", "128k", "-q", "--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000", "DEV", "/proc/version"], CopiesOfStart(4096)),
    case("LUKS2 with a header of 4 MiB", &["LUKS"], 64, "cryptsetup", &["luksFormat", "--type", "luks2", "--luks2-metadata-size", "4m", "--luks2-keyslots-size", "8m", "-q", "--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000", "DEV", "/proc/version"], CopiesOfStart(4096)),
    case("LVM", &["LVM"], 64, "pvcreate", &["-q", "-ff", "-y", "--devices", "DEV", "DEV"], Copies),
    case("LVM in the last sector that is looked at", &["LVM"], 64, "pvcreate", &["-q", "-ff", "-y", "--labelsector", "3", "--devices", "DEV", "DEV"], Copies),
    case("bcache", &["bcache"], 64, "make-bcache", &["-B", "DEV"], Nothing),
    case("EROFS", &["EROFS"], 64, "mkfs.erofs", &["DEV", "/etc/apt"], Nothing),
    case("squashfs", &["squashfs"], 64, "mksquashfs", &["/etc/apt", "DEV", "-quiet", "-noappend"], Nothing),
];

fn signatures(path: &str) -> Vec<Signature> {
    let drive = device::open(path, &OpenOptions::default()).expect("a device");
    let only = |refusal| match refusal {
        Refusal::Signature(signature) => signature,
        other => panic!("{other:?}"),
    };
    drive.refusals().into_iter().map(only).collect()
}

fn is_copy(signature: &Signature) -> bool {
    matches!(signature, Signature::Known { is_copy: true, .. } | Signature::Copies { .. })
}

/// Returns all data on a device, except for holes.
fn content(device: &Loop) -> Vec<(u64, Vec<u8>)> {
    File::open(&device.path).and_then(|node| node.sync_all()).expect("what was written is in the image");
    let (image, mut found) = (File::open(&device.image).expect("the image"), Vec::new());
    let mut at = 0;
    while let Ok(start) = rustix::fs::seek(&image, SeekFrom::Data(at)) {
        at = rustix::fs::seek(&image, SeekFrom::Hole(start)).expect("the end of the data");
        let mut block = vec![0; (at - start) as usize];
        image.read_exact_at(&mut block, start).expect("a read");
        found.push((start, block));
    }
    found
}

/// Checks that arming fails without writing a byte.
#[track_caller]
fn assert_refused(name: &str, device: &Loop) {
    let before = content(device);
    let drive = device::open(&device.path, &OpenOptions::default()).expect("a device");
    let identity = drive.facts().identity.clone();
    drive.arm(Some(&identity)).expect_err(name);
    assert!(content(device) == before, "{name}");
}

/// Follows the instructions in the refusals of copies, word for word, until no copy is left.
fn obey(name: &str, path: &str) {
    for _ in 0..4 {
        for signature in signatures(path) {
            assert!(is_copy(&signature), "{name}: {signature}");
            let text = signature.to_string();
            let halves =
                text.split_once("clear the copy with ").or_else(|| text.split_once("clear the copies with "));
            let (_, instruction) = halves.expect("a command");
            // If there are several copies, the whole device can be discarded instead.
            let instruction = instruction.split(", or discard").next().expect("a first part");
            command("sh", &["-c", instruction]).expect(instruction);
        }
        if signatures(path).is_empty() {
            return;
        }
    }
    panic!("{name}: {:?}", signatures(path));
}

/// Returns false if the program or the device is not available.
fn tried(case: &Case) -> bool {
    let Case { name, called, bytes, program, arguments, leaves } = case;
    let Some(device) = Loop::new(*bytes, &[]) else { return false };
    let path = &device.path;
    let arguments: Vec<String> = arguments.iter().map(|argument| argument.replace("DEV", path)).collect();
    if let Err(reason) = command(program, &arguments.iter().map(String::as_str).collect::<Vec<_>>()) {
        skip(&format!("{name}: {reason}"));
        return false;
    }
    let found = signatures(path);
    assert!(!found.is_empty(), "{name}");
    for signature in &found {
        let Signature::Known { of, is_copy: false, .. } = signature else { panic!("{name}: {signature}") };
        assert!(called.iter().any(|name| of.name().contains(name)), "{name}: {signature}");
    }
    assert_refused(name, &device);
    match leaves {
        Nothing | Copies => drop(command("wipefs", &["-a", path]).expect("wipefs")),
        CopiesOfStart(length) => {
            let device = File::options().write(true).open(path).expect("the device");
            device.write_all_at(&vec![0; *length], 0).expect("zeros");
        }
    }
    if *leaves != Nothing {
        let left = signatures(path);
        assert!(!left.is_empty() && left.iter().all(is_copy), "{name}: {left:?}");
        assert_refused(name, &device);
        obey(name, path);
    }
    assert_eq!(signatures(path), [], "{name}");
    drop(support::armed(path, &OpenOptions::default()));
    true
}

#[test]
fn signatures_are_refused_until_the_instructions_are_followed() {
    let tried = CASES.iter().filter(|case| tried(case)).count();
    eprintln!("{tried} of {} were tried", CASES.len());
}

/// libblkid recognizes signatures that our own tables do not contain; these are also refused.
#[test]
fn signatures_known_only_to_libblkid_are_refused() {
    let Some(device) = Loop::new(20 * MIB, &[]) else { return };
    let node = File::options().write(true).open(&device.path).expect("the device");
    node.write_all_at(b"\x2b\x55\x44", 2048).expect("the magic of Xenix");
    let found = signatures(&device.path);
    if found.is_empty() {
        return skip("no blkid that knows Xenix");
    }
    let [Signature::SecondOpinion { types, .. }] = &found[..] else { panic!("{found:?}") };
    assert!(types.iter().any(|name| name == "xenix"), "{types:?}");
    assert_refused("Xenix", &device);
}

/// Plateau's own preconditioning leaves a drive in this state, so such a drive must be accepted.
#[test]
fn a_drive_full_of_random_data_is_accepted() {
    let Some(device) = Loop::new(16 * MIB, &[]) else { return };
    for seed in 0..3 {
        let mut armed = support::armed(&device.path, &OpenOptions::default());
        let mut workload = support::workload(16 * MIB);
        (workload.seed, workload.access) = (seed, record::Access::Sequential);
        (workload.block_bytes, workload.until) = (1 << 17, record::Until::AmountBytes(16 * MIB));
        support::finish(&mut armed, &workload);
        drop(armed);
        assert_eq!(signatures(&device.path), [], "seed {seed}");
    }
}
