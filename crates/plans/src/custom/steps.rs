//! The steps of a trace that a custom test replays.

use record::{Access, CustomCell, CustomStep, IoKind, OriginalStep, read_percent_of};

use super::streams::{inner, stream};
use crate::limits;
use crate::table::Key;
use crate::value::{Problem, Value};

/// A step, whose length the test specifies.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    streams: Vec<IoKind>,
    queue_depth: Option<u16>,
    idle_percent: f64,
    original: OriginalStep,
}

/// Values read from a step's table.
#[derive(Default)]
pub struct DraftStep {
    streams: Vec<IoKind>,
    queue_depth: Option<u16>,
    idle_percent: f64,
    original: Option<OriginalStep>,
}

pub const STEP: &[Key<DraftStep>] = &[
    Key {
        name: "streams",
        about: "types of I/O mixed in the step, as for a test; default: none, the step is an idle time",
        set: |draft, value| {
            draft.streams = value.list()?.into_iter().map(stream).collect::<Result<_, _>>()?;
            Ok(())
        },
    },
    Key {
        name: "qd",
        about: "outstanding I/Os of the step's only thread; default: QD from the settings",
        set: |draft, value| value.whole(&limits::QD).map(|qd| draft.queue_depth = Some(qd)),
    },
    Key {
        name: "idle",
        about: "percentage of the step that the drive is idle, after the I/Os; default: 0",
        set: |draft, value| value.fraction(&limits::STEP_IDLE).map(|percent| draft.idle_percent = percent),
    },
    Key {
        name: "original",
        about: "the step in the trace, which the report shows beside the result: a table",
        set: |draft, value| original(value).map(|original| draft.original = Some(original)),
    },
];

/// Values read from the table of the original step.
#[derive(Default)]
pub struct DraftOriginal {
    length_ns: Option<u64>,
    ios: Option<u64>,
    bytes: Option<u64>,
    mean_ns: Option<u64>,
    max_ns: Option<u64>,
    outstanding_thousandths: Option<u64>,
}

pub const ORIGINAL: &[Key<DraftOriginal>] = &[
    Key {
        name: "seconds",
        about: "length of the step",
        set: |draft, value| value.seconds_ns(&limits::TRACE_SECONDS).map(|ns| draft.length_ns = Some(ns)),
    },
    Key {
        name: "ios",
        about: "number of reads and writes",
        set: |draft, value| value.whole(&limits::STEP_COUNT).map(|ios| draft.ios = Some(ios)),
    },
    Key {
        name: "bytes",
        about: "bytes read and written",
        set: |draft, value| value.whole(&limits::STEP_COUNT).map(|bytes| draft.bytes = Some(bytes)),
    },
    Key {
        name: "mean",
        about: "mean response time in seconds, if known",
        set: |draft, value| value.seconds_ns(&limits::TRACE_SECONDS).map(|ns| draft.mean_ns = Some(ns)),
    },
    Key {
        name: "max",
        about: "the longest response time in seconds, if known",
        set: |draft, value| value.seconds_ns(&limits::TRACE_SECONDS).map(|ns| draft.max_ns = Some(ns)),
    },
    Key {
        name: "qd",
        about: "mean number of outstanding I/Os over the whole step, if known",
        set: |draft, value| {
            let outstanding = value.fraction(&limits::STEP_OUTSTANDING)?;
            draft.outstanding_thousandths = Some((outstanding * 1000.0).round() as u64);
            Ok(())
        },
    },
];

pub fn step(value: Value<'_>) -> Result<Step, Problem> {
    let draft = inner(value, STEP)?;
    let sum: u32 = draft.streams.iter().map(|stream| u32::from(stream.share_percent)).sum();
    if !draft.streams.is_empty() && sum != 100 {
        return value.problem(format!("the shares of a step add up to {sum} % instead of 100 %"));
    }
    let Some(original) = draft.original else { return value.problem("a step needs original") };
    let DraftStep { streams, queue_depth, idle_percent, .. } = draft;
    Ok(Step { streams, queue_depth, idle_percent, original })
}

fn original(value: Value<'_>) -> Result<OriginalStep, Problem> {
    let draft = inner(value, ORIGINAL)?;
    let (Some(length_ns @ 1..), Some(ios), Some(bytes)) = (draft.length_ns, draft.ios, draft.bytes) else {
        return value.problem("needs seconds, which are more than 0, ios and bytes");
    };
    let DraftOriginal { mean_ns, max_ns, outstanding_thousandths, .. } = draft;
    Ok(OriginalStep { length_ns, ios, bytes, mean_ns, max_ns, outstanding_thousandths })
}

impl Step {
    /// Returns the step with its cell, which is absent if the step is an idle time.
    pub fn of_length(&self, length_ns: u64) -> (CustomStep, Option<CustomCell>) {
        let is_idle = self.streams.is_empty();
        let idle_share = if is_idle { 1.0 } else { self.idle_percent / 100.0 };
        let idle_ns = (length_ns as f64 * idle_share).round() as u64;
        let is_random = self.streams.iter().any(|stream| stream.access == Access::Random);
        let cell = CustomCell {
            access: if is_random { Access::Random } else { Access::Sequential },
            read_percent: read_percent_of(&self.streams),
            block_bytes: self.streams.iter().map(|stream| stream.block_bytes).max().unwrap_or(0),
            threads: Some(1),
            queue_depth: self.queue_depth,
            run_ns: length_ns.saturating_sub(idle_ns).max(1),
            ramp_ns: 0,
        };
        let step = CustomStep { streams: self.streams.clone(), idle_ns, original: self.original };
        (step, (!is_idle).then_some(cell))
    }
}
