//! The definition of a table in the store.

use record::{Annotations, Loaded, RunFile, Stamp};
use report::Findings;
use report::parts::Figure;

use crate::value::Value;
use pts::Standing;

/// Type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Integer,
    /// A number.
    Real,
    /// A Boolean; 1 or 0 in the database.
    Boolean,
    /// Text.
    Text,
    /// A point in time; text in the database.
    Time,
}

/// A column in a table.
#[derive(Debug)]
pub struct Column {
    /// Name, with its unit.
    pub name: &'static str,
    /// Type.
    pub kind: Kind,
    /// Description of the column's content.
    pub about: &'static str,
}

/// A table with rows for each run.
#[derive(Debug)]
pub struct Table {
    /// Name.
    pub name: &'static str,
    /// Description of one row.
    pub about: &'static str,
    /// Columns after `run_key`, which every table begins with.
    pub columns: &'static [Column],
    /// For a table that an export divides by test, the clause that joins it with the `figure` table.
    pub by_test: Option<&'static str>,
    /// Rows of a run, without `run_key`.
    pub rows: fn(&Folded<'_>) -> Vec<Vec<Value>>,
}

/// A run as evaluated by this build: all data from which its rows are made.
pub struct Folded<'a> {
    /// Name of the library within the store; empty in a library's own store.
    pub library: &'a str,
    /// Name of the run's directory.
    pub folder: &'a str,
    /// The run file.
    pub run: &'a RunFile,
    /// The journal.
    pub loaded: &'a Loaded,
    /// Outcomes, conformance and figures.
    pub findings: &'a Findings,
    /// The figures, including those per watt. The first figures of each test are its key figures, in order.
    pub figures: &'a [Figure],
    /// State.
    pub state: Standing,
    /// Annotations of the library's runs.
    pub annotations: &'a Annotations,
}

/// Returns a column with whole numbers.
pub(crate) const fn integer(name: &'static str, about: &'static str) -> Column {
    Column { name, kind: Kind::Integer, about }
}

/// Returns a column with numbers.
pub(crate) const fn real(name: &'static str, about: &'static str) -> Column {
    Column { name, kind: Kind::Real, about }
}

/// Returns a column with Booleans.
pub(crate) const fn boolean(name: &'static str, about: &'static str) -> Column {
    Column { name, kind: Kind::Boolean, about }
}

/// Returns a column with points in time.
pub(crate) const fn time(name: &'static str, about: &'static str) -> Column {
    Column { name, kind: Kind::Time, about }
}

/// Returns a column with text.
pub(crate) const fn text(name: &'static str, about: &'static str) -> Column {
    Column { name, kind: Kind::Text, about }
}

/// Returns when something was added to a run, and by whom; both are null if the run was started with it.
pub(crate) fn added(stamp: Option<&Stamp>) -> [Value; 2] {
    [stamp.map(|stamp| stamp.wall).into(), stamp.map(|stamp| &*stamp.who).into()]
}

/// Numbers rows from 1.
pub(crate) fn numbered(rows: impl Iterator<Item = Vec<Value>>) -> Vec<Vec<Value>> {
    let number = |(number, row): (u32, Vec<Value>)| std::iter::once(number.into()).chain(row).collect();
    (1..).zip(rows).map(number).collect()
}
