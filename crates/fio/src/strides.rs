//! What sequential jobs skip: `rw=read:8k` and `zonemode=strided`.

/// What a sequential job skips.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Strides {
    /// Bytes from the end of an I/O to the start of the next; negative to descend.
    pub(crate) skip_bytes: i64,
    /// Whether zones are requested, if specified. As in fio, a zone size implies zones.
    pub(crate) zoned: Option<bool>,
    pub(crate) zone_bytes: u64,
    pub(crate) zone_range_bytes: Option<u64>,
    pub(crate) zone_skip_bytes: u64,
}

impl Strides {
    /// Returns whether the job goes from the end of its range to the start.
    pub(crate) fn is_descending(self) -> bool {
        self.skip_bytes < 0
    }
}
