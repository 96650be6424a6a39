//! Several runs, figure by figure.

use pts::Unit;

use crate::candidate::Candidate;
use crate::group::{Group, GroupBy, grouped_by};
use crate::noise::Difference;
use crate::warnings::{Warning, warnings};
use report::parts::Figure;
use stdx::units::count_of;

/// Minimum number of runs in a comparison.
pub const MINIMUM_RUNS: usize = 2;

/// One figure across all runs.
#[derive(Debug)]
pub struct Line {
    /// Unique key, for example `iops.rnd4k.w`.
    pub key: String,
    /// Name as printed: `IOPS RND 4KiB W`.
    pub name: String,
    /// Unit of the figure.
    pub unit: Unit,
    /// Title of its test, or of its group.
    pub test: String,
    /// Whether the figure is on a summary page.
    pub selected: bool,
    /// One entry per run; None if the run lacks the figure.
    pub figures: Vec<Option<Figure>>,
    /// Differences from the first run; None for the first run itself, and where either run lacks the figure.
    pub differences: Vec<Option<Difference>>,
}

/// The comparison of several runs.
#[derive(Debug)]
pub struct Comparison {
    pub(crate) runs: Vec<Candidate>,
    /// Warnings to read before comparing numbers.
    pub warnings: Vec<Warning>,
    /// Figures that at least two runs have, in the order of the first run that has them.
    pub lines: Vec<Line>,
    /// Groups of runs for statistics; empty unless requested.
    pub groups: Vec<Group>,
}

impl Comparison {
    /// Compares runs, with the first run as the baseline.
    ///
    /// # Errors
    /// Returns an error if there are too few runs, or if no two of them have a figure in common.
    pub fn of(mut runs: Vec<Candidate>) -> Result<Self, String> {
        if runs.len() < MINIMUM_RUNS {
            let given = count_of(runs.len(), "run");
            return Err(format!("{given} specified; a comparison needs at least {MINIMUM_RUNS}"));
        }
        number_equal_names(&mut runs);
        let lines = lines(&runs);
        if lines.is_empty() {
            // Report the usual cause, which the list of tests would not reveal.
            let without = runs.iter().find(|run| run.figures.iter().all(|figure| figure.values.is_empty()));
            if let Some(run) = without {
                let id = &run.document.run.id;
                let advice = match run.document.run.origin {
                    Some(_) => format!("`plateau show {id}` shows what was read from the file"),
                    None => format!(
                        "`plateau show {id}` shows how far it got, and `plateau resume {id}` continues it"
                    ),
                };
                return Err(format!(
                    "{id} has no figures to compare, because it has no complete round. {advice}"
                ));
            }
            let tests: Vec<String> = runs.iter().map(|run| run.document.run.tests.join(",")).collect();
            return Err(format!(
                "no two of these runs have a figure in common; their tests are {}",
                tests.join(" and ")
            ));
        }
        Ok(Self { warnings: warnings(&runs), lines, runs, groups: Vec::new() })
    }

    /// Adds statistics over groups of runs.
    #[must_use]
    pub fn grouped_by(self, by: GroupBy) -> Self {
        Self { groups: grouped_by(&self.runs, by), ..self }
    }

    /// Names of the runs, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.runs.iter().map(|run| run.name.as_str())
    }

    /// Returns warnings as sentences that name the runs.
    pub fn warning_texts(&self) -> impl Iterator<Item = String> {
        self.warnings.iter().map(|warning| warning.sentence(&self.runs))
    }

    /// Returns whether the difference of a run rests on a figure that is not a valid result: its own, or that of the
    /// baseline.
    pub(crate) fn is_doubtful(&self, line: &Line, run: usize) -> bool {
        line.differences[run].is_some() && [0, run].into_iter().any(|run| self.is_invalid(line, run))
    }

    /// Returns whether a run's figure has values, but is not a valid result.
    pub(crate) fn is_invalid(&self, line: &Line, run: usize) -> bool {
        let is_invalid = |figure: &Figure| !figure.values.is_empty() && !self.runs[run].is_valid(figure);
        line.figures[run].as_ref().is_some_and(is_invalid)
    }

    /// Looks up a line by key.
    #[must_use]
    pub fn line(&self, key: &str) -> Option<&Line> {
        self.lines.iter().find(|line| line.key == key)
    }
}

/// Returns the title of the test that a figure belongs to.
fn test_of(runs: &[Candidate], key: &str) -> String {
    let family = key.split('.').next().unwrap_or(key);
    let mut outcomes = runs.iter().flat_map(|run| &run.document.outcomes);
    let found = outcomes.find(|outcome| report::parts::family(outcome) == family);
    found.map_or_else(|| "Power".to_owned(), |outcome| outcome.title.clone())
}

/// Appends a number to each name that several runs share.
fn number_equal_names(runs: &mut [Candidate]) {
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
            test: test_of(runs, &figure.key),
            selected: figure.selected,
            differences: figures.iter().enumerate().map(difference).collect(),
            figures,
        });
    }
    lines
}
