//! Access streams with several kinds of I/O, or with zones.

use super::lane::{Access, Lane};
use super::pattern::{Pattern, Place};
use super::span::Order;
use crate::Rng;

/// Lookup tables for drawing the I/Os of a mixed or zoned pattern.
#[derive(Debug, Clone)]
pub(super) struct Mix {
    /// Index of the kind for each percentage that can be drawn.
    kind_of: [u8; 100],
    zone_of: [u8; 100],
    kinds: Vec<(Lane, Vec<Place>)>,
}

impl Mix {
    pub(super) fn new(pattern: &Pattern, thread: u16, threads: u16) -> Self {
        let sequential = pattern.kinds.iter().filter(|kind| kind.order == Order::Sequential).count() as u64;
        let mut begun = 0;
        let kinds = pattern.kinds.iter().map(|kind| {
            let mut lane = Lane::new(kind, pattern, thread, threads);
            if kind.order == Order::Sequential {
                // Each sequential kind is a separate stream with its own starting point.
                let blocks = lane.end_block - lane.first_block;
                let from = lane.next_block - lane.first_block + blocks * begun / sequential;
                lane.next_block = lane.first_block + from % blocks.max(1);
                begun += 1;
            }
            (lane, pattern.places(kind))
        });
        Self {
            kinds: kinds.collect(),
            kind_of: lottery(pattern.kinds.iter().map(|kind| kind.share_percent)),
            zone_of: lottery(pattern.zones.iter().map(|zone| zone.access_percent)),
        }
    }

    pub(super) fn next_access(&mut self, rng: &mut Rng) -> Access {
        let (lane, places) = &mut self.kinds[usize::from(self.kind_of[rng.below(100) as usize])];
        if lane.order == Order::Sequential {
            return lane.next_access(rng);
        }
        let read = lane.read(rng);
        let zone = if places.len() == 1 { 0 } else { usize::from(self.zone_of[rng.below(100) as usize]) };
        Access { read, block_bytes: lane.block_bytes, offset_bytes: places[zone].draw(rng) }
    }
}

/// Returns a table with a hundred entries. Each index occurs as often as its share in percent.
fn lottery(shares: impl Iterator<Item = u8>) -> [u8; 100] {
    let mut lots = [0; 100];
    let mut next = lots.iter_mut();
    for (index, share) in shares.enumerate() {
        next.by_ref().take(share.into()).for_each(|lot| *lot = index as u8);
    }
    lots
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::{Kind, Offsets, Span, Stream, Zone};
    use super::*;
    use proptest::prelude::*;

    /// The composite workload of PTS 2.0: sizes in bytes with their shares, and LBA groups.
    const SIZES: [(u32, u8); 12] = [
        (512, 4),
        (1024, 1),
        (1536, 1),
        (2048, 1),
        (2560, 1),
        (3072, 1),
        (3584, 1),
        (4096, 67),
        (8192, 10),
        (16384, 7),
        (32768, 3),
        (65536, 3),
    ];
    const GROUPS: [(u8, u8); 3] = [(50, 5), (30, 15), (20, 80)];

    fn composite(span: Span) -> Pattern {
        let kind = |(block_bytes, share_percent)| Kind {
            share_percent,
            order: Order::Random,
            read_percent: 40,
            block_bytes,
        };
        let zone = |(access_percent, span_percent)| Zone { access_percent, span_percent };
        Pattern {
            span,
            kinds: SIZES.into_iter().map(kind).collect(),
            zones: GROUPS.into_iter().map(zone).collect(),
            from_block: 0,
            descending: false,
            align_bytes: 0,
            offsets: Offsets::Independent,
            sequence: None,
        }
    }

    #[test]
    fn shares_of_a_million_accesses_are_those_of_the_tables() {
        const CAPACITY: u64 = 1 << 40;
        let mut stream = Stream::new(3, 0, 1, &composite(Span::contiguous(0, CAPACITY)));
        let (mut sizes, mut groups, mut reads) = (BTreeMap::new(), [0u32; 3], 0u32);
        for _ in 0..1_000_000 {
            let access = stream.next_access();
            *sizes.entry(access.block_bytes).or_insert(0u32) += 1;
            let group = |byte: u64| match byte * 100 / CAPACITY {
                0..5 => 0,
                5..20 => 1,
                _ => 2,
            };
            let last_byte = access.offset_bytes + u64::from(access.block_bytes) - 1;
            assert_eq!(group(access.offset_bytes), group(last_byte), "an I/O crosses the end of its group");
            groups[group(last_byte)] += 1;
            reads += u32::from(access.read);
        }
        let within = |count: u32, percent: u8| {
            let off = f64::from(count) / 1e4 - f64::from(percent);
            assert!(off.abs() <= 0.2, "{count} of a million for {percent} %");
        };
        SIZES.iter().for_each(|(size, share)| within(sizes[size], *share));
        groups.iter().zip(GROUPS).for_each(|(&count, (share, _))| within(count, share));
        within(reads, 40);
    }

    #[test]
    fn several_sequential_kinds_are_separate_streams() {
        let kind = |block_bytes, read_percent| Kind {
            share_percent: 50,
            order: Order::Sequential,
            read_percent,
            block_bytes,
        };
        let span = Span::contiguous(0, 1 << 20);
        let kinds = vec![kind(4096, 100), kind(8192, 0)];
        let pattern = Pattern {
            span,
            kinds,
            zones: Vec::new(),
            from_block: 0,
            descending: false,
            align_bytes: 0,
            offsets: Offsets::Independent,
            sequence: None,
        };
        let mut stream = Stream::new(1, 0, 1, &pattern);
        let (mut next_read, mut next_write) = (0, 1 << 19);
        for _ in 0..100 {
            let access = stream.next_access();
            let next = if access.read { &mut next_read } else { &mut next_write };
            assert_eq!(access.offset_bytes, *next);
            *next = (*next + u64::from(access.block_bytes)) % (1 << 20);
        }
        assert!(next_read > 100_000 && next_write != 1 << 19, "both kinds must have been drawn");
    }

    proptest! {
        #[test]
        fn every_access_is_aligned_and_inside_a_segment(seed: u64, segments in 1u32..60, units in 600u64..5000, gap in 0u64..10) {
            let segment_bytes = units * 4096;
            let span = Span { start_bytes: 1 << 20, segments, segment_bytes, stride_bytes: segment_bytes + gap * 512 };
            let pattern = composite(span);
            if pattern.problem(1).is_some() {
                // If there are 2 to 19 segments, a zone of five percent contains no segment.
                prop_assert!((2..20).contains(&segments));
                return Ok(());
            }
            let mut stream = Stream::new(seed, 0, 1, &pattern);
            for _ in 0..300 {
                let access = stream.next_access();
                let from_start = access.offset_bytes - span.start_bytes;
                let (segment, inside) = (from_start / span.stride_bytes, from_start % span.stride_bytes);
                prop_assert!(segment < u64::from(segments) && inside % 512 == 0);
                prop_assert!(inside + u64::from(access.block_bytes) <= segment_bytes);
            }
        }
    }
}
