//! A table of formats that are recognized by a magic number alone.
//!
//! A four-byte magic number at a fixed offset appears in random data with a probability of 2^-32; longer ones
//! are less likely. The table has about 60 offsets with four bytes, so about 1 in 7 x 10^7 drives full of
//! random data is refused because of it. Shorter magic numbers need additional conditions and are in
//! `checked.rs`.

use stdx::units::{GIB, KIB, MIB};

use super::kinds::Format;

/// Location of a magic number.
#[derive(Debug, Clone, Copy)]
pub(super) enum At {
    /// Number of bytes from the start.
    Start(u64),
    /// Number of bytes before the end.
    End(u64),
    /// Number of bytes before the end, with the capacity rounded down to a multiple of the second number.
    RoundedEnd(u64, u64),
}
use At::{End, RoundedEnd, Start};

/// A magic number at any of several offsets.
pub(super) struct Row {
    pub(super) format: Format,
    /// Whether these offsets contain a backup copy.
    pub(super) is_copy: bool,
    pub(super) at: &'static [At],
    pub(super) magic: &'static [u8],
}

const fn row(format: Format, at: &'static [At], magic: &'static [u8]) -> Row {
    Row { format, is_copy: false, at, magic }
}

const fn copy(format: Format, at: &'static [At], magic: &'static [u8]) -> Row {
    Row { format, is_copy: true, at, magic }
}

/// Returns a format with its names in libblkid.
pub(super) const fn format(name: &'static str, blkid: &'static [&'static str]) -> Format {
    Format { name, blkid }
}

pub(super) const EXT: Format =
    format("an ext2, ext3 or ext4 file system", &["ext2", "ext3", "ext4", "ext4dev", "jbd"]);
pub(super) const XFS: Format = format("an XFS file system", &["xfs"]);
pub(super) const ZFS: Format = format("a member of a ZFS pool", &["zfs_member"]);
pub(super) const MBR: Format = format("an MBR partition table", &["dos", "PMBR"]);
pub(super) const HFS: Format = format("an HFS file system", &["hfs"]);
pub(super) const UDF: Format = format("a UDF file system", &["udf"]);
// A disk with a GPT starts with a protective MBR, which libblkid may report as `PMBR`.
const GPT: Format = format("a GPT partition table", &["gpt", "PMBR"]);
const BTRFS: Format = format("a btrfs file system", &["btrfs"]);
const F2FS: Format = format("an F2FS file system", &["f2fs"]);
// The boot sectors of NTFS, exFAT and FAT end like an MBR, so libblkid may also report `dos`.
const NTFS: Format = format("an NTFS file system", &["ntfs", "dos"]);
const EXFAT: Format = format("an exFAT file system", &["exfat", "dos"]);
const FAT: Format = format("a FAT file system", &["vfat", "dos"]);
const HFS_PLUS: Format = format("an HFS+ file system", &["hfsplus"]);
const HFSX: Format = format("an HFSX file system", &["hfsplus"]);
const JFS: Format = format("a JFS file system", &["jfs"]);
const REISERFS: Format = format("a ReiserFS file system", &["reiserfs"]);
const GFS2: Format = format("a GFS or GFS2 file system", &["gfs", "gfs2"]);
const OCFS2: Format = format("an OCFS2 file system", &["ocfs2"]);
const UFS: Format = format("a UFS file system", &["ufs"]);
const BCACHEFS: Format = format("a bcachefs file system", &["bcachefs"]);
const SQUASHFS: Format = format("a squashfs image", &["squashfs", "squashfs3"]);
const CRAMFS: Format = format("a cramfs image", &["cramfs"]);
const BEFS: Format = format("a BeFS file system", &["befs"]);
const SWAP: Format = format("swap space", &["swap"]);
const SUSPENDED: Format = format("a suspended system", &["swsuspend"]);
const LVM2: Format = format("an LVM physical volume", &["LVM2_member"]);
const MD_0: Format = format("a member of a Linux RAID (0.90)", &["linux_raid_member"]);
const DDF: Format = format("a member of a DDF RAID", &["ddf_raid_member"]);
const HIGHPOINT: Format =
    format("a member of a HighPoint RAID", &["hpt37x_raid_member", "hpt45x_raid_member"]);
const DRBD: Format = format("a DRBD device", &["drbd"]);
const LUKS: Format = format("an encrypted LUKS volume", &["crypto_LUKS"]);
const STRATIS: Format = format("a Stratis pool", &["stratis"]);
const VXFS: Format = format("a VxFS file system", &["vxfs"]);

const SECTOR: u64 = 512;

/// Offsets of a magic number at the end of the first page, for each page size that swap space may have been
/// created with.
const PAGE_ENDS: &[At] = &[Start(4086), Start(8182), Start(16_374), Start(32_758), Start(65_526)];

/// Locations of the second LUKS2 header, which follows the first; the first can have any of these sizes.
const LUKS2_SECOND: &[At] = &[
    Start(16 * KIB),
    Start(32 * KIB),
    Start(64 * KIB),
    Start(128 * KIB),
    Start(256 * KIB),
    Start(512 * KIB),
    Start(MIB),
    Start(2 * MIB),
    Start(4 * MIB),
];

/// OCFS2 has up to six backups.
const OCFS2_BACKUPS: &[At] =
    &[Start(GIB), Start(4 * GIB), Start(16 * GIB), Start(64 * GIB), Start(256 * GIB), Start(1024 * GIB)];

/// Offsets before the end at which the various generations of Promise controllers store their metadata.
const PROMISE: &[At] = &[
    End(16 * SECTOR),
    End(63 * SECTOR),
    End(255 * SECTOR),
    End(256 * SECTOR),
    End(399 * SECTOR),
    End(591 * SECTOR),
    End(675 * SECTOR),
    End(735 * SECTOR),
    End(911 * SECTOR),
    End(951 * SECTOR),
    End(974 * SECTOR),
    End(991 * SECTOR),
    End(3087 * SECTOR),
];

/// All magic numbers.
pub(super) const ROWS: &[Row] = &[
    row(GPT, &[Start(512), Start(4096)], b"EFI PART"),
    copy(GPT, &[End(512), End(4096)], b"EFI PART"),
    row(format("an Apple partition map", &["mac"]), &[Start(512)], b"PM\0\0"),
    row(XFS, &[Start(0)], b"XFSB"),
    row(BTRFS, &[Start(64 * KIB + 64)], b"_BHRfS_M"),
    copy(BTRFS, &[Start(64 * MIB + 64), Start(256 * GIB + 64)], b"_BHRfS_M"),
    row(F2FS, &[Start(1024)], b"\x10\x20\xf5\xf2"),
    copy(F2FS, &[Start(4096 + 1024)], b"\x10\x20\xf5\xf2"),
    row(NTFS, &[Start(3)], b"NTFS    "),
    copy(NTFS, &[End(512 - 3), RoundedEnd(4096 - 3, 4096)], b"NTFS    "),
    row(EXFAT, &[Start(3)], b"EXFAT   "),
    copy(EXFAT, &[Start(12 * 512 + 3), Start(12 * 4096 + 3)], b"EXFAT   "),
    row(FAT, &[Start(54)], b"FAT12   "),
    row(FAT, &[Start(54)], b"FAT16   "),
    row(FAT, &[Start(82)], b"FAT32   "),
    copy(FAT, &[Start(6 * 512 + 82), Start(6 * 4096 + 82)], b"FAT32   "),
    row(format("a BitLocker volume", &["BitLocker"]), &[Start(3)], b"-FVE-FS-"),
    row(format("a ReFS file system", &["ReFS"]), &[Start(0)], b"\0\0\0ReFS\0"),
    row(HFS_PLUS, &[Start(1024)], b"H+\0\x04"),
    copy(HFS_PLUS, &[End(1024)], b"H+\0\x04"),
    row(HFSX, &[Start(1024)], b"HX\0\x05"),
    copy(HFSX, &[End(1024)], b"HX\0\x05"),
    row(format("an APFS container", &["apfs"]), &[Start(32)], b"NXSB"),
    row(JFS, &[Start(32 * KIB)], b"JFS1"),
    copy(JFS, &[Start(60 * KIB)], b"JFS1"),
    row(REISERFS, &[Start(8 * KIB + 52), Start(64 * KIB + 52), Start(8 * KIB + 20)], b"ReIsEr"),
    row(format("a Reiser4 file system", &["reiser4"]), &[Start(64 * KIB)], b"ReIsEr4"),
    row(GFS2, &[Start(64 * KIB)], b"\x01\x16\x19\x70"),
    row(OCFS2, &[Start(1024), Start(2048), Start(4096), Start(8192)], b"OCFSV2"),
    copy(OCFS2, OCFS2_BACKUPS, b"OCFSV2"),
    row(format("an OCFS file system", &["ocfs"]), &[Start(8192)], b"OracleCFS"),
    row(format("an Oracle ASM disk", &["oracleasm"]), &[Start(32)], b"ORCLDISK"),
    row(UFS, &[Start(1372), Start(9564), Start(66_908), Start(263_516)], b"\x54\x19\x01\x00"),
    row(UFS, &[Start(1372), Start(9564), Start(66_908), Start(263_516)], b"\0\x01\x19\x54"),
    row(UFS, &[Start(1372), Start(9564), Start(66_908), Start(263_516)], b"\x19\x01\x54\x19"),
    row(BCACHEFS, &[Start(4120), Start(2 * MIB + 24)], b"\xc6\x85\x73\xf6\x66\xce\x90\xa9"),
    copy(BCACHEFS, &[RoundedEnd(MIB - 24, KIB)], b"\xc6\x85\x73\xf6\x66\xce\x90\xa9"),
    row(format("an ISO 9660 image", &["iso9660"]), &[Start(32_769)], b"CD001"),
    row(UDF, &[Start(32_769)], b"BEA01"),
    row(UDF, &[Start(32_769)], b"NSR02"),
    row(UDF, &[Start(32_769)], b"NSR03"),
    // The remaining descriptors in the sequence; wipefs erases only the first.
    copy(UDF, &[Start(34_817), Start(36_865), Start(38_913)], b"NSR02"),
    copy(UDF, &[Start(34_817), Start(36_865), Start(38_913)], b"NSR03"),
    row(SQUASHFS, &[Start(0)], b"hsqs"),
    row(SQUASHFS, &[Start(0)], b"sqsh"),
    row(format("an EROFS image", &["erofs"]), &[Start(1024)], b"\xe2\xe1\xf5\xe0"),
    row(CRAMFS, &[Start(0), Start(512)], b"\x45\x3d\xcd\x28"),
    row(CRAMFS, &[Start(0), Start(512)], b"\x28\xcd\x3d\x45"),
    row(format("a romfs image", &["romfs"]), &[Start(0)], b"-rom1fs-"),
    row(BEFS, &[Start(32), Start(544)], b"BFS1"),
    row(BEFS, &[Start(32), Start(544)], b"1SFB"),
    row(format("an SCO BFS file system", &["bfs"]), &[Start(0)], b"\xce\xfa\xad\x1b"),
    row(format("an HPFS file system", &["hpfs"]), &[Start(8192)], b"\x49\xe8\x95\xf9"),
    row(format("a NetWare file system", &["nss"]), &[Start(4096)], b"SPB5"),
    row(format("a VMFS file system", &["VMFS"]), &[Start(2 * MIB)], b"\x5e\xf1\xab\x2f"),
    row(format("a VMFS volume", &["VMFS_volume_member"]), &[Start(MIB)], b"\x0d\xd0\x01\xc0"),
    row(VXFS, &[Start(1024)], b"\xf5\xfc\x01\xa5"),
    row(VXFS, &[Start(8192)], b"\xa5\x01\xfc\xf5"),
    row(format("a zonefs file system", &["zonefs"]), &[Start(0)], b"SFOZ"),
    row(format("a UBI image", &["ubi"]), &[Start(0)], b"UBI#"),
    row(format("a UBIFS file system", &["ubifs"]), &[Start(0)], b"\x31\x18\x10\x06"),
    row(format("an mpool device", &["mpool"]), &[Start(0)], b"mpoolDev"),
    row(SWAP, PAGE_ENDS, b"SWAPSPACE2"),
    row(SWAP, PAGE_ENDS, b"SWAP-SPACE"),
    row(SUSPENDED, PAGE_ENDS, b"S1SUSPEND"),
    row(SUSPENDED, PAGE_ENDS, b"S2SUSPEND"),
    row(SUSPENDED, PAGE_ENDS, b"ULSUSPEND"),
    row(SUSPENDED, PAGE_ENDS, b"LINHIB0001"),
    row(SUSPENDED, &[Start(0)], b"\xed\xc3\x02\xe9\x98\x56\xe5\x0c"),
    row(LVM2, &[Start(24), Start(536), Start(1048), Start(1560)], b"LVM2 001"),
    // wipefs erases the type of the label but leaves the label.
    copy(LVM2, &[Start(0), Start(512), Start(1024), Start(1536)], b"LABELONE"),
    row(MD_0, &[RoundedEnd(64 * KIB, 64 * KIB)], b"\xfc\x4e\x2b\xa9"),
    row(MD_0, &[RoundedEnd(64 * KIB, 64 * KIB)], b"\xa9\x2b\x4e\xfc"),
    row(md_1("a member of a Linux RAID (1.0)"), &[RoundedEnd(8 * KIB, 4 * KIB)], b"\xfc\x4e\x2b\xa9"),
    row(md_1("a member of a Linux RAID (1.1)"), &[Start(0)], b"\xfc\x4e\x2b\xa9"),
    row(md_1("a member of a Linux RAID (1.2)"), &[Start(4096)], b"\xfc\x4e\x2b\xa9"),
    row(
        format("a member of an Intel RAID", &["isw_raid_member"]),
        &[End(1024), End(8192)],
        b"Intel Raid ISM Cfg Sig. ",
    ),
    row(DDF, &[End(512), End(257 * SECTOR), RoundedEnd(4096, 4096)], b"\xde\x11\xde\x11"),
    row(
        format("a member of a Promise RAID", &["promise_fasttrack_raid_member"]),
        PROMISE,
        b"Promise Technology, Inc.",
    ),
    row(format("a member of an NVIDIA RAID", &["nvidia_raid_member"]), &[RoundedEnd(1024, 512)], b"NVIDIA  "),
    row(format("a member of an LSI RAID", &["lsi_mega_raid_member"]), &[RoundedEnd(512, 512)], b"$XIDE$"),
    row(
        format("a member of an Adaptec RAID", &["adaptec_raid_member"]),
        &[RoundedEnd(512, 512)],
        b"\x37\xfc\x4d\x1e",
    ),
    row(HIGHPOINT, &[RoundedEnd(11 * SECTOR, 512)], b"\xf3\x16\x78\x5a"),
    row(HIGHPOINT, &[RoundedEnd(11 * SECTOR, 512)], b"\xfd\x16\x78\x5a"),
    row(HIGHPOINT, &[Start(9 * SECTOR + 32)], b"\xf0\x16\x78\x5a"),
    row(HIGHPOINT, &[Start(9 * SECTOR + 32)], b"\xfd\x16\x78\x5a"),
    row(DRBD, &[RoundedEnd(4036, 4 * KIB)], b"\x83\x74\x02\x6b"),
    row(DRBD, &[RoundedEnd(4036, 4 * KIB)], b"\x83\x74\x02\x6c"),
    row(DRBD, &[RoundedEnd(4036, 4 * KIB)], b"\x83\x74\x02\x6d"),
    row(LUKS, &[Start(0)], b"LUKS\xba\xbe"),
    copy(LUKS, LUKS2_SECOND, b"SKUL\xba\xbe"),
    row(format("a dm-integrity volume", &["DM_integrity"]), &[Start(0)], b"integrt\0"),
    row(format("a dm-verity volume", &["DM_verity_hash"]), &[Start(0)], b"verity\0\0"),
    row(format("a dm-snapshot store", &["DM_snapshot_cow"]), &[Start(0)], b"SnAp"),
    row(format("a VDO volume", &["vdo"]), &[Start(0)], b"dmvdo001"),
    row(STRATIS, &[Start(516)], b"!Stra0tis\x86\xff\x02^\x41rh"),
    copy(STRATIS, &[Start(4612)], b"!Stra0tis\x86\xff\x02^\x41rh"),
    row(format("a bcache device", &["bcache"]), &[Start(4120)], b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca"),
    row(format("a Ceph BlueStore device", &["ceph_bluestore"]), &[Start(0)], b"bluestore block device"),
];

const fn md_1(name: &'static str) -> Format {
    format(name, &["linux_raid_member"])
}
