//! An array as specified in its file.

use stdx::units::{KIB, MIB};

use super::hardware::Hardware;

/// Offset of the data on a member, after the superblock and bitmap.
pub(crate) const DATA_OFFSET_BYTES: u64 = 4 * MIB;
/// An array as specified in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spec {
    pub(crate) level: u8,
    /// `None` for level 1.
    pub(crate) chunk_kib: Option<u32>,
    pub(crate) bitmap: bool,
    /// Paths of the members, or addresses on a RAID controller.
    pub(crate) members: Vec<String>,
    /// Settings for a RAID controller; `None` for software RAID.
    pub(crate) hardware: Option<Hardware>,
}

impl Spec {
    /// Estimates the array's capacity from the sizes of its members. The actual capacity is known only once the
    /// array exists, because the kernel or the controller rounds it.
    pub(crate) fn capacity_bytes(&self, members: &[u64]) -> u64 {
        let component = self.component_bytes(members);
        let count = members.len() as u64;
        match self.level {
            0 if self.hardware.is_some() => component * count,
            0 => members.iter().map(|&bytes| self.whole_chunks(bytes)).sum(),
            1 if self.hardware.is_some() => component * count / 2,
            1 => component,
            5 => component * (count - 1),
            6 => component * (count - 2),
            _ => component * count / 2,
        }
    }

    /// Returns the space used on each member, for levels that require the same amount on all members.
    pub(crate) fn component_bytes(&self, members: &[u64]) -> u64 {
        self.whole_chunks(members.iter().copied().min().unwrap_or(0))
    }

    fn whole_chunks(&self, member_bytes: u64) -> u64 {
        // Capacities reported by a controller exclude its metadata.
        let ahead = if self.hardware.is_some() { 0 } else { DATA_OFFSET_BYTES };
        let bytes = member_bytes.saturating_sub(ahead);
        let chunk = u64::from(self.chunk_kib.unwrap_or(64)) * KIB;
        bytes - bytes % chunk
    }
}
