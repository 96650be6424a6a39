//! A campaign's expected time and writes, by drive.

use std::collections::BTreeMap;

use stdx::text::on_one_line;
use stdx::units::{amount_base10, grouped, span};

use crate::inventory::Drive;
use crate::jobs::{Job, SIGNAL_SECONDS};

/// Expected time and writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Expected {
    /// If steady state is reached as early as possible.
    pub shortest_ns: u64,
    /// If steady state is not reached.
    pub longest_ns: u64,
    /// Minimum number of bytes written.
    pub least_bytes: u64,
    /// Maximum number of bytes written.
    pub most_bytes: u64,
    /// Purges, which the other times do not include.
    pub purge_ns: u64,
    /// The longest purge, workload or idle time.
    pub step_ns: u64,
}

/// Minimum time limit of a job in minutes.
pub const LEAST_MINUTES: u32 = 10;

const MINUTE_NS: u64 = 60_000_000_000;

impl Expected {
    /// Adds another job.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            shortest_ns: self.shortest_ns.saturating_add(other.shortest_ns),
            longest_ns: self.longest_ns.saturating_add(other.longest_ns),
            least_bytes: self.least_bytes.saturating_add(other.least_bytes),
            most_bytes: self.most_bytes.saturating_add(other.most_bytes),
            purge_ns: self.purge_ns.saturating_add(other.purge_ns),
            step_ns: if self.step_ns > other.step_ns { self.step_ns } else { other.step_ns },
        }
    }

    /// Returns the time limit of the job in minutes: `chosen` or, by default, twice the longest expected time. A purge or
    /// workload that the limit interrupts is repeated from its beginning, so the limit must not be shorter.
    ///
    /// # Errors
    /// Returns the minimum if `chosen` is too short.
    pub fn time_limit(&self, chosen: Option<u32>) -> Result<u32, u32> {
        let minutes = |ns: u64| u32::try_from(ns.div_ceil(MINUTE_NS)).unwrap_or(u32::MAX);
        let before_signal = minutes(self.step_ns);
        let least = before_signal.saturating_add(SIGNAL_SECONDS.div_ceil(60));
        let least = if before_signal == 0 { 0 } else { least };
        let twice = minutes(self.longest_ns.saturating_add(self.purge_ns).saturating_mul(2));
        match chosen {
            Some(chosen) if chosen < least => Err(least),
            Some(chosen) => Ok(chosen),
            None => Ok(twice.max(least).max(LEAST_MINUTES)),
        }
    }
}

/// Expected duration and writes of one drive's jobs.
#[derive(Debug, Clone)]
pub struct OfDrive<'a> {
    /// The drive.
    pub drive: &'a Drive,
    /// Number of jobs on the drive.
    pub runs: u32,
    /// The total over all jobs.
    pub expected: Expected,
}

/// Adds up the jobs of each drive, in job order.
#[must_use]
pub fn by_drive<'a>(jobs: &'a [Job], each: &[Expected]) -> Vec<OfDrive<'a>> {
    let mut drives: Vec<OfDrive<'a>> = Vec::new();
    for (job, expected) in jobs.iter().zip(each) {
        match drives.iter_mut().find(|known| known.drive.identity == job.drive.identity) {
            Some(known) => {
                known.runs += 1;
                known.expected = known.expected.and(*expected);
            }
            None => drives.push(OfDrive { drive: &job.drive, runs: 1, expected: *expected }),
        }
    }
    drives
}

/// Returns the drives whose data would be lost, by identity.
#[must_use]
pub fn lost(jobs: &[Job]) -> BTreeMap<&str, &Drive> {
    let drives = jobs.iter().map(|job| &job.drive).filter(|drive| !drive.is_simulated());
    drives.map(|drive| (drive.identity.as_str(), drive)).collect()
}

/// Returns a table with a heading and one line per drive.
#[must_use]
pub fn rows(drives: &[OfDrive<'_>]) -> Vec<[String; 6]> {
    let heading = ["drive", "at", "runs", "time", "writes up to", "drive fills"].map(str::to_owned);
    let row = |known: &OfDrive<'_>| {
        let (drive, sum) = (known.drive, known.expected);
        let fills = drive
            .capacity_bytes
            .filter(|bytes| *bytes > 0)
            .map_or_else(|| "unknown".into(), |capacity| grouped(sum.most_bytes as f64 / capacity as f64, 1));
        [
            on_one_line(&drive.identity).into_owned(),
            on_one_line(&format!("{}:{}", drive.host, drive.path)).into_owned(),
            known.runs.to_string(),
            format!("{} to {}", span(sum.shortest_ns), span(sum.longest_ns)),
            amount_base10(sum.most_bytes),
            fills,
        ]
    };
    std::iter::once(heading).chain(drives.iter().map(row)).collect()
}

/// Describes the campaign, for the text above the table.
#[must_use]
pub fn summary(name: &str, jobs: &[Job], drives: &[OfDrive<'_>]) -> String {
    let most = |of: fn(&Expected) -> u64| drives.iter().map(|known| of(&known.expected)).max().unwrap_or(0);
    let lost = match lost(jobs).len() {
        0 => "nothing: all drives are simulated".to_owned(),
        1 => "everything on 1 drive".to_owned(),
        count => format!("everything on {count} drives"),
    };
    format!(
        "campaign  {name}: {} jobs on {} drives\nlost      {lost}\ntime      {} to {}, if no drive has to wait; purges not \
         included\n",
        jobs.len(),
        drives.len(),
        span(most(|sum| sum.shortest_ns)),
        span(most(|sum| sum.longest_ns)),
    )
}
