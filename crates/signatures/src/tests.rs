//! Tests each row and each check on raw bytes. The tests of `crates/device` check signatures written by real
//! tools.

use super::*;
use std::io::Write;

use stdx::units::{KIB, MIB};

const CAPACITY: u64 = (20 << 20) + 4096;

fn device() -> File {
    let file = tempfile::tempfile().expect("a temporary file");
    file.set_len(CAPACITY).expect("its length");
    file
}

fn put(file: &File, at: u64, bytes: &[u8]) {
    file.write_all_at(bytes, at).expect("a write");
}

fn probed(file: &File) -> Vec<Found> {
    probe(file, file.metadata().expect("metadata").len()).expect("a probe")
}

/// Returns the name of each signature found, whether it is a copy, and its offset.
fn seen(file: &File) -> Vec<(&'static str, bool, u64)> {
    probed(file).into_iter().map(|one| (one.format.name, one.is_copy, one.at_bytes)).collect()
}

fn le32(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn every_row_is_found_at_each_of_its_places() {
    for row in ROWS {
        for &at in row.at {
            let at_bytes = match at {
                At::Start(bytes) => bytes,
                At::End(bytes) => CAPACITY - bytes,
                At::RoundedEnd(bytes, unit) => CAPACITY / unit * unit - bytes,
            };
            let file = device();
            // Some copies exist only on large devices, so use a sparse file.
            if matches!(at, At::Start(_)) {
                file.set_len(CAPACITY.max(at_bytes + 4096)).expect("a length");
            }
            put(&file, at_bytes, row.magic);
            let expected = (row.format.name, row.is_copy, at_bytes);
            assert!(seen(&file).contains(&expected), "{expected:?}: {:?}", seen(&file));
            put(&file, at_bytes, &vec![0; row.magic.len()]);
            assert_eq!(seen(&file), [], "{expected:?}");
        }
    }
}

#[test]
fn magics_are_long_enough_for_random_data() {
    let places = |length| ROWS.iter().filter(move |row| row.magic.len() == length).map(|row| row.at.len());
    assert!(ROWS.iter().all(|row| row.magic.len() >= 4));
    assert!(places(4).sum::<usize>() <= 80, "{}", places(4).sum::<usize>());
}

#[test]
fn blank_devices_carry_nothing() {
    assert_eq!(probed(&device()), []);
}

/// 500 drives full of random data. The seed is fixed, so the test either always passes or never does.
#[test]
fn random_devices_carry_nothing() {
    const LENGTH: usize = 8 << 20;
    let mut noise = vec![0; LENGTH + 500 * 512];
    stdx::Rng::from_seed(9).fill(&mut noise);
    for drive in 0..500 {
        let device = Bytes(&noise[drive * 512..][..LENGTH]);
        assert_eq!(probe(&device, LENGTH as u64).expect("a probe"), [], "drive {drive}");
    }
}

/// A device in memory.
struct Bytes<'a>(&'a [u8]);

impl FileExt for Bytes<'_> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = self.0.get(offset as usize..).unwrap_or_default();
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    }

    fn write_at(&self, _: &[u8], _: u64) -> io::Result<usize> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }
}

#[test]
fn weak_magics_need_their_second_condition() {
    let file = device();
    put(&file, 1080, b"\x53\xef");
    put(&file, 510, b"\x55\xaa");
    assert_eq!(seen(&file), [("an ext2, ext3 or ext4 file system", false, 1080)]);
    put(&file, 1100, &[7; 4]);
    assert_eq!(seen(&file), [], "no such revision");
    put(&file, 450, &[0x83, 0, 0, 0, 8, 0, 0, 0, 9]);
    assert_eq!(seen(&file), [("an MBR partition table", false, 510)]);
    put(&file, 446, &[1]);
    assert_eq!(seen(&file), [], "an entry that is neither active nor inactive");
}

/// A complete signature with a weak magic number, and the byte that invalidates it.
struct Weak {
    name: &'static str,
    is_copy: bool,
    at_bytes: u64,
    writes: Vec<(u64, Vec<u8>)>,
    breaks: u64,
}

fn weak_ones() -> Vec<Weak> {
    [weak_file_systems(), weak_labels(), weak_members()].into_iter().flatten().collect()
}

fn weak_file_systems() -> Vec<Weak> {
    let nilfs = [le32(&[2]), vec![0, 0, 0x34, 0x34], vec![0x18, 1, 0, 0], le32(&[1, 2, 2])].concat();
    let minix_1 = [60u16, 300, 1, 1, 5, 0, 0, 0x10, 0x138f, 1].map(u16::to_le_bytes).concat();
    let minix_2 = [60u16, 300, 1, 1, 5, 0, 0, 0x10, 0x2478, 1].map(u16::to_be_bytes).concat();
    let minix_3 = [60u16, 0, 0, 1, 1, 5, 0, 0, 0, 0, 300, 0, 0x4d5a, 0, 4096].map(u16::to_le_bytes).concat();
    let minix = |bytes: Vec<u8>, at_bytes, breaks| Weak {
        name: "a minix file system",
        is_copy: false,
        at_bytes,
        writes: vec![(1024, bytes)],
        breaks,
    };
    let hfs = |is_copy, at: u64| Weak {
        name: "an HFS file system",
        is_copy,
        at_bytes: at,
        writes: vec![(at, b"BD".to_vec()), (at + 14, vec![0, 3, 0, 0, 0, 0, 0, 0, 2, 0]), (at + 36, vec![4])],
        breaks: at + 15,
    };
    vec![
        minix(minix_1, 1040, 1034),
        minix(minix_2, 1040, 1034),
        minix(minix_3, 1048, 1036),
        hfs(false, 1024),
        hfs(true, CAPACITY - 1024),
        Weak {
            name: "a NILFS2 file system",
            is_copy: false,
            at_bytes: 1030,
            writes: vec![(1024, nilfs.clone())],
            breaks: 1047,
        },
        Weak {
            name: "a NILFS2 file system",
            is_copy: true,
            at_bytes: CAPACITY - 4096 + 6,
            writes: vec![(CAPACITY - 4096, nilfs)],
            breaks: CAPACITY - 4096 + 23,
        },
        Weak {
            name: "an LVM1 physical volume",
            is_copy: false,
            at_bytes: 0,
            writes: vec![(0, b"HM\x02\0".to_vec())],
            breaks: 2,
        },
    ]
}

/// Stores the sum of `sector` at `at`.
fn with_sum(mut sector: Vec<u8>, at: usize, sum: &dyn Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let sum = sum(&sector);
    sector[at..at + sum.len()].copy_from_slice(&sum);
    sector
}

/// Returns labels with a checksum over the first sector.
fn weak_labels() -> Vec<Weak> {
    let mut sun = vec![0; 512];
    sun[..5].copy_from_slice(b"Linux");
    sun[508..510].copy_from_slice(&[0xda, 0xbe]);
    let sun = with_sum(sun, 510, &|sector| {
        sector
            .chunks(2)
            .fold(0, |sum, pair| sum ^ u16::from_be_bytes([pair[0], pair[1]]))
            .to_be_bytes()
            .into()
    });
    let mut sgi = vec![0; 512];
    sgi[..8].copy_from_slice(&[0x0b, 0xe5, 0xa9, 0x41, 0, 0, 0, 1]);
    let sgi = with_sum(sgi, 504, &|sector| {
        let words = sector.chunks(4).map(|w| u32::from_be_bytes([w[0], w[1], w[2], w[3]]));
        words.fold(0, u32::wrapping_add).wrapping_neg().to_be_bytes().into()
    });
    let label = |name, bytes, at_bytes| Weak {
        name,
        is_copy: false,
        at_bytes,
        writes: vec![(0, bytes)],
        breaks: 100,
    };
    vec![label("a Sun disk label", sun, 508), label("an SGI disk label", sgi, 0)]
}

/// Returns firmware RAID members, with a checksum over the last sector.
fn weak_members() -> Vec<Weak> {
    let end = CAPACITY - 512;
    let mut silicon = vec![0; 512];
    silicon[0x60..0x64].copy_from_slice(&[0, 0, 0, 0x2f]);
    silicon[0x116] = 1;
    let silicon =
        with_sum(silicon, 0x13e, &|sector| sum_le16(&sector[..0x13e]).wrapping_neg().to_le_bytes().into());
    let jmicron = with_sum([b"JM\x01\x02".to_vec(), vec![0; 124]].concat(), 4, &|sector| {
        sum_le16(sector).wrapping_neg().to_le_bytes().into()
    });
    let via = [
        vec![0x55, 0xaa, 1],
        vec![7; 47],
        vec![(0x55u8).wrapping_add(0xaa).wrapping_add(1).wrapping_add((47u32 * 7) as u8)],
    ]
    .concat();
    let at_end = |name, bytes, at_bytes, breaks| Weak {
        name,
        is_copy: false,
        at_bytes: end + at_bytes,
        writes: vec![(end, bytes)],
        breaks: end + breaks,
    };
    vec![
        at_end("a member of a Silicon Image RAID", silicon, 0x60, 0x20),
        at_end("a member of a JMicron RAID", jmicron, 0, 0x40),
        at_end("a member of a VIA RAID", via, 0, 20),
    ]
}

fn sum_le16(bytes: &[u8]) -> u16 {
    bytes.chunks(2).fold(0, |sum, pair| sum.wrapping_add(u16::from_le_bytes([pair[0], pair[1]])))
}

#[test]
fn each_weak_magic_counts_only_if_its_condition_holds() {
    for Weak { name, is_copy, at_bytes, writes, breaks } in weak_ones() {
        let file = device();
        writes.iter().for_each(|(at, bytes)| put(&file, *at, bytes));
        assert_eq!(seen(&file), [(name, is_copy, at_bytes)]);
        let mut byte = [0];
        file.read_exact_at(&mut byte, breaks).expect("a byte");
        put(&file, breaks, &[byte[0] ^ 0x55]);
        assert_eq!(seen(&file), [], "{name} with another byte {breaks}");
    }
}

/// Writes a group's ext4 superblock.
fn put_ext(file: &File, at: u64, log_block: u32, group: u16) {
    put(file, at + 24, &le32(&[log_block]));
    put(file, at + 56, b"\x53\xef");
    put(file, at + 76, &le32(&[1]));
    put(file, at + 90, &group.to_le_bytes());
}

#[test]
fn backups_of_ext_are_found_in_their_groups() {
    let cases: [(u32, u64, u16); 6] = [
        (0, 8193 * KIB, 1),
        (0, (1 + 8192 * 3) * KIB, 3),
        (1, 32 * MIB, 1),
        (2, 128 * MIB, 1),
        (2, 49 * 128 * MIB, 49),
        (6, 8 * 64 * KIB * 64 * KIB, 1),
    ];
    for (log_block, at, group) in cases {
        let file = device();
        file.set_len(at + CAPACITY).expect("a length");
        put_ext(&file, at, log_block, group);
        assert_eq!(
            seen(&file),
            [("an ext2, ext3 or ext4 file system", true, at + 56)],
            "{log_block} {group}"
        );
        put(&file, at + 90, &[9]);
        assert_eq!(seen(&file), [], "a copy of another group");
        put_ext(&file, at, log_block, group);
        put_ext(&file, 1024, log_block, 0);
        assert_eq!(
            seen(&file),
            [("an ext2, ext3 or ext4 file system", false, 1080)],
            "copies are omitted while the primary exists"
        );
    }
}

fn put_xfs(file: &File, at: u64, group_blocks: u32, groups: u32) {
    put(file, at, b"XFSB\0\0\x10\0");
    put(file, at + 84, &[group_blocks.to_be_bytes(), groups.to_be_bytes()].concat());
    put(file, at + 102, &512u16.to_be_bytes());
    put(file, at + 120, &[12, 9]);
}

#[test]
fn copies_of_xfs_are_found_where_their_groups_begin() {
    let blocks = 100 * MIB / 4096;
    for (groups, group_blocks) in [(4, blocks / 4), (4, 4096), (7, blocks.div_ceil(7)), (64, blocks / 64)] {
        let file = device();
        file.set_len(100 * MIB).expect("a length");
        for group in 1..groups {
            put_xfs(&file, group * group_blocks * 4096, group_blocks as u32, groups as u32);
        }
        let found = seen(&file);
        assert_eq!(found.len() as u64, (groups - 1).min(16), "{groups} of {group_blocks}: {found:?}");
        // Clearing the reported copies repeatedly must clear all of them.
        for _ in 0..groups.div_ceil(16) {
            for (name, is_copy, at_bytes) in seen(&file) {
                assert_eq!((name, is_copy), ("an XFS file system", true));
                put(&file, at_bytes, &[0; 4]);
            }
        }
        assert_eq!(seen(&file), []);
        let mut magic = [0; 4];
        for group in 1..groups {
            file.read_exact_at(&mut magic, group * group_blocks * 4096).expect("four bytes");
            assert_eq!(magic, [0; 4], "group {group}");
        }
    }
}

#[test]
fn every_label_of_zfs_is_found_by_its_ring() {
    let file = device();
    let aligned = CAPACITY / (256 * KIB) * 256 * KIB;
    for (label, is_copy) in
        [(0, false), (256 * KIB, false), (aligned - 512 * KIB, true), (aligned - 256 * KIB, true)]
    {
        put(&file, label + 130 * KIB, b"\x0c\xb1\xba\0\0\0\0\0");
        let ring =
            Found { format: formats::ZFS, is_copy, at_bytes: label + 128 * KIB, length_bytes: 128 * KIB };
        assert_eq!(probed(&file), [ring]);
        put(&file, label + 130 * KIB, &[0; 8]);
    }
}

#[test]
fn every_anchor_of_udf_is_found() {
    for (sector_bytes, sector) in
        [(2048, 256), (512, 256), (512, CAPACITY / 512 - 1), (4096, CAPACITY / 4096 - 257)]
    {
        let file = device();
        let mut tag = [2, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        tag[12..].copy_from_slice(&(sector as u32).to_le_bytes());
        tag[4] = tag.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        put(&file, sector * sector_bytes, &tag);
        assert_eq!(seen(&file), [("a UDF file system", true, sector * sector_bytes)]);
        put(&file, sector * sector_bytes + 12, &[tag[12] ^ 1]);
        assert_eq!(seen(&file), [], "an anchor for another location");
    }
}

#[test]
fn signatures_found_by_both_are_reported_once() {
    let found = [Found::primary(formats::EXT, 1080, 2)];
    let reports = |names: &[&str]| Opinion::Content(names.iter().map(|name| (*name).to_owned()).collect());
    let second = |opinion, found: &[Found]| {
        beyond(found, opinion, "/dev/x").map(|finding| match finding {
            Finding::Signature(signature) => signature.to_string(),
            Finding::Undecided(what) => what,
        })
    };
    assert_eq!(second(reports(&["ext4"]), &found), None);
    assert_eq!(second(Opinion::Nothing, &[]), None);
    assert_eq!(second(Opinion::None, &[]), None);
    assert_eq!(second(Opinion::Ambivalent, &found), None);
    assert!(second(Opinion::Ambivalent, &[]).is_some_and(|text| text.contains("conflicting signatures")));
    let other = second(reports(&["ext4", "newfs"]), &found).expect("a refusal");
    assert!(other.contains("blkid recognizes newfs on it") && other.contains("wipefs -a /dev/x"), "{other}");
    assert!(matches!(
        beyond(&found, Opinion::Undecided("no answer".into()), "/dev/x"),
        Some(Finding::Undecided(what)) if what == "no answer"
    ));
}

#[test]
fn a_copy_is_named_with_the_command_that_clears_it() {
    let file = device();
    put(&file, 12 * 512 + 3, b"EXFAT   ");
    let found = find(&file, CAPACITY, "/dev/it's").expect("a probe");
    let [
        Finding::Signature(
            signature @ Signature::Known { is_copy: true, at_bytes: 6147, length_bytes: 8, .. },
        ),
    ] = &found[..]
    else {
        panic!("{found:?}");
    };
    let text = signature.to_string();
    assert!(text.contains("a backup copy of the signature of an exFAT file system at byte 6147"), "{text}");
    assert!(
        text.ends_with(r"dd if=/dev/zero of='/dev/it'\''s' bs=1 seek=6147 count=8 conv=notrunc"),
        "{text}"
    );
}

#[test]
fn copies_of_one_format_are_one_refusal_with_one_command() {
    let copy = |at_bytes| Found::copy(formats::EXT, at_bytes, 2);
    let many: Vec<Found> =
        [Found::primary(formats::XFS, 0, 4)].into_iter().chain((1..=5).map(|n| copy(n * 1000))).collect();
    let texts = |found: &[Found], target| -> Vec<String> {
        grouped(found, target, target.starts_with("/dev/")).iter().map(ToString::to_string).collect()
    };
    let [primary, copies] = &texts(&many, "/dev/it's")[..] else { panic!("{:?}", texts(&many, "/dev/x")) };
    assert!(primary.contains("the signature of an XFS file system at byte 0"), "{primary}");
    for part in [
        "it carries 5 backup copies of the signature of an ext",
        ", at bytes 1000, 2000, 3000 and 2 more, whose",
    ] {
        assert!(copies.contains(part), "{copies}");
    }
    assert!(
        copies.ends_with(
            r"clear the copies with printf '%s\n' 1000 2000 3000 4000 5000 | xargs -I'{}' dd if=/dev/zero of='/dev/it'\''s' bs=1 seek='{}' count=2 conv=notrunc, or discard the whole device with blkdiscard -f '/dev/it'\''s', if that makes it read as zeros"
        ),
        "{copies}"
    );
    let of_file = texts(&many[1..4], "image.bin").swap_remove(0);
    assert!(of_file.contains("at bytes 1000, 2000 and 3000, whose"), "{of_file}");
    assert!(!of_file.contains("blkdiscard"), "a file cannot be discarded: {of_file}");
    assert_eq!(texts(&many[1..2], "/dev/x").len(), 1);
    assert!(texts(&many[1..2], "/dev/x")[0].contains("a backup copy of the signature"), "a single one");
    let other = Found::copy(formats::EXT, 9000, 8);
    assert_eq!(texts(&[copy(1), other, copy(2)], "/dev/x").len(), 2, "another length needs another command");
    let most: Vec<Found> = (1..=kinds::MOST_COPIES as u64).map(copy).collect();
    assert!(texts(&most, "/dev/x")[0].contains("16 or more backup copies"));
}

/// The command clears the copies and no other bytes.
#[test]
fn the_command_for_several_copies_does_what_it_says() {
    // xargs would also replace its usual placeholder in the path.
    let file = tempfile::Builder::new().prefix("{}it's").tempfile().expect("a temporary file");
    std::fs::write(file.path(), [7; 32]).expect("content");
    let found = [Found::copy(formats::EXT, 20, 2), Found::copy(formats::EXT, 9, 2)];
    let text = grouped(&found, file.path().to_str().expect("text"), false)[0].to_string();
    let (_, instruction) = text.split_once("clear the copies with ").expect("a command");
    let done = std::process::Command::new("sh").args(["-c", instruction]).output().expect("a shell");
    assert!(done.status.success(), "{done:?}");
    let mut expected = [7; 32];
    for at in [9, 10, 20, 21] {
        expected[at] = 0;
    }
    assert_eq!(std::fs::read(file.path()).expect("content"), expected);
}

/// Plateau's preconditioning leaves random data on a drive, which must then be accepted again.
#[test]
fn random_data_is_accepted_by_the_second_opinion_too() {
    const LENGTH: usize = 2 << 20;
    let mut noise = vec![0; LENGTH + 200 * 512];
    stdx::Rng::from_seed(16).fill(&mut noise);
    for drive in 0..200 {
        let file = tempfile::tempfile().expect("a temporary file");
        (&file).write_all(&noise[drive * 512..][..LENGTH]).expect("a write");
        assert_eq!(find(&file, LENGTH as u64, "/dev/x").expect("a probe"), [], "drive {drive}");
    }
}
