//! Performance per watt of the measured workloads.

use pts::Outcome;
use record::WorkloadEfficiency;

use super::workload_table::WorkloadTable;
use crate::facts::answers::Answer;
use crate::facts::efficiency::{MeasuredEfficiency, Meter, text, times};
use crate::facts::judged::{earlier_loop, is_result};

/// Maximum number of rows in a table.
const MOST: usize = 64;

/// Collects the workloads of a test from its `measured` answers; empty if the run has no power source.
pub(crate) fn workloads(
    outcomes: &[Outcome],
    measured: &[&Answer<'_>],
    meter: &Meter<'_>,
) -> Vec<WorkloadEfficiency> {
    if meter.facts.is_none() {
        return Vec::new();
    }
    let mut all: Vec<(String, Vec<MeasuredEfficiency>)> = Vec::new();
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
    let of = |(name, rounds): (String, Vec<MeasuredEfficiency>)| WorkloadEfficiency {
        workload: name,
        mean: MeasuredEfficiency::mean(&rounds).as_ref().map(MeasuredEfficiency::stated),
        rounds: Some(rounds.len() as u64),
    };
    all.into_iter().map(of).collect()
}

/// Formats the workloads as a table; None if there are no workloads, or too many for a page.
pub(crate) fn table(workloads: &[WorkloadEfficiency], is_bound: bool) -> Option<WorkloadTable> {
    if workloads.is_empty() || workloads.len() > MOST {
        return None;
    }
    let (most, least) = if is_bound { ("at most ", "at least ") } else { ("", "") };
    let row = |workload: &WorkloadEfficiency| {
        let cells = match &workload.mean {
            Some(mean) => [
                format!("{most}{}", text(mean.watts)),
                format!("{least}{}", text(mean.iops_per_watt)),
                format!("{least}{}", text(times(mean.bytes_per_second_per_watt, 1e-6))),
            ],
            None => [(); 3].map(|()| "not measured".to_owned()),
        };
        [workload.workload.clone()].into_iter().chain(cells).collect()
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
        let none = WorkloadEfficiency { workload: "RND 4KiB W".into(), mean: None, rounds: Some(0) };
        let table = table(std::slice::from_ref(&none), false).expect("a row");
        assert_eq!(table.rows[0][1..], ["not measured", "not measured", "not measured"]);
        assert!(super::table(&vec![none; MOST + 1], false).is_none());
        assert!(super::table(&[], false).is_none());
    }
}
