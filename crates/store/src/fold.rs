//! A run as rows: a pure function of its two files and its annotations.

use record::{Annotations, Loaded, RunFile};

use crate::listing::ListedRun;
use crate::packed::packed;
use crate::tables::{Folded, TABLES, Table};
use crate::value::Value;
use pts::Standing;

/// All rows of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// Key of the run, unique within the store.
    pub run_key: String,
    /// The rows of each table in [`TABLES`], each beginning with the key.
    pub of_tables: Vec<Vec<Vec<Value>>>,
    /// What lists show about the run.
    pub listed: String,
}

impl Rows {
    /// Returns the number of rows in all tables.
    #[must_use]
    pub fn count(&self) -> usize {
        self.of_tables.iter().map(Vec::len).sum()
    }
}

/// Returns the key of a run: its folder or, in a shared store, the library and its folder.
#[must_use]
pub fn run_key(library: &str, folder: &str) -> String {
    if library.is_empty() { folder.to_owned() } else { format!("{library}/{folder}") }
}

/// Folds a run into rows, with the figures that this build reports.
///
/// # Errors
/// Returns an error if this build cannot evaluate the run.
pub fn fold(
    library: &str,
    folder: &str,
    run: &RunFile,
    loaded: &Loaded,
    annotations: &Annotations,
) -> Result<Rows, String> {
    let findings = report::findings(run, loaded)?;
    let figures = findings.comparable_figures(run, &loaded.entries);
    let state = Standing::of(&loaded.entries, findings.outcomes(), false);
    let folded =
        Folded { library, folder, run, loaded, findings: &findings, figures: &figures, state, annotations };
    let record::Labels { name, tags, notes } = annotations.labels(&run.id, &run.labels);
    let shown = ListedRun { name, tags, notes, ..ListedRun::of(run) };
    let run_key = run_key(library, folder);
    let with_key = |row: Vec<Value>| std::iter::once(Value::from(&*run_key)).chain(row).collect();
    let of_table = |table: &&Table| (table.rows)(&folded).into_iter().map(with_key).collect();
    let of_tables = TABLES.iter().map(of_table).collect();
    Ok(Rows { of_tables, listed: packed(&shown, state), run_key })
}
