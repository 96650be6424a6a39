//! Measures the engines on a target before a load, and chooses one for each workload.
//!
//! Measurements are part of the load: they stay within its range, write only what the load writes, and are described
//! in its result. A failure here is not an error: the load then uses the fixed order of engines, and fails by itself
//! if the target is the reason.

use record::{MeasuredEngine, MeasuredRound, NotMeasured, PathChoice, Segment, Workload};

use super::attempt::attempt_by;
use super::conclude::conclude;
use super::target::Target;
use super::way::Way;
use crate::choice::{ChoiceLimits, Choices, ROUNDS, Slice, least_ios, measurement, slice, unmeasurable};
use crate::effort;
use crate::options::{Engine, Polling};
use crate::outcome::LoadOutcome;
use crate::progress::Flow;

/// One thread per outstanding I/O is not worth considering beyond this number.
const MOST_HELPERS: u32 = 128;

/// Chooses an engine for each workload. Returns no choices if the engine was requested, and `None` if `go_on` stopped
/// the measurements.
pub fn choose(
    target: &Target<'_>,
    workloads: &[Workload],
    limits: &ChoiceLimits,
    go_on: &dyn Fn() -> bool,
) -> Option<Choices> {
    let mut choices = Choices::default();
    if target.options.engine != Engine::Auto {
        return Some(choices);
    }
    let mut shapes = Choices::default();
    for workload in workloads.iter().filter(|workload| reason(target, workload).is_none()) {
        if shapes.of_shape(workload).is_none() {
            shapes.add(workload, PathChoice::FixedOrder { reason: NotMeasured::Short });
        }
    }
    let time_ns = limits.total_ns / (shapes.iter().count() as u64).max(1);
    for workload in workloads {
        let known = choices.of_shape(workload).map(|choice| choice.record.clone());
        let record = match (known, reason(target, workload)) {
            (Some(record), _) => record,
            (None, Some(reason)) => PathChoice::FixedOrder { reason },
            (None, None) => match measured(target, workload, time_ns, limits, go_on) {
                Ok(record) => record,
                Err(Ended::Stopped) => return None,
                Err(Ended::Without(reason)) => PathChoice::FixedOrder { reason },
            },
        };
        choices.add(workload, record);
    }
    Some(choices)
}

/// Why the measurements for a workload have no result.
enum Ended {
    Without(NotMeasured),
    Stopped,
}

impl From<NotMeasured> for Ended {
    fn from(reason: NotMeasured) -> Self {
        Self::Without(reason)
    }
}

fn reason(target: &Target<'_>, workload: &Workload) -> Option<NotMeasured> {
    let is_polled = target.options.polling != Polling::No || target.options.unpolled.is_some();
    unmeasurable(workload, is_polled, target.is_buffered)
}

/// Measures all engines in every round, in reverse order in every other round: if a target becomes faster or slower
/// with time, that does not favour any engine.
fn measured(
    target: &Target<'_>,
    workload: &Workload,
    time_ns: u64,
    limits: &ChoiceLimits,
    go_on: &dyn Fn() -> bool,
) -> Result<PathChoice, Ended> {
    let is_possible = |way: &Way| *way != Way::Threads || workload.outstanding() <= MOST_HELPERS;
    let mut tried: Vec<(Way, Vec<MeasuredRound>)> = Vec::new();
    let ways = Way::of(target, workload.queue_depth).iter().copied().filter(is_possible);
    ways.for_each(|way| tried.push((way, Vec::new())));
    let count = ROUNDS * tried.len() as u64;
    let slice = slice(workload, count, time_ns, limits)?;
    let (begun_ns, mut written_bytes, mut index) = (target.clock.now_ns(), 0, 0);
    for round in 0..ROUNDS {
        let mut order: Vec<usize> = (0..tried.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        let mut unusable = Vec::new();
        for place in order {
            if !go_on() {
                return Err(Ended::Stopped);
            }
            if target.clock.now_ns() - begun_ns > time_ns {
                return Err(NotMeasured::Slow.into());
            }
            let short = measurement(workload, slice, index, count);
            index += 1;
            match once(target, &short, tried[place].0, slice)? {
                Some((figures, bytes)) => {
                    written_bytes += bytes;
                    tried[place].1.push(figures);
                }
                None => unusable.push(tried[place].0),
            }
        }
        tried.retain(|(way, _)| !unusable.contains(way));
        if tried.len() < 2 {
            return Err(NotMeasured::OneEngine.into());
        }
    }
    let engines = tried.into_iter().map(|(way, rounds)| MeasuredEngine { engine: way.engine(), rounds });
    Ok(PathChoice::Measured { engines: engines.collect(), written_bytes })
}

/// Measures one engine once, and returns its figures and the number of bytes written; `None` if the engine cannot
/// be set up.
fn once(
    target: &Target<'_>,
    short: &Workload,
    way: Way,
    slice: Slice,
) -> Result<Option<(MeasuredRound, u64)>, NotMeasured> {
    let before_ns = effort::of_this_process_ns();
    let Ok(ran) = attempt_by(way, target, short, &mut |_| Flow::Continue) else { return Ok(None) };
    let cpu_ns = effort::of_this_process_ns().saturating_sub(before_ns);
    let Ok(LoadOutcome::Finished(segment)) = conclude(target, short, way.engine().into(), ran) else {
        return Err(NotMeasured::Failed);
    };
    let figures = figures(&segment, cpu_ns);
    let is_complete = slice.amount_bytes.is_some() || segment.end_ns - segment.start_ns <= slice.length_ns;
    if figures.ios < least_ios(short) || !is_complete {
        return Err(NotMeasured::Slow);
    }
    Ok(Some((figures, segment.write.bytes)))
}

fn figures(segment: &Segment, cpu_ns: u64) -> MeasuredRound {
    let ios = segment.read.ios + segment.write.ios;
    let elapsed_ns = segment.end_ns.saturating_sub(segment.start_ns).max(1);
    // Little's law.
    let sum_ns = segment.read.latency.sum() + segment.write.latency.sum();
    MeasuredRound {
        ios,
        iops: (segment.iops()).round() as u64,
        outstanding_milli: (sum_ns * 1000 / u128::from(elapsed_ns)) as u64,
        cpu_ns_per_io: cpu_ns / ios.max(1),
    }
}
