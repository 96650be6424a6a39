//! A zone of a zoned block device.

use stdx::access::Access;

/// A zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zone {
    /// Offset of its first byte.
    pub start_bytes: u64,
    /// Its length.
    pub length_bytes: u64,
    /// Bytes from the start that can be written.
    pub capacity_bytes: u64,
    /// Where the next write must go.
    pub pointer_bytes: u64,
    /// Whether writes must go to the write pointer. Conventional zones are written like any block.
    pub is_sequential: bool,
    /// Whether the zone is neither read-only nor offline.
    pub is_writable: bool,
    /// Whether the zone is not offline.
    pub is_readable: bool,
    /// Whether the device counted the zone as open or active when it was asked.
    pub is_open: bool,
}

impl Zone {
    /// Returns the offset of the first byte after the zone.
    #[must_use]
    pub const fn end_bytes(&self) -> u64 {
        self.start_bytes + self.length_bytes
    }

    pub(crate) fn remaining_bytes(&self) -> u64 {
        (self.start_bytes + self.capacity_bytes).saturating_sub(self.pointer_bytes)
    }

    /// Returns the number of bytes from the start that can be read.
    pub(crate) fn readable_bytes(&self) -> u64 {
        match (self.is_readable, self.is_sequential) {
            (false, _) => 0,
            (true, false) => self.length_bytes,
            (true, true) => self.pointer_bytes - self.start_bytes,
        }
    }

    /// Moves an access so that it does not cross the end of the zone.
    pub(crate) fn within(&self, access: Access) -> Access {
        let most = self.end_bytes().saturating_sub(access.block_bytes.into());
        Access { offset_bytes: access.offset_bytes.min(most), ..access }
    }
}

/// The zones of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneReport {
    /// Length of every zone except perhaps the last.
    pub zone_bytes: u64,
    /// Most zones that may be open or active; 0 for no limit.
    pub most_open: u32,
    /// The zones, in the order of their offsets.
    pub zones: Vec<Zone>,
}
