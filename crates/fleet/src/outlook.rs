//! A campaign's expected time and writes, by drive.

use std::collections::BTreeMap;

use stdx::text::on_one_line;
use stdx::units::{amount_base10, count_of, grouped, span};

use crate::expected::Expected;
use crate::inventory::Drive;
use crate::jobs::Job;

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
        count => format!("everything on {}", count_of(count, "drive")),
    };
    format!(
        "campaign  {name}: {} on {}\nlost      {lost}\ntime      {} to {}, if no drive has to wait; purges not \
         included\n",
        count_of(jobs.len(), "job"),
        count_of(drives.len(), "drive"),
        span(most(|sum| sum.shortest_ns)),
        span(most(|sum| sum.longest_ns)),
    )
}
