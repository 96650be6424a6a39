//! Drives tested by the library's runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::catalogue::{Figure, Row, State};

/// A drive with its runs, newest first.
#[derive(Debug, Clone)]
pub struct Drive {
    /// A key that distinguishes the drive from others.
    pub id: String,
    pub runs: Vec<Arc<Row>>,
}

impl Drive {
    /// Returns the model, or the path if no run recorded the model.
    pub fn model(&self) -> &str {
        let target = &self.runs[0].file.target;
        target.model.as_deref().unwrap_or(&target.path)
    }

    /// Returns every figure common to the drive's runs, by test and name, oldest value first.
    pub fn histories(&self) -> Vec<History> {
        let mut histories: BTreeMap<(String, String), History> = BTreeMap::new();
        for row in self.runs.iter().rev().filter(|row| is_comparable(row)) {
            for figure in &row.figures {
                let key = (figure.test.clone(), figure.name.clone());
                let empty = || History { figure: figure.clone(), values: Vec::new() };
                let history = histories.entry(key).or_insert_with(empty);
                history.values.push((row.file.id.clone(), figure.value));
                history.figure = figure.clone();
            }
        }
        histories.into_values().collect()
    }
}

/// A figure's values over the runs of a drive.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// The most recent value.
    pub figure: Figure,
    /// Run and value, oldest first.
    pub values: Vec<(String, f64)>,
}

/// Returns whether the figures of a run count as results, that is, whether it is complete and reached steady
/// state if that is required.
fn is_comparable(row: &Row) -> bool {
    matches!(row.state, State::Known(pts::Standing::Steady | pts::Standing::Complete))
}

/// Groups runs, which are passed newest first, by drive; the most recently tested drive comes first.
pub fn drives(rows: &[Arc<Row>]) -> Vec<Drive> {
    let mut drives: Vec<Drive> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for row in rows {
        let id = row.drive();
        let place = *places.entry(id.clone()).or_insert(drives.len());
        if place == drives.len() {
            drives.push(Drive { id, runs: Vec::new() });
        }
        drives[place].runs.push(Arc::clone(row));
    }
    drives
}
