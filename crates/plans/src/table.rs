//! The tables of a plan: their keys, and all errors found in them with their positions.

use stdx::nearest;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::value::{Problem, Value};

/// An error in a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {}{problem}", self.prefix())]
pub struct PlanError {
    /// Path as opened.
    pub file: String,
    /// Line number, starting at 1.
    pub line: usize,
    /// Column number in characters, starting at 1.
    pub column: usize,
    /// Key with the names of its tables, such as `settings.tc`; empty for the file as a whole.
    pub key: String,
    /// The error, and how to fix it.
    pub problem: String,
}

impl PlanError {
    fn prefix(&self) -> String {
        if self.key.is_empty() { String::new() } else { format!("{}: ", self.key) }
    }
}

/// A key in a table of a plan.
pub struct Key<T> {
    pub name: &'static str,
    pub about: &'static str,
    pub set: fn(&mut T, Value<'_>) -> Result<(), Problem>,
}

/// Documentation of a key, for manuals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyDoc {
    /// Table that contains the key; empty for the top level.
    pub table: &'static str,
    /// Name as written in the file.
    pub name: &'static str,
    /// Meaning of the key, with its unit.
    pub about: &'static str,
}

pub fn docs<T>(table: &'static str, keys: &[Key<T>]) -> Vec<KeyDoc> {
    keys.iter().map(|key| KeyDoc { table, name: key.name, about: key.about }).collect()
}

/// Keys that belong on the command line and are never allowed in a plan, each with the reason.
const NEVER: &[(&str, &str)] = &[
    ("erase", "a plan cannot confirm the loss of data; specify --erase for each run"),
    ("target", "a plan does not contain a target; specify it on the command line"),
];

/// Collects all errors in a file.
pub struct Complaints<'a> {
    file: &'a str,
    text: &'a str,
    all: Vec<(usize, PlanError)>,
}

impl<'a> Complaints<'a> {
    pub fn new(file: &'a str, text: &'a str) -> Self {
        Self { file, text, all: Vec::new() }
    }

    pub fn file(&self) -> &'a str {
        self.file
    }

    pub fn add(&mut self, at: usize, key: &str, problem: impl Into<String>) {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let error = PlanError {
            file: self.file.into(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            key: key.into(),
            problem: problem.into(),
        };
        self.all.push((at, error));
    }

    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// The errors in file order.
    pub fn finish(mut self) -> Vec<PlanError> {
        self.all.sort_by_key(|(at, _)| *at);
        self.all.into_iter().map(|(_, error)| error).collect()
    }

    /// Reads the keys of a table according to their definitions in `keys`.
    pub fn section<T>(&mut self, path: &str, table: &DeTable<'_>, keys: &[Key<T>], into: &mut T) {
        for (name, value) in in_order(table) {
            let key = joined(path, name.get_ref());
            match keys.iter().find(|key| key.name == name.get_ref()) {
                Some(known) => {
                    if let Err(problem) = (known.set)(into, Value(value)) {
                        self.add(problem.at.start, &key, problem.text);
                    }
                }
                None => self.unknown(name, &key, keys.iter().map(|key| key.name)),
            }
        }
    }

    pub fn unknown<'k>(
        &mut self,
        name: &Spanned<DeString<'_>>,
        key: &str,
        known: impl Iterator<Item = &'k str> + Clone,
    ) {
        let reason = NEVER.iter().find(|(word, _)| word == name.get_ref()).map(|(_, why)| (*why).to_owned());
        let text = reason.unwrap_or_else(|| match nearest(name.get_ref(), known.clone()) {
            Some(meant) => format!("unknown key; did you mean '{meant}'?"),
            None => format!("unknown key; available keys: {}", known.collect::<Vec<_>>().join(", ")),
        });
        self.add(name.span().start, key, text);
    }
}

/// Keys in file order.
pub fn in_order<'a>(table: &'a DeTable<'a>) -> Vec<(&'a Spanned<DeString<'a>>, &'a Spanned<DeValue<'a>>)> {
    let mut all: Vec<_> = table.iter().collect();
    all.sort_by_key(|(name, _)| name.span().start);
    all
}

pub fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
