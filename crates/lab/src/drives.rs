//! Drives tested by the library's runs.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::rc::Rc;
use std::sync::Arc;

use compare::{Point, Trend, trend_json};
use record::TargetFacts;
use report::parts::Better;
use serde_json::{Value as Json, json};

use crate::catalogue::{Facts, Figure, Row, State};

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

    /// Returns every figure of the drive's runs, by test, name and settings, oldest value first.
    pub fn histories(&self) -> Vec<History> {
        let mut histories: BTreeMap<(&str, &str, Rc<Settings>), History> = BTreeMap::new();
        for row in self.runs.iter().rev().filter(|row| is_comparable(row)) {
            let settings = Rc::new(Settings::of(&row.file));
            for figure in &row.figures {
                let value = Measured { row: Arc::clone(row), figure: figure.clone() };
                match histories.entry((&*figure.test, &*figure.name, Rc::clone(&settings))) {
                    Entry::Occupied(mut known) => known.get_mut().push(value),
                    Entry::Vacant(new) => {
                        new.insert(History {
                            settings: Settings::clone(&settings),
                            latest: value,
                            earlier: Vec::new(),
                        });
                    }
                }
            }
        }
        let mut histories: Vec<History> = histories.into_values().collect();
        histories.sort_by_cached_key(|History { latest, .. }| {
            (latest.figure.test.to_string(), counting_key(&latest.figure.name))
        });
        histories
    }

    /// Returns the history with the most recent value, without those of the other figures; the first of them if a run has
    /// several figures.
    pub fn most_recent(&self) -> Option<History> {
        let complete = || self.runs.iter().rev().filter(|row| is_comparable(row));
        let latest = complete().filter(|row| !row.figures.is_empty()).max_by_key(|row| row.file.created)?;
        let first = latest.figures.iter().min_by_key(|figure| (&figure.test, &figure.name))?;
        let settings = Settings::of(&latest.file);
        let values = complete().filter(|row| Settings::of(&row.file) == settings).flat_map(|row| {
            let same = |figure: &&Figure| (&figure.test, &figure.name) == (&first.test, &first.name);
            row.figures
                .iter()
                .filter(same)
                .map(|figure| Measured { row: Arc::clone(row), figure: figure.clone() })
        });
        let mut earlier: Vec<Measured> = values.collect();
        Some(History { latest: earlier.pop()?, earlier, settings })
    }
}

/// Settings that affect results. Values measured with different settings do not form a trend.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Settings {
    pub profile: String,
    /// TC and QD; None if an imported file does not contain them.
    pub demand: Option<(u16, u16)>,
    /// Divisor of the capacity and the durations of a simulated drive; 1 for other drives.
    pub scale_divisor: u32,
}

impl Settings {
    fn of(file: &Facts) -> Self {
        Self { profile: file.profile.clone(), demand: file.demand, scale_divisor: file.scale_divisor() }
    }

    /// Returns the settings as `plateau trend` prints them.
    pub fn text(&self) -> String {
        let demand = self.demand.map(|(threads, depth)| format!(", TC {threads}, QD {depth}"));
        let scale = (self.scale_divisor != 1).then(|| format!(", scale 1/{}", self.scale_divisor));
        format!("{}{}{}", self.profile, demand.unwrap_or_default(), scale.unwrap_or_default())
    }
}

/// A figure of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The run, whose marks must be shown with the figure.
    pub row: Arc<Row>,
    pub figure: Figure,
}

/// A figure's values over the runs of a drive with the same settings.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    pub settings: Settings,
    /// The most recent value.
    pub latest: Measured,
    /// The values before it, oldest first.
    earlier: Vec<Measured>,
}

impl History {
    fn push(&mut self, value: Measured) {
        self.earlier.push(std::mem::replace(&mut self.latest, value));
    }

    /// Returns all values, oldest first.
    pub fn values(&self) -> impl Iterator<Item = &Measured> {
        self.earlier.iter().chain([&self.latest])
    }

    /// Returns the values with all that must be known to compare them, for programs.
    pub fn document(&self) -> Json {
        let Measured { figure, .. } = &self.latest;
        let value = |value: &Measured| {
            json!({
                "run": value.row.file.id,
                "value": value.figure.value,
                "marks": value.row.marks(),
                "host_limited": value.figure.host_limited,
            })
        };
        let statistics = trend_json(&self.trend());
        json!({
            "test": &*figure.test,
            "name": &*figure.name,
            "unit": figure.unit.symbol(),
            "profile": self.settings.profile,
            "threads": self.settings.demand.map(|(threads, _)| threads),
            "queue_depth": self.settings.demand.map(|(_, depth)| depth),
            "scale_divisor": self.settings.scale_divisor,
            "values": self.values().map(value).collect::<Vec<_>>(),
            "mean": statistics["mean"],
            "standard_deviation_percent": statistics["standard_deviation_percent"],
            "drift": statistics["drift"],
            "control": statistics["control"],
            "firmware_changes": statistics["firmware_changes"],
        })
    }

    /// Returns the values for statistics. The rounds of a value are not known, so it has no interval of its own.
    pub fn trend(&self) -> Trend {
        let Measured { figure, .. } = &self.latest;
        let point = |Measured { row, figure }: &Measured| Point {
            run: row.file.id.clone(),
            created: row.file.created,
            drive: row.drive(),
            firmware: row.file.target.firmware.clone(),
            state: row.state.word().into(),
            settings: self.settings.text(),
            simulated: row.file.target.simulated.as_ref().map(|_| "SIMULATED".into()),
            value: figure.value,
            rounds: Vec::new(),
            host_limited: figure.host_limited,
        };
        Trend {
            subject: self.latest.row.drive(),
            figure: figure.name.to_string(),
            name: figure.name.to_string(),
            unit: figure.unit.symbol().into(),
            better: if figure.unit.is_cost() { Better::Less } else { Better::More },
            points: self.values().map(point).collect(),
        }
    }
}

/// Returns a key in whose order 2 precedes 10.
fn counting_key(text: &str) -> String {
    let mut key = String::new();
    let mut rest = text;
    while let Some(begin) = rest.find(|c: char| c.is_ascii_digit()) {
        let (words, from) = rest.split_at(begin);
        let end = from.find(|c: char| !c.is_ascii_digit()).unwrap_or(from.len());
        let (number, after) = from.split_at(end);
        key.push_str(&format!("{words}{number:0>20}"));
        rest = after;
    }
    key + rest
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
    // Most runs of a drive share its facts, so that its key is seldom needed.
    let mut known: BTreeMap<(*const TargetFacts, bool), usize> = BTreeMap::new();
    for row in rows {
        let place = *known.entry((Arc::as_ptr(&row.file.target), row.file.imported)).or_insert_with(|| {
            let id = row.drive();
            *places.entry(id.clone()).or_insert_with(|| {
                drives.push(Drive { id, runs: Vec::new() });
                drives.len() - 1
            })
        });
        drives[place].runs.push(Arc::clone(row));
    }
    drives
}

#[cfg(test)]
mod tests;
