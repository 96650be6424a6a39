//! Power and efficiency as data.

use record::ExportedMeter;

use super::layout::{CellEfficiency, CellPower, ReportPower, TestEfficiency, Uncertain};
use crate::document::contents::Document;
use crate::facts::efficiency::subject_name;

pub(super) fn meter(meter: &ExportedMeter) -> ReportPower {
    ReportPower {
        source: meter.source.clone(),
        meter: meter.meter.clone(),
        subject: subject_name(meter.subject).into(),
        resolution_watts: meter.resolution_watts,
        tolerance_percent: meter.tolerance_percent,
        idle_watts: meter.idle_watts.map(uncertain),
    }
}

pub(super) fn of_cell(power: &record::CellPower) -> CellPower {
    CellPower {
        mean_watts: power.mean_watts,
        min_watts: power.min_watts,
        max_watts: power.max_watts,
        samples: power.samples,
        efficiency: power.efficiency.map(efficiency),
    }
}

pub(super) fn of_test(document: &Document, test: &str) -> Vec<TestEfficiency> {
    let all = document.per_workload.iter().filter(|one| one.test == test);
    all.flat_map(|one| &one.efficiency)
        .map(|workload| TestEfficiency {
            workload: workload.workload.clone(),
            rounds: workload.rounds,
            mean: workload.mean.map(efficiency),
        })
        .collect()
}

fn efficiency(found: record::Efficiency) -> CellEfficiency {
    CellEfficiency {
        watts: uncertain(found.watts),
        iops_per_watt: uncertain(found.iops_per_watt),
        bytes_per_second_per_watt: uncertain(found.bytes_per_second_per_watt),
    }
}

fn uncertain(quantity: record::Uncertain) -> Uncertain {
    Uncertain { value: quantity.value, uncertainty: quantity.uncertainty }
}
