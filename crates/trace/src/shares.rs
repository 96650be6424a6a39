//! The dominant streams among counted I/Os, in whole percentages, as a plan requires.

use crate::Op;
use crate::characteristics::StreamKind;

/// Maximum number of streams in a composite.
const MOST_STREAMS: usize = 9;
/// Block sizes in a plan are multiples of `BLOCK_UNIT`, up to `LARGEST_BLOCK`.
pub const BLOCK_UNIT: u32 = 512;
pub const LARGEST_BLOCK: u32 = 16 << 20;

/// A stream in a composite, with its share of the I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The stream.
    pub kind: StreamKind,
    /// Percentage of the I/Os in the composite.
    pub share_percent: u8,
}

/// Returns up to nine of the streams, which are in descending order of their I/Os, with their shares. Streams that a
/// plan cannot express and those with less than half a percent of the chosen I/Os are omitted.
pub fn dominant(streams: impl Iterator<Item = (StreamKind, u64)>) -> Vec<Part> {
    let possible = |(kind, ios): &(StreamKind, u64)| {
        *ios > 0
            && kind.op.transfers()
            && kind.bytes.is_multiple_of(BLOCK_UNIT)
            && kind.bytes <= LARGEST_BLOCK
    };
    let mut chosen: Vec<(StreamKind, u64)> = streams.filter(possible).take(MOST_STREAMS).collect();
    while let [_, .., last] = chosen[..]
        && u128::from(last.1) * 200 < chosen.iter().map(|(_, ios)| u128::from(*ios)).sum()
    {
        chosen.pop();
    }
    let shares = whole_percents(&chosen.iter().map(|(_, ios)| *ios).collect::<Vec<_>>());
    chosen.iter().zip(shares).map(|(&(kind, _), share_percent)| Part { kind, share_percent }).collect()
}

/// Returns whole percentages, proportional to `counts`, that add up to 100, each at least 1 (largest
/// remainders).
fn whole_percents(counts: &[u64]) -> Vec<u8> {
    let total: u128 = counts.iter().map(|count| u128::from(*count)).sum::<u128>().max(1);
    let mut shares: Vec<u8> =
        counts.iter().map(|count| ((u128::from(*count) * 100 / total) as u8).max(1)).collect();
    let remainder = |place: &usize| u128::from(counts[*place]) * 100 % total;
    let mut order: Vec<usize> = (0..counts.len()).collect();
    order.sort_by_key(|place| std::cmp::Reverse(remainder(place)));
    let sum = |shares: &[u8]| shares.iter().map(|share| u32::from(*share)).sum::<u32>();
    for place in order.iter().cycle().take(100) {
        match sum(&shares) {
            0..100 => shares[*place] += 1,
            100 => break,
            _ => {
                if let Some(most) = shares.iter_mut().max() {
                    *most -= 1;
                }
            }
        }
    }
    shares
}

impl Part {
    /// Returns the stream as a table in a plan.
    pub(crate) fn in_plan(&self) -> String {
        let bytes = self.kind.bytes;
        format!("{{ rw = \"{}\", bs = \"{bytes}\", share = {} }}", rw(self.kind), self.share_percent)
    }
}

/// Returns fio's name for the stream's order and direction.
pub const fn rw(kind: StreamKind) -> &'static str {
    match (kind.op, kind.is_sequential) {
        (Op::Read, true) => "read",
        (Op::Read, _) => "randread",
        (_, true) => "write",
        (_, false) => "randwrite",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn percentages_add_up(counts in prop::collection::vec(1u64..1 << 40, 1..10)) {
            let largest = counts.iter().max().copied().unwrap_or(1);
            let counts: Vec<u64> = counts.into_iter().map(|count| count.max(largest / 150)).collect();
            let shares = whole_percents(&counts);
            prop_assert_eq!(shares.iter().map(|share| u32::from(*share)).sum::<u32>(), 100);
            prop_assert!(shares.iter().all(|share| *share > 0));
        }
    }
}
