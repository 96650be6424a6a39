//! Idle power, and the power and efficiency of each workload in the window.

use record::{Efficiency, Uncertain};

use super::super::format::Source;
use super::family::Family;
use crate::facts::efficiency::subject_name;

/// A quantity that is measured for each workload, in its base unit.
struct Measure {
    names: [&'static str; 2],
    unit: &'static str,
    help: &'static str,
    of: fn(&Efficiency) -> Uncertain,
}

const EFFICIENCY: [&str; 2] = ["plateau_efficiency", "plateau_efficiency_uncertainty"];

const MEASURES: [Measure; 3] = [
    Measure {
        names: ["plateau_power", "plateau_power_uncertainty"],
        unit: "watts",
        help: "Power attributed to a workload, mean over the rounds of the window.",
        of: |found| found.watts,
    },
    Measure {
        names: EFFICIENCY,
        unit: "ios_per_joule",
        help: "IOPS per watt, mean over the rounds of the window.",
        of: |found| found.iops_per_watt,
    },
    Measure {
        names: EFFICIENCY,
        unit: "bytes_per_joule",
        help: "Bytes per second per watt, mean over the rounds of the window.",
        of: |found| found.bytes_per_second_per_watt,
    },
];

const UNCERTAINTY: &str = "Tolerance and half the resolution of the meter, plus two standard errors.";

/// Returns the metrics of a run with a power source; empty for other runs.
pub(super) fn families(source: Source<'_>) -> Vec<Family<'_>> {
    let Some(meter) = &source.document.meter else { return Vec::new() };
    let subject = subject_name(meter.subject);
    let idle = meter.idle_watts.map(|idle| (vec![("subject", subject)], idle));
    let help = "Power before the first test, without any command to the drive.";
    let names = ["plateau_idle_power", "plateau_idle_power_uncertainty"];
    let mut all: Vec<Family<'_>> = pair(names, "watts", help, idle.into_iter().collect()).collect();
    for measure in &MEASURES {
        let mut samples = Vec::new();
        for one in &source.document.per_workload {
            for workload in &one.efficiency {
                let Some(mean) = &workload.mean else { continue };
                let test = ("test", one.test.as_str());
                let labels = vec![test, ("workload", workload.workload.as_str()), ("subject", subject)];
                samples.push((labels, (measure.of)(mean)));
            }
        }
        all.extend(pair(measure.names, measure.unit, measure.help, samples));
    }
    all
}

/// The labels of a sample.
type Labels<'a> = Vec<(&'a str, &'a str)>;

/// Returns a metric for the values and, if known, a metric for their uncertainties. Omits metrics without samples.
fn pair<'a>(
    names: [&'a str; 2],
    unit: &'a str,
    help: &'a str,
    quantities: Vec<(Labels<'a>, Uncertain)>,
) -> impl Iterator<Item = Family<'a>> + use<'a> {
    let known =
        quantities.iter().filter_map(|(labels, of)| Some((labels.clone(), of.uncertainty?.into()))).collect();
    let values = quantities.into_iter().map(|(labels, of)| (labels, of.value.into())).collect();
    let [name, uncertainty] = names;
    let both = [
        Family { name, unit, help, samples: values },
        Family { name: uncertainty, unit, help: UNCERTAINTY, samples: known },
    ];
    both.into_iter().filter(|family| !family.samples.is_empty())
}
