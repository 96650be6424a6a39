//! Runs side by side: what each found, how far they differ, and whether that is more than noise.
//!
//! The first run is what the others are held against. All figures come from the journals; nothing here says
//! which run is the better one without the spread of both.

mod content;
mod export;
mod figures;
mod noise;
mod page;
mod pdf;
mod threshold;
mod warnings;

use record::{Loaded, RunFile};

use crate::Document;

pub use export::{csv, json, text};
pub use figures::Figure;
pub use noise::{Difference, Finding};
pub use page::html;
pub use pdf::pdf;
pub use threshold::{Holds, Threshold};

/// Fewest and most runs of a comparison.
pub const RUNS: std::ops::RangeInclusive<usize> = 2..=8;

/// One run of a comparison.
#[derive(Debug)]
pub struct Candidate {
    pub(crate) name: String,
    pub(crate) document: Document,
    figures: Vec<Figure>,
}

impl Candidate {
    /// Judges a run with this version and takes its figures.
    ///
    /// # Errors
    /// As [`crate::fold`].
    pub fn of(run: &RunFile, loaded: &Loaded) -> Result<Self, String> {
        let document = crate::fold(run, loaded)?;
        let figures = figures::figures(&document, &loaded.entries);
        let target = &run.target;
        let model = target.model.as_deref().filter(|model| !model.trim().is_empty());
        Ok(Self { name: model.unwrap_or(&target.path).to_owned(), document, figures })
    }
}

/// One figure of all runs.
#[derive(Debug)]
pub struct Line {
    /// What identifies it, such as `iops.rnd4k.w`.
    pub key: String,
    /// As printed: `IOPS RND 4KiB W`.
    pub name: String,
    /// Its unit.
    pub unit: &'static str,
    /// Whether it is one of the figures of a summary page.
    pub selected: bool,
    /// One for each run; none where the run has no such figure.
    pub figures: Vec<Option<Figure>>,
    /// Against the first run; none for the first and where one has no such figure.
    pub differences: Vec<Option<Difference>>,
}

/// Runs side by side.
#[derive(Debug)]
pub struct Comparison {
    pub(crate) runs: Vec<Candidate>,
    /// What must be known before any number is compared.
    pub warnings: Vec<String>,
    /// The figures that at least two runs have, in the order of the first that has them.
    pub lines: Vec<Line>,
}

impl Comparison {
    /// Compares runs; the first is what the others are held against.
    ///
    /// # Errors
    /// When there are too few or too many runs, or no figure that two of them have.
    pub fn of(mut runs: Vec<Candidate>) -> Result<Self, String> {
        if !RUNS.contains(&runs.len()) {
            return Err(format!(
                "{} runs given; {} to {} can be compared",
                runs.len(),
                RUNS.start(),
                RUNS.end()
            ));
        }
        tell_apart(&mut runs);
        let lines = lines(&runs);
        if lines.is_empty() {
            // The usual cause, and one that the tests of the runs do not show.
            let without = runs.iter().find(|run| run.figures.iter().all(|figure| figure.values.is_empty()));
            if let Some(run) = without {
                let id = &run.document.run.id;
                return Err(format!(
                    "{id} has no figures to compare: no round of it is complete. `plateau show {id}` shows \
                     how far it came, and `plateau resume {id}` continues it"
                ));
            }
            let tests: Vec<String> = runs.iter().map(|run| run.document.run.tests.join(",")).collect();
            return Err(format!(
                "no two of these runs have a figure in common; their tests are {}",
                tests.join(" and ")
            ));
        }
        Ok(Self { warnings: warnings::warnings(&runs), lines, runs })
    }

    /// Names of the runs, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.runs.iter().map(|run| run.name.as_str())
    }

    /// The line with this key.
    #[must_use]
    pub fn line(&self, key: &str) -> Option<&Line> {
        self.lines.iter().find(|line| line.key == key)
    }
}

/// Runs of the same model are numbered.
fn tell_apart(runs: &mut [Candidate]) {
    let names: Vec<String> = runs.iter().map(|run| run.name.clone()).collect();
    for (i, run) in runs.iter_mut().enumerate() {
        if names.iter().filter(|name| **name == run.name).count() > 1 {
            let number = names[..=i].iter().filter(|name| **name == run.name).count();
            run.name = format!("{} ({number})", run.name);
        }
    }
}

fn lines(runs: &[Candidate]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for figure in runs.iter().flat_map(|run| &run.figures) {
        if lines.iter().any(|line| line.key == figure.key) {
            continue;
        }
        let figures: Vec<Option<Figure>> =
            runs.iter().map(|run| run.figures.iter().find(|f| f.key == figure.key).cloned()).collect();
        if figures.iter().flatten().filter(|f| !f.values.is_empty()).count() < 2 {
            continue;
        }
        let first = figures[0].as_ref();
        let difference = |(i, other): (usize, &Option<Figure>)| match (i, first, other) {
            (1.., Some(first), Some(other)) => Difference::of(&first.values, &other.values, first.better),
            _ => None,
        };
        lines.push(Line {
            key: figure.key.clone(),
            name: figure.name.clone(),
            unit: figure.unit,
            selected: figure.selected,
            differences: figures.iter().enumerate().map(difference).collect(),
            figures,
        });
    }
    lines
}
