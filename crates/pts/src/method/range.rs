//! Active range: the part of the LBA space that a workload may touch (PTS-C 1.0, ActiveRange).

use record::Range;
use stdx::units::{KIB, MIB};

/// Alignment of ranges: a multiple of the block size of every supported drive.
const ALIGNMENT_BYTES: u64 = 4 * KIB;

/// The first `percent` of the device, rounded down to whole MiB if it is at least 1 MiB.
#[must_use]
pub fn share_of(capacity_bytes: u64, percent: u8) -> Range {
    if percent >= 100 {
        return Range::first(capacity_bytes);
    }
    let bytes = (u128::from(capacity_bytes) * u128::from(percent) / 100) as u64;
    Range::first(if bytes >= MIB { bytes - bytes % MIB } else { bytes })
}

/// `amount_bytes` in `segments` equal segments, spread evenly over `within`. On a scaled simulated drive,
/// segments keep their size and there are fewer of them. Returns all of `within` if the amount is not smaller.
/// Segments are whole blocks, so an uneven scale rounds the amount down.
#[must_use]
pub fn active(within: Range, amount_bytes: u64, segments: u32, scale_divisor: u32) -> Range {
    let scaled_amount = amount_bytes / u64::from(scale_divisor.max(1));
    if scaled_amount >= within.segment_bytes || segments == 0 {
        return within;
    }
    let segments = (segments / scale_divisor.max(1)).max(1);
    let piece = scaled_amount / u64::from(segments);
    let segment_bytes = piece - piece % ALIGNMENT_BYTES;
    let stride = within.segment_bytes / u64::from(segments);
    let stride_bytes = stride - stride % MIB;
    if stride_bytes < segment_bytes || segment_bytes == 0 {
        return within;
    }
    Range { start_bytes: within.start_bytes, segments, segment_bytes, stride_bytes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stdx::units::GIB;

    #[test]
    fn client_active_range_is_2048_pieces_of_8_mib() {
        let range = active(share_of(256_000_000_000, 100), 16 * GIB, 2048, 1);
        assert_eq!((range.segments, range.segment_bytes), (2048, 8 * MIB));
        assert_eq!(range.stride_bytes, 119 * MIB);
        assert!(range.span().end_bytes() <= 256_000_000_000);
    }

    #[test]
    fn a_scaled_drive_keeps_the_segment_size() {
        let range = active(share_of(16_000_000_000, 100), 16 * GIB, 2048, 16);
        assert_eq!((range.segments, range.segment_bytes), (128, 8 * MIB));
    }

    #[test]
    fn pieces_are_whole_blocks_at_every_scale() {
        for scale in 1..=500 {
            let within = share_of(100_000_000_000 / u64::from(scale), 75);
            let range = active(within, 8 * GIB, 2048, scale);
            assert_eq!(range.segment_bytes % ALIGNMENT_BYTES, 0, "scale 1/{scale}");
            assert_eq!(range.stride_bytes % ALIGNMENT_BYTES, 0, "scale 1/{scale}");
        }
    }

    #[test]
    fn a_small_device_is_used_whole() {
        let whole = share_of(8 * GIB, 100);
        assert_eq!(active(whole, 16 * GIB, 2048, 1), whole);
    }

    #[test]
    fn shares_are_whole_mebibytes() {
        assert_eq!(share_of(100_000_000_000, 75).segment_bytes % MIB, 0);
        assert_eq!(share_of(100_000_000_000, 100).segment_bytes, 100_000_000_000);
    }
}
