//! Performance per watt of the measured workloads.

use pts::Outcome;

use super::workload_table::WorkloadTable;
use crate::facts::answers::Answer;
use crate::facts::efficiency::{Efficiency, Meter};
use crate::facts::judged::{earlier_loop, is_result};

/// Maximum rows of a table.
const MOST: usize = 64;

/// A workload and its power, averaged over the rounds of the window.
#[derive(Debug, Clone)]
pub(crate) struct WorkloadEfficiency {
    pub name: String,
    /// Performance per watt; None if the power was not measured.
    pub mean: Option<Efficiency>,
    /// Number of rounds with a known power.
    pub rounds: usize,
}

/// Collects the workloads of a test from its `measured` answers; empty if the run has no power source.
pub(crate) fn workloads(
    outcomes: &[Outcome],
    measured: &[&Answer<'_>],
    meter: &Meter<'_>,
) -> Vec<WorkloadEfficiency> {
    if meter.facts.is_none() {
        return Vec::new();
    }
    let mut all: Vec<(String, Vec<Efficiency>)> = Vec::new();
    for answer in measured.iter().filter(|answer| is_result(outcomes, answer)) {
        let workload = &answer.segment.workload;
        let earlier = earlier_loop(outcomes, answer).map(|name| format!(", {name}")).unwrap_or_default();
        let name = format!("{workload}, TC {} QD {}{earlier}", workload.threads, workload.queue_depth);
        let found = meter.efficiency(answer.segment);
        match all.iter_mut().find(|(known, _)| *known == name) {
            Some((_, rounds)) => rounds.extend(found),
            None => all.push((name, found.into_iter().collect())),
        }
    }
    let of = |(name, rounds): (String, Vec<Efficiency>)| WorkloadEfficiency {
        name,
        mean: Efficiency::mean(&rounds),
        rounds: rounds.len(),
    };
    all.into_iter().map(of).collect()
}

/// Formats the workloads as a table; None without workloads, or with too many for a page.
pub(crate) fn table(workloads: &[WorkloadEfficiency], is_bound: bool) -> Option<WorkloadTable> {
    if workloads.is_empty() || workloads.len() > MOST {
        return None;
    }
    let (most, least) = if is_bound { ("at most ", "at least ") } else { ("", "") };
    let row = |workload: &WorkloadEfficiency| {
        let cells = match &workload.mean {
            Some(mean) => [
                format!("{most}{}", mean.watts.text()),
                format!("{least}{}", mean.iops_per_watt.text()),
                format!("{least}{}", mean.megabytes_per_second_per_watt.text()),
            ],
            None => [(); 3].map(|()| "not measured".to_owned()),
        };
        [workload.name.clone()].into_iter().chain(cells).collect()
    };
    Some(WorkloadTable {
        caption: "Power attributed to each workload, and efficiency; means over the rounds of the window"
            .into(),
        heads: ["Workload", "Power (W)", "IOPS/W", "MB/s/W"].map(str::to_owned).into(),
        rows: workloads.iter().map(row).collect(),
        shares: vec![34.0, 22.0, 22.0, 22.0],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workloads_without_power_are_not_measured() {
        let none = WorkloadEfficiency { name: "RND 4KiB W".into(), mean: None, rounds: 0 };
        let table = table(std::slice::from_ref(&none), false).expect("a row");
        assert_eq!(table.rows[0][1..], ["not measured", "not measured", "not measured"]);
        assert!(super::table(&vec![none; MOST + 1], false).is_none());
        assert!(super::table(&[], false).is_none());
    }
}
