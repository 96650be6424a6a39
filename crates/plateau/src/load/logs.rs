//! Assigns fio's logs to workloads, and writes them.

use std::path::Path;

use engine::LoadOutcome;
use fio::{Job, Log};
use record::Workload;

use crate::failure::Done;
use crate::output::file;

/// The log of one workload of a job.
pub struct Planned {
    pub job: usize,
    /// Position of the workload within the job.
    stream: usize,
    log: Log,
}

/// Returns the logs of all jobs. Each of them may be written.
pub fn planned(jobs: &[Job], workloads: &[Vec<Workload>]) -> Done<Vec<Planned>> {
    let (mut planned, mut number) = (Vec::new(), 1);
    for (index, (job, streams)) in jobs.iter().zip(workloads).enumerate() {
        for (stream, workload) in streams.iter().enumerate() {
            let logs = job.logs(number).into_iter();
            planned.extend(logs.map(|log| Planned { job: index, stream, log }));
            number += usize::from(workload.threads);
        }
    }
    file::check(planned.iter().map(|planned| Path::new(&planned.log.path)), false)?;
    Ok(planned)
}

impl Planned {
    /// Returns the path and the content of the log.
    pub fn written<T>(&self, results: &[(LoadOutcome, T)]) -> Option<(String, String)> {
        match results.get(self.stream) {
            Some((LoadOutcome::Finished(segment), _)) => {
                Some((self.log.path.clone(), self.log.text(segment)))
            }
            _ => None,
        }
    }
}

/// Writes all logs.
pub fn write(logs: &[(String, String)]) -> Done {
    logs.iter().try_for_each(|(path, text)| file::file(Path::new(path), text.as_bytes()))
}
