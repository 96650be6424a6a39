//! Runs, as lists show and filter them.

use std::collections::BTreeMap;

use jiff::Timestamp;
use pts::Standing;
use record::RunFile;
use stdx::text::on_one_line;

use crate::engine::Engine;
use crate::error::StoreError;
use crate::state;
use crate::value::{Answer, Value};

/// The data about a run that lists show and filter by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedRun {
    /// Id of the run.
    pub id: String,
    /// Start.
    pub created: Timestamp,
    /// Names of the tests.
    pub tests: Vec<String>,
    /// Profile.
    pub profile: String,
    /// Description of the target.
    pub target: String,
    /// Name given by the operator.
    pub name: Option<String>,
    /// Tags given by the operator.
    pub tags: Vec<String>,
    /// Notes by the operator.
    pub notes: Vec<String>,
    /// Serial number of the drive.
    pub serial: Option<String>,
    /// Identities of the target and of an array's members.
    pub identities: Vec<String>,
    /// Models of the drive, of the simulated drive, and of the members of an array.
    pub models: Vec<String>,
}

impl ListedRun {
    /// Returns the data that lists show about a run.
    #[must_use]
    pub fn of(file: &RunFile) -> Self {
        let target = &file.target;
        let simulated = target.simulated.as_ref().map(|simulated| &simulated.model);
        let members = || target.array.iter().flat_map(|array| &array.members);
        let own = target.model.iter().chain(simulated);
        Self {
            id: file.id.clone(),
            created: file.created,
            tests: file.tests.clone(),
            profile: file.profile.clone(),
            target: on_one_line(&file.target_line()).into_owned(),
            name: file.labels.name.clone(),
            tags: file.labels.tags.clone(),
            notes: file.labels.notes.clone(),
            serial: target.serial.clone(),
            identities: std::iter::once(&target.identity)
                .chain(members().map(|member| &member.identity))
                .cloned()
                .collect(),
            models: own.chain(members().filter_map(|member| member.model.as_ref())).cloned().collect(),
        }
    }
}

const RUNS: &str = "\
    SELECT run.folder, run.run_id, run.started_utc, run.tests, run.profile, run.target, run.name, run.state, \
    drive.serial, drive.identity, drive.model, drive.simulated_model, run.run_key \
    FROM run JOIN drive ON drive.run_key = run.run_key WHERE run.library = $1";

/// Returns the folder and the state of every run that the store contains for a library, in no particular order.
///
/// # Errors
/// Returns an error if the database fails.
pub fn listed(
    engine: &mut dyn Engine,
    library: &str,
) -> Result<BTreeMap<String, (ListedRun, Standing)>, StoreError> {
    let mut runs = BTreeMap::new();
    let mut folders = BTreeMap::new();
    for row in engine.query(RUNS, &[library.into()])?.rows {
        // Rows that this build cannot interpret are skipped; the run is then read from its journal.
        let Some((folder, run, state)) = run_of(&row) else { continue };
        folders.insert(row.last().and_then(Value::text).unwrap_or_default().to_owned(), folder.clone());
        runs.insert(folder, (run, state));
    }
    let mut further = |query: &str, add: fn(&mut ListedRun, &[Value])| {
        let Answer { rows, .. } = engine.query(query, &[library.into()])?;
        for row in rows {
            let folder = row.first().and_then(Value::text).and_then(|key| folders.get(key));
            if let Some((run, _)) = folder.and_then(|folder| runs.get_mut(folder)) {
                add(run, &row);
            }
        }
        Ok::<(), StoreError>(())
    };
    further(&of_runs("tag", "tag"), |run, row| run.tags.extend(text_at(row, 1)))?;
    further(&of_runs("note", "text"), |run, row| run.notes.extend(text_at(row, 1)))?;
    further(&of_runs("member", "identity, member.model"), |run, row| {
        run.identities.extend(text_at(row, 1));
        run.models.extend(text_at(row, 2));
    })?;
    Ok(runs)
}

fn of_runs(table: &str, columns: &str) -> String {
    format!(
        "SELECT run.run_key, {table}.{columns} FROM {table} JOIN run ON run.run_key = {table}.run_key \
         WHERE run.library = $1 ORDER BY {table}.run_key, {table}.number"
    )
}

fn text_at(row: &[Value], at: usize) -> Option<String> {
    row.get(at)?.text().map(str::to_owned)
}

fn run_of(row: &[Value]) -> Option<(String, ListedRun, Standing)> {
    let text = |at| text_at(row, at);
    let tests = text(3)?;
    let run = ListedRun {
        id: text(1)?,
        created: text(2)?.parse().ok()?,
        tests: tests.split(',').filter(|test| !test.is_empty()).map(str::to_owned).collect(),
        profile: text(4)?,
        target: text(5)?,
        name: text(6),
        tags: Vec::new(),
        notes: Vec::new(),
        serial: text(8),
        identities: text(9).into_iter().collect(),
        models: text(10).into_iter().chain(text(11)).collect(),
    };
    Some((text(0)?, run, state::named(&text(7)?)?))
}
