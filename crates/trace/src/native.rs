//! The steps of a trace as a test: each step's streams, queue depth and idle time, and the original's figures.

use std::fmt::Write as _;

use stdx::units::{count_of, span};

use crate::characteristics::{Characteristics, Step, StreamKind};
use crate::shares::{BLOCK_UNIT, LARGEST_BLOCK, Part, dominant};

/// Default limit on the number of steps.
const MOST_STEPS: usize = 128;
/// By default, steps are so long that they have at least this number of I/Os on average.
const IOS_PER_STEP: u64 = 100;
/// Largest queue depth in a plan.
const DEEPEST: f64 = 1024.0;
/// Longest time and largest number of outstanding I/Os that a plan accepts for the original.
const LONGEST_NS: u64 = 100_000_000 * 1_000_000_000;
const MOST_OUTSTANDING: f64 = 1e6;
/// Measured length of a step, if cells take 60 s.
const RUN_SECONDS: u32 = 2;

/// A step of the trace.
#[derive(Debug, Clone, PartialEq)]
pub struct NativeStep {
    /// The dominant streams, whose shares add up to 100; empty if nothing was read or written. A size that a plan cannot
    /// express is replaced with the nearest one.
    pub parts: Vec<Part>,
    /// Mean number of outstanding I/Os while there were any.
    pub depth: u16,
    /// Time without an outstanding I/O, in thousandths of the step; below 1,000 if there are streams.
    pub idle_per_mille: u16,
    /// The original's figures; times without a known completion count as zero.
    pub original: Step,
    /// Length in the trace.
    pub length_ns: u64,
}

/// The steps of a trace as a test.
#[derive(Debug, Clone, PartialEq)]
pub struct Native {
    /// The steps, in the order of the trace.
    pub steps: Vec<NativeStep>,
    /// Whether the trace has completions; if not, queue depths and idle times are unknown.
    pub has_completions: bool,
}

/// Returns the stream with the nearest size that a plan can express.
fn expressible(kind: StreamKind) -> StreamKind {
    let units = u64::from(kind.bytes).saturating_add(u64::from(BLOCK_UNIT) / 2) / u64::from(BLOCK_UNIT);
    let bytes = (units.max(1) * u64::from(BLOCK_UNIT)).min(LARGEST_BLOCK.into());
    StreamKind { bytes: bytes as u32, ..kind }
}

/// Returns a number of outstanding I/Os as a queue depth.
pub fn depth(outstanding: f64) -> u16 {
    outstanding.round().clamp(1.0, DEEPEST) as u16
}

/// Divides a trace into steps of equal length, at most `most`. By default, there are at most 128 steps, with at least
/// 100 I/Os each on average.
#[must_use]
pub fn native(of: &Characteristics, most: Option<usize>) -> Native {
    let sensible = (of.summary.ios / IOS_PER_STEP).clamp(1, MOST_STEPS as u64) as usize;
    let has_completions = of.summary.completed > 0;
    let steps = merged(of, most.unwrap_or(sensible).max(1));
    Native {
        steps: steps.into_iter().map(|(step, length_ns)| native_step(of, step, length_ns)).collect(),
        has_completions,
    }
}

/// Merges the steps of a trace into at most `most`, each with its length.
fn merged(of: &Characteristics, most: usize) -> Vec<(Step, u64)> {
    let of_each = of.steps.len().div_ceil(most).max(1);
    // The times in a trace are untrusted.
    let full_ns = (of_each as u64).saturating_mul(of.step_ns);
    let mut all: Vec<(Step, u64)> = Vec::new();
    for (index, steps) in of.steps.chunks(of_each).enumerate() {
        let mut step = Step::default();
        steps.iter().for_each(|other| step.join(other));
        let length_ns = of.summary.end_ns.saturating_sub((index as u64).saturating_mul(full_ns)).min(full_ns);
        match all.last_mut() {
            // A short rest is part of the last step.
            Some((last, last_ns)) if length_ns < full_ns / 2 => {
                last.join(&step);
                *last_ns = last_ns.saturating_add(length_ns);
            }
            _ => all.push((step, length_ns)),
        }
    }
    all
}

fn native_step(of: &Characteristics, step: Step, length_ns: u64) -> NativeStep {
    let mut streams: Vec<(StreamKind, u64)> = Vec::new();
    for (stream, ios) in of.streams.iter().zip(&step.streams) {
        let kind = expressible(stream.kind);
        match streams.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, sum)) => *sum += ios,
            None => streams.push((kind, *ios)),
        }
    }
    streams.sort_by_key(|(_, ios)| std::cmp::Reverse(*ios));
    let parts = dominant(streams.into_iter());
    let transfers = &step.transfers;
    let outstanding = transfers.outstanding_ns as f64 / transfers.busy_ns.max(1) as f64;
    let busy = transfers.busy_ns as f64 / length_ns.max(1) as f64;
    // Without response times, nothing is known about idle times.
    let idle = if transfers.busy_ns > 0 { (1000.0 * (1.0 - busy)).round().clamp(0.0, 1000.0) } else { 0.0 };
    NativeStep {
        idle_per_mille: if parts.is_empty() { 1000 } else { (idle as u16).min(999) },
        depth: depth(outstanding),
        parts,
        original: step,
        length_ns,
    }
}

impl Native {
    /// Returns the steps in one sentence.
    #[must_use]
    pub fn summary(&self) -> String {
        let length_ns = self.steps.first().map_or(0, |step| step.length_ns);
        format!("{} of {}", count_of(self.steps.len(), "step"), span(length_ns))
    }

    /// Returns the test as part of a plan, or the reason why the plan has no such test.
    pub(crate) fn test(&self) -> String {
        if !self.steps.iter().all(NativeStep::is_plannable) {
            return "# The steps are not part of the plan: a step takes no time, or it or a response takes more than three years.\n\n"
                .to_owned();
        }
        let mut out = format!(
            "# {} of the trace, each replayed in {RUN_SECONDS} s: `runtime` sets another length.{}\n\
             [test.replay-native]\ntitle = \"Replay-Native\"\n\
             purpose = \"show how the drive serves each step of the trace, beside the original\"\n\
             purge = true\nprecondition = {{ capacities = 2 }}\nruntime = {RUN_SECONDS}\n",
            self.summary(),
            if self.has_completions { "" } else { " Idle times within a step are unknown: it has none." },
        );
        for step in &self.steps {
            let _ = write!(out, "\n[[test.replay-native.steps]]\n{}", step.in_plan());
        }
        out + "\n"
    }
}

impl NativeStep {
    fn is_plannable(&self) -> bool {
        let longest_ns = self.length_ns.max(self.original.transfers.response_max_ns);
        self.length_ns > 0 && longest_ns <= LONGEST_NS
    }

    fn in_plan(&self) -> String {
        let mut out = String::new();
        let step = &self.original;
        let seconds = |ns: f64| ns / 1e9;
        let _ = write!(
            out,
            "original = {{ seconds = {}, ios = {}, bytes = {}",
            seconds(self.length_ns as f64),
            step.ios[0] + step.ios[1],
            step.bytes[0] + step.bytes[1],
        );
        let transfers = &step.transfers;
        if transfers.completed > 0 {
            let _ = write!(
                out,
                ", mean = {:.9}, max = {}",
                seconds(transfers.response_sum_ns as f64 / transfers.completed as f64),
                seconds(transfers.response_max_ns as f64)
            );
        }
        if transfers.outstanding_ns > 0 {
            let _ = write!(
                out,
                ", qd = {:.3}",
                (transfers.outstanding_ns as f64 / self.length_ns.max(1) as f64).min(MOST_OUTSTANDING)
            );
        }
        out.push_str(" }\n");
        if self.parts.is_empty() {
            return out;
        }
        let _ = writeln!(out, "qd = {}", self.depth);
        if self.idle_per_mille > 0 {
            let _ = writeln!(out, "idle = {}.{}", self.idle_per_mille / 10, self.idle_per_mille % 10);
        }
        let streams: String = self.parts.iter().map(|part| format!("    {},\n", part.in_plan())).collect();
        let _ = write!(out, "streams = [\n{streams}]\n");
        out
    }
}
