//! Weak magic numbers with additional conditions. Each comment gives the probability of a false match on a
//! drive full of random data.

use stdx::units::KIB;

use super::formats::{EXT, HFS, MBR, UDF, ZFS, format};
use super::kinds::Format;
use super::kinds::Found;
use super::view::View;

const MINIX: Format = format("a minix file system", &["minix"]);
const NILFS: Format = format("a NILFS2 file system", &["nilfs2"]);
const LVM1: Format = format("an LVM1 physical volume", &["LVM1_member"]);
const SUN: Format = format("a Sun disk label", &["sun"]);
const SGI: Format = format("an SGI disk label", &["sgi"]);
const SILICON: Format = format("a member of a Silicon Image RAID", &["silicon_medley_raid_member"]);
const JMICRON: Format = format("a member of a JMicron RAID", &["jmicron_raid_member"]);
const VIA: Format = format("a member of a VIA RAID", &["via_raid_member"]);

/// All checks.
pub(super) const CHECKS: &[fn(&View<'_>) -> Vec<Found>] = &[
    |view| Vec::from_iter(ext(view)),
    |view| Vec::from_iter(mbr(view)),
    |view| Vec::from_iter(minix(view)),
    nilfs,
    hfs,
    zfs,
    udf,
    |view| Vec::from_iter(lvm1(view)),
    |view| Vec::from_iter(sun(view)),
    |view| Vec::from_iter(sgi(view)),
    |view| Vec::from_iter(silicon(view)),
    |view| Vec::from_iter(jmicron(view)),
    |view| Vec::from_iter(via(view)),
];

/// ext2, ext3 and ext4: a two-byte magic number, with a plausible block size and revision. 2^-76.
fn ext(view: &View<'_>) -> Option<Found> {
    const SUPERBLOCK: u64 = 1024;
    ext_superblock(view, SUPERBLOCK).then(|| Found::primary(EXT, SUPERBLOCK + 56, 2))
}

/// Returns whether an ext2, ext3 or ext4 superblock starts at `at`.
pub(super) fn ext_superblock(view: &View<'_>, at: u64) -> bool {
    view.le16(at + 56) == Some(0xef53)
        && view.le32(at + 24).is_some_and(|log_block| log_block <= 6)
        && view.le32(at + 76).is_some_and(|revision| revision <= 1)
}

/// MBR: four plausible entries, at least one of them in use. Without these conditions, any boot sector would match.
/// 2^-44.
fn mbr(view: &View<'_>) -> Option<Found> {
    let entries: Vec<[u8; 16]> = (0..4).filter_map(|i| view.get(446 + 16 * i)).collect();
    let sane = entries.len() == 4 && entries.iter().all(|e| e[0] & 0x7f == 0);
    let used = entries.iter().any(|e| e[4] != 0 && e[12..16] != [0; 4]);
    (sane && used && view.has(510, b"\x55\xaa")).then(|| Found::primary(MBR, 510, 2))
}

/// minix versions 1 to 3 in both byte orders: zones as large as blocks, a non-empty inode map, and a valid state or
/// block size. 2^-42.
fn minix(view: &View<'_>) -> Option<Found> {
    const SUPERBLOCK: u64 = 1024;
    let bytes = view.get::<32>(SUPERBLOCK)?;
    let magic_at = |is_swapped: bool| {
        let word = |at: usize| {
            let pair = [bytes[at], bytes[at + 1]];
            if is_swapped { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) }
        };
        let is_first = matches!(word(16), 0x137f | 0x138f | 0x2468 | 0x2478);
        if is_first && word(18) <= 3 && word(10) == 0 && word(4) != 0 {
            return Some(16);
        }
        let is_third = word(24) == 0x4d5a && word(28) >= 1024 && word(28).is_power_of_two();
        (is_third && word(12) == 0 && word(6) != 0).then_some(24)
    };
    let at = magic_at(false).or_else(|| magic_at(true))?;
    Some(Found::primary(MINIX, SUPERBLOCK + at, 2))
}

/// NILFS2: a two-byte magic number, with a plausible revision, superblock length and block size. 2^-80.
fn nilfs(view: &View<'_>) -> Vec<Found> {
    const PRIMARY: u64 = 1024;
    let sane = |&at: &u64| {
        view.le16(at + 6) == Some(0x3434)
            && view.le32(at).is_some_and(|revision| (1..=4).contains(&revision))
            && view.le16(at + 8).is_some_and(|length| (24..=1024).contains(&length))
            && view.le32(at + 20).is_some_and(|log_block| log_block <= 6)
    };
    let primary = Some(PRIMARY).filter(sane).map(|at| Found::primary(NILFS, at + 6, 2));
    // To locate the last 4 KiB, older versions of the NILFS tools round the capacity down to sectors, and
    // newer versions round it down to blocks.
    let backups = [view.before_end(4096, 512), view.before_end(4096, 4096), view.before_end(8192, 4096)];
    let mut found = Vec::from_iter(primary);
    for at in backups.into_iter().flatten().filter(sane) {
        let copy = Found::copy(NILFS, at + 6, 2);
        if !found.contains(&copy) {
            found.push(copy);
        }
    }
    found
}

/// HFS before 1998: a two-byte magic number; the volume bitmap is always in block 3, allocation blocks
/// consist of whole sectors, and the name has 1 to 27 characters. 2^-44.
fn hfs(view: &View<'_>) -> Vec<Found> {
    let sane = |&at: &u64| {
        let be16 = |offset| view.get(at + offset).map(u16::from_be_bytes);
        let be32 = |offset| view.get(at + offset).map(u32::from_be_bytes);
        be16(0) == Some(0x4244)
            && be16(14) == Some(3)
            && be32(20).is_some_and(|bytes| bytes != 0 && bytes.is_multiple_of(512))
            && view.byte(at + 36).is_some_and(|length| (1..=27).contains(&length))
    };
    let primary = Some(1024).filter(sane).map(|at| Found::primary(HFS, at, 2));
    let copy = view.before_end(1024, 512).filter(sane).map(|at| Found::copy(HFS, at, 2));
    primary.into_iter().chain(copy).collect()
}

/// ZFS: any uberblock in the ring of any of the four labels, in either byte order. Clearing the signature requires
/// clearing the whole ring. The probability is 2^-54, for 512 positions of eight bytes.
fn zfs(view: &View<'_>) -> Vec<Found> {
    const LABEL_BYTES: u64 = 256 * KIB;
    const RING_BYTES: u64 = 128 * KIB;
    let places = [
        Some((0, false)),
        Some((LABEL_BYTES, false)),
        view.before_end(2 * LABEL_BYTES, LABEL_BYTES).map(|at| (at, true)),
        view.before_end(LABEL_BYTES, LABEL_BYTES).map(|at| (at, true)),
    ];
    let has_uberblock = |ring: u64| {
        let mut slots = (0..RING_BYTES / KIB).map(|slot| ring + slot * KIB);
        slots.any(|at| view.has(at, b"\x0c\xb1\xba\0\0\0\0\0") || view.has(at, b"\0\0\0\0\0\xba\xb1\x0c"))
    };
    let rings = places.into_iter().flatten().map(|(label, is_copy)| (label + RING_BYTES, is_copy));
    rings
        .filter(|&(ring, _)| has_uberblock(ring))
        .map(|(ring, is_copy)| Found { format: ZFS, is_copy, at_bytes: ring, length_bytes: RING_BYTES })
        .collect()
}

/// UDF: the anchors in sector 256 and in the last sectors, from which everything else is located. A 16-byte
/// tag with its version, its own location and a checksum. 2^-79 each.
fn udf(view: &View<'_>) -> Vec<Found> {
    const ANCHOR: u64 = 256;
    let is_anchor = |at: u64, sector: u64| {
        let Some(tag) = view.get::<16>(at) else { return false };
        let sum =
            tag.iter().enumerate().filter(|&(i, _)| i != 4).fold(0u8, |sum, (_, b)| sum.wrapping_add(*b));
        let place = u32::from_le_bytes([tag[12], tag[13], tag[14], tag[15]]);
        tag[..2] == [2, 0]
            && matches!(tag[2..4], [2 | 3, 0])
            && tag[5] == 0
            && sum == tag[4]
            && u64::from(place) == sector
    };
    let mut found: Vec<Found> = Vec::new();
    for sector_bytes in [512, 1024, 2048, 4096] {
        let sectors = view.capacity_bytes / sector_bytes;
        let last = [1, ANCHOR + 1].map(|before| sectors.checked_sub(before));
        for sector in [Some(ANCHOR)].into_iter().chain(last).flatten() {
            let anchor = Found::copy(UDF, sector * sector_bytes, 16);
            if is_anchor(anchor.at_bytes, sector) && !found.contains(&anchor) {
                found.push(anchor);
            }
        }
    }
    found
}

/// LVM1: a two-byte magic number and one of two versions. 2^-31.
fn lvm1(view: &View<'_>) -> Option<Found> {
    (view.has(0, b"HM\x01\0") || view.has(0, b"HM\x02\0")).then(|| Found::primary(LVM1, 0, 4))
}

/// Sun disk label: a two-byte magic number and an XOR checksum of all words. 2^-32.
fn sun(view: &View<'_>) -> Option<Found> {
    let sector = view.get::<512>(0)?;
    let sum = sector.chunks_exact(2).fold(0, |sum, pair| sum ^ u16::from_be_bytes([pair[0], pair[1]]));
    (sector[508..510] == [0xda, 0xbe] && sum == 0).then(|| Found::primary(SUN, 508, 2))
}

/// SGI disk label: a four-byte magic number and the sum of all words. 2^-64.
fn sgi(view: &View<'_>) -> Option<Found> {
    let sector = view.get::<512>(0)?;
    let words = sector.chunks_exact(4).map(|word| u32::from_be_bytes([word[0], word[1], word[2], word[3]]));
    let is_whole = words.fold(0, u32::wrapping_add) == 0;
    (sector.starts_with(b"\x0b\xe5\xa9\x41") && is_whole).then(|| Found::primary(SGI, 0, 4))
}

/// Silicon Image: a four-byte magic number, a drive number below eight, and a checksum. 2^-53.
fn silicon(view: &View<'_>) -> Option<Found> {
    const SUM: usize = 0x13e;
    let at = view.before_end(512, 512)?;
    let sector = view.get::<512>(at)?;
    let sum = sum_le16(&sector[..SUM]).wrapping_neg();
    let is_whole = sector[SUM..SUM + 2] == sum.to_le_bytes();
    (sector[0x60..0x64] == [0, 0, 0, 0x2f] && sector[0x116] < 8 && is_whole)
        .then(|| Found::primary(SILICON, at + 0x60, 4))
}

/// JMicron: a two-byte magic number, a valid mode, and a sum. 2^-36.
fn jmicron(view: &View<'_>) -> Option<Found> {
    let at = view.before_end(512, 512)?;
    let metadata = view.get::<128>(at)?;
    let is_whole = sum_le16(&metadata) <= 1;
    (metadata.starts_with(b"JM") && metadata[0x30] <= 5 && is_whole).then(|| Found::primary(JMICRON, at, 2))
}

/// VIA: a two-byte magic number, one of three versions, and a one-byte sum. 2^-30.
fn via(view: &View<'_>) -> Option<Found> {
    let at = view.before_end(512, 512)?;
    let metadata = view.get::<51>(at)?;
    let sum = metadata[..50].iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    (metadata.starts_with(b"\x55\xaa") && metadata[2] <= 2 && sum == metadata[50])
        .then(|| Found::primary(VIA, at, 2))
}

fn sum_le16(bytes: &[u8]) -> u16 {
    bytes.chunks_exact(2).fold(0, |sum, pair| sum.wrapping_add(u16::from_le_bytes([pair[0], pair[1]])))
}
