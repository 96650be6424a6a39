//! The part of a device that a load may touch, and the order of its addresses.

/// The part of a device that a load may touch: aligned segments of equal size at equal distances.
///
/// A contiguous range is one segment. The ActiveRange of the PTS has 2048 segments (PTS-C 1.0).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// First byte of the first segment.
    pub start_bytes: u64,
    /// Number of segments, at least 1.
    pub segments: u32,
    /// Length of each segment in bytes.
    pub segment_bytes: u64,
    /// Distance in bytes from the start of one segment to the start of the next.
    pub stride_bytes: u64,
}

impl Span {
    /// Returns one segment of `length_bytes` starting at `start_bytes`.
    #[must_use]
    pub const fn contiguous(start_bytes: u64, length_bytes: u64) -> Self {
        Self { start_bytes, segments: 1, segment_bytes: length_bytes, stride_bytes: length_bytes }
    }

    /// Returns the number of bytes in all segments.
    #[must_use]
    pub const fn touched_bytes(&self) -> u64 {
        self.segments as u64 * self.segment_bytes
    }

    /// Returns the offset of the first byte after the last segment.
    #[must_use]
    pub const fn end_bytes(&self) -> u64 {
        self.start_bytes + (self.segments as u64 - 1) * self.stride_bytes + self.segment_bytes
    }

    /// Returns the number of whole blocks of `block_bytes` in all segments.
    #[must_use]
    pub const fn blocks(&self, block_bytes: u32) -> u64 {
        self.segments as u64 * (self.segment_bytes / block_bytes as u64)
    }

    #[inline]
    pub(super) fn offset_of(&self, block: u64, block_bytes: u64, blocks_per_segment: u64) -> u64 {
        if self.segments == 1 {
            return self.start_bytes + block * block_bytes;
        }
        let (segment, inside) = (block / blocks_per_segment, block % blocks_per_segment);
        self.start_bytes + segment * self.stride_bytes + inside * block_bytes
    }
}

/// Order of the addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Uniform over all blocks of the span.
    Random,
    /// Block after block, each thread in its own equal part of the span; wraps at the end of the part.
    Sequential,
}

/// Divides `0..total` into `parts` ranges of nearly equal length and returns the range at `index`. The ranges
/// cover `0..total` exactly.
#[must_use]
pub fn share(total: u64, index: u16, parts: u16) -> std::ops::Range<u64> {
    let cut = |i: u16| (u128::from(total) * u128::from(i) / u128::from(parts)) as u64;
    cut(index)..cut(index + 1)
}
