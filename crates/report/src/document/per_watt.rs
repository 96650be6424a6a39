//! Figures per watt, and the idle power.

use pts::{Outcome, Unit};
use record::{
    Efficiency, Event, ExportedMeter, ImportedTest, Reading, Segment, Uncertain, WorkloadEfficiency,
};

use crate::facts::codes::{code, depth};
use crate::facts::efficiency::{MeasuredEfficiency, Meter, is_bound};
use crate::facts::figures::{Figure, better, family, have_one_depth, measured_in_window};
use crate::facts::judged::JudgedRun;
use crate::facts::readings::{counted_readings, have_one_demand, reading_key, reading_name, workload_name};

/// Returns these figures of a run and its figures per watt.
pub(super) fn comparable(
    judged: JudgedRun<'_>,
    meter: Option<&ExportedMeter>,
    figures: &[Figure],
) -> Vec<Figure> {
    let per_watt = per_watt(judged, meter, figures);
    figures.iter().cloned().chain(per_watt).collect()
}

/// Returns the figures per watt of a run with a power source; `figures` are the other figures of the run.
fn per_watt(judged: JudgedRun<'_>, meter: Option<&ExportedMeter>, figures: &[Figure]) -> Vec<Figure> {
    // An upper bound on the power cannot show which of two drives is better.
    let Some(meter) = meter.filter(|meter| !is_bound(meter)) else { return Vec::new() };
    let idle = meter.idle_watts.map(|idle| Figure {
        key: "power.idle".into(),
        test: String::new(),
        name: "Idle power".into(),
        unit: Unit::Watts,
        values: vec![idle.value],
        selected: true,
        host_limited: false,
        uncertainty: idle.uncertainty,
        better: better(Unit::Watts),
    });
    let tests = judged.outcomes.iter().flat_map(|outcome| of_test(judged, outcome, figures));
    tests.chain(idle).collect()
}

/// The rounds of one workload.
struct Rounds {
    /// Key of the figure without "per watt".
    key: String,
    name: String,
    /// The efficiency of each round whose power is known.
    each: Vec<Efficiency>,
    /// Mean efficiency over these rounds.
    mean: Option<Efficiency>,
    host_limited: bool,
}

fn of_test(judged: JudgedRun<'_>, outcome: &Outcome, figures: &[Figure]) -> Vec<Figure> {
    type Part = fn(&Efficiency) -> Uncertain;
    let (unit, part, factor): (Unit, Part, f64) = match outcome.key_figures.first().map(|figure| figure.unit)
    {
        Some(Unit::MegabytesPerSecond) => {
            (Unit::MegabytesPerSecondPerWatt, |one| one.bytes_per_second_per_watt, 1e-6)
        }
        Some(_) => (Unit::IopsPerWatt, |one| one.iops_per_watt, 1.0),
        None => return Vec::new(),
    };
    let imported = judged.entries.iter().find_map(|entry| match &entry.event {
        Event::Imported(test) if test.test == outcome.test => Some(test),
        _ => None,
    });
    let all = match imported {
        Some(test) => stated(outcome, test),
        None => measured(judged, outcome),
    };
    let figure = |rounds: Rounds| {
        let uncertainty = rounds.mean.and_then(|mean| part(&mean).uncertainty);
        (!rounds.each.is_empty()).then(|| Figure {
            name: format!("{} {} per watt", outcome.subject, rounds.name),
            unit,
            values: rounds.each.iter().map(|one| part(one).value * factor).collect(),
            selected: figures.iter().any(|figure| figure.key == rounds.key && figure.selected),
            host_limited: rounds.host_limited,
            uncertainty: uncertainty.map(|uncertainty| uncertainty * factor),
            better: better(unit),
            key: format!("{}.per-watt", rounds.key),
            test: outcome.test.clone(),
        })
    };
    all.into_iter().filter_map(figure).collect()
}

fn measured(judged: JudgedRun<'_>, outcome: &Outcome) -> Vec<Rounds> {
    let meter = Meter::of(judged.run, judged.entries);
    let measured = measured_in_window(judged.outcomes, outcome, judged.entries);
    let one_depth = have_one_depth(&measured);
    let mut all: Vec<(Rounds, Vec<MeasuredEfficiency>)> = Vec::new();
    for segment in measured {
        let key = format!("{}.{}", family(outcome), code(&segment.workload, one_depth));
        let known = all.iter().position(|(known, _)| known.key == key).unwrap_or(all.len());
        if known == all.len() {
            all.push((begun(key, name(segment, one_depth)), Vec::new()));
        }
        let (rounds, each) = &mut all[known];
        each.extend(meter.efficiency(segment));
        rounds.host_limited |= segment.is_host_limited();
    }
    let of = |(rounds, each): (Rounds, Vec<MeasuredEfficiency>)| Rounds {
        each: each.iter().map(MeasuredEfficiency::stated).collect(),
        mean: MeasuredEfficiency::mean(&each).as_ref().map(MeasuredEfficiency::stated),
        ..rounds
    };
    all.into_iter().map(of).collect()
}

/// Returns whether `mean`, from a Plateau export, belongs to the workload of `reading`, such as `RND 4KiB W, TC
/// 4 QD 32`.
fn is_mean_of(mean: &WorkloadEfficiency, reading: &Reading, one_depth: bool) -> bool {
    let Some((workload, demand)) = mean.workload.split_once(", ") else { return false };
    let stated = reading.threads.zip(reading.queue_depth).map(|(tc, qd)| format!("TC {tc} QD {qd}"));
    workload == workload_name(reading) && (one_depth || stated.as_deref() == Some(demand))
}

fn begun(key: String, name: String) -> Rounds {
    Rounds { key, name, each: Vec::new(), mean: None, host_limited: false }
}

fn name(segment: &Segment, one_depth: bool) -> String {
    let workload = &segment.workload;
    format!("{workload}{}", depth(workload, one_depth, " "))
}

/// Returns the rounds of an imported test. The uncertainty of their mean is taken from the file, because the
/// uncertainties of the rounds do not show which part of them is common to all rounds.
fn stated(outcome: &Outcome, test: &ImportedTest) -> Vec<Rounds> {
    let means = || test.exported.iter().flat_map(|exported| &exported.efficiency);
    let mut all: Vec<Rounds> = Vec::new();
    let counted = counted_readings(test);
    let one_depth = have_one_demand(&counted);
    for reading in counted {
        let key = reading_key(family(outcome), reading, one_depth);
        let known = all.iter().position(|known| known.key == key).unwrap_or(all.len());
        if known == all.len() {
            let mean = means().find(|one| is_mean_of(one, reading, one_depth));
            let name = reading_name(reading, one_depth);
            all.push(Rounds { mean: mean.and_then(|one| one.mean), ..begun(key, name) });
        }
        let rounds = &mut all[known];
        let power = reading.exported.as_ref().and_then(|cell| cell.power);
        rounds.each.extend(power.and_then(|power| power.efficiency));
        rounds.host_limited |= reading.host_limited;
    }
    all
}
