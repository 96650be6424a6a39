//! The tables as Parquet files: one folder per table, with a folder per test for the largest tables.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use crate::error::StoreError;
use crate::index::Index;
use crate::parquet::{Field, Type, Writer};
use crate::schema;
use crate::tables::{Kind, TABLES, Table};
use crate::value::{Answer, Value};

/// Number of runs whose rows are in memory at a time.
const BATCH: usize = 64;
/// Name of the file in each folder.
const FILE: &str = "part-0.parquet";
/// Takes the place of the test's name for figures of the whole run. Hive's name for a missing value cannot be used:
/// pandas does not read a folder in which only some files have one.
const WHOLE_RUN: &str = "whole_run";
/// Prefix of a folder's name if the folder contains the rows of one test.
const BY_TEST: &str = "test=";
/// Name of the column whose values are in folder names instead of the files.
const TEST: &str = "test";

/// A run in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRun {
    /// Key of the run's rows.
    pub run_key: String,
    /// Id of the run.
    pub run_id: String,
    /// Whether its results are simulated.
    pub is_simulated: bool,
}

/// A file of an export.
#[derive(Debug, Clone)]
pub struct Part {
    table: &'static Table,
    /// Name of its folder within the table's folder; None if it is in the table's folder itself.
    folder: Option<String>,
    rows: Selected,
    /// Keys of the runs that may have rows in the file.
    runs: Vec<String>,
    simulated_runs: usize,
}

/// The rows of a table that a file contains.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Selected {
    All,
    /// The rows of a test; None for the rows that belong to no test.
    OfTest(Option<String>),
}

/// Why a file cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file cannot be written.
    #[error("cannot write the file")]
    Write(#[from] io::Error),
    /// Two columns have the same name, so readers would confuse them.
    #[error("two columns are named '{0}'; rename one with AS")]
    SameName(String),
}

impl Part {
    /// Returns the name of the table.
    #[must_use]
    pub fn table(&self) -> &'static str {
        self.table.name
    }

    /// Returns the path in the export's folder; its parts are separated by `/`.
    #[must_use]
    pub fn path(&self) -> String {
        let table = self.table.name;
        match &self.folder {
            None => format!("{table}/{FILE}"),
            Some(folder) => format!("{table}/{folder}/{FILE}"),
        }
    }

    fn columns(&self) -> impl Iterator<Item = (&'static str, Kind)> + use<> {
        let is_in_folder = self.rows != Selected::All;
        let own = self.table.columns.iter().map(|column| (column.name, column.kind));
        own.filter(move |(name, _)| !(is_in_folder && *name == TEST))
    }

    fn fields(&self) -> Vec<Field> {
        let field = |(name, kind): (&str, Kind)| Field {
            name: name.to_owned(),
            kind: match kind {
                Kind::Integer => Type::Integer,
                Kind::Real => Type::Real,
                Kind::Boolean => Type::Boolean,
                Kind::Text => Type::Text,
                Kind::Time => Type::Time,
            },
            is_optional: true,
        };
        let key = Field { name: "run_key".into(), kind: Type::Text, is_optional: false };
        std::iter::once(key).chain(self.columns().map(field)).collect()
    }

    /// Returns the query for the rows of `count` runs, in the same order for every engine.
    fn query(&self, count: usize) -> String {
        let table = self.table.name;
        let columns: String = self.columns().map(|(name, _)| format!(", {table}.{name}")).collect();
        let places: Vec<String> = (1..=count).map(|number| format!("${number}")).collect();
        let order: String = ["figure_number", "number", TEST]
            .iter()
            .filter(|name| self.table.columns.iter().any(|column| column.name == **name))
            .map(|name| format!(", {table}.{name}"))
            .collect();
        let (join, test) = match &self.rows {
            Selected::All => ("", String::new()),
            Selected::OfTest(_) => (
                self.table.by_test.unwrap_or_default(),
                format!(" AND figure.test IS NOT DISTINCT FROM ${}", count + 1),
            ),
        };
        format!(
            "SELECT {table}.run_key{columns} FROM {table} {join} WHERE {table}.run_key IN ({}){test} \
             ORDER BY {table}.run_key{order}",
            places.join(", ")
        )
    }
}

impl Index {
    /// Returns all runs of the library that have rows, in the order of their keys.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub fn stored_runs(&mut self) -> Result<Vec<StoredRun>, StoreError> {
        let query = "SELECT run_key, run_id, simulated FROM run WHERE library = $1 ORDER BY run_key";
        let library = Value::from(&*self.library);
        let of_row = |row: &Vec<Value>| {
            Some(StoredRun {
                run_key: row.first()?.text()?.to_owned(),
                run_id: row.get(1)?.text()?.to_owned(),
                is_simulated: row.get(2)? != &Value::Null,
            })
        };
        Ok(self.query(query, &[library])?.rows.iter().filter_map(of_row).collect())
    }

    /// Returns the files for an export of these runs. Every table has at least one file, even if it has no
    /// rows.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub fn parts(&mut self, runs: &[StoredRun]) -> Result<Vec<Part>, StoreError> {
        let keys: BTreeSet<&str> = runs.iter().map(|run| &*run.run_key).collect();
        let simulated: BTreeSet<&str> =
            runs.iter().filter(|run| run.is_simulated).map(|run| &*run.run_key).collect();
        let mut by_test: BTreeMap<Option<String>, Vec<String>> = BTreeMap::new();
        let query = "SELECT DISTINCT figure.test, figure.run_key FROM figure ORDER BY figure.run_key";
        for row in self.query(query, &[])?.rows {
            if let [test, Value::Text(run)] = &row[..]
                && keys.contains(&**run)
            {
                by_test.entry(test.text().map(str::to_owned)).or_default().push(run.clone());
            }
        }
        if by_test.is_empty() {
            by_test.insert(None, Vec::new());
        }
        let mut parts = Vec::new();
        let mut add = |table, rows, runs: Vec<String>| {
            let folder = match &rows {
                Selected::All => None,
                Selected::OfTest(test) => Some(folder_of(test.as_deref())),
            };
            let simulated_runs = runs.iter().filter(|run| simulated.contains(&***run)).count();
            parts.push(Part { table, folder, rows, runs, simulated_runs });
        };
        for table in TABLES {
            if table.by_test.is_none() {
                add(table, Selected::All, keys.iter().map(|key| (*key).to_owned()).collect());
                continue;
            }
            for (test, runs) in &by_test {
                add(table, Selected::OfTest(test.clone()), runs.clone());
            }
        }
        Ok(parts)
    }

    /// Writes one of an export's files; returns its number of rows.
    ///
    /// # Errors
    /// Returns an error if the database fails or the file cannot be written.
    pub fn write_part(&mut self, part: &Part, out: impl Write) -> Result<u64, ExportError> {
        let mut writer = Writer::new(out, part.fields())?;
        for runs in part.runs.chunks(BATCH) {
            let test = match &part.rows {
                Selected::All => None,
                Selected::OfTest(test) => Some(Value::from(test.as_deref())),
            };
            let values: Vec<Value> = runs.iter().map(|run| Value::from(&**run)).chain(test).collect();
            let rows = self.query(&part.query(runs.len()), &values)?.rows;
            rows.iter().try_for_each(|row| writer.row(row))?;
        }
        Ok(writer.finish(&[
            ("plateau.table", part.table.name.to_owned()),
            ("plateau.schema_version", schema::VERSION.to_string()),
            ("plateau.runs", part.runs.len().to_string()),
            ("plateau.simulated_runs", part.simulated_runs.to_string()),
        ])?)
    }
}

/// Returns an empty file to overwrite the one that an earlier export left in `folder` of `table`; None if exports
/// never create that folder. Without the empty file, readers would find the rows of both exports.
#[must_use]
pub fn emptied(table: &str, folder: &str) -> Option<Part> {
    let table = TABLES.iter().find(|known| known.name == table && known.by_test.is_some())?;
    let test = folder.strip_prefix(BY_TEST)?;
    let is_written_here = test.bytes().all(|byte| is_plain(byte) || byte == b'%') && !test.is_empty();
    is_written_here.then(|| Part {
        table,
        folder: Some(folder.to_owned()),
        rows: Selected::OfTest(None),
        runs: Vec::new(),
        simulated_runs: 0,
    })
}

/// Returns the names of the tables whose rows are in one folder per test.
pub fn tables_by_test() -> impl Iterator<Item = &'static str> {
    TABLES.iter().filter(|table| table.by_test.is_some()).map(|table| table.name)
}

/// Returns the answer to a query as a Parquet file. A column has the type of its values; a column whose name ends in
/// `_utc` contains points in time if all of its values are points in time.
///
/// # Errors
/// Returns an error if two columns have the same name or a value is too long.
pub fn parquet(answer: &Answer) -> Result<Vec<u8>, ExportError> {
    let mut names = BTreeSet::new();
    if let Some(name) = answer.columns.iter().find(|name| !names.insert(name.to_lowercase())) {
        return Err(ExportError::SameName(name.clone()));
    }
    let field = |(place, name): (usize, &String)| Field {
        name: name.clone(),
        kind: kind_of(name, answer.rows.iter().filter_map(|row| row.get(place))),
        is_optional: true,
    };
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, answer.columns.iter().enumerate().map(field).collect())?;
    answer.rows.iter().try_for_each(|row| writer.row(row))?;
    writer.finish(&[])?;
    Ok(bytes)
}

/// Returns a type that can store all of a column's values.
fn kind_of<'v>(name: &str, values: impl Iterator<Item = &'v Value>) -> Type {
    let mut is_time = name.ends_with("_utc");
    let (mut has_integers, mut has_reals, mut has_texts) = (false, false, false);
    for value in values {
        match value {
            Value::Null => continue,
            Value::Integer(_) => has_integers = true,
            Value::Real(_) => has_reals = true,
            Value::Text(_) => has_texts = true,
        }
        is_time &= value.text().is_some_and(|text| text.parse::<jiff::Timestamp>().is_ok());
    }
    match (is_time, has_texts, has_reals, has_integers) {
        (true, ..) => Type::Time,
        (_, true, ..) | (_, false, false, false) => Type::Text,
        (_, _, true, _) => Type::Real,
        (_, _, _, true) => Type::Integer,
    }
}

/// Returns the name of the folder with a test's rows, encoded so that readers can decode it.
fn folder_of(test: Option<&str>) -> String {
    let one = |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    let name = test.map_or_else(|| WHOLE_RUN.to_owned(), |test| test.bytes().map(one).collect());
    format!("{BY_TEST}{name}")
}

/// Returns whether a byte of a name is written without encoding.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_of_a_column_can_store_all_of_its_values() {
        let (integer, real) = (Value::Integer(1), Value::Real(0.5));
        let time = Value::Text("2026-11-25T02:00:00.000000000Z".into());
        let text = Value::Text("x".into());
        for (name, values, kind) in [
            ("a", &[Value::Null, integer.clone()][..], Type::Integer),
            ("a", &[integer.clone(), real.clone()], Type::Real),
            ("a", &[integer, real, text.clone()], Type::Text),
            ("a", &[Value::Null], Type::Text),
            ("a", std::slice::from_ref(&time), Type::Text),
            ("a_utc", &[Value::Null, time.clone()], Type::Time),
            ("a_utc", &[], Type::Time),
            ("a_utc", &[time.clone(), text], Type::Text),
        ] {
            assert_eq!(kind_of(name, values.iter()), kind, "{name} {values:?}");
        }
    }

    #[test]
    fn folders_have_valid_names() {
        for (test, folder) in
            [(Some("iops"), "test=iops"), (Some("a/../b c"), "test=a%2F..%2Fb%20c"), (None, "test=whole_run")]
        {
            assert_eq!(folder_of(test), folder);
            let emptied = emptied("figure", folder).expect("a folder of an export");
            assert_eq!(emptied.path(), format!("figure/{folder}/part-0.parquet"));
        }
        for (table, folder) in
            [("run", "test=a"), ("figure", "test="), ("figure", "x"), ("figure", "test=a b")]
        {
            assert!(emptied(table, folder).is_none(), "{table} {folder}");
        }
    }
}
