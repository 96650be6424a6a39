//! The I/O overhead of the file system in each measured workload.

use pts::Outcome;
use record::{Segment, WorkloadFileShare};

use super::workload_table::WorkloadTable;
use crate::facts::answers::Answer;
use crate::facts::file_share::{printed, share};
use crate::facts::judged::{earlier_loop, is_result};

/// Maximum number of rows in a table.
const MOST: usize = 64;

/// Collects the workloads of a test from its `measured` answers; empty if the target is not a file.
pub(crate) fn workloads(outcomes: &[Outcome], measured: &[&Answer<'_>]) -> Vec<WorkloadFileShare> {
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
    let of = |(name, rounds): (String, Vec<&Segment>)| WorkloadFileShare {
        workload: name,
        share: share(rounds.iter().copied()),
        extents: rounds.iter().rev().find_map(|segment| segment.on_file?.extents),
    };
    all.into_iter().filter(is_on_file).map(of).collect()
}

/// Formats the workloads as a table; None if the overhead is not known for any workload, or if there are too
/// many workloads for a page.
pub(crate) fn table(workloads: &[WorkloadFileShare]) -> Option<WorkloadTable> {
    if workloads.len() > MOST || workloads.iter().all(|workload| workload.share.is_none()) {
        return None;
    }
    let row = |workload: &WorkloadFileShare| {
        let share = workload.share.unwrap_or_default();
        vec![
            workload.workload.clone(),
            printed(share.bytes_written_per_byte),
            printed(share.writes_per_write),
            printed(share.bytes_read_per_byte),
            printed(share.reads_per_read),
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
