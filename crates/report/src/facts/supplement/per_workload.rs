//! For each workload in the window, its efficiency and the I/O overhead of the file system: as measured or, for
//! an imported run, as stated in the file.

use record::{Event, WorkloadEfficiency, WorkloadFileShare};

use super::workload_table::WorkloadTable;
use super::{file_share, per_watt};
use crate::facts::answers::{Answer, Phase, answers};
use crate::facts::efficiency::Meter;
use crate::facts::judged::JudgedRun;

/// The workloads of one test, over the rounds of the window.
#[derive(Debug, Clone)]
pub(crate) struct PerWorkload {
    /// Name of the test.
    pub test: String,
    pub title: String,
    /// Performance per watt; empty if there is no power source.
    pub efficiency: Vec<WorkloadEfficiency>,
    /// I/O overhead of the file system; empty if the target is not a file.
    pub file_share: Vec<WorkloadFileShare>,
}

/// Collects the workloads of every started test.
pub(crate) fn all(judged: JudgedRun<'_>) -> Vec<PerWorkload> {
    let answers = answers(judged.entries);
    let meter = Meter::of(judged.run, judged.entries);
    let of = |outcome: &pts::Outcome| {
        let stated = judged.entries.iter().find_map(|entry| match &entry.event {
            Event::Imported(test) if test.test == outcome.test => test.exported.as_ref(),
            _ => None,
        });
        let measured: Vec<&Answer<'_>> =
            answers.iter().filter(|a| a.test == outcome.test && a.phase == Phase::Measure).collect();
        let (efficiency, file_share) = match stated {
            Some(stated) => (stated.efficiency.clone(), stated.file_share.clone()),
            None => (
                per_watt::workloads(judged.outcomes, &measured, &meter),
                file_share::workloads(judged.outcomes, &measured),
            ),
        };
        PerWorkload { test: outcome.test.clone(), title: outcome.title.clone(), efficiency, file_share }
    };
    judged.outcomes.iter().map(of).collect()
}

impl PerWorkload {
    /// Formats the workloads as tables. Values per watt are lower bounds if `is_bound`.
    pub(crate) fn tables(&self, is_bound: bool) -> impl Iterator<Item = WorkloadTable> + use<> {
        let efficiency = per_watt::table(&self.efficiency, is_bound);
        [efficiency, file_share::table(&self.file_share)].into_iter().flatten()
    }
}
