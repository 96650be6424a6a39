//! A write command in the units of the translation layer.

/// A write command, or the part of it that did not fit into the buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HostWrite {
    leaf: u32,
    pub(super) next_unit: u32,
    pub(super) end_unit: u32,
    /// Whether the first remaining unit is only partly written.
    pub(super) partial_head: bool,
    /// Whether the last unit is only partly written.
    pub(super) partial_tail: bool,
    /// Time at which the data accepted so far has arrived and been merged.
    pub(super) ready_ns: u64,
    bytes: u32,
}

impl HostWrite {
    /// Returns a write of `bytes` bytes at `offset` for the command on event leaf `leaf`; map units have
    /// `1 << map_unit_shift` bytes.
    #[inline]
    pub(crate) fn new(leaf: u32, offset: u64, bytes: u32, map_unit_shift: u32) -> Self {
        let inside = (1u64 << map_unit_shift) - 1;
        let end = offset + u64::from(bytes);
        Self {
            leaf,
            next_unit: (offset >> map_unit_shift) as u32,
            end_unit: ((end + inside) >> map_unit_shift) as u32,
            partial_head: offset & inside != 0,
            partial_tail: end & inside != 0,
            ready_ns: 0,
            bytes,
        }
    }

    /// Returns the number of map units that have not been accepted.
    #[inline]
    pub(crate) fn units(&self) -> u32 {
        self.end_unit - self.next_unit
    }

    /// Returns the same write, but with data that arrives no earlier than `ready_ns`.
    #[inline]
    pub(crate) fn not_before(self, ready_ns: u64) -> Self {
        Self { ready_ns: self.ready_ns.max(ready_ns), ..self }
    }

    /// Returns the event leaf of the command.
    #[inline]
    pub(crate) fn leaf(&self) -> u32 {
        self.leaf
    }

    /// Returns the whole command's length in bytes.
    #[inline]
    pub(crate) fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Returns the time at which the data accepted so far has arrived and been merged.
    #[inline]
    pub(crate) fn ready_ns(&self) -> u64 {
        self.ready_ns
    }
}
