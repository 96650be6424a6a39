//! The results of a stage, combined into parts.

use std::collections::BTreeMap;

use engine::{LoadOutcome, VerifyReport};
use record::TargetFacts;

use super::origin::Reading;
use super::part::Part;
use crate::Job;
use crate::steady::SteadyResult;

/// Returns a stage's results by job, or by group if a job requests it; `facts` and `readings` are by target.
#[must_use]
pub fn parts_of_stage(
    jobs: &[Job],
    stage: &[usize],
    mut results: BTreeMap<usize, Vec<(LoadOutcome, Option<VerifyReport>)>>,
    mut steady: BTreeMap<usize, SteadyResult>,
    facts: &BTreeMap<String, TargetFacts>,
    readings: &BTreeMap<String, Reading>,
) -> Vec<Part> {
    let mut parts: Vec<(usize, Part)> = Vec::new();
    for &index in stage {
        let job = &jobs[index];
        let filename = job.filename.as_deref().unwrap_or_default();
        let (target, reading) = (facts[filename].clone(), readings[filename]);
        let without_sync = target.simulated.is_some() && job.ends_with_fsync();
        let more = without_sync.then(|| "end_fsync has no effect on a simulated drive".to_owned());
        let mut part = Part {
            name: job.name.clone(),
            target,
            segments: Vec::new(),
            report: None,
            steady: steady.remove(&index),
            depths: None,
            notes: job.notes().into_iter().chain(more).collect(),
            given: job.given(),
            span: None,
        };
        for (outcome, report) in results.remove(&index).unwrap_or_default() {
            let LoadOutcome::Finished(segment) = outcome else { continue };
            part.add(segment, report, reading);
        }
        let before = parts.last_mut().filter(|(last, _)| {
            job.continues || job.group_reporting && !job.new_group && jobs[*last].group_reporting
        });
        match before {
            Some((last, group)) => {
                *last = index;
                group.join(part);
            }
            None => parts.push((index, part)),
        }
    }
    parts.into_iter().map(|(_, part)| part).collect()
}
