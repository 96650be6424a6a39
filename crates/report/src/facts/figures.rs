//! Figures of a run that can be compared, each with the values that it averages.

use pts::{DemandSweep, KeyFigure, Outcome, Unit};
use record::{Entry, Event, ImportedTest, Reading, Segment, Workload};
use stdx::text::slug;

use super::answers::{Phase, answers};
use super::codes::{code, depth};
use super::judged::{self, JudgedRun};
use super::readings::{counted_readings, have_one_demand, reading_key, reading_name};

/// Direction of improvement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Higher values are better, as for IOPS.
    More,
    /// Lower values are better, as for response times.
    Less,
}

/// One figure of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Key, identical across runs: `iops.rnd4k.w`, `lat.rnd4k.r.max`, `wsat.rnd-4kib-w-fob`.
    pub key: String,
    /// Name of the test; empty for a figure of the whole run.
    pub test: String,
    /// Name as printed.
    pub name: String,
    /// Unit of the figure.
    pub unit: Unit,
    /// Values of the rounds in the measurement window, or a single value; empty if not measured.
    pub values: Vec<f64>,
    /// Whether the figure is on a summary page.
    pub selected: bool,
    /// Whether the figure may reflect the host instead of the drive.
    pub host_limited: bool,
    /// Uncertainty of the mean due to the power meter; None if the figure does not involve power, or if the
    /// uncertainty is not known.
    pub uncertainty: Option<f64>,
    /// Direction of improvement.
    pub better: Better,
}

impl Figure {
    /// Returns the mean of the values; None if not measured.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (!self.values.is_empty()).then(|| self.values.iter().sum::<f64>() / self.values.len() as f64)
    }

    /// Returns whether this figure is based on the same rounds as the key figure `selected`.
    pub(crate) fn is_mean_of(&self, selected: &KeyFigure) -> bool {
        let close = |(a, b): (f64, f64)| (a - b).abs() <= 1e-9 * b.abs();
        self.unit == selected.unit && self.mean().zip(selected.value).is_some_and(close)
    }

    /// Returns the standard deviation of the rounds as a fraction of the mean; None if there are fewer than two
    /// rounds or the mean is not positive.
    #[must_use]
    pub fn spread_share(&self) -> Option<f64> {
        let mean = self.mean().filter(|mean| *mean > 0.0)?;
        let squares = self.values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        (self.values.len() > 1).then(|| (squares / (self.values.len() - 1) as f64).sqrt() / mean)
    }
}

/// A quantity of a workload: measured in each round, or reported by another tool.
struct Measure<T> {
    unit: Unit,
    statistic: Statistic,
    of: fn(&T) -> Option<f64>,
}

/// How the values of several I/Os are combined into one: as a rate, an average or a maximum.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Statistic {
    Rate,
    Average,
    Maximum,
}

impl Statistic {
    /// Returns the suffix of the key.
    const fn suffix(self) -> &'static str {
        match self {
            Self::Rate | Self::Average => "",
            Self::Maximum => ".max",
        }
    }

    /// Returns the words that distinguish several response times of one workload in the name of a figure.
    const fn words(self) -> &'static str {
        match self {
            Self::Rate => "",
            Self::Average => " average",
            Self::Maximum => " maximum",
        }
    }
}

pub(crate) const fn better(unit: Unit) -> Better {
    if unit.is_cost() { Better::Less } else { Better::More }
}

const MEASURED: [Measure<Segment>; 4] = [
    Measure { unit: Unit::Iops, statistic: Statistic::Rate, of: |s| Some(s.iops()) },
    Measure {
        unit: Unit::MegabytesPerSecond,
        statistic: Statistic::Rate,
        of: |s| Some(s.megabytes_per_second()),
    },
    Measure { unit: Unit::Milliseconds, statistic: Statistic::Average, of: Segment::mean_latency_ms },
    Measure { unit: Unit::Milliseconds, statistic: Statistic::Maximum, of: Segment::max_latency_ms },
];

/// Returns all comparable figures of a run: for each test, the key figures, followed by the figures of each
/// workload in its loop.
pub(crate) fn figures(judged: JudgedRun<'_>) -> Vec<Figure> {
    judged.outcomes.iter().flat_map(|outcome| of_test(judged, outcome)).collect()
}

fn of_test(judged: JudgedRun<'_>, outcome: &Outcome) -> Vec<Figure> {
    let family = family(outcome);
    let imported = judged.entries.iter().find_map(|entry| match &entry.event {
        Event::Imported(test) if test.test == outcome.test => Some(test),
        _ => None,
    });
    let mut all = match imported {
        Some(test) => of_readings(outcome, family, test),
        None => of_loop(judged, outcome, family),
    };
    // If steady state is determined for the loop, there is already a figure for each cell, with its rounds.
    if outcome.window.is_empty() {
        all.extend(outcome.sweeps.iter().flat_map(|sweep| of_sweep(outcome, family, sweep)));
    }
    let mut first = Vec::new();
    for selected in &outcome.key_figures {
        // Prefer the workload in the loop that has the same value, because its figure contains every round.
        let same = all.iter().position(|figure| figure.is_mean_of(selected));
        let figure = same.map_or_else(|| single(family, outcome, selected), |at| all.remove(at));
        let host_limited = figure.host_limited || selected.host_limited;
        first.push(Figure { selected: true, host_limited, ..figure });
    }
    first.append(&mut all);
    first
}

/// Returns the figures of a workload at each number of outstanding I/Os.
fn of_sweep<'a>(
    outcome: &'a Outcome,
    family: &'a str,
    sweep: &'a DemandSweep,
) -> impl Iterator<Item = Figure> + 'a {
    sweep.points.iter().map(move |point| Figure {
        key: format!("{family}.{}.oio{}", slug(&sweep.workload), point.outstanding),
        test: outcome.test.clone(),
        name: format!("{} {}, {} outstanding", outcome.subject, sweep.workload, point.outstanding),
        unit: sweep.unit,
        values: vec![point.value],
        selected: false,
        host_limited: point.host_limited,
        uncertainty: None,
        better: better(sweep.unit),
    })
}

/// Returns a key figure without a matching workload.
fn single(family: &str, outcome: &Outcome, selected: &KeyFigure) -> Figure {
    Figure {
        key: format!("{family}.{}", slug(selected.key.as_ref().unwrap_or(&selected.name))),
        test: outcome.test.clone(),
        name: format!("{} {}", outcome.subject, selected.name),
        unit: selected.unit,
        values: selected.value.filter(|value| value.is_finite()).into_iter().collect(),
        selected: true,
        host_limited: selected.host_limited,
        uncertainty: None,
        better: better(selected.unit),
    }
}

/// Returns the family of a test. The keys of the test's figures begin with the name of the family.
#[must_use]
pub fn family(outcome: &Outcome) -> &str {
    pts::Test::named(&outcome.test).map_or(outcome.test.as_str(), |test| test.family)
}

/// Returns the measured segments on which the results are based.
pub(crate) fn measured_in_window<'a>(
    outcomes: &[Outcome],
    outcome: &Outcome,
    entries: &'a [Entry],
) -> Vec<&'a Segment> {
    answers(entries)
        .into_iter()
        .filter(|answer| answer.test == outcome.test && answer.phase == Phase::Measure)
        .filter(|answer| judged::counts(outcomes, answer))
        .map(|answer| answer.segment)
        .collect()
}

/// Returns whether all segments have the same TC and QD, in which case workload names omit them.
pub(crate) fn have_one_depth(measured: &[&Segment]) -> bool {
    let depth = |segment: &Segment| (segment.workload.threads, segment.workload.queue_depth);
    measured.windows(2).all(|pair| depth(pair[0]) == depth(pair[1]))
}

/// Returns the figures of the workloads in the result rounds, in the unit of the test.
fn of_loop(judged: JudgedRun<'_>, outcome: &Outcome, family: &str) -> Vec<Figure> {
    let Some(unit) = outcome.key_figures.first().map(|figure| figure.unit) else { return Vec::new() };
    let measured = measured_in_window(judged.outcomes, outcome, judged.entries);
    let one_depth = have_one_depth(&measured);
    let mut figures: Vec<Figure> = Vec::new();
    for segment in measured {
        for measure in MEASURED.iter().filter(|measure| measure.unit == unit) {
            // The maximum response time of a scaled simulated drive is not meaningful.
            if measure.statistic == Statistic::Maximum && judged.run.scale_divisor() > 1 {
                continue;
            }
            let Some(value) = (measure.of)(segment) else { continue };
            let key =
                format!("{family}.{}{}", code(&segment.workload, one_depth), measure.statistic.suffix());
            match figures.iter_mut().find(|figure| figure.key == key) {
                Some(figure) => {
                    figure.values.push(value);
                    figure.host_limited |= segment.is_host_limited();
                }
                None => figures.push(Figure {
                    key,
                    test: outcome.test.clone(),
                    name: name(outcome, &segment.workload, one_depth, measure),
                    unit: measure.unit,
                    values: vec![value],
                    selected: false,
                    host_limited: segment.is_host_limited(),
                    uncertainty: None,
                    better: better(measure.unit),
                }),
            }
        }
    }
    figures
}

const REPORTED: [Measure<Reading>; 4] = [
    Measure { unit: Unit::Iops, statistic: Statistic::Rate, of: |r| r.iops },
    Measure {
        unit: Unit::MegabytesPerSecond,
        statistic: Statistic::Rate,
        of: |r| r.bytes_per_second.map(|rate| rate / 1e6),
    },
    Measure {
        unit: Unit::Milliseconds,
        statistic: Statistic::Average,
        of: |r| r.latency_mean_ns.map(|ns| ns / 1e6),
    },
    Measure {
        unit: Unit::Milliseconds,
        statistic: Statistic::Maximum,
        of: |r| r.latency_max_ns.map(|ns| ns / 1e6),
    },
];

/// Returns the figures of an imported test: the reported means or, if there are none, the rounds of its
/// window.
fn of_readings(outcome: &Outcome, family: &str, test: &ImportedTest) -> Vec<Figure> {
    let Some(unit) = outcome.key_figures.first().map(|figure| figure.unit) else { return Vec::new() };
    let counted = counted_readings(test);
    let has_mean = |r: &Reading| {
        counted.iter().any(|other| {
            other.round.is_none()
                && (other.access, other.read_percent, other.block_bytes)
                    == (r.access, r.read_percent, r.block_bytes)
        })
    };
    let one_depth = have_one_demand(&counted);
    let mut figures: Vec<Figure> = Vec::new();
    for &reading in &counted {
        // Use the reported mean: the rounds would also give a spread, but are not reported for most workloads.
        if reading.name.is_none() && reading.round.is_some() && has_mean(reading) {
            continue;
        }
        for measure in REPORTED.iter().filter(|measure| measure.unit == unit) {
            let Some(value) = (measure.of)(reading) else { continue };
            let key = format!("{}{}", reading_key(family, reading, one_depth), measure.statistic.suffix());
            match figures.iter_mut().find(|figure| figure.key == key) {
                Some(figure) => {
                    figure.values.push(value);
                    figure.host_limited |= reading.host_limited;
                }
                None => figures.push(Figure {
                    key,
                    test: outcome.test.clone(),
                    name: format!(
                        "{} {}{}",
                        outcome.subject,
                        reading_name(reading, one_depth),
                        measure.statistic.words()
                    ),
                    unit: measure.unit,
                    values: vec![value],
                    selected: false,
                    host_limited: reading.host_limited,
                    uncertainty: None,
                    better: better(measure.unit),
                }),
            }
        }
    }
    figures
}

fn name(outcome: &Outcome, workload: &Workload, one_depth: bool, measure: &Measure<Segment>) -> String {
    let statistic = measure.statistic.words();
    format!("{} {workload}{}{statistic}", outcome.subject, depth(workload, one_depth, " "))
}
