//! Backup superblocks of ext and XFS, whose locations depend on sizes that are stored only in the lost
//! primary. They are looked for where common tools place them, at the cost of one read each.

use stdx::units::{GIB, KIB, MIB};

use super::checked::ext_superblock;
use super::formats::{EXT, XFS};
use super::kinds::{Found, MOST_COPIES};
use super::view::View;

/// Finds backups of ext2, ext3 and ext4. With `sparse_super`, the default since 1999, the copies are in block
/// group 1 and in groups whose number is a power of 3, 5 or 7; otherwise, they are in every group. A group is
/// the space described by one bitmap block: eight blocks (with `bigalloc`, eight clusters) per byte of the
/// bitmap.
pub(super) fn ext(view: &View<'_>) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for block_bytes in (0..=6).map(|shift| KIB << shift) {
        // With 1 KiB blocks, the first group starts after the boot block.
        let first = if block_bytes == KIB { KIB } else { 0 };
        for cluster_bytes in [block_bytes, 16 * block_bytes] {
            let group_bytes = 8 * block_bytes * cluster_bytes;
            let groups = sparse_groups(view.capacity_bytes / group_bytes);
            found.extend(groups.into_iter().filter_map(|group| {
                let at = first + group * group_bytes;
                // A copy stores its group number, so a copy for one group size cannot be mistaken for a copy for
                // another.
                let is_copy = ext_superblock(view, at) && view.le16(at + 90) == Some(group as u16);
                is_copy.then(|| Found::copy(EXT, at + 56, 2))
            }));
        }
    }
    found.sort_by_key(|copy| copy.at_bytes);
    found.dedup();
    found.truncate(MOST_COPIES);
    found
}

fn sparse_groups(last: u64) -> Vec<u64> {
    let powers = |base: u64| std::iter::successors(Some(base), move |power| power.checked_mul(base));
    let mut groups = vec![1];
    for base in [3, 5, 7] {
        groups.extend(powers(base).take_while(|&group| group <= last));
    }
    groups.retain(|&group| group <= last);
    groups
}

/// Geometry from an XFS superblock, if plausible. The probability of a match in random data is 2^-90.
struct Geometry {
    group_bytes: u64,
    groups: u32,
}

fn xfs_superblock(view: &View<'_>, at: u64) -> Option<Geometry> {
    if !view.has(at, b"XFSB") {
        return None;
    }
    let be32 = |offset| view.get(at + offset).map(u32::from_be_bytes);
    let (block_bytes, group_blocks, groups) = (be32(4)?, be32(84)?, be32(88)?);
    let sector_bytes = view.get(at + 102).map(u16::from_be_bytes)?;
    let log_block = view.byte(at + 120)?;
    let log_sector = view.byte(at + 121)?;
    let is_sane = (9..=16).contains(&log_block)
        && block_bytes == 1 << log_block
        && (9..=15).contains(&log_sector)
        && sector_bytes == 1 << log_sector
        && group_blocks >= 64
        && groups != 0;
    is_sane.then(|| Geometry { group_bytes: u64::from(block_bytes) * u64::from(group_blocks), groups })
}

/// Finds the copies of the XFS superblock, one at the start of each allocation group except the first. Each
/// copy determines the locations of the others. The highest offsets are listed first, so that the copies that
/// lead to the others are cleared last.
pub(super) fn xfs(view: &View<'_>) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for (at, group_bytes) in guesses(view.capacity_bytes) {
        let Some(geometry) = xfs_superblock(view, at).filter(|geometry| geometry.group_bytes == group_bytes)
        else {
            continue;
        };
        let groups = (1..u64::from(geometry.groups)).rev().map(|group| group * group_bytes);
        let copies = groups.filter(|&at| xfs_superblock(view, at).is_some());
        for copy in copies.take(MOST_COPIES).map(|at| Found::copy(XFS, at, 4)) {
            if !found.contains(&copy) {
                found.push(copy);
            }
        }
    }
    found.truncate(MOST_COPIES);
    found
}

/// Returns offsets of possible copies, each with the implied size of an allocation group. All of the usual four
/// groups are tried, because an interrupted test may have overwritten the first copies.
fn guesses(capacity_bytes: u64) -> Vec<(u64, u64)> {
    let quarter = (capacity_bytes / (4 * KIB)).div_ceil(4) * 4 * KIB;
    let later = [2, 3].map(|group| (group * quarter, quarter));
    group_sizes(capacity_bytes).into_iter().map(|size| (size, size)).chain(later).collect()
}

/// Returns likely sizes of allocation groups: powers of two, the maximum (1 TiB less one block), and an n-th of the
/// device in whole blocks. `mkfs.xfs` uses 4 groups for most drives, 16 or 32 for striped drives, and one per CPU for
/// SSDs.
fn group_sizes(capacity_bytes: u64) -> Vec<u64> {
    const MOST_GROUPS: u64 = 64;
    let parts = |block_bytes: u64, groups: u64| {
        let blocks = capacity_bytes / block_bytes;
        [blocks / groups * block_bytes, blocks.div_ceil(groups) * block_bytes]
    };
    let usual = (2..=MOST_GROUPS).flat_map(|groups| parts(4 * KIB, groups));
    let others = [KIB, 2 * KIB, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB]
        .into_iter()
        .flat_map(|block_bytes| [4, 16, 32].map(|groups| parts(block_bytes, groups)).concat());
    let powers = (0..=16).map(|shift| (16 * MIB) << shift);
    let largest = [1024 * GIB - 4 * KIB, 1024 * GIB - KIB];
    let mut sizes: Vec<u64> = usual.chain(others).chain(powers).chain(largest).collect();
    sizes.retain(|&size| size >= 64 * KIB && size < capacity_bytes);
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}
