//! One figure in all runs.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::error::StoreError;
use crate::index::Index;
use crate::value::Value;

/// A figure of a run, with the data that distinguishes the run from others.
#[derive(Debug, Clone, PartialEq)]
pub struct FigureOfRun {
    /// Id of the run.
    pub run: String,
    /// Start of the run.
    pub created: Timestamp,
    /// State of the run.
    pub state: String,
    /// Profile.
    pub profile: String,
    /// Thread count and queue depth; unknown for some imported runs.
    pub demand: Option<(i64, i64)>,
    /// Factor by which the capacity and test times of a simulated drive are divided; 1 for all others.
    pub scale_divisor: i64,
    /// Label of simulated results.
    pub simulated: Option<String>,
    /// Text that distinguishes the drive from others.
    pub drive: String,
    /// Identity of the drive, as typed to confirm erasure.
    pub identity: String,
    /// Model of the drive, or of the simulated drive.
    pub model: Option<String>,
    /// Serial number of the drive.
    pub serial: Option<String>,
    /// Firmware revision of the drive.
    pub firmware: Option<String>,
    /// Name of the figure, as printed.
    pub name: String,
    /// Value in `unit`.
    pub value: f64,
    /// Unit.
    pub unit: String,
    /// Whether smaller values are better.
    pub smaller_is_better: bool,
    /// Whether the figure may reflect the host instead of the drive.
    pub host_limited: bool,
    /// The values that were averaged.
    pub rounds: Vec<f64>,
}

const FIGURES: &str = "\
    SELECT run.run_id, run.started_utc, run.state, run.profile, run.threads, run.queue_depth, run.scale_divisor, \
    run.simulated, drive.identity, drive.model, drive.simulated_model, drive.serial, drive.firmware, figure.name, \
    figure.value, figure.unit, figure.smaller_is_better, figure.host_limited, figure.run_key, figure.number, drive.drive \
    FROM figure JOIN run ON run.run_key = figure.run_key JOIN drive ON drive.run_key = figure.run_key \
    WHERE figure.figure_key = $1 AND figure.value IS NOT NULL ORDER BY run.started_utc, run.run_id, figure.number";

const ROUNDS: &str = "\
    SELECT figure.run_key, figure.number, figure_round.value FROM figure JOIN figure_round \
    ON figure_round.run_key = figure.run_key AND figure_round.figure_number = figure.number \
    WHERE figure.figure_key = $1 ORDER BY figure.run_key, figure.number, figure_round.number";

impl Index {
    /// Returns the figure with this key from every run that has it, oldest run first.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub fn figures(&mut self, key: &str) -> Result<Vec<FigureOfRun>, StoreError> {
        let key = [Value::from(key)];
        let mut rounds: BTreeMap<(String, i64), Vec<f64>> = BTreeMap::new();
        // Both queries see the same state of the store, even if another process is replacing rows.
        let (round_rows, rows) = self.reading(|index| {
            let rounds = index.query(ROUNDS, &key)?.rows;
            Ok::<_, StoreError>((rounds, index.query(FIGURES, &key)?.rows))
        })?;
        for row in round_rows {
            if let [Value::Text(run), Value::Integer(number), Value::Real(value)] = &row[..] {
                rounds.entry((run.clone(), *number)).or_default().push(*value);
            }
        }
        Ok(rows.iter().filter_map(|row| figure_of(row, &mut rounds)).collect())
    }

    /// Returns the keys of all figures in the store, without duplicates.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub fn figure_keys(&mut self) -> Result<Vec<String>, StoreError> {
        let answer = self.query("SELECT DISTINCT figure_key FROM figure ORDER BY figure_key", &[])?;
        Ok(answer.rows.iter().filter_map(|row| row.first()?.text().map(str::to_owned)).collect())
    }
}

fn figure_of(row: &[Value], rounds: &mut BTreeMap<(String, i64), Vec<f64>>) -> Option<FigureOfRun> {
    let text = |at: usize| row.get(at)?.text().map(str::to_owned);
    let integer = |at: usize| row.get(at)?.integer();
    Some(FigureOfRun {
        run: text(0)?,
        created: text(1)?.parse().ok()?,
        state: text(2)?,
        profile: text(3)?,
        demand: integer(4).zip(integer(5)),
        scale_divisor: integer(6)?,
        simulated: text(7),
        drive: text(20)?,
        identity: text(8)?,
        model: text(9).or(text(10)),
        serial: text(11),
        firmware: text(12),
        name: text(13)?,
        value: row.get(14)?.real()?,
        unit: text(15)?,
        smaller_is_better: integer(16)? == 1,
        host_limited: integer(17)? == 1,
        rounds: rounds.remove(&(text(18)?, integer(19)?)).unwrap_or_default(),
    })
}
