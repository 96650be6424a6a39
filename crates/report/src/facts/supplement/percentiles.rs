//! Response times of the measured workloads up to five nines, and how busy the host was in each workload.

use pts::Outcome;
use pts::response::Percentile;
use stdx::Histogram;

use super::workload_table::WorkloadTable;
use crate::facts::answers::Answer;
use crate::facts::judged::{earlier_loop, is_result};

/// Percentiles in the supplement: name, and I/Os per million beyond it.
const PERCENTILES: [(&str, u32); 5] =
    [("50 %", 500_000), ("99 %", 10_000), ("99.9 %", 1_000), ("99.99 %", 100), ("99.999 %", 10)];

/// A workload with the results of its whole loop.
#[derive(Debug, Clone)]
pub(crate) struct WorkloadTimes {
    pub name: String,
    /// Response times of reads and writes combined.
    pub times: Histogram,
    /// Maximum share of the host's capability (`Segment::host_share`); None if no host drove the workload.
    pub host_share: Option<f64>,
}

/// Collects the workloads of a test from its `measured` answers; empty if there are too many.
pub(super) fn workloads(outcomes: &[Outcome], measured: &[&Answer<'_>]) -> Vec<WorkloadTimes> {
    const MOST: usize = 64;
    let mut all: Vec<WorkloadTimes> = Vec::new();
    for answer in measured.iter().filter(|a| is_result(outcomes, a)) {
        let workload = &answer.segment.workload;
        let earlier = earlier_loop(outcomes, answer).map(|name| format!(", {name}")).unwrap_or_default();
        let name = format!("{workload}, TC {} QD {}{earlier}", workload.threads, workload.queue_depth);
        let (times, host_share) = (pts::response::merged([answer.segment]), answer.segment.host_share());
        match all.iter_mut().find(|known| known.name == name) {
            Some(known) => {
                known.times.merge(&times);
                known.host_share =
                    [known.host_share, host_share].into_iter().flatten().max_by(f64::total_cmp);
            }
            None => all.push(WorkloadTimes { name, times, host_share }),
        }
    }
    if all.len() > MOST { Vec::new() } else { all }
}

/// Formats the workloads as a table; None if there are no workloads. Omits maxima of a scaled drive.
pub(crate) fn table(workloads: &[WorkloadTimes], scaled: bool) -> Option<WorkloadTable> {
    if workloads.is_empty() {
        return None;
    }
    let driven = workloads.iter().any(|workload| workload.host_share.is_some());
    let mut caption = "Response times in ms; n/a: fewer than ten I/Os lie beyond".to_owned();
    if scaled {
        caption += "; maxima of a scaled drive are not those of the full-size drive";
    }
    if driven {
        caption += "; host: largest share of the host's ceiling or CPU time; above 70 % the result is \
                    host-limited";
    }
    let mut heads = vec!["Workload".to_owned(), "I/Os".into()];
    heads.extend(PERCENTILES.iter().map(|(name, _)| (*name).to_owned()));
    heads.push("Maximum".into());
    if driven {
        heads.push("Host".into());
    }
    let ms = |value: Option<f64>| value.map_or_else(|| "n/a".to_owned(), |ms| stdx::units::grouped(ms, 3));
    let row = |workload: &WorkloadTimes| {
        let times = &workload.times;
        let of = |beyond_ppm| Percentile { name: "", beyond_ppm }.of(times);
        let mut row = vec![workload.name.clone(), stdx::units::grouped(times.count() as f64, 0)];
        row.extend(PERCENTILES.iter().map(|(_, beyond_ppm)| ms(of(*beyond_ppm))));
        row.push(ms(times.max().filter(|_| !scaled).map(|ns| ns as f64 / 1e6)));
        if driven {
            let share = workload.host_share.map(|share| format!("{:.0} %", share * 100.0));
            row.push(share.unwrap_or_else(|| "n/a".into()));
        }
        row
    };
    let mut shares = vec![28.0, 14.0, 9.0, 9.0, 9.0, 9.0, 9.0, 13.0];
    shares.resize(heads.len(), 8.0);
    Some(WorkloadTable { caption, heads, rows: workloads.iter().map(row).collect(), shares })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(name: &str, host_share: Option<f64>) -> WorkloadTimes {
        let mut times = Histogram::new();
        (1..=2000).for_each(|us| times.record(us * 1000));
        WorkloadTimes { name: name.into(), times, host_share }
    }

    #[test]
    fn the_host_share_is_listed_if_a_host_drove_the_workload() {
        let driven = table(&[workload("a", Some(0.716)), workload("b", None)], false).expect("a table");
        assert_eq!(driven.heads.last().map(String::as_str), Some("Host"));
        let last: Vec<&str> = driven.rows.iter().filter_map(|row| row.last()).map(String::as_str).collect();
        assert_eq!(last, ["72 %", "n/a"]);
        assert!(driven.rows.iter().all(|row| row.len() == driven.heads.len()));
        let simulated = table(&[workload("a", None)], true).expect("a table");
        assert_eq!(simulated.heads.last().map(String::as_str), Some("Maximum"));
        assert!(table(&[], false).is_none());
    }

    #[test]
    fn percentiles_of_too_few_ios_and_maxima_of_scaled_drives_are_not_available() {
        let row = table(&[workload("a", None)], true).expect("a table").rows.remove(0);
        let (median, ninety_nine) = (row[2].parse::<f64>().unwrap(), row[3].parse::<f64>().unwrap());
        assert!((median / 1.0 - 1.0).abs() < 0.01 && (ninety_nine / 1.98 - 1.0).abs() < 0.01, "{row:?}");
        assert_eq!(row[4..], ["n/a", "n/a", "n/a", "n/a"]);
    }
}
