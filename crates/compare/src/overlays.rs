//! Charts that contain all runs: one line per run or, for many runs, one small chart per run, with the lines of all
//! others in the background.

use charts::Size;
use pts::ReadingHint;
use pts::exhibit::{Lines, Scale, Series};

use crate::candidate::Candidate;
use crate::wording::letter;

/// Maximum number of runs whose lines can be distinguished in one chart.
const IN_ONE_CHART: usize = 8;

const DASHED: &str = "Dashed lines: the test is not steady, not complete, or was interrupted.";

/// One quantity from several runs, with one series per run.
pub(crate) struct Overlay {
    /// Distinguishes the overlay from others in the same section; may be empty.
    pub title: String,
    pub lines: Lines,
    /// For each series, the index of its run.
    pub runs: Vec<usize>,
    /// For each series, why it may not be a valid result.
    pub caveats: Vec<Option<&'static str>>,
}

impl Overlay {
    /// Returns whether the overlay is drawn as one small chart per run.
    pub fn is_split(&self) -> bool {
        self.runs.len() > IN_ONE_CHART
    }

    /// Draws all runs in one chart.
    pub fn picture(&self, title: &str, size: Size) -> String {
        // More runs than colours cannot keep theirs in all charts.
        let keeps_colours = self.runs.iter().all(|run| *run < IN_ONE_CHART);
        let places = if keeps_colours { self.runs.as_slice() } else { &[] };
        charts::lines_of_runs(&self.lines, places, &self.caveats, title, size)
    }

    /// Draws one small chart per run; returns each with the index of its run.
    pub fn multiples(&self, size: Size) -> impl Iterator<Item = (usize, String)> + '_ {
        let each = self.runs.iter().zip(&self.caveats).enumerate();
        each.map(move |(at, (run, caveat))| (*run, charts::multiple(&self.lines, at, *caveat, size)))
    }

    /// Returns how to read the overlay.
    pub fn reading(&self) -> String {
        let reading = if self.is_split() {
            "Each small chart shows one run in front of the lines of all others, on the same axes."
        } else {
            charts::sentence(self.lines.reading)
        };
        match self.caveats.iter().flatten().next() {
            Some(_) => format!("{reading} {DASHED}"),
            None => reading.to_owned(),
        }
    }
}

/// Returns a run by letter and name.
pub(crate) fn named(runs: &[Candidate], index: usize) -> String {
    format!("{} {}", letter(index), runs[index].name)
}

/// Returns whether the lines of a chart are results, which can be overlaid. Charts over rounds, of several rounds, and
/// with guides show the approach to steady state.
pub(crate) fn is_result(lines: &Lines) -> bool {
    lines.guides.is_empty() && lines.x.scale != Scale::Rounds && lines.reading != ReadingHint::Rounds
}

/// Returns one overlay for each series that at least two of the charts of `test` have, by name; a single series needs
/// no name.
pub(crate) fn overlays(runs: &[Candidate], test: &str, each: &[(usize, &Lines)]) -> Vec<Overlay> {
    let mut names: Vec<&str> = Vec::new();
    for name in each.iter().flat_map(|(_, lines)| lines.series.iter().map(|series| series.name.as_str())) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let is_single = each.iter().all(|(_, lines)| lines.series.len() == 1);
    if is_single {
        names.truncate(1);
    }
    let overlay = |name: &&str| {
        let found = each.iter().filter_map(|(run, lines)| {
            let series = lines.series.iter().find(|series| is_single || series.name == *name)?;
            Some((*run, Series { name: named(runs, *run), points: series.points.clone() }))
        });
        let (shown, series): (Vec<usize>, Vec<Series>) = found.unzip();
        let (_, first) = each.first()?;
        let title = if is_single { String::new() } else { (*name).to_owned() };
        let lines = Lines { reading: ReadingHint::OverlaidRuns, series, marked: None, ..(*first).clone() };
        // The bars already compare single points.
        let is_curve = lines.series.iter().any(|series| series.points.len() > 1);
        let caveats = shown.iter().map(|run| runs[*run].caveat(test)).collect();
        (shown.len() > 1 && is_curve).then_some(Overlay { title, lines, runs: shown, caveats })
    };
    names.iter().filter_map(overlay).collect()
}
