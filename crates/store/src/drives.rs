//! The drives in a library, each with its runs.

use std::collections::HashMap;
use std::ops::Range;

use jiff::Timestamp;

use crate::engine::Engine;
use crate::error::StoreError;
use crate::index::Index;
use crate::value::{Cell, Value};

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

/// All runs by start. The copies of a run follow its most complete one.
const RUNS: &str = "\
    SELECT run.run_key, run.run_id FROM run ORDER BY run.started_utc, run.run_id, run.records DESC, run.run_key";

/// The drive of every run, by the keys of the runs.
const DRIVES: &str =
    "SELECT drive.run_key, drive.drive, drive.kind, drive.firmware FROM drive ORDER BY drive.run_key";

/// The drives as they were in some runs.
const LAST_RUNS: &str = "\
    SELECT run.run_key, run.run_id, run.started_utc, run.simulated, drive.identity, drive.kind, drive.model, \
    drive.simulated_model, drive.serial, drive.capacity_bytes, drive.drive \
    FROM run JOIN drive ON drive.run_key = run.run_key WHERE run.run_key IN";

/// Number of runs that are read by one query.
const PART: usize = 100;

/// The runs of a drive.
#[derive(Default)]
struct Runs {
    /// Distinct firmware revisions, starting with the one in the oldest run.
    firmware: Vec<String>,
    runs: u64,
    /// Position and key of the newest run.
    last: (usize, String),
}

/// A drive with one firmware revision.
struct Revision {
    /// Position of the drive.
    drive: usize,
    firmware: Option<String>,
}

/// The drives of all runs.
#[derive(Default)]
struct Drives {
    /// Number of drives.
    drives: usize,
    revisions: Vec<Revision>,
    /// The keys of all runs, one after the other, in ascending order.
    keys: String,
    /// The place of each run's key in `keys`, and the position of its revision.
    of_runs: Vec<(Range<usize>, usize)>,
}

impl Drives {
    fn read(engine: &mut dyn Engine) -> Result<Self, StoreError> {
        let mut all = Self::default();
        let (mut drives, mut revisions) = (HashMap::new(), HashMap::new());
        let mut name = String::new();
        engine.each(DRIVES, &[], &mut |row| {
            let text = |at: usize| row.get(at).and_then(Cell::text);
            let (Some(run), Some(drive), Some(kind)) = (text(0), text(1), text(2)) else { return };
            let firmware = text(3);
            // No stored text contains this character.
            name.clear();
            [kind, "\0", drive, "\0"].iter().for_each(|part| name.push_str(part));
            let length = name.len();
            name.extend(firmware.into_iter().flat_map(|firmware| ["=", firmware]));
            let revision = revisions.get(&name).copied().unwrap_or_else(|| {
                let drive = *drives.entry(name[..length].to_owned()).or_insert(all.drives);
                all.drives = all.drives.max(drive + 1);
                all.revisions.push(Revision { drive, firmware: firmware.map(str::to_owned) });
                revisions.insert(name.clone(), all.revisions.len() - 1);
                all.revisions.len() - 1
            });
            let begin = all.keys.len();
            all.keys.push_str(run);
            all.of_runs.push((begin..all.keys.len(), revision));
        })?;
        Ok(all)
    }

    /// Returns the drive of a run with its firmware revision.
    fn revision_of(&self, run_key: &str) -> Option<&Revision> {
        let known = self.of_runs.binary_search_by(|(key, _)| self.keys[key.clone()].cmp(run_key));
        known.ok().map(|at| &self.revisions[self.of_runs[at].1])
    }
}

impl Index {
    /// Returns all drives in the store, starting with the drive of the newest run. A run that was copied counts once.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub fn drives(&mut self) -> Result<Vec<Drive>, StoreError> {
        // One state of the store: another process may be replacing rows.
        self.reading(|index| {
            let runs = index.runs_of_drives()?;
            let mut last_runs = HashMap::new();
            for part in runs.chunks(PART) {
                let places: Vec<String> = (1..=part.len()).map(|number| format!("${number}")).collect();
                let keys: Vec<Value> = part.iter().map(|runs| Value::from(&*runs.last.1)).collect();
                let rows = index.query(&format!("{LAST_RUNS} ({})", places.join(", ")), &keys)?.rows;
                last_runs
                    .extend(rows.into_iter().filter_map(|row| Some((row.first()?.text()?.to_owned(), row))));
            }
            Ok(runs.into_iter().filter_map(|runs| drive(last_runs.get(&runs.last.1)?, runs)).collect())
        })
    }

    /// Returns the runs of each drive, starting with the drive of the newest run.
    fn runs_of_drives(&mut self) -> Result<Vec<Runs>, StoreError> {
        let drives = Drives::read(&mut *self.engine)?;
        let mut all: Vec<Runs> = std::iter::repeat_with(Runs::default).take(drives.drives).collect();
        let (mut position, mut before) = (0, String::new());
        self.engine.each(RUNS, &[], &mut |row| {
            let text = |at: usize| row.get(at).and_then(Cell::text);
            let (Some(run_key), Some(run_id)) = (text(0), text(1)) else { return };
            if position > 0 && before == run_id {
                return;
            }
            position += 1;
            before.clear();
            before.push_str(run_id);
            let Some(revision) = drives.revision_of(run_key) else { return };
            let runs = &mut all[revision.drive];
            if let Some(firmware) = &revision.firmware
                && !runs.firmware.contains(firmware)
            {
                runs.firmware.push(firmware.clone());
            }
            runs.runs += 1;
            runs.last.0 = position;
            runs.last.1.clear();
            runs.last.1.push_str(run_key);
        })?;
        all.retain(|runs| runs.runs > 0);
        all.sort_unstable_by_key(|runs| std::cmp::Reverse(runs.last.0));
        Ok(all)
    }
}

/// Returns a drive with the data of its last run.
fn drive(row: &[Value], Runs { firmware, runs, .. }: Runs) -> Option<Drive> {
    let text = |at: usize| row.get(at).and_then(Value::text).map(str::to_owned);
    Some(Drive {
        drive: text(10)?,
        identity: text(4)?,
        kind: text(5)?,
        model: text(6).or(text(7)),
        serial: text(8),
        firmware,
        capacity_bytes: row.get(9).and_then(Value::integer).map_or(0, i64::unsigned_abs),
        runs,
        last_run_created: text(2)?.parse().ok()?,
        last_run: text(1).unwrap_or_default(),
        simulated: text(3),
    })
}
