//! Figures per watt, and the idle power.

use pts::{Outcome, Unit};
use record::{Entry, Segment};

use super::contents::Document;
use crate::facts::efficiency::{Efficiency, Meter, Quantity};
use crate::facts::figures::{Figure, better, code, depth, family, have_one_depth, measured_in_window};

impl Document {
    /// Returns all figures that can be compared with those of other runs, including figures per watt.
    #[must_use]
    pub fn comparable_figures(&self, entries: &[Entry]) -> Vec<Figure> {
        let mut figures = self.figures.clone();
        figures.extend(per_watt(self, entries, &figures));
        figures
    }
}

/// Returns the figures per watt of a run with a power source; `figures` are the other figures of the run.
fn per_watt(document: &Document, entries: &[Entry], figures: &[Figure]) -> Vec<Figure> {
    let meter = Meter::of(&document.run, entries);
    // An upper bound of the power cannot show which of two drives is better.
    if meter.facts.is_none() || meter.is_bound() {
        return Vec::new();
    }
    let idle = meter.idle().map(|idle| Figure {
        key: "power.idle".into(),
        test: String::new(),
        name: "Idle power".into(),
        unit: Unit::Watts,
        values: vec![idle.value],
        selected: true,
        host_limited: false,
        uncertainty: idle.uncertainty(),
        better: better(Unit::Watts),
    });
    let tests =
        document.outcomes.iter().flat_map(|outcome| of_test(document, outcome, entries, &meter, figures));
    tests.chain(idle).collect()
}

/// The rounds of one workload.
struct Rounds<'a> {
    first: &'a Segment,
    key: String,
    each: Vec<Efficiency>,
    host_limited: bool,
}

fn of_test(
    document: &Document,
    outcome: &Outcome,
    entries: &[Entry],
    meter: &Meter<'_>,
    figures: &[Figure],
) -> Vec<Figure> {
    type Part = fn(&Efficiency) -> Quantity;
    let (unit, part): (Unit, Part) = match outcome.key_figures.first().map(|figure| figure.unit) {
        Some(Unit::MegabytesPerSecond) => {
            (Unit::MegabytesPerSecondPerWatt, |one| one.megabytes_per_second_per_watt)
        }
        Some(_) => (Unit::IopsPerWatt, |one| one.iops_per_watt),
        None => return Vec::new(),
    };
    let measured = measured_in_window(&document.outcomes, outcome, entries);
    let one_depth = have_one_depth(&measured);
    let mut all: Vec<Rounds<'_>> = Vec::new();
    for segment in measured {
        let key = format!("{}.{}", family(outcome), code(&segment.workload, one_depth));
        let found = meter.efficiency(segment);
        let host_limited = segment.is_host_limited();
        match all.iter_mut().find(|known| known.key == key) {
            Some(known) => {
                known.each.extend(found);
                known.host_limited |= host_limited;
            }
            None => all.push(Rounds { first: segment, key, each: found.into_iter().collect(), host_limited }),
        }
    }
    let figure = |rounds: Rounds<'_>| {
        let mean = Efficiency::mean(&rounds.each)?;
        let workload = &rounds.first.workload;
        Some(Figure {
            name: format!("{} {workload}{} per watt", outcome.subject, depth(workload, one_depth, " ")),
            unit,
            values: rounds.each.iter().map(|one| part(one).value).collect(),
            selected: figures.iter().any(|figure| figure.key == rounds.key && figure.selected),
            host_limited: rounds.host_limited,
            uncertainty: part(&mean).uncertainty(),
            better: better(unit),
            key: format!("{}.per-watt", rounds.key),
            test: outcome.test.clone(),
        })
    };
    all.into_iter().filter_map(figure).collect()
}
