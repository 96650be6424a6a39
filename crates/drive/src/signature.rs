//! Signatures of file systems, volume managers and partition tables.
//!
//! The table errs towards refusing: an unknown content is erased only after confirmation, a known one
//! never. Magics of two bytes get a second condition, because a tested drive is full of random data.

use std::io;
use std::os::unix::fs::FileExt;

use stdx::units::KIB;

/// Looked at from the start and up to the end of a device; ZFS keeps two labels of 256 KiB at each.
const EDGE_BYTES: u64 = 512 * KIB;

/// Where a magic stands.
#[derive(Clone, Copy)]
enum At {
    /// Bytes from the start.
    Start(u64),
    /// Bytes before the end.
    End(u64),
    /// Bytes before the end after rounding the capacity down to a multiple of the second number.
    RoundedEnd(u64, u64),
}
use At::{End, RoundedEnd, Start};

/// Name, place, magic.
const SIGNATURES: &[(&str, At, &[u8])] = &[
    ("a GPT partition table", Start(512), b"EFI PART"),
    ("a GPT partition table", Start(4096), b"EFI PART"),
    ("a GPT partition table (backup)", End(512), b"EFI PART"),
    ("a GPT partition table (backup)", End(4096), b"EFI PART"),
    ("an Apple partition map", Start(512), b"PM\0\0"),
    ("an XFS file system", Start(0), b"XFSB"),
    ("a btrfs file system", Start(65_600), b"_BHRfS_M"),
    ("an F2FS file system", Start(1024), b"\x10\x20\xf5\xf2"),
    ("an NTFS file system", Start(3), b"NTFS    "),
    ("an exFAT file system", Start(3), b"EXFAT   "),
    ("a BitLocker volume", Start(3), b"-FVE-FS-"),
    ("a FAT file system", Start(54), b"FAT12   "),
    ("a FAT file system", Start(54), b"FAT16   "),
    ("a FAT file system", Start(82), b"FAT32   "),
    ("an HFS+ file system", Start(1024), b"H+\0\x04"),
    ("an HFSX file system", Start(1024), b"HX\0\x05"),
    ("an APFS container", Start(32), b"NXSB"),
    ("a JFS file system", Start(32_768), b"JFS1"),
    ("a ReiserFS file system", Start(65_588), b"ReIsEr"),
    ("a Reiser4 file system", Start(65_536), b"ReIsEr4"),
    ("a GFS2 file system", Start(65_536), b"\x01\x16\x19\x70"),
    ("an OCFS2 file system", Start(8192), b"OCFSV2"),
    ("a UFS file system", Start(9564), b"\x54\x19\x01\x00"),
    ("a UFS2 file system", Start(66_908), b"\x19\x01\x54\x19"),
    ("a bcachefs file system", Start(4120), b"\xc6\x85\x73\xf6\x66\xce\x90\xa9"),
    ("an ISO 9660 image", Start(32_769), b"CD001"),
    ("a UDF file system", Start(32_769), b"BEA01"),
    ("a squashfs image", Start(0), b"hsqs"),
    ("an EROFS image", Start(1024), b"\xe2\xe1\xf5\xe0"),
    ("a cramfs image", Start(0), b"\x45\x3d\xcd\x28"),
    ("swap space", Start(4086), b"SWAPSPACE2"),
    ("swap space", Start(8182), b"SWAPSPACE2"),
    ("swap space", Start(16_374), b"SWAPSPACE2"),
    ("swap space", Start(65_526), b"SWAPSPACE2"),
    ("swap space", Start(4086), b"SWAP-SPACE"),
    ("a suspended system", Start(4086), b"S1SUSPEND"),
    ("an LVM physical volume", Start(0), b"LABELONE"),
    ("an LVM physical volume", Start(512), b"LABELONE"),
    ("an LVM physical volume", Start(1024), b"LABELONE"),
    ("an LVM physical volume", Start(1536), b"LABELONE"),
    ("a member of a Linux RAID (0.90)", RoundedEnd(64 * KIB, 64 * KIB), b"\xfc\x4e\x2b\xa9"),
    ("a member of a Linux RAID (0.90)", RoundedEnd(64 * KIB, 64 * KIB), b"\xa9\x2b\x4e\xfc"),
    ("a member of a Linux RAID (1.0)", RoundedEnd(8 * KIB, 4 * KIB), b"\xfc\x4e\x2b\xa9"),
    ("a member of a Linux RAID (1.1)", Start(0), b"\xfc\x4e\x2b\xa9"),
    ("a member of a Linux RAID (1.2)", Start(4096), b"\xfc\x4e\x2b\xa9"),
    ("a member of an Intel RAID", End(1024), b"Intel Raid ISM Cfg Sig. "),
    ("a member of a DDF RAID", End(512), b"\xde\x11\xde\x11"),
    ("a DRBD device", RoundedEnd(4036, 4 * KIB), b"\x83\x74\x02\x6b"),
    ("a DRBD device", RoundedEnd(4036, 4 * KIB), b"\x83\x74\x02\x6d"),
    ("an encrypted LUKS volume", Start(0), b"LUKS\xba\xbe"),
    ("an encrypted LUKS volume (second header)", Start(16_384), b"SKUL\xba\xbe"),
    ("a dm-integrity volume", Start(0), b"integrt\0"),
    ("a dm-verity volume", Start(0), b"verity\0\0"),
    ("a VDO volume", Start(0), b"dmvdo001"),
    ("a Stratis pool", Start(516), b"!Stra0tis\x86\xff\x02^\x41rh"),
    ("a bcache device", Start(4120), b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca"),
    ("a Ceph BlueStore device", Start(0), b"bluestore block device"),
    ("an Oracle ASM disk", Start(32), b"ORCLDISK"),
];

/// Something found on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) name: &'static str,
    pub(crate) at_bytes: u64,
}

/// Both ends of a device.
struct Edges {
    capacity_bytes: u64,
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl Edges {
    fn read(device: &impl FileExt, capacity_bytes: u64) -> io::Result<Self> {
        let length = EDGE_BYTES.min(capacity_bytes);
        let mut edges =
            Self { capacity_bytes, head: vec![0; length as usize], tail: vec![0; length as usize] };
        device.read_exact_at(&mut edges.head, 0)?;
        device.read_exact_at(&mut edges.tail, capacity_bytes - length)?;
        Ok(edges)
    }

    fn get(&self, at: u64, length: usize) -> Option<&[u8]> {
        let range_from = |start: u64| {
            let start = usize::try_from(start).ok()?;
            Some(start..start.checked_add(length)?)
        };
        let tail_start = self.capacity_bytes - self.tail.len() as u64;
        self.head.get(range_from(at)?).or_else(|| self.tail.get(range_from(at.checked_sub(tail_start)?)?))
    }

    fn has(&self, at: u64, magic: &[u8]) -> bool {
        self.get(at, magic.len()) == Some(magic)
    }

    fn u32_at(&self, at: u64) -> Option<u32> {
        self.get(at, 4).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes)
    }
}

/// Everything known that stands on the device.
///
/// # Errors
/// Fails when the device cannot be read.
pub(crate) fn probe(device: &impl FileExt, capacity_bytes: u64) -> io::Result<Vec<Found>> {
    let edges = Edges::read(device, capacity_bytes)?;
    let mut found: Vec<Found> = SIGNATURES
        .iter()
        .filter_map(|&(name, at, magic)| {
            let at_bytes = match at {
                Start(bytes) => Some(bytes),
                End(bytes) => capacity_bytes.checked_sub(bytes),
                RoundedEnd(bytes, unit) => (capacity_bytes / unit * unit).checked_sub(bytes),
            }?;
            edges.has(at_bytes, magic).then_some(Found { name, at_bytes })
        })
        .collect();
    found.extend([ext(&edges), mbr(&edges), zfs(&edges)].into_iter().flatten());
    Ok(found)
}

/// ext2, ext3 and ext4: two bytes of magic, so block size and revision must make sense as well.
fn ext(edges: &Edges) -> Option<Found> {
    const SUPERBLOCK: u64 = 1024;
    let sane = edges.u32_at(SUPERBLOCK + 24)? <= 6 && edges.u32_at(SUPERBLOCK + 76)? <= 1;
    (sane && edges.has(SUPERBLOCK + 56, b"\x53\xef"))
        .then_some(Found { name: "an ext2, ext3 or ext4 file system", at_bytes: SUPERBLOCK + 56 })
}

/// An MBR whose four entries make sense and of which one is used; boot sectors look alike otherwise.
fn mbr(edges: &Edges) -> Option<Found> {
    let entries: Vec<&[u8]> = (0..4).filter_map(|i| edges.get(446 + 16 * i, 16)).collect();
    let sane = entries.len() == 4 && entries.iter().all(|e| e[0] & 0x7f == 0);
    let used = entries.iter().any(|e| e[4] != 0 && e[12..16] != [0; 4]);
    (sane && used && edges.has(510, b"\x55\xaa"))
        .then_some(Found { name: "an MBR partition table", at_bytes: 510 })
}

/// ZFS: any uberblock in the ring of any of the four labels, of either byte order.
fn zfs(edges: &Edges) -> Option<Found> {
    const LABEL_BYTES: u64 = 256 * KIB;
    let aligned = edges.capacity_bytes / LABEL_BYTES * LABEL_BYTES;
    let labels =
        [Some(0), Some(LABEL_BYTES), aligned.checked_sub(2 * LABEL_BYTES), aligned.checked_sub(LABEL_BYTES)];
    let slots = labels.into_iter().flatten().flat_map(|label| (128..256).map(move |k| label + k * KIB));
    slots
        .into_iter()
        .find(|&at| edges.has(at, b"\x0c\xb1\xba\0\0\0\0\0") || edges.has(at, b"\0\0\0\0\0\xba\xb1\x0c"))
        .map(|at_bytes| Found { name: "a member of a ZFS pool", at_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write;

    const CAPACITY: u64 = (20 << 20) + 4096;

    fn device() -> File {
        let file = tempfile::tempfile().expect("a temporary file");
        file.set_len(CAPACITY).expect("its length");
        file
    }

    #[test]
    fn every_row_is_found_where_it_stands_and_nowhere_else() {
        for &(name, at, magic) in SIGNATURES {
            let at = match at {
                Start(bytes) => bytes,
                End(bytes) => CAPACITY - bytes,
                RoundedEnd(bytes, unit) => CAPACITY / unit * unit - bytes,
            };
            let file = device();
            file.write_all_at(magic, at).expect("a write");
            let found = probe(&file, CAPACITY).expect("a probe");
            assert!(found.contains(&Found { name, at_bytes: at }), "{name}: {found:?}");
        }
    }

    #[test]
    fn blank_and_random_devices_carry_nothing() {
        let file = device();
        assert_eq!(probe(&file, CAPACITY).expect("a probe"), []);
        let mut noise = vec![0; CAPACITY as usize];
        stdx::Rng::from_seed(9).fill(&mut noise);
        (&file).write_all(&noise).expect("a write");
        assert_eq!(probe(&file, CAPACITY).expect("a probe"), []);
    }

    #[test]
    fn weak_magics_need_their_second_condition() {
        let file = device();
        file.write_all_at(b"\x53\xef", 1080).expect("a write");
        file.write_all_at(b"\x55\xaa", 510).expect("a write");
        assert_eq!(
            probe(&file, CAPACITY).expect("a probe"),
            [Found { name: "an ext2, ext3 or ext4 file system", at_bytes: 1080 }]
        );
        file.write_all_at(&[7; 4], 1100).expect("a revision that is none");
        assert_eq!(probe(&file, CAPACITY).expect("a probe"), []);
        file.write_all_at(&[0x83, 0, 0, 0, 8, 0, 0, 0, 9], 450).expect("a partition entry");
        assert_eq!(probe(&file, CAPACITY).expect("a probe").len(), 1);
    }
}
