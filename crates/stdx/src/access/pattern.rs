//! Access patterns: kinds of I/O and zones of the span, with their shares.

use super::scatter::Offsets;
use super::sequence::Sequence;
use super::span::{Order, Span, share};
use crate::Rng;

/// One kind of I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// Share of the I/Os in percent. The shares of all kinds in a pattern add up to 100.
    pub share_percent: u8,
    /// Order of the addresses.
    pub order: Order,
    /// Share of reads in percent, 0 to 100.
    pub read_percent: u8,
    /// Bytes per I/O.
    pub block_bytes: u32,
}

/// A part of the span with its share of the random I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zone {
    /// Share of the random I/Os in percent.
    pub access_percent: u8,
    /// Share of the span in percent. Zones are consecutive, starting at the beginning of the span.
    pub span_percent: u8,
}

/// An access pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// The span that is accessed.
    pub span: Span,
    /// The kinds of I/O, at least one. The kind of each I/O is drawn according to the shares.
    ///
    /// If there are several kinds, offsets are multiples of the greatest common divisor of their sizes.
    pub kinds: Vec<Kind>,
    /// Zones of the random I/Os; if empty, the I/Os are uniform over the span. I/Os do not cross zone
    /// boundaries. In a span with several segments, a boundary is rounded down to the end of a segment.
    pub zones: Vec<Zone>,
    /// Block at which each thread begins sequential I/O, counted from 0 within the thread's part of the span
    /// and wrapping at its end. This lets a stream continue where an earlier stream ended.
    pub from_block: u64,
    /// Whether sequential I/O descends: each thread begins at the end of its part.
    pub descending: bool,
    /// Alignment of the offsets of all random I/Os, even of smaller ones; 0 selects the greatest common divisor
    /// of the block sizes. Distributions and sequences number positions at this distance.
    pub align_bytes: u32,
    /// How random offsets are chosen. Any choice other than independent offsets requires a single kind of random I/O
    /// and no zones.
    pub offsets: Offsets,
    /// The order of the blocks, instead of a choice of random offsets; reads and writes each follow the sequence.
    pub sequence: Option<Sequence>,
}

impl Pattern {
    /// Returns a pattern with a single kind of I/O and no zones.
    #[must_use]
    pub fn plain(order: Order, read_percent: u8, block_bytes: u32, span: Span) -> Self {
        let kind = Kind { share_percent: 100, order, read_percent, block_bytes };
        Self {
            span,
            kinds: vec![kind],
            zones: Vec::new(),
            from_block: 0,
            descending: false,
            align_bytes: 0,
            offsets: Offsets::Independent,
            sequence: None,
        }
    }

    /// Returns whether there is a single kind of I/O and no zone.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.kinds.len() == 1 && self.zones.is_empty()
    }

    /// Returns the size of the largest I/O in bytes.
    #[must_use]
    pub fn largest_block_bytes(&self) -> u32 {
        self.kinds.iter().map(|kind| kind.block_bytes).max().unwrap_or(0)
    }

    /// Returns the alignment of offsets, relative to the start of a segment.
    #[must_use]
    pub fn alignment_bytes(&self) -> u64 {
        if self.align_bytes > 0 { u64::from(self.align_bytes) } else { self.granule_bytes() }
    }

    /// Returns the greatest common divisor of all offsets and block sizes.
    #[must_use]
    pub fn granule_bytes(&self) -> u64 {
        let sizes = self.kinds.iter().map(|kind| u64::from(kind.block_bytes));
        sizes.fold(self.align_bytes.into(), greatest_common_divisor)
    }

    /// Returns the share of thread `index` in `bytes`; whole blocks if all I/Os have the same size.
    #[must_use]
    pub fn share_bytes(&self, bytes: u64, index: u16, threads: u16) -> u64 {
        let unit = if self.kinds.len() == 1 { u64::from(self.kinds[0].block_bytes) } else { 1 };
        let part = share(bytes / unit, index, threads);
        (part.end - part.start) * unit
    }

    /// Returns a description of why `threads` threads cannot use this pattern; `None` if they can.
    #[must_use]
    pub fn problem(&self, threads: u16) -> Option<String> {
        let is_chosen = self.offsets != Offsets::Independent || self.sequence.is_some();
        if is_chosen && (!self.is_plain() || self.kinds[0].order != Order::Random) {
            return Some("a distribution of the offsets needs random I/Os of one size and no zones".into());
        }
        if let Some(problem) = self.offsets.problem() {
            return Some(problem.into());
        }
        let percent = |shares: &mut dyn Iterator<Item = u8>| shares.map(u32::from).sum::<u32>();
        let sum = percent(&mut self.kinds.iter().map(|kind| kind.share_percent));
        if sum != 100 || self.kinds.iter().any(|kind| kind.share_percent == 0 || kind.block_bytes == 0) {
            return Some(format!(
                "the shares of its I/O kinds add up to {sum} % instead of 100, or one of them is zero"
            ));
        }
        if let Some(problem) = self.order_problem() {
            return Some(problem);
        }
        if let Some(kind) = self.kinds.iter().find(|kind| kind.read_percent > 100) {
            return Some(format!("a read share of {} % is out of range; use 0 to 100", kind.read_percent));
        }
        let accesses = percent(&mut self.zones.iter().map(|zone| zone.access_percent));
        let spans = percent(&mut self.zones.iter().map(|zone| zone.span_percent));
        if !self.zones.is_empty() && (accesses, spans) != (100, 100) {
            return Some(format!(
                "its zones have {accesses} % of the I/Os and {spans} % of the range; both must add up to 100"
            ));
        }
        for kind in &self.kinds {
            if self.span.blocks(kind.block_bytes) < u64::from(threads) {
                return Some(format!("{threads} threads need at least one block each in the range"));
            }
            if kind.order == Order::Random && self.places(kind).iter().any(|place| place.positions == 0) {
                return Some(format!("one of its zones is too small for {} B blocks", kind.block_bytes));
            }
        }
        None
    }

    fn order_problem(&self) -> Option<String> {
        let blocks = self.positions();
        match (&self.sequence, self.offsets) {
            (Some(sequence), Offsets::Independent) => sequence.problem(blocks),
            (Some(_), _) => Some("both a sequence and a distribution of the offsets".into()),
            (None, Offsets::Regions(_)) if self.kinds[0].read_percent > 0 => {
                Some("regions of the physical capacity are for writes only".into())
            }
            (None, Offsets::Regions(regions)) => regions.problem(blocks),
            (None, _) => None,
        }
    }

    /// Returns the number of accesses after which the order of a thread's accesses ends; `None` if it does not.
    #[must_use]
    pub fn most_accesses(&self) -> Option<u64> {
        let blocks = self.positions();
        match (&self.sequence, self.offsets) {
            (Some(sequence), _) => sequence.accesses_within(blocks),
            (None, Offsets::Regions(regions)) => Some(regions.accesses(blocks)),
            (None, _) => None,
        }
    }

    /// Returns the number of positions that a distribution or a sequence numbers.
    pub(super) fn positions(&self) -> u64 {
        self.positions_per_segment() * u64::from(self.span.segments)
    }

    /// Returns the number of these positions in a segment. As in fio, it is the number of
    /// blocks even if a smaller alignment moves them closer together; a larger one leaves room for fewer.
    pub(super) fn positions_per_segment(&self) -> u64 {
        let (bytes, block_bytes) = (self.span.segment_bytes, u64::from(self.kinds[0].block_bytes));
        let fitting = bytes.checked_sub(block_bytes).map_or(0, |room| room / self.alignment_bytes() + 1);
        fitting.min(bytes / block_bytes)
    }

    /// Returns the possible start positions of random I/Os of a kind, one entry per zone.
    pub(super) fn places(&self, kind: &Kind) -> Vec<Place> {
        let (mut from, mut places) = (0u32, Vec::with_capacity(self.zones.len().max(1)));
        let whole = [Zone { access_percent: 100, span_percent: 100 }];
        for zone in if self.zones.is_empty() { &whole[..] } else { &self.zones } {
            let to = from + u32::from(zone.span_percent);
            places.push(self.place(kind, from, to));
            from = to;
        }
        places
    }

    fn place(&self, kind: &Kind, from_percent: u32, to_percent: u32) -> Place {
        let (span, align) = (self.span, self.alignment_bytes());
        let cut = |total: u64, percent: u32| (u128::from(total) * u128::from(percent) / 100) as u64;
        let starts =
            |bytes: u64| bytes.checked_sub(kind.block_bytes.into()).map_or(0, |room| room / align + 1);
        if span.segments == 1 {
            let units = span.segment_bytes / align;
            let (from, to) = (cut(units, from_percent), cut(units, to_percent));
            let positions = starts((to - from) * align);
            let base_bytes = span.start_bytes + from * align;
            return Place { base_bytes, positions, per_segment: positions.max(1), align, stride_bytes: 0 };
        }
        let segments = u64::from(span.segments);
        let (from, to) = (cut(segments, from_percent), cut(segments, to_percent));
        let per_segment = starts(span.segment_bytes / align * align);
        Place {
            base_bytes: span.start_bytes + from * span.stride_bytes,
            positions: (to - from) * per_segment,
            per_segment: per_segment.max(1),
            align,
            stride_bytes: span.stride_bytes,
        }
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// The possible start positions of the I/Os of one kind in one zone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    base_bytes: u64,
    positions: u64,
    per_segment: u64,
    align: u64,
    stride_bytes: u64,
}

impl Place {
    #[inline]
    pub(super) fn draw(&self, rng: &mut Rng) -> u64 {
        let position = rng.below(self.positions);
        let (segment, inside) = (position / self.per_segment, position % self.per_segment);
        self.base_bytes + segment * self.stride_bytes + inside * self.align
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zoned(span: Span, zones: &[(u8, u8)]) -> Pattern {
        let zones = zones
            .iter()
            .map(|&(access_percent, span_percent)| Zone { access_percent, span_percent })
            .collect();
        Pattern { zones, ..Pattern::plain(Order::Random, 0, 4096, span) }
    }

    #[test]
    fn impossible_patterns_report_the_reason() {
        let span = Span::contiguous(0, 4096 * 100);
        let half = Kind { share_percent: 50, order: Order::Random, read_percent: 0, block_bytes: 4096 };
        let of = |kinds: &[Kind]| Pattern { kinds: kinds.to_vec(), ..zoned(span, &[]) };
        let cases = [
            (of(&[half]), "add up to 50 %"),
            (of(&[half, Kind { share_percent: 0, ..half }, half]), "zero"),
            (of(&[half, Kind { read_percent: 101, ..half }]), "read share of 101"),
            (of(&[half, Kind { block_bytes: 4096 * 60, ..half }]), "2 threads need"),
            (zoned(span, &[(50, 50), (40, 50)]), "90 % of the I/Os"),
            (zoned(Span::contiguous(0, 4096 * 10), &[(50, 5), (50, 95)]), "too small for 4096 B"),
        ];
        for (pattern, expected) in cases {
            let problem = pattern.problem(2).expect(expected);
            assert!(problem.contains(expected), "{problem}");
        }
        assert_eq!(zoned(span, &[(50, 5), (30, 15), (20, 80)]).problem(2), None);
    }

    #[test]
    fn the_largest_span_is_possible() {
        let span = Span::contiguous(0, u64::MAX);
        let pattern = zoned(span, &[]);
        assert_eq!(pattern.problem(1), None);
        assert_eq!(pattern.places(&pattern.kinds[0])[0].positions, u64::MAX / 4096);
    }

    #[test]
    fn offsets_are_aligned_to_the_common_divisor_of_all_sizes() {
        let kind =
            |block_bytes| Kind { share_percent: 50, order: Order::Random, read_percent: 0, block_bytes };
        let of = |a, b| Pattern { kinds: vec![kind(a), kind(b)], ..zoned(Span::contiguous(0, 1 << 20), &[]) };
        assert_eq!(of(512, 1536).alignment_bytes(), 512);
        assert_eq!(of(8192, 12288).alignment_bytes(), 4096);
    }
}
