//! Power and efficiency as data.

use record::Segment;

use super::layout::{CellEfficiency, CellPower, ReportPower, TestEfficiency, Uncertain};
use crate::document::contents::Document;
use crate::facts::efficiency::{Efficiency, Meter, Quantity};

pub(super) fn meter(meter: &Meter<'_>) -> Option<ReportPower> {
    let facts = meter.facts?;
    Some(ReportPower {
        source: facts.source.clone(),
        meter: facts.meter.clone(),
        subject: meter.subject_name()?.into(),
        resolution_watts: facts.resolution_microwatts.map(|resolution| resolution as f64 / 1e6),
        tolerance_percent: facts.tolerance_ppm.map(|tolerance| f64::from(tolerance) / 1e4),
        idle_watts: meter.idle().map(|idle| uncertain(idle, 1.0)),
    })
}

pub(super) fn of_cell(meter: &Meter<'_>, segment: &Segment) -> Option<CellPower> {
    let power = segment.power?;
    Some(CellPower {
        mean_watts: power.mean_microwatts as f64 / 1e6,
        min_watts: power.min_microwatts as f64 / 1e6,
        max_watts: power.max_microwatts as f64 / 1e6,
        samples: power.samples,
        efficiency: meter.efficiency(segment).map(efficiency),
    })
}

pub(super) fn of_test(document: &Document, test: &str) -> Vec<TestEfficiency> {
    let all = document.supplements.iter().filter(|supplement| supplement.test == test);
    all.flat_map(|supplement| &supplement.per_watt)
        .map(|workload| TestEfficiency {
            workload: workload.name.clone(),
            rounds: workload.rounds,
            mean: workload.mean.map(efficiency),
        })
        .collect()
}

fn efficiency(found: Efficiency) -> CellEfficiency {
    CellEfficiency {
        watts: uncertain(found.watts, 1.0),
        iops_per_watt: uncertain(found.iops_per_watt, 1.0),
        bytes_per_second_per_watt: uncertain(found.megabytes_per_second_per_watt, 1e6),
    }
}

fn uncertain(quantity: Quantity, factor: f64) -> Uncertain {
    let quantity = quantity.times(factor);
    Uncertain { value: quantity.value, uncertainty: quantity.uncertainty() }
}
