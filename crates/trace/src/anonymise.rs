//! Hides which addresses a trace accesses, so that it can be shared but still replays the same way.
//!
//! The volume is divided into extents, which are shuffled. Nothing changes within an extent, so sequential runs, reuse
//! and hot spots are preserved, except for runs that cross the end of an extent.

use std::io::{Read, Write};

use stdx::Rng;
use stdx::rng::split_mix;

use crate::file::{Origin, Reader, Summary, Writer};
use crate::{Io, Op, TraceError};

/// Length of an extent: longer than any I/O of a typical host, and short enough for a volume to contain many extents.
const EXTENT_BYTES: u64 = 64 << 20;
/// Length of the shortest extent.
const LEAST_EXTENT_BYTES: u64 = 4096;
/// Number of extents of a small volume, whose extents are shorter: with a single one, all addresses would stay the same.
const LEAST_EXTENTS: u64 = 16;

/// The extents of a volume, and their new order.
struct Extents {
    bytes: u64,
    order: Permutation,
}

impl Extents {
    fn new(end_bytes: u64, seed: u64) -> Self {
        let part = (end_bytes / LEAST_EXTENTS).max(1);
        let bytes = (1 << part.ilog2()).clamp(LEAST_EXTENT_BYTES, EXTENT_BYTES);
        Self { bytes, order: Permutation::new(end_bytes.div_ceil(bytes).max(1), seed) }
    }
}

/// A permutation of the numbers below `count`: a Feistel network over the next power of four, applied until the result
/// is below `count`.
struct Permutation {
    count: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl Permutation {
    fn new(count: u64, seed: u64) -> Self {
        let bits = 64 - count.saturating_sub(1).leading_zeros();
        let mut rng = Rng::from_seed(seed);
        Self { count, half_bits: bits.div_ceil(2).max(1), keys: std::array::from_fn(|_| rng.next_u64()) }
    }

    fn of(&self, value: u64) -> u64 {
        let mut value = value;
        loop {
            value = self.round(value);
            if value < self.count {
                return value;
            }
        }
    }

    fn round(&self, value: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits & mask, value & mask);
        for key in self.keys {
            (left, right) = (right, left ^ (split_mix(&mut (right ^ key)) & mask));
        }
        left << self.half_bits | right
    }
}

/// Copies a trace with its offsets replaced and without the name of its source. `end_bytes` is the end of the
/// original ([`Summary::end_bytes`]); the same seed yields the same offsets.
///
/// # Errors
/// Returns an error if the input is damaged, or the output cannot be written.
pub fn anonymise<R: Read, W: Write>(
    mut input: Reader<R>,
    output: W,
    end_bytes: u64,
    seed: u64,
) -> Result<(W, Summary), TraceError> {
    let origin =
        Origin { source: String::new(), resolution_ns: input.origin().resolution_ns, is_anonymised: true };
    let mut writer = Writer::new(output, &origin)?;
    let extents = Extents::new(end_bytes, seed);
    while let Some(io) = input.next_io()? {
        writer.push(Io { offset_bytes: moved(&extents, &io, end_bytes), ..io })?;
    }
    let Summary { lost_events, moved, .. } = input.summary().unwrap_or_default();
    writer.finish(lost_events, moved)
}

/// Returns the new offset of an I/O. The I/O never extends beyond the last extent.
fn moved(extents: &Extents, io: &Io, end_bytes: u64) -> u64 {
    if io.op == Op::Flush || io.offset_bytes >= end_bytes {
        return io.offset_bytes;
    }
    let Extents { bytes, order } = extents;
    let to = order.of(io.offset_bytes / bytes) * bytes + io.offset_bytes % bytes;
    let last = (order.count * bytes).saturating_sub(io.length_bytes.into());
    to.min(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_are_permuted() {
        for count in [1, 2, 3, 5, 64, 65, 1000] {
            let permutation = Permutation::new(count, 7);
            let mut all: Vec<u64> = (0..count).map(|value| permutation.of(value)).collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..count));
        }
    }

    #[test]
    fn offsets_within_an_extent_keep_their_distances() {
        let extents = Extents::new(1000 * EXTENT_BYTES, 3);
        let io = |offset_bytes| Io {
            issue_ns: 0,
            response_ns: None,
            offset_bytes,
            length_bytes: 4096,
            op: Op::Write,
        };
        let end = 1000 * EXTENT_BYTES;
        let (a, b) = (moved(&extents, &io(5 << 26), end), moved(&extents, &io((5 << 26) + 8192), end));
        assert_eq!(b - a, 8192);
        assert_ne!(a, 5 << 26);
    }

    #[test]
    fn addresses_of_small_volumes_are_replaced_too() {
        for (end_bytes, bytes) in [
            (48 << 20, 2 << 20),
            (64 << 20, 4 << 20),
            (65_536, 4096),
            (8192, 4096),
            (1 << 30, EXTENT_BYTES),
            (1 << 50, EXTENT_BYTES),
            (0, 4096),
        ] {
            assert_eq!(Extents::new(end_bytes, 1).bytes, bytes, "{end_bytes}");
        }
        let extents = Extents::new(48 << 20, 3);
        let is_moved = |extent: &u64| extents.order.of(*extent) != *extent;
        assert!((0..24).filter(is_moved).count() > 12, "most extents are elsewhere");
    }
}
