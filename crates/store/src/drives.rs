//! The drives in a library, each with its runs.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::error::StoreError;
use crate::index::Index;
use crate::value::Value;

/// A drive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drive {
    /// Text that distinguishes the drive from others.
    pub drive: String,
    /// Identity, as typed to confirm erasure.
    pub identity: String,
    /// `block`, `file`, `simulated` or `imported`.
    pub kind: String,
    /// Model, if known.
    pub model: Option<String>,
    /// Serial number, if known.
    pub serial: Option<String>,
    /// Distinct firmware revisions of the drive, starting with the one in the oldest run.
    pub firmware: Vec<String>,
    /// User capacity in its last run.
    pub capacity_bytes: u64,
    /// Number of runs.
    pub runs: u64,
    /// Start of its last run.
    pub last_run_created: Timestamp,
    /// Id of its last run.
    pub last_run: String,
    /// Label of simulated results; None for all others.
    pub simulated: Option<String>,
}

const RUNS: &str = "\
    SELECT drive.identity, drive.kind, drive.model, drive.serial, drive.firmware, drive.capacity_bytes, \
    run.started_utc, run.run_id, run.simulated, drive.simulated_model, drive.drive \
    FROM drive JOIN run ON run.run_key = drive.run_key \
    ORDER BY run.started_utc, run.run_id, run.records DESC, run.run_key";

/// The runs of a drive.
struct Runs {
    /// Distinct firmware revisions, starting with the one in the oldest run.
    firmware: Vec<String>,
    runs: u64,
    /// Position of the newest run.
    last: usize,
}

impl Index {
    /// Returns all drives in the store, starting with the drive of the newest run. A run that was copied counts once.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub fn drives(&mut self) -> Result<Vec<Drive>, StoreError> {
        let mut rows = self.query(RUNS, &[])?.rows;
        // The copies of a run follow its most complete one.
        rows.dedup_by(|copy, run| copy.get(7) == run.get(7));
        let mut drives: HashMap<[&str; 2], Runs> = HashMap::new();
        for (last, row) in rows.iter().enumerate() {
            let text = |at: usize| row.get(at).and_then(Value::text);
            let (Some(kind), Some(drive)) = (text(1), text(10)) else { continue };
            let known =
                drives.entry([drive, kind]).or_insert_with(|| Runs { firmware: Vec::new(), runs: 0, last });
            known.firmware.extend(
                text(4).filter(|found| !known.firmware.iter().any(|own| own == found)).map(str::to_owned),
            );
            (known.runs, known.last) = (known.runs + 1, last);
        }
        let mut drives: Vec<Runs> = drives.into_values().collect();
        drives.sort_unstable_by_key(|runs| std::cmp::Reverse(runs.last));
        Ok(drives.into_iter().filter_map(|runs| drive(rows.get(runs.last)?, runs)).collect())
    }
}

/// Returns a drive with the data of its last run.
fn drive(row: &[Value], Runs { firmware, runs, .. }: Runs) -> Option<Drive> {
    let text = |at: usize| row.get(at).and_then(Value::text).map(str::to_owned);
    Some(Drive {
        drive: text(10)?,
        identity: text(0)?,
        kind: text(1)?,
        model: text(2).or(text(9)),
        serial: text(3),
        firmware,
        capacity_bytes: row.get(5).and_then(Value::integer).map_or(0, i64::unsigned_abs),
        runs,
        last_run_created: text(6)?.parse().ok()?,
        last_run: text(7).unwrap_or_default(),
        simulated: text(8),
    })
}
