//! The composite of a trace (its dominant streams with whole percentages), and a plan of tests that use it.

use std::fmt::Write as _;

use stdx::units::grouped;

use crate::characteristics::{Characteristics, Stream};
use crate::native::{Native, depth};
use crate::shares::{Part, dominant, rw};

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
    let parts = dominant(of.streams.iter().map(|stream| (stream.kind, stream.ios)));
    if parts.is_empty() {
        return Err(NoComposite);
    }
    let share_in =
        |stream: &Stream| parts.iter().find(|part| part.kind == stream.kind).map(|p| p.share_percent);
    let chosen = || of.streams.iter().filter(|stream| share_in(stream).is_some());
    let bytes = |stream: &Stream| stream.ios as f64 * f64::from(stream.kind.bytes);
    let all_ios = of.summary.ios.max(1) as f64;
    let all_bytes: f64 = of.streams.iter().filter(|stream| stream.kind.op.transfers()).map(bytes).sum();
    let error = |stream: &Stream| {
        (100.0 * stream.ios as f64 / all_ios - share_in(stream).map_or(0.0, f64::from)).abs()
    };
    let at = |share: f64| of.depths.quantile(share).map(|outstanding| depth(outstanding as f64));
    Ok(Composite {
        covered_percent: 100.0 * chosen().map(|stream| stream.ios as f64).sum::<f64>() / all_ios,
        covered_bytes_percent: 100.0 * chosen().map(bytes).sum::<f64>() / all_bytes.max(1.0),
        largest_error: of.streams.iter().map(error).fold(0.0, f64::max),
        depths: at(0.05).zip(at(0.5)).zip(at(0.95)).map(|((low, middle), high)| [low, middle, high]),
        parts,
    })
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

    /// Returns a plan for `plateau run`: the steps of the trace, the composite until steady state, each stream alone, and
    /// the composite over its range of queue depths.
    #[must_use]
    pub fn plan(&self, name: &str, native: &Native) -> String {
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
             about = \"the dominant streams of a trace: step by step, as a composite, one by one, and over queue depths\"\n\
             not-pts = \"conformance with SNIA's Real World Storage Workload PTS is not claimed: its text is not public\"\n\n"
        );
        out.push_str(&native.test());
        let streams = self.streams();
        let _ = write!(
            out,
            "[test.multi-wsat]\ntitle = \"Multi-WSAT\"\n\
             purpose = \"show the composite of the dominant streams from fresh out of the box to steady state\"\n\
             purge = true\nstreams = [\n{streams}]\ntc = 1\nqd = {middle}\nrounds = \"steady\"\n"
        );
        for (index, part) in self.parts.iter().enumerate() {
            let bytes = part.kind.bytes;
            let first = if index == 0 { "purge = true\nprecondition = { capacities = 2 }\n" } else { "" };
            let _ = write!(
                out,
                "\n[test.stream-{}]\ntitle = \"Individual Streams-WSAT {}\"\n\
                 purpose = \"show one dominant stream by itself until steady state\"\n\
                 {first}rw = \"{}\"\nbs = \"{bytes}\"\ntc = 1\nqd = {middle}\nrounds = \"steady\"\n",
                index + 1,
                index + 1,
                rw(part.kind),
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
        self.parts.iter().map(|part| format!("    {},\n", part.in_plan())).collect()
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

    #[test]
    fn depths_cover_the_range() {
        assert_eq!(depths(1, 1), [1, 2, 4]);
        assert_eq!(depths(3, 33), [2, 4, 8, 16, 32, 64]);
        assert_eq!(depths(1024, 1024), [1024]);
    }
}
