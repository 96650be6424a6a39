//! The limits of all concurrent jobs.

use std::sync::{Mutex, PoisonError};

use engine::{LoadOutcome, Tick};
use record::Workload;

use super::Job;
use super::limits::{Checked, Missed};

/// The first limit that a job of a stage did not meet.
#[derive(Debug, Default)]
pub struct Limits {
    missed: Mutex<Option<(String, Missed)>>,
}

impl Limits {
    /// Adds the progress of a stream; returns whether it meets the limits of its job.
    pub fn add(&self, job: &Job, checked: Option<&mut Checked>, tick: &Tick) -> bool {
        let missed = checked.and_then(|checked| checked.add(tick));
        let is_met = missed.is_none();
        self.note(job, missed);
        is_met
    }

    /// Adds the result of a stream.
    pub fn ended(&self, job: &Job, workload: &Workload, outcome: &LoadOutcome) {
        if let (Some(checked), LoadOutcome::Finished(segment)) = (job.limits_of(workload), outcome) {
            self.note(job, checked.ended(segment));
        }
    }

    fn note(&self, job: &Job, missed: Option<Missed>) {
        if let Some(missed) = missed {
            let mut first = self.missed.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert_with(|| (job.name.clone(), missed));
        }
    }

    /// Returns the name of the job and the limit; `None` if all limits were met.
    #[must_use]
    pub fn first_missed(self) -> Option<(String, Missed)> {
        self.missed.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
