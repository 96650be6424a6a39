//! Runs, as lists show and filter them.

use std::collections::HashMap;

use jiff::Timestamp;
use pts::Standing;
use record::RunFile;
use stdx::text::on_one_line;

use crate::engine::Engine;
use crate::error::StoreError;
use crate::sources::Source;
use crate::state;
use crate::value::Value;

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

/// The state of a run from which its rows were made.
#[derive(Debug)]
pub struct Folded {
    /// Id of the run.
    pub run_id: String,
    /// Hash of the last annotation of the run.
    pub annotations: Option<String>,
    /// State of the run's files.
    pub source: Source,
}

impl Folded {
    /// Columns that contain these values.
    pub const COLUMNS: [&str; 6] = [
        "source.run_id",
        "source.annotations",
        "source.run_file_bytes",
        "source.run_file_modified_ns",
        "source.journal_bytes",
        "source.journal_modified_ns",
    ];

    /// Takes these values from a row; None if they are not valid.
    pub fn of(row: &mut impl Iterator<Item = Value>) -> Option<Self> {
        let (run_id, annotations) = (row.next()?.into_text()?, row.next()?.into_text());
        Some(Self { run_id, annotations, source: Source::of_values(row)? })
    }
}

/// A run in a store.
#[derive(Debug)]
pub struct Listed {
    /// The state of the run from which its rows were made.
    pub folded: Folded,
    /// The data that lists show.
    pub run: Box<ListedRun>,
    /// State of the run.
    pub state: Standing,
}

/// Columns with the data that lists show.
const COLUMNS: &str = "\
    run.started_utc, run.tests, run.profile, run.target, run.name, run.state, \
    drive.serial, drive.identity, drive.model, drive.simulated_model";

/// Returns every run of a library that `judged_by` evaluated, by folder; about `expected` runs.
///
/// # Errors
/// Returns an error if the database fails.
pub fn listed(
    engine: &mut dyn Engine,
    library: &str,
    judged_by: &str,
    expected: usize,
) -> Result<HashMap<String, Listed>, StoreError> {
    let query = format!(
        "SELECT source.folder, {}, {COLUMNS} FROM source JOIN run ON run.run_key = source.run_key \
         JOIN drive ON drive.run_key = source.run_key WHERE source.library = $1 AND source.judged_by = $2",
        Folded::COLUMNS.join(", ")
    );
    let mut runs: HashMap<String, Listed> = HashMap::with_capacity(expected);
    // Rows that this build cannot interpret are skipped; the run is then read from its journal.
    engine.each(&query, &[library.into(), judged_by.into()], &mut |row| runs.extend(run_of(row)))?;
    let mut further = |table: &str, columns: &str, add: fn(&mut ListedRun, &[Value])| {
        let query = format!(
            "SELECT source.folder, {table}.{columns} FROM {table} JOIN source ON source.run_key = {table}.run_key \
             WHERE source.library = $1 ORDER BY {table}.run_key, {table}.number"
        );
        for row in engine.query(&query, &[library.into()])?.rows {
            if let Some(listed) = row.first().and_then(Value::text).and_then(|folder| runs.get_mut(folder)) {
                add(&mut listed.run, &row);
            }
        }
        Ok::<(), StoreError>(())
    };
    further("tag", "tag", |run, row| run.tags.extend(text_at(row, 1)))?;
    further("note", "text", |run, row| run.notes.extend(text_at(row, 1)))?;
    further("member", "identity, member.model", |run, row| {
        run.identities.extend(text_at(row, 1));
        run.models.extend(text_at(row, 2));
    })?;
    Ok(runs)
}

fn text_at(row: &[Value], at: usize) -> Option<String> {
    row.get(at)?.text().map(str::to_owned)
}

/// Takes the folder and the run from a row.
fn run_of(row: Vec<Value>) -> Option<(String, Listed)> {
    let mut row = row.into_iter();
    let folder = row.next()?.into_text()?;
    let folded = Folded::of(&mut row)?;
    let mut text = || row.next()?.into_text();
    let (created, tests, profile, target) = (text()?.parse().ok()?, text()?, text()?, text()?);
    let (name, state) = (text(), state::named(&text()?)?);
    let (serial, identity, model, simulated_model) = (text(), text(), text(), text());
    let run = ListedRun {
        id: folded.run_id.clone(),
        created,
        tests: tests.split(',').filter(|test| !test.is_empty()).map(str::to_owned).collect(),
        profile,
        target,
        name,
        tags: Vec::new(),
        notes: Vec::new(),
        serial,
        identities: identity.into_iter().collect(),
        models: model.into_iter().chain(simulated_model).collect(),
    };
    Some((folder, Listed { folded, run: Box::new(run), state }))
}
