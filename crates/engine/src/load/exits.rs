//! Workloads that end when another workload has ended.

use std::sync::atomic::{AtomicBool, Ordering};

/// Which of several concurrent workloads, possibly on different targets, end with which others. They end early, with
/// their results.
#[derive(Debug)]
pub struct Exits {
    finished: Vec<AtomicBool>,
    ends: Vec<Vec<usize>>,
}

impl Exits {
    /// `ends` contains, for each workload, the positions of the workloads that end with it.
    #[must_use]
    pub fn new(ends: Vec<Vec<usize>>) -> Self {
        Self { finished: ends.iter().map(|_| AtomicBool::new(false)).collect(), ends }
    }

    /// Ends the workloads that end with this one.
    pub(super) fn ended(&self, workload: usize) {
        for other in &self.ends[workload] {
            self.finished[*other].store(true, Ordering::Relaxed);
        }
    }

    /// Returns the flag that ends a workload.
    pub(super) fn flag(&self, workload: usize) -> &AtomicBool {
        &self.finished[workload]
    }
}
