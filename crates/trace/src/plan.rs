//! The composite of a trace (its dominant streams with whole percentages), and a plan of tests that use it.

use std::fmt::Write as _;

use stdx::units::grouped;

use crate::Op;
use crate::characteristics::{Characteristics, Stream, StreamKind};

/// Maximum number of streams in a composite.
const MOST_STREAMS: usize = 9;
/// Block sizes in a plan are multiples of `BLOCK_UNIT`, up to `LARGEST_BLOCK`.
const BLOCK_UNIT: u32 = 512;
const LARGEST_BLOCK: u32 = 16 << 20;
/// Largest queue depth in a plan.
const DEEPEST: u64 = 1024;

/// A stream in a composite, with its share of the I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The stream.
    pub kind: StreamKind,
    /// Percentage of the I/Os in the composite.
    pub share_percent: u8,
}

/// The dominant streams of a trace, and how well they represent it.
#[derive(Debug, Clone, PartialEq)]
pub struct Composite {
    /// The streams, with the largest share first; the shares add up to 100.
    pub parts: Vec<Part>,
    /// Percentage of the trace's I/Os that belong to these streams.
    pub covered_percent: f64,
    /// Percentage of the bytes read and written that belong to these streams.
    pub covered_bytes_percent: f64,
    /// Largest difference between the share of a stream in the trace and in the composite, in percentage points.
    pub largest_error: f64,
    /// Outstanding I/Os when an I/O is issued: 5th, 50th and 95th percentile; None if completions are unknown.
    pub depths: Option<[u16; 3]>,
}

/// Why a trace has no composite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("none of its streams reads or writes multiples of 512 B up to 16 MiB")]
pub struct NoComposite;

/// Returns the composite of a trace.
///
/// # Errors
/// Returns an error if no stream can be part of a plan.
pub fn composite(of: &Characteristics) -> Result<Composite, NoComposite> {
    let possible = |stream: &&Stream| {
        let kind = stream.kind;
        kind.op.transfers() && kind.bytes.is_multiple_of(BLOCK_UNIT) && kind.bytes <= LARGEST_BLOCK
    };
    let mut chosen: Vec<&Stream> = of.streams.iter().filter(possible).take(MOST_STREAMS).collect();
    // Streams with less than half a percent of the chosen I/Os are omitted, smallest first.
    let shares = loop {
        let total: u64 = chosen.iter().map(|stream| stream.ios).sum();
        match chosen.last() {
            None => return Err(NoComposite),
            Some(last) if chosen.len() > 1 && u128::from(last.ios) * 200 < u128::from(total) => {
                chosen.pop();
            }
            Some(_) => break whole_percents(&chosen.iter().map(|stream| stream.ios).collect::<Vec<_>>()),
        }
    };
    let parts: Vec<Part> = chosen
        .iter()
        .zip(&shares)
        .map(|(stream, share_percent)| Part { kind: stream.kind, share_percent: *share_percent })
        .collect();
    let bytes = |stream: &Stream| stream.ios as f64 * f64::from(stream.kind.bytes);
    let all_ios = of.summary.ios.max(1) as f64;
    let all_bytes: f64 = of.streams.iter().filter(|stream| stream.kind.op.transfers()).map(bytes).sum();
    let covered: f64 = chosen.iter().map(|stream| stream.ios as f64).sum();
    let share_of = |stream: &Stream| 100.0 * stream.ios as f64 / all_ios;
    let error = |(stream, share): (&&Stream, &u8)| (share_of(stream) - f64::from(*share)).abs();
    let left_out =
        of.streams.iter().filter(|stream| !chosen.iter().any(|one| one.kind == stream.kind)).map(share_of);
    let depth = |share: f64| of.depths.quantile(share).map(|depth| depth.clamp(1, DEEPEST) as u16);
    Ok(Composite {
        covered_percent: 100.0 * covered / all_ios,
        covered_bytes_percent: 100.0 * chosen.iter().map(|stream| bytes(stream)).sum::<f64>()
            / all_bytes.max(1.0),
        largest_error: chosen.iter().zip(&shares).map(error).chain(left_out).fold(0.0, f64::max),
        depths: depth(0.05).zip(depth(0.5)).zip(depth(0.95)).map(|((low, middle), high)| [low, middle, high]),
        parts,
    })
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

impl Composite {
    /// Returns how well the composite represents the trace, in one sentence.
    #[must_use]
    pub fn quality(&self) -> String {
        let streams = stdx::units::count_of(self.parts.len(), "stream");
        format!(
            "{streams} with {} % of the I/Os and {} % of the bytes of the trace; the share of a stream differs by up to {} \
             percentage points",
            grouped(self.covered_percent, 1),
            grouped(self.covered_bytes_percent, 1),
            grouped(self.largest_error, 1),
        )
    }

    /// Returns a plan for `plateau run`: the composite until steady state, each stream alone, and the composite over
    /// its range of queue depths.
    #[must_use]
    pub fn plan(&self, name: &str) -> String {
        let [low, middle, high] = self.depths.unwrap_or([1, 1, 1]);
        let name = quoted(name);
        let mut out = format!(
            "# {}.\n# Not in the plan: the order and the times of the I/Os, and where they access the volume. `plateau replay`\n\
             # repeats these.\n",
            self.quality()
        );
        match self.depths {
            Some(_) => {
                let _ = writeln!(
                    out,
                    "# Outstanding I/Os in the trace: {low} at 5 % of the issues, {middle} at 50 %, {high} at 95 %."
                );
            }
            None => out.push_str(
                "# The trace has no completions, so its queue depths are unknown: the plan uses 1.\n",
            ),
        }
        let _ = write!(
            out,
            "title = \"Workload of {name}\"\n\
             about = \"the dominant streams of a trace: as a composite, one by one, and over queue depths\"\n\
             not-pts = \"conformance with SNIA's Real World Storage Workload PTS is not claimed: its text is not public\"\n\n"
        );
        let streams = self.streams();
        let _ = write!(
            out,
            "[test.multi-wsat]\ntitle = \"Multi-WSAT\"\n\
             purpose = \"show the composite of the dominant streams from fresh out of the box to steady state\"\n\
             purge = true\nstreams = [\n{streams}]\ntc = 1\nqd = {middle}\nrounds = \"steady\"\n"
        );
        for (index, part) in self.parts.iter().enumerate() {
            let StreamKind { op, is_sequential, bytes } = part.kind;
            let first = if index == 0 { "purge = true\nprecondition = { capacities = 2 }\n" } else { "" };
            let _ = write!(
                out,
                "\n[test.stream-{}]\ntitle = \"Individual Streams-WSAT {}\"\n\
                 purpose = \"show one dominant stream by itself until steady state\"\n\
                 {first}rw = \"{}\"\nbs = \"{bytes}\"\ntc = 1\nqd = {middle}\nrounds = \"steady\"\n",
                index + 1,
                index + 1,
                rw(op, is_sequential),
            );
        }
        let depths: Vec<String> = depths(low, high).iter().map(u16::to_string).collect();
        let _ = write!(
            out,
            "\n[test.demand]\ntitle = \"TC/QD Sweep\"\n\
             purpose = \"show how the composite responds to rising demand\"\n\
             purge = true\nprecondition = {{ capacities = 2 }}\nstreams = [\n{streams}]\ntc = [1, 2]\nqd = [{}]\n",
            depths.join(", ")
        );
        out
    }

    fn streams(&self) -> String {
        let line = |part: &Part| {
            let StreamKind { op, is_sequential, bytes } = part.kind;
            format!(
                "    {{ rw = \"{}\", bs = \"{bytes}\", share = {} }},\n",
                rw(op, is_sequential),
                part.share_percent
            )
        };
        self.parts.iter().map(line).collect()
    }
}

const fn rw(op: Op, is_sequential: bool) -> &'static str {
    match (op, is_sequential) {
        (Op::Read, true) => "read",
        (Op::Read, _) => "randread",
        (_, true) => "write",
        (_, false) => "randwrite",
    }
}

/// Returns at least three powers of two, which cover the range.
fn depths(low: u16, high: u16) -> Vec<u16> {
    let first = u32::from(low).max(1).ilog2();
    let last = u32::from(high).max(1).next_power_of_two().ilog2().max(first + 2);
    (first..=last).map(|power| 1u16 << power.min(10)).fold(Vec::new(), |mut all, depth| {
        if !all.contains(&depth) {
            all.push(depth);
        }
        all
    })
}

/// Returns the text for a TOML basic string.
fn quoted(text: &str) -> String {
    let plain = |c: char| !c.is_control() && c != '"' && c != '\\';
    stdx::text::on_one_line(text).chars().filter(|c| plain(*c)).collect()
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

    #[test]
    fn depths_cover_the_range() {
        assert_eq!(depths(1, 1), [1, 2, 4]);
        assert_eq!(depths(3, 33), [2, 4, 8, 16, 32, 64]);
        assert_eq!(depths(1024, 1024), [1024]);
    }
}
