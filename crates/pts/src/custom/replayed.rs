//! The steps of a trace: the original beside the replay.

use record::{CustomStep, OriginalStep, Segment};
use stdx::units::SECOND_NS;

use super::answers::CustomAnswers;
use crate::Context;

/// Figures of one step or of several, which refer to the whole time including idle times.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StepFigures {
    pub iops: f64,
    pub megabytes: f64,
    pub mean_ms: Option<f64>,
    pub max_ms: Option<f64>,
    /// Mean number of outstanding I/Os.
    pub outstanding: Option<f64>,
}

/// A completed step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReplayedStep {
    /// Position in the trace, from 1.
    pub number: usize,
    pub original: StepFigures,
    pub replay: StepFigures,
    pub host_limited: bool,
    /// Length in the trace.
    length_ns: u64,
}

/// Returns the completed steps.
pub fn replayed(context: &Context<'_>, answers: &CustomAnswers<'_>) -> Vec<ReplayedStep> {
    let mut measured = answers.rounds.first().into_iter().flatten().zip(&answers.cells);
    let of = |(number, step): (usize, &CustomStep)| {
        let cell = if step.streams.is_empty() { None } else { measured.next() };
        let busy = cell.map_or(0.0, |(_, cell)| share(cell.run_ns, step.idle_ns));
        let segment = cell.map(|(segment, _)| segment);
        ReplayedStep {
            number,
            original: of_original(&step.original),
            replay: segment.map_or_else(StepFigures::default, |segment| of_segment(context, segment, busy)),
            host_limited: segment.is_some_and(Segment::is_host_limited),
            length_ns: step.original.length_ns,
        }
    };
    (1..).zip(&answers.test.steps).take(answers.replayed).map(of).collect()
}

/// Returns the share of the time during which the load runs.
fn share(run_ns: u64, idle_ns: u64) -> f64 {
    run_ns as f64 / run_ns.saturating_add(idle_ns).max(1) as f64
}

fn of_original(step: &OriginalStep) -> StepFigures {
    let per_second = SECOND_NS as f64 / step.length_ns.max(1) as f64;
    let ms = |ns: u64| ns as f64 / 1e6;
    StepFigures {
        iops: step.ios as f64 * per_second,
        megabytes: step.bytes as f64 * per_second / 1e6,
        mean_ms: step.mean_ns.map(ms),
        max_ms: step.max_ns.map(ms),
        outstanding: step.outstanding_thousandths.map(|thousandths| thousandths as f64 / 1e3),
    }
}

/// `busy` is the share of the step that is not idle time.
fn of_segment(context: &Context<'_>, segment: &Segment, busy: f64) -> StepFigures {
    let (iops, mean_ms) = (segment.iops() * busy, segment.mean_latency_ms());
    StepFigures {
        iops,
        megabytes: segment.megabytes_per_second() * busy,
        mean_ms,
        max_ms: segment.max_latency_ms().filter(|_| context.has_maxima()),
        // Little's law.
        outstanding: mean_ms.map(|ms| iops * ms / 1e3),
    }
}

/// Returns the figures over all steps: the original, then the replay.
pub fn totals(steps: &[ReplayedStep]) -> [StepFigures; 2] {
    [
        total(steps, |step| (step.original, step.length_ns as f64)),
        // All steps of the replay have the same length.
        total(steps, |step| (step.replay, 1.0)),
    ]
}

fn total(steps: &[ReplayedStep], of: impl Fn(&ReplayedStep) -> (StepFigures, f64)) -> StepFigures {
    let all: Vec<(StepFigures, f64)> = steps.iter().map(of).collect();
    let sum = |value: &dyn Fn(&StepFigures) -> f64| {
        all.iter().map(|(one, length)| value(one) * length).sum::<f64>()
    };
    let length = sum(&|_| 1.0);
    let mean = |value: &dyn Fn(&StepFigures) -> f64| if length > 0.0 { sum(value) / length } else { 0.0 };
    let ios = sum(&|one| one.mean_ms.map_or(0.0, |_| one.iops));
    let is_known = all.iter().any(|(one, _)| one.outstanding.is_some());
    StepFigures {
        iops: mean(&|one| one.iops),
        megabytes: mean(&|one| one.megabytes),
        mean_ms: (ios > 0.0).then(|| sum(&|one| one.mean_ms.map_or(0.0, |ms| ms * one.iops)) / ios),
        max_ms: all.iter().filter_map(|(one, _)| one.max_ms).max_by(f64::total_cmp),
        outstanding: is_known.then(|| mean(&|one| one.outstanding.unwrap_or(0.0))),
    }
}
