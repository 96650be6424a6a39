//! The drives of a library, each with its runs.

use crate::error::StoreError;
use crate::index::Index;
use crate::value::Value;

/// A drive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drive {
    /// Identity, by which the drive is recognized.
    pub identity: String,
    /// `block`, `file`, `simulated` or `imported`.
    pub kind: String,
    /// Model, if known.
    pub model: Option<String>,
    /// Serial number, if known.
    pub serial: Option<String>,
    /// Its distinct firmware revisions, starting with the one of the oldest run.
    pub firmware: Vec<String>,
    /// User capacity in its last run.
    pub capacity_bytes: u64,
    /// Number of runs.
    pub runs: u64,
    /// Start of its last run.
    pub last_run_utc: String,
    /// Id of its last run.
    pub last_run: String,
    /// Label of simulated results; None for all others.
    pub simulated: Option<String>,
}

const RUNS: &str = "\
    SELECT drive.identity, drive.kind, drive.model, drive.serial, drive.firmware, drive.capacity_bytes, \
    run.started_utc, run.run_id, run.simulated, drive.simulated_model \
    FROM drive JOIN run ON run.run_key = drive.run_key ORDER BY run.started_utc, run.run_id";

impl Index {
    /// Returns all drives of the store, starting with the drive of the newest run.
    ///
    /// # Errors
    /// If the database fails.
    pub fn drives(&mut self) -> Result<Vec<Drive>, StoreError> {
        let mut drives: Vec<Drive> = Vec::new();
        for row in self.query(RUNS, &[])?.rows {
            let text = |at: usize| row.get(at).and_then(Value::text).map(str::to_owned);
            let (Some(identity), Some(kind)) = (text(0), text(1)) else { continue };
            let (model, serial) = (text(2).or(text(9)), text(3));
            // Results of other tools do not contain an identity.
            let is_same = |drive: &Drive| {
                (&drive.identity, &drive.kind) == (&identity, &kind)
                    && (!identity.is_empty() || (&drive.model, &drive.serial) == (&model, &serial))
            };
            let known = drives.iter().position(is_same);
            let earlier = known.map(|at| drives.remove(at));
            let (runs, mut firmware) = earlier.map_or((0, Vec::new()), |drive| (drive.runs, drive.firmware));
            firmware.extend(text(4).filter(|found| !firmware.contains(found)));
            drives.push(Drive {
                identity,
                kind,
                model,
                serial,
                firmware,
                capacity_bytes: row.get(5).and_then(Value::integer).map_or(0, i64::unsigned_abs),
                runs: runs + 1,
                last_run_utc: text(6).unwrap_or_default(),
                last_run: text(7).unwrap_or_default(),
                simulated: text(8),
            });
        }
        drives.reverse();
        Ok(drives)
    }
}
