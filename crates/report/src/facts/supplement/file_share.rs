//! The share of the file system in each measured workload.

use pts::Outcome;
use record::Segment;

use super::workload_table::WorkloadTable;
use crate::facts::answers::Answer;
use crate::facts::file_share::{Share, printed};
use crate::facts::judged::{earlier_loop, is_result};

/// Maximum rows of a table.
const MOST: usize = 64;

/// A workload, over the rounds of the window.
#[derive(Debug, Clone)]
pub(crate) struct WorkloadShare {
    pub name: String,
    /// None if the I/O of the devices is not known.
    pub share: Option<Share>,
    /// Extents of the file after the latest round; None if not known.
    pub extents: Option<u64>,
}

/// Collects the workloads of a test from its `measured` answers; empty if the target is not a file.
pub(crate) fn workloads(outcomes: &[Outcome], measured: &[&Answer<'_>]) -> Vec<WorkloadShare> {
    let mut all: Vec<(String, Vec<&Segment>)> = Vec::new();
    for answer in measured.iter().filter(|answer| is_result(outcomes, answer)) {
        let workload = &answer.segment.workload;
        let earlier = earlier_loop(outcomes, answer).map(|name| format!(", {name}")).unwrap_or_default();
        let name = format!("{workload}, TC {} QD {}{earlier}", workload.threads, workload.queue_depth);
        match all.iter_mut().find(|(known, _)| *known == name) {
            Some((_, rounds)) => rounds.push(answer.segment),
            None => all.push((name, vec![answer.segment])),
        }
    }
    let is_on_file = |(_, rounds): &(String, Vec<&Segment>)| rounds.iter().any(|one| one.on_file.is_some());
    let of = |(name, rounds): (String, Vec<&Segment>)| WorkloadShare {
        name,
        share: Share::of(rounds.iter().copied()),
        extents: rounds.iter().rev().find_map(|segment| segment.on_file?.extents),
    };
    all.into_iter().filter(is_on_file).map(of).collect()
}

/// Formats the workloads as a table; None without any known share, or with too many workloads for a page.
pub(crate) fn table(workloads: &[WorkloadShare]) -> Option<WorkloadTable> {
    if workloads.len() > MOST || workloads.iter().all(|workload| workload.share.is_none()) {
        return None;
    }
    let row = |workload: &WorkloadShare| {
        let share = workload.share.as_ref();
        let cell = |of: fn(&Share) -> Option<f64>| printed(share.and_then(of));
        vec![
            workload.name.clone(),
            cell(Share::bytes_written_per_byte),
            cell(Share::writes_per_write),
            cell(Share::bytes_read_per_byte),
            cell(Share::reads_per_read),
            workload.extents.map_or_else(|| "n/a".into(), |count| count.to_string()),
        ]
    };
    Some(WorkloadTable {
        caption: "Share of the file system: I/O of the devices below it per I/O of Plateau, over the rounds of the window"
            .into(),
        heads: ["Workload", "Bytes written / byte", "Writes / write", "Bytes read / byte", "Reads / read", "Extents"]
            .map(str::to_owned)
            .into(),
        rows: workloads.iter().map(row).collect(),
        shares: vec![30.0, 16.0, 14.0, 16.0, 12.0, 12.0],
    })
}
