//! fio's steady state: a job ends early when its rate or response time no longer changes.
//!
//! This is unrelated to the steady state of the PTS, which has other criteria.

use std::collections::VecDeque;
use std::fmt;

use engine::Tick;
use serde::Serialize;
use stdx::units::SECOND_NS;

use super::values::bytes;

/// Maximum number of values in a window.
const MOST_VALUES: u64 = 100_000;

/// The value that must be steady.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measure {
    Iops,
    BytesPerSecond,
    /// Mean response time.
    Latency,
}

/// How change is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// Largest deviation from the mean.
    Deviation,
    /// Slope of the regression line per value.
    Slope,
}

/// The largest change at which a job counts as steady.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    /// In thousandths of a percent of the mean.
    MilliPercent(u32),
    /// In I/Os or bytes per second.
    PerSecond(u64),
}

/// A parsed `steadystate`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criterion {
    measure: Measure,
    change: Change,
    limit: Limit,
    text: String,
}

const NAMES: &[(&str, Measure, Change)] = &[
    ("iops", Measure::Iops, Change::Deviation),
    ("iops_slope", Measure::Iops, Change::Slope),
    ("bw", Measure::BytesPerSecond, Change::Deviation),
    ("bw_slope", Measure::BytesPerSecond, Change::Slope),
    ("lat", Measure::Latency, Change::Deviation),
    ("lat_slope", Measure::Latency, Change::Slope),
];

/// Parses `MEASURE:LIMIT`.
pub(crate) fn criterion(text: &str) -> Result<Criterion, String> {
    let known = text.split_once(':').and_then(|(name, limit)| {
        NAMES.iter().find(|row| row.0 == name).map(|(_, measure, change)| (*measure, *change, limit))
    });
    let (measure, change, limit) = known.ok_or_else(|| {
        let names: Vec<&str> = NAMES.iter().map(|row| row.0).collect();
        format!("supported: {}, each with a limit, such as iops:2%", names.join(", "))
    })?;
    let limit = match limit.strip_suffix('%') {
        Some(percent) => Limit::MilliPercent(super::values::thousandths(percent)?),
        None if measure == Measure::Latency => {
            return Err("the limit of a response time must be in percent".into());
        }
        None => Limit::PerSecond(bytes(limit)?),
    };
    Ok(Criterion { measure, change, limit, text: text.to_owned() })
}

/// The options of a job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Steady {
    pub(crate) criterion: Option<Criterion>,
    pub(crate) duration_ns: u64,
    pub(crate) ramp_ns: u64,
    pub(crate) interval_ns: Option<u64>,
}

impl Steady {
    /// Returns the condition; `ramp_ns` is the ramp of the job.
    pub(crate) fn state(&self, ramp_ns: u64) -> Result<Option<SteadyState>, String> {
        let Some(criterion) = &self.criterion else { return Ok(None) };
        let interval_ns = self.interval_ns.unwrap_or(SECOND_NS);
        if interval_ns == 0 || !interval_ns.is_multiple_of(SECOND_NS) {
            return Err("steadystate_check_interval must be in whole seconds".into());
        }
        let values = self.duration_ns / interval_ns;
        if !(2..=MOST_VALUES).contains(&values) || !self.duration_ns.is_multiple_of(interval_ns) {
            return Err(format!(
                "steadystate needs a steadystate_duration of 2 to {MOST_VALUES} times the check interval, {} s",
                interval_ns / SECOND_NS
            ));
        }
        Ok(Some(SteadyState {
            criterion: criterion.clone(),
            values: values as usize,
            interval_ns,
            ramp_ns: self.ramp_ns.max(ramp_ns),
        }))
    }
}

/// The condition that ends a job early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SteadyState {
    criterion: Criterion,
    /// Number of values in the window.
    values: usize,
    interval_ns: u64,
    /// Time from the start of the job before the first value.
    ramp_ns: u64,
}

/// What was completed in an interval.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Sample {
    time_ns: u64,
    ios: u64,
    bytes: u64,
    waited_ns: u128,
}

impl Sample {
    fn add(&mut self, tick: &Tick) {
        let ios = tick.read_ios + tick.write_ios;
        self.time_ns += tick.interval_ns;
        self.ios += ios;
        self.bytes += tick.bytes;
        self.waited_ns += u128::from(ios) * u128::from(tick.latency_mean_ns);
    }
}

/// The combined values of all streams of a job in an interval.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Value {
    iops: f64,
    bytes_per_second: f64,
    latency_ns: f64,
}

impl Value {
    fn of(samples: &[Sample]) -> Self {
        let rate = |amount: fn(&Sample) -> u64| -> f64 {
            samples.iter().map(|one| amount(one) as f64 * SECOND_NS as f64 / one.time_ns.max(1) as f64).sum()
        };
        let ios: u64 = samples.iter().map(|one| one.ios).sum();
        let waited_ns: u128 = samples.iter().map(|one| one.waited_ns).sum();
        Self {
            iops: rate(|one| one.ios),
            bytes_per_second: rate(|one| one.bytes),
            latency_ns: waited_ns as f64 / ios.max(1) as f64,
        }
    }

    fn measured(&self, measure: Measure) -> f64 {
        match measure {
            Measure::Iops => self.iops,
            Measure::BytesPerSecond => self.bytes_per_second,
            Measure::Latency => self.latency_ns,
        }
    }
}

/// Determines from the progress of a job's streams whether the job is steady.
#[derive(Debug)]
pub struct Search {
    state: SteadyState,
    /// The unfinished interval of each stream.
    open: Vec<Sample>,
    /// The intervals of each stream that other streams have not finished.
    finished: Vec<VecDeque<Sample>>,
    window: VecDeque<Value>,
    elapsed_ns: u64,
    /// The most recent change, as a percentage of the mean or as an absolute value.
    change: Option<f64>,
    attained: bool,
}

impl Search {
    /// Starts a search over `streams` streams.
    #[must_use]
    pub fn new(state: SteadyState, streams: usize) -> Self {
        Self {
            window: VecDeque::with_capacity(state.values),
            state,
            open: vec![Sample::default(); streams],
            finished: vec![VecDeque::new(); streams],
            elapsed_ns: 0,
            change: None,
            attained: false,
        }
    }

    /// Adds the progress of a stream. Returns whether the job is steady.
    pub fn add(&mut self, stream: usize, tick: &Tick) -> bool {
        if self.attained {
            return true;
        }
        self.elapsed_ns = self.elapsed_ns.max(tick.elapsed_ns);
        if tick.elapsed_ns.saturating_sub(tick.interval_ns) < self.state.ramp_ns {
            return false;
        }
        let open = &mut self.open[stream];
        open.add(tick);
        // If a tick is late, the next one may be early by the same amount.
        if open.time_ns + SECOND_NS / 2 >= self.state.interval_ns {
            self.finished[stream].push_back(std::mem::take(open));
        }
        while self.finished.iter().all(|samples| !samples.is_empty()) {
            let samples: Vec<Sample> = self.finished.iter_mut().filter_map(VecDeque::pop_front).collect();
            self.judge(Value::of(&samples));
        }
        self.attained
    }

    fn judge(&mut self, value: Value) {
        if self.attained {
            return;
        }
        if self.window.len() == self.state.values {
            self.window.pop_front();
        }
        self.window.push_back(value);
        if self.window.len() < self.state.values {
            return;
        }
        let Criterion { measure, change, limit, .. } = self.state.criterion;
        let values: Vec<f64> = self.window.iter().map(|value| value.measured(measure)).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let change = match change {
            Change::Deviation => values.iter().map(|value| (value - mean).abs()).fold(0.0, f64::max),
            Change::Slope => slope(&values),
        };
        let (change, most) = match limit {
            Limit::MilliPercent(most) => (100.0 * change / mean, f64::from(most) / 1e3),
            Limit::PerSecond(most) => (change, most as f64),
        };
        // Without I/Os, the change in percent is not a number.
        self.change = Some(change).filter(|change| change.is_finite());
        self.attained = self.change.is_some_and(|change| change.abs() < most);
    }

    /// Returns the result.
    #[must_use]
    pub fn result(self) -> SteadyResult {
        let count = self.window.len().max(1) as f64;
        let mean = |of: fn(&Value) -> f64| self.window.iter().map(of).sum::<f64>() / count;
        SteadyResult {
            iops_mean: mean(|value| value.iops),
            bytes_per_second_mean: mean(|value| value.bytes_per_second),
            seconds: self.elapsed_ns as f64 / SECOND_NS as f64,
            change: self.change,
            attained: self.attained,
            state: self.state,
        }
    }
}

/// Returns the slope of the regression line over equidistant values.
fn slope(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let middle = (count - 1.0) / 2.0;
    let products: f64 = values.iter().enumerate().map(|(x, value)| (x as f64 - middle) * value).sum();
    let squares: f64 = (0..values.len()).map(|x| (x as f64 - middle).powi(2)).sum();
    products / squares
}

/// Whether and when a job was steady.
#[derive(Debug, Clone, PartialEq)]
pub struct SteadyResult {
    state: SteadyState,
    attained: bool,
    /// Time from the start of the job to the last value.
    seconds: f64,
    /// The last change; `None` if the window was never full.
    change: Option<f64>,
    iops_mean: f64,
    bytes_per_second_mean: f64,
}

impl SteadyResult {
    /// Returns the mean IOPS in the window, of all streams combined.
    #[must_use]
    pub const fn iops_mean(&self) -> f64 {
        self.iops_mean
    }

    fn change_text(&self) -> String {
        let unit = if matches!(self.state.criterion.limit, Limit::MilliPercent(_)) { "%" } else { "" };
        self.change.map_or_else(|| "not evaluated".to_owned(), |change| format!("{change:.6}{unit}"))
    }
}

impl fmt::Display for SteadyResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let criterion = &self.state.criterion.text;
        let window = self.state.interval_ns / SECOND_NS * self.state.values as u64;
        if self.attained {
            write!(
                f,
                "{criterion} over {window} s attained after {:.0} s, {}",
                self.seconds,
                self.change_text()
            )
        } else {
            write!(f, "{criterion} over {window} s not attained, {}", self.change_text())
        }
    }
}

/// The result of a search as JSON, with fio's names.
#[derive(Serialize)]
pub struct SteadyDocument<'a> {
    ss: &'a str,
    duration: u64,
    attained: u8,
    criterion: String,
    data: Means,
}

#[derive(Serialize)]
struct Means {
    bw_mean: u64,
    iops_mean: u64,
}

/// Returns the JSON of a search.
pub(crate) fn document(result: &SteadyResult) -> SteadyDocument<'_> {
    SteadyDocument {
        ss: &result.state.criterion.text,
        duration: result.state.interval_ns / SECOND_NS * result.state.values as u64,
        attained: result.attained.into(),
        criterion: result.change_text(),
        data: Means {
            bw_mean: result.bytes_per_second_mean.round() as u64,
            iops_mean: result.iops_mean.round() as u64,
        },
    }
}

#[cfg(test)]
mod tests;
