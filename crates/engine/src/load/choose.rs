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
use crate::choice::{Choices, Choosing, ROUNDS, least_ios, measurement, slice, unmeasurable};
use crate::effort;
use crate::options::{Engine, Polling};
use crate::outcome::LoadOutcome;
use crate::progress::{Flow, Tick};

/// Chooses an engine for each workload, and returns these choices after the earlier ones of the target, which stay
/// valid. Chooses nothing if the engine was requested, and nothing more once `go_on` returns false.
#[must_use]
pub fn choose(target: &Target<'_>, workloads: &[Workload], choosing: &Choosing<'_>) -> Choices {
    let mut choices = target.options.choices.clone();
    if target.options.engine != Engine::Auto {
        return choices;
    }
    let mut shapes = Choices::default();
    for workload in workloads.iter().filter(|workload| reason(target, workload).is_none()) {
        if shapes.of_shape(workload).is_none() && choices.of_shape(workload).is_none() {
            shapes.add(workload, NotMeasured::Short.choice());
        }
    }
    let time_ns = choosing.limits.total_ns / (shapes.len() as u64).max(1);
    for workload in workloads {
        if choices.of(workload).is_some() {
            continue;
        }
        let known = choices.of_shape(workload).map(|choice| choice.record.clone());
        let record = match (known, reason(target, workload)) {
            (Some(record), _) => record,
            (None, Some(reason)) => reason.choice(),
            (None, None) => {
                let mut written_bytes = 0;
                match measured(target, workload, (time_ns, choosing), &mut written_bytes) {
                    Ok(engines) => PathChoice::Measured { engines, written_bytes },
                    Err(Ended::Stopped) => return choices,
                    Err(Ended::Without(reason)) => PathChoice::FixedOrder { reason, written_bytes },
                }
            }
        };
        let Workload { threads, queue_depth, .. } = workload;
        log::info!("load {workload} at TC {threads} QD {queue_depth}: {record}");
        choices.add(workload, record);
    }
    choices
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
    (time_ns, choosing): (u64, &Choosing<'_>),
    written_bytes: &mut u64,
) -> Result<Vec<MeasuredEngine>, Ended> {
    // Threads that wait for a device that hangs cannot be ended.
    let is_possible = |way: &Way| *way != Way::Threads;
    let mut tried: Vec<(Way, Vec<MeasuredRound>)> = Vec::new();
    let ways = Way::of(target, workload.queue_depth).iter().copied().filter(is_possible);
    ways.for_each(|way| tried.push((way, Vec::new())));
    let count = ROUNDS * tried.len() as u64;
    let slice = slice(workload, count, time_ns, &choosing.limits)?;
    let (begun_ns, mut index) = (target.clock.now_ns(), 0);
    for round in 0..ROUNDS {
        let mut order: Vec<usize> = (0..tried.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        let mut unusable = Vec::new();
        for place in order {
            if !(choosing.go_on)() {
                return Err(Ended::Stopped);
            }
            if target.clock.now_ns() - begun_ns > time_ns {
                return Err(NotMeasured::Slow.into());
            }
            let short = measurement(workload, slice, index, count);
            index += 1;
            match once(target, &short, tried[place].0, choosing.go_on)? {
                Some(once) => {
                    *written_bytes += once.segment.write.bytes;
                    tried[place].1.push(figures(&once, &short)?);
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
    Ok(engines.collect())
}

/// The result of one measurement.
struct Once {
    segment: Segment,
    /// CPU time of the process.
    cpu_ns: u64,
}

/// Measures one engine once; returns `None` if the engine cannot be set up.
fn once(
    target: &Target<'_>,
    short: &Workload,
    way: Way,
    go_on: &dyn Fn() -> bool,
) -> Result<Option<Once>, Ended> {
    // A measurement is too short for a tick, unless the target hangs.
    let mut on_tick = |_: &Tick| if go_on() { Flow::Continue } else { Flow::Stop };
    let before_ns = effort::of_this_process_ns();
    let Ok(ran) = attempt_by(way, target, short, &mut on_tick) else { return Ok(None) };
    let cpu_ns = effort::of_this_process_ns().saturating_sub(before_ns);
    match conclude(target, short, way.engine().into(), ran) {
        Ok(LoadOutcome::Finished(segment)) => Ok(Some(Once { segment, cpu_ns })),
        Ok(LoadOutcome::Stopped) => Err(Ended::Stopped),
        Err(_) => Err(NotMeasured::Failed.into()),
    }
}

/// Returns the figures of a measurement, unless it has too few I/Os.
fn figures(once: &Once, short: &Workload) -> Result<MeasuredRound, NotMeasured> {
    let segment = &once.segment;
    let ios = segment.read.ios + segment.write.ios;
    let elapsed_ns = segment.end_ns.saturating_sub(segment.start_ns).max(1);
    if ios < least_ios(short) {
        return Err(NotMeasured::Slow);
    }
    // Little's law.
    let sum_ns = segment.read.latency.sum() + segment.write.latency.sum();
    Ok(MeasuredRound {
        ios,
        iops: segment.iops().round() as u64,
        outstanding_milli: (sum_ns * 1000 / u128::from(elapsed_ns)) as u64,
        cpu_ns_per_io: once.cpu_ns / ios.max(1),
    })
}
