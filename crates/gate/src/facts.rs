//! The facts that rules refer to, extracted once from a run.

use compare::Candidate;
use record::Entry;

use crate::health;
use crate::words::{Check, WORDS};

/// The facts that rules refer to.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    pub(crate) run: String,
    pub(crate) name: String,
    /// `SIMULATED`, `MODIFIED` and other marks that accompany its numbers.
    pub(crate) marks: Vec<String>,
    pub(crate) values: Vec<Value>,
    /// Whether each condition without a number holds.
    pub(crate) words: Vec<(&'static str, Check)>,
    /// The first components of all possible figure keys, including keys that this run does not contain.
    pub(crate) families: Vec<String>,
}

/// A figure or a health value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Value {
    pub key: String,
    /// As printed.
    pub name: String,
    pub unit: &'static str,
    /// `None` if it was not measured or not reported.
    pub value: Option<f64>,
    pub host_limited: bool,
}

impl Facts {
    /// Extracts the facts from a run with these records.
    #[must_use]
    pub fn of(candidate: &Candidate, entries: &[Entry]) -> Self {
        let document = candidate.document();
        let figures = candidate.figures().iter().map(|figure| Value {
            key: figure.key.clone(),
            name: figure.name.clone(),
            unit: figure.unit.symbol(),
            value: figure.mean(),
            host_limited: figure.host_limited,
        });
        let health = health::values(entries).map(|(known, value)| Value {
            key: known.key.into(),
            name: known.name.into(),
            unit: known.unit,
            value,
            host_limited: false,
        });
        let own = document.outcomes().iter().map(|outcome| report::parts::family(outcome).to_owned());
        let all = pts::TESTS.iter().map(|test| test.family.to_owned()).chain(["power".to_owned()]);
        Self {
            run: document.run.id.clone(),
            name: candidate.name().to_owned(),
            marks: candidate.marks().into_iter().map(str::to_owned).collect(),
            values: figures.chain(health).collect(),
            words: WORDS.iter().map(|word| (word.name, (word.check)(document))).collect(),
            families: own.chain(all).collect(),
        }
    }

    pub(crate) fn has_values_of(&self, family: &str) -> bool {
        let mut families =
            self.values.iter().filter(|v| v.value.is_some()).map(|v| crate::facts::family(&v.key));
        families.any(|known| known == family)
    }
}

/// Returns the part of a key before its first dot.
pub(crate) fn family(key: &str) -> &str {
    key.split('.').next().unwrap_or(key)
}
