//! Formats the combined result for people.

use jiff::SignedDuration;
use stdx::units::{count_of, grouped};

use super::combine::{Combined, CombinedJob, HostShare, labels};
use crate::result::{lacks_percentiles, milliseconds, text_of, text_of_syncs};

impl Combined {
    /// Formats the combined result.
    #[must_use]
    pub fn text(&self) -> String {
        self.jobs.iter().map(|job| self.job_text(job)).collect::<Vec<_>>().join("\n")
    }

    fn job_text(&self, job: &CombinedJob) -> String {
        let hosts = count_of(self.hosts.len(), "result");
        let seconds = job.seconds();
        let mut out = format!("{}: {hosts}, {seconds:.3} s\n", job.name);
        for (name, direction) in [("read", &job.read), ("write", &job.write)] {
            if direction.ios > 0 {
                out.push_str(&text_of(name, direction, seconds, true));
            }
        }
        out.push_str(&text_of_syncs(&job.synced, seconds));
        out.push_str(&self.skew_text(job));
        let label = labels(&self.hosts);
        let width = self.hosts.iter().map(|result| label(result).chars().count()).max().unwrap_or(0);
        for (index, (result, share)) in self.hosts.iter().zip(&job.shares).enumerate() {
            let mark = if index == job.slowest { "  slowest" } else { "" };
            out.push_str(&format!("host   {:<width$}  {}{mark}\n", label(result), share_text(share)));
        }
        if [&job.read.latency, &job.write.latency, &job.synced.latency].into_iter().any(lacks_percentiles) {
            out.push_str("note   n/a: fewer than ten I/Os lie beyond this percentile\n");
        }
        job.notes.iter().for_each(|note| out.push_str(&format!("note   {note}\n")));
        out
    }

    fn skew_text(&self, job: &CombinedJob) -> String {
        let limit = SignedDuration::try_from(self.skew_limit).unwrap_or(SignedDuration::MAX);
        let clocks = match job.skew_at_most == job.skew {
            true => "one clock".to_owned(),
            false => format!("{} including the errors of the clocks", milliseconds(job.skew_at_most)),
        };
        format!(
            "start  within {} ({clocks}; limit {})  all hosts measured at the same time for {:.1} %\n",
            milliseconds(job.skew),
            milliseconds(limit),
            job.overlap_share * 100.0
        )
    }
}

fn share_text(share: &HostShare) -> String {
    format!(
        "{:>5.1} %  {} IOPS  {} MB/s",
        share.share * 100.0,
        grouped(share.iops, 0),
        grouped(share.bytes as f64 / share.seconds.max(1e-9) / 1e6, 1)
    )
}
