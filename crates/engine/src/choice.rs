//! Which engine suits a workload, given short measurements of each. Pure: the measurements are made by
//! `load/choose.rs`.
//!
//! The fixed order of engines applies unless a measurement contradicts it clearly, in every round. The choice is made
//! once, before the load, and does not change while the load runs.

use record::{IoEngine, MeasuredEngine, MeasuredRound, NotMeasured, PathChoice, Until, Workload};
use stdx::units::SECOND_NS;

/// Rounds of measurements. A choice must be confirmed by each of them, because a short measurement is noisy.
pub(crate) const ROUNDS: u64 = 3;
/// An engine is faster if it completes at least this percentage of the other's I/Os.
const FASTER_PERCENT: u64 = 105;
/// An engine is not slower if it completes at least this percentage of the other's I/Os.
const LEVEL_PERCENT: u64 = 97;
/// An engine keeps the depth if at least this percentage of the requested I/Os is outstanding on average.
const KEPT_PERCENT: u64 = 90;
/// An engine is cheaper if it needs at most this percentage of the other's CPU time.
const CHEAPER_PERCENT: u64 = 80;
/// A measurement needs at least this many I/Os, and this many for each outstanding I/O.
const LEAST_IOS: u64 = 100;
const LEAST_PER_OUTSTANDING: u64 = 4;
/// The part of the time of all measurements that is left for setting up the engines.
const SET_UP_PART: u64 = 3;

/// How much the measurements before a load may take.
#[derive(Debug, Clone, Copy)]
pub struct ChoiceLimits {
    /// Time for all measurements of all workloads.
    pub total_ns: u64,
    /// The measurements take at most the length or amount of the load, divided by this number.
    pub part: u64,
    /// Shortest measurement of one engine.
    pub least_ns: u64,
}

impl Default for ChoiceLimits {
    /// Two seconds, and 5 % of the load.
    fn default() -> Self {
        Self { total_ns: 2 * SECOND_NS, part: 20, least_ns: 10_000_000 }
    }
}

impl ChoiceLimits {
    /// Divides the time equally.
    #[must_use]
    pub fn shared_by(self, count: usize) -> Self {
        Self { total_ns: self.total_ns / (count as u64).max(1), ..self }
    }
}

/// How engines are to be measured.
pub struct Choosing<'a> {
    /// How much the measurements may take.
    pub limits: ChoiceLimits,
    /// Asked before each measurement, and once a second while the target hangs; false stops the measurements.
    pub go_on: &'a dyn Fn() -> bool,
}

/// The engines that were chosen, by workload.
#[derive(Debug, Clone, Default)]
pub struct Choices(Vec<Choice>);

/// The choice for a workload.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    pub(crate) workload: Workload,
    pub(crate) record: PathChoice,
}

impl Choices {
    /// Adds the choice for a workload.
    pub(crate) fn add(&mut self, workload: &Workload, record: PathChoice) {
        self.0.push(Choice { workload: workload.clone(), record });
    }

    /// Returns the choice for exactly this workload.
    pub(crate) fn of(&self, workload: &Workload) -> Option<&Choice> {
        self.0.iter().find(|choice| choice.workload == *workload)
    }

    /// Returns the choice for a workload that differs only in its place and seed.
    pub(crate) fn of_shape(&self, workload: &Workload) -> Option<&Choice> {
        let of_other = |other: &Workload| Workload {
            range: record::Range { start_bytes: workload.range.start_bytes, ..other.range },
            from_block: workload.from_block,
            seed: workload.seed,
            ..other.clone()
        };
        self.0.iter().find(|choice| of_other(&choice.workload) == *workload)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

impl Choice {
    /// Returns the best engine and all engines that were measured.
    pub(crate) fn measured(&self) -> Option<(IoEngine, Vec<IoEngine>)> {
        let PathChoice::Measured { engines, .. } = &self.record else { return None };
        let best = engines.get(best(engines, u64::from(self.workload.outstanding())))?;
        Some((best.engine, engines.iter().map(|measured| measured.engine).collect()))
    }
}

/// Returns the index of the engine that suits the workload best. The engines are in the fixed order, so each has to
/// be clearly better than the best one before it: faster; or not slower and the only one to keep the depth; or
/// not slower and cheaper.
pub(crate) fn best(engines: &[MeasuredEngine], outstanding: u64) -> usize {
    let mut best = 0;
    for index in 1..engines.len() {
        let in_every_round = |is_better: fn(&MeasuredRound, &MeasuredRound, u64) -> bool| {
            let (rounds, others) = (&engines[index].rounds, &engines[best].rounds);
            !rounds.is_empty()
                && rounds.len() == others.len()
                && rounds.iter().zip(others).all(|(one, other)| is_better(one, other, outstanding))
        };
        if [is_faster, is_deeper, is_cheaper].into_iter().any(in_every_round) {
            best = index;
        }
    }
    best
}

fn is_faster(one: &MeasuredRound, other: &MeasuredRound, _: u64) -> bool {
    at_least(one.iops, FASTER_PERCENT, other.iops)
}

fn is_deeper(one: &MeasuredRound, other: &MeasuredRound, outstanding: u64) -> bool {
    let keeps = |round: &MeasuredRound| {
        at_least(round.outstanding_milli, KEPT_PERCENT, outstanding.saturating_mul(1000))
    };
    at_least(one.iops, LEVEL_PERCENT, other.iops) && keeps(one) && !keeps(other)
}

fn is_cheaper(one: &MeasuredRound, other: &MeasuredRound, _: u64) -> bool {
    at_least(one.iops, LEVEL_PERCENT, other.iops)
        && at_least(one.outstanding_milli, LEVEL_PERCENT, other.outstanding_milli)
        && u128::from(one.cpu_ns_per_io) * 100
            <= u128::from(other.cpu_ns_per_io) * u128::from(CHEAPER_PERCENT)
}

/// Returns whether `value` is at least this percentage of `other`.
fn at_least(value: u64, percent: u64, other: u64) -> bool {
    u128::from(value) * 100 >= u128::from(other) * u128::from(percent)
}

/// The extent of one measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slice {
    pub(crate) length_ns: u64,
    /// For a load with an amount: the largest amount of one measurement.
    pub(crate) amount_bytes: Option<u64>,
}

/// Returns the extent of each of `count` measurements before a workload that may use `time_ns`.
pub(crate) fn slice(
    workload: &Workload,
    count: u64,
    time_ns: u64,
    limits: &ChoiceLimits,
) -> Result<Slice, NotMeasured> {
    let (length_ns, amount_bytes) = match workload.until {
        Until::DurationNs(ns) => (Some(ns), None),
        Until::AmountBytes(bytes) => (workload.regime.limit_ns, Some(bytes)),
    };
    let time_ns = length_ns.map_or(time_ns, |ns| time_ns.min(ns / limits.part));
    let slice = Slice {
        length_ns: (time_ns - time_ns / SET_UP_PART) / count,
        amount_bytes: amount_bytes.map(|bytes| bytes / limits.part / count),
    };
    let least_bytes = least_ios(workload) * u64::from(workload.block_bytes);
    if slice.length_ns < limits.least_ns || slice.amount_bytes.is_some_and(|bytes| bytes < least_bytes) {
        return Err(NotMeasured::Short);
    }
    Ok(slice)
}

/// Returns the number of I/Os that a measurement of this workload needs.
pub(crate) fn least_ios(workload: &Workload) -> u64 {
    LEAST_IOS.max(LEAST_PER_OUTSTANDING * u64::from(workload.outstanding()))
}

/// Returns why a workload must not be measured on a target, or need not be.
pub(crate) fn unmeasurable(workload: &Workload, is_polled: bool, is_buffered: bool) -> Option<NotMeasured> {
    let regime = &workload.regime;
    let reasons = [
        (is_polled, NotMeasured::Polling),
        (regime.trims, NotMeasured::Trims),
        (workload.zoned().is_some(), NotMeasured::Zones),
        (regime.verify, NotMeasured::Verification),
        (regime.arrivals.is_some(), NotMeasured::Schedule),
        (regime.thinktime.is_some(), NotMeasured::Pauses),
        (workload.writes() && !regime.syncs.is_none(), NotMeasured::Syncs),
        (workload.queue_depth == 1, NotMeasured::DepthOne),
        (is_buffered, NotMeasured::Buffered),
    ];
    reasons.into_iter().find_map(|(applies, reason)| applies.then_some(reason))
}

/// Returns the workload of one measurement, a short part of the load.
///
/// A load that writes repeats its own first I/Os, with the same offsets and data, so that nothing is written that the
/// load would not write. A load that only reads continues elsewhere in its range for each measurement, so that
/// the cache of the target holds none of the data.
pub(crate) fn measurement(workload: &Workload, slice: Slice, index: u64, count: u64) -> Workload {
    let mut short = workload.clone();
    short.until = slice.amount_bytes.map_or(Until::DurationNs(slice.length_ns), Until::AmountBytes);
    short.regime.limit_ns = slice.amount_bytes.map(|_| slice.length_ns);
    short.regime.ramp_ns = 0;
    if !workload.writes() {
        let range = workload.range;
        let bytes = range.segment_bytes.saturating_mul(range.segments.into());
        let blocks = bytes / u64::from(workload.block_bytes).max(1) / u64::from(workload.threads).max(1);
        let ahead = (u128::from(blocks) * u128::from(index + 1) / u128::from(count + 1)) as u64;
        short.seed = workload.seed.wrapping_add(index + 1);
        short.from_block = workload.from_block.wrapping_add(ahead);
    }
    short
}

#[cfg(test)]
mod tests;
