//! Sections of a comparison in page order, shared by HTML and PDF.

use pts::exhibit::{Bars, Columns3d, Exhibit, Lines, Page, PageKey};
use pts::host_limit::legend;

use charts::Size;
use report::parts::{has_marks, host_limited_chart};

use crate::candidate::Candidate;
use crate::overlays::{Overlay, is_result, named, overlays};
use crate::wording::{letter, letters};

/// Maximum number of runs for pictures side by side, which would otherwise be too small to read; with more
/// runs, only charts of all runs remain.
const SIDE_BY_SIDE: usize = 4;

/// A page that several runs have in common.
pub(crate) struct Section<'a> {
    pub title: String,
    /// Charts that contain all runs.
    pub overlays: Vec<Overlay>,
    /// Exhibits side by side.
    pub rows: Vec<Row<'a>>,
    /// Caveats for the numbers of this page: marks, host-limited runs, simulated drives.
    pub notes: Vec<String>,
}

/// The same exhibit from each run, with the index and the name of the run.
pub(crate) struct Row<'a> {
    pub each: Vec<(usize, String, &'a Exhibit)>,
    /// Names the runs whose axes were extended to match another run.
    pub rescaled: Option<String>,
}

impl Row<'_> {
    /// Returns how to read the charts of the page; None if it has no charts.
    pub fn reading(&self) -> Option<&'static str> {
        self.each.iter().find_map(|(_, _, exhibit)| Some(charts::sentence(exhibit.reading()?)))
    }
}

/// Returns the labels of all runs that are not Plateau measurements of a drive, as [`labels_of`] does.
pub(crate) fn labels(runs: &[Candidate]) -> Vec<String> {
    labels_of(runs, 0..runs.len())
}

/// Returns the labels of those of the `shown` runs that are not Plateau measurements of a drive, without duplicates:
/// `A, C SIMULATED sas-slc-2011 v2 1/512 seed 1`.
pub(crate) fn labels_of(runs: &[Candidate], shown: impl Iterator<Item = usize>) -> Vec<String> {
    let mut all: Vec<(Vec<usize>, String)> = Vec::new();
    for (i, label) in shown.filter_map(|i| Some((i, runs[i].document.label()?))) {
        match all.iter_mut().find(|(_, known)| *known == label) {
            Some((runs, _)) => runs.push(i),
            None => all.push((vec![i], label)),
        }
    }
    all.into_iter().map(|(runs, label)| format!("{} {label}", letters(&runs))).collect()
}

/// Returns the marks of all runs, each with the letters of the runs: `SIMULATED: A-D · NOT STEADY: C`.
pub(crate) fn marks(runs: &[Candidate]) -> String {
    let mut all: Vec<(&str, Vec<usize>)> = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        for mark in run.marks() {
            match all.iter_mut().find(|(known, _)| *known == mark) {
                Some((_, runs)) => runs.push(index),
                None => all.push((mark, vec![index])),
            }
        }
    }
    let each: Vec<String> = all.iter().map(|(mark, runs)| format!("{mark}: {}", letters(runs))).collect();
    each.join(" · ")
}

/// Returns the report pages that at least two runs have in common.
pub(crate) fn sections(runs: &[Candidate]) -> Vec<Section<'_>> {
    let mut sections = Vec::new();
    let mut seen: Vec<(&str, &PageKey)> = Vec::new();
    for outcome in runs.iter().flat_map(|run| &run.document.outcomes) {
        let pages = outcome.pages.iter().chain(&outcome.beyond).filter(|page| !page.exhibits.is_empty());
        for (page, key) in pages.filter_map(|page| Some((page, page.key.as_ref()?))) {
            let key = (outcome.test.as_str(), key);
            let shown: Vec<(usize, &Page)> =
                runs.iter().enumerate().filter_map(|(i, run)| Some((i, find(run, key)?))).collect();
            if shown.len() < 2 || seen.contains(&key) {
                continue;
            }
            seen.push(key);
            let (overlays, rows) = exhibits(runs, key.0, &shown);
            if overlays.is_empty() && rows.is_empty() {
                continue;
            }
            sections.push(Section {
                title: heading(&outcome.title, &page.title),
                overlays,
                rows,
                notes: notes(runs, &shown, key.0),
            });
        }
    }
    sections
}

/// Notes below the pages of several runs.
fn notes(runs: &[Candidate], shown: &[(usize, &Page)], test: &str) -> Vec<String> {
    let legend = shown.iter().any(|(_, page)| has_marks(page)).then(legend);
    let limited = shown.iter().filter_map(|(i, page)| {
        let outcome = runs[*i].document.outcomes.iter().find(|outcome| outcome.test == test)?;
        let count = host_limited_chart(outcome, page)?;
        Some(format!("{}: HOST-LIMITED: {count} of this test.", letter(*i)))
    });
    let labels = labels_of(runs, shown.iter().map(|(i, _)| *i));
    legend.into_iter().chain(limited).chain((!labels.is_empty()).then(|| labels.join("; "))).collect()
}

/// A page title often begins with the title of the test, which is not repeated.
fn heading(test: &str, page: &str) -> String {
    if page.starts_with(test) { format!("Comparing {page}") } else { format!("Comparing {test} - {page}") }
}

fn find<'a>(run: &'a Candidate, (test, key): (&str, &PageKey)) -> Option<&'a Page> {
    let outcome = run.document.outcomes.iter().find(|outcome| outcome.test == test)?;
    outcome.pages.iter().chain(&outcome.beyond).find(|page| page.key.as_ref() == Some(key))
}

/// Returns the charts of all runs, and the exhibits side by side.
fn exhibits<'a>(runs: &[Candidate], test: &str, shown: &[(usize, &'a Page)]) -> (Vec<Overlay>, Vec<Row<'a>>) {
    let all: Vec<(usize, Name<'_>, &Exhibit)> = shown
        .iter()
        .flat_map(|(run, page)| {
            names(page).into_iter().zip(&page.exhibits).map(move |(name, e)| (*run, name, e))
        })
        .collect();
    let mut known: Vec<&Name<'_>> = Vec::new();
    let (mut overlaid, mut rows) = (Vec::new(), Vec::new());
    for (_, name, _) in &all {
        if known.contains(&name) {
            continue;
        }
        known.push(name);
        let found: Vec<(usize, &Exhibit)> =
            all.iter().filter(|(_, other, _)| other == name).map(|(run, _, e)| (*run, *e)).collect();
        if found.len() < 2 {
            continue;
        }
        let result = |(run, exhibit): &(usize, &'a Exhibit)| match exhibit {
            Exhibit::Lines(lines) if is_result(lines) => Some((*run, lines)),
            _ => None,
        };
        let charts: Vec<(usize, &Lines)> = found.iter().filter_map(result).collect();
        let is_single = charts.iter().all(|(_, lines)| lines.series.len() == 1);
        if charts.len() == found.len() && (is_single || found.len() > SIDE_BY_SIDE) {
            overlaid.extend(overlays(runs, test, &charts));
        } else if found.len() <= SIDE_BY_SIDE {
            rows.push(row(runs, test, &found));
        }
    }
    (overlaid, rows)
}

/// What an exhibit shows: its kind, its quantity, and how many exhibits with the same kind and quantity precede it.
type Name<'a> = (std::mem::Discriminant<Exhibit>, &'a str, usize);

/// The names of a page's exhibits. Runs may lack an exhibit of a page, so exhibits of the same page are matched by name
/// and not by position.
fn names(page: &Page) -> Vec<Name<'_>> {
    let mut names: Vec<Name<'_>> = Vec::new();
    for exhibit in &page.exhibits {
        let quantity = match exhibit {
            Exhibit::Lines(lines) => lines.y.label.as_str(),
            Exhibit::Columns3d(columns) | Exhibit::HeatMap(columns) => &columns.height_label,
            Exhibit::Bars(bars) => &bars.value_label,
            Exhibit::Table(table) => &table.heading,
            Exhibit::Facts(facts) => &facts.heading,
            Exhibit::ResponseTimes(_) => "",
        };
        let kind = std::mem::discriminant(exhibit);
        let before = names.iter().filter(|(of, name, _)| *of == kind && *name == quantity).count();
        names.push((kind, quantity, before));
    }
    names
}

/// The same exhibit side by side, with the names of the runs and what is wrong with their test.
fn row<'a>(runs: &[Candidate], test: &str, found: &[(usize, &'a Exhibit)]) -> Row<'a> {
    let mut each: Vec<(usize, String, &Exhibit)> =
        found.iter().map(|(run, exhibit)| (*run, named(runs, *run), *exhibit)).collect();
    let rescaled = rescaled(&each);
    for (run, name, _) in &mut each {
        if let Some(caveat) = runs[*run].caveat(test) {
            *name = format!("{name}: {caveat}");
        }
    }
    Row { each, rescaled }
}

/// Renders a chart with the axes of its row; None if the exhibit is not a chart.
pub(crate) fn picture(exhibit: &Exhibit, row: &Row<'_>, title: &str, size: Size) -> Option<String> {
    match exhibit {
        Exhibit::Lines(lines) => {
            let all: Vec<&Lines> = row
                .each
                .iter()
                .filter_map(|(_, _, e)| if let Exhibit::Lines(l) = e { Some(l) } else { None })
                .collect();
            Some(charts::lines_beside(lines, &all, title, size))
        }
        Exhibit::Columns3d(columns) => {
            let all: Vec<&Columns3d> = row
                .each
                .iter()
                .filter_map(|(_, _, e)| if let Exhibit::Columns3d(c) = e { Some(c) } else { None })
                .collect();
            Some(charts::columns3d_beside(columns, &all, title, size))
        }
        Exhibit::Bars(bars) => {
            let all: Vec<&Bars> = row
                .each
                .iter()
                .filter_map(|(_, _, e)| if let Exhibit::Bars(b) = e { Some(b) } else { None })
                .collect();
            Some(charts::bars_beside(bars, &all, title, size))
        }
        Exhibit::HeatMap(map) => Some(charts::matrix(map, title, size)),
        Exhibit::ResponseTimes(times) => Some(charts::response_times(times, title, size)),
        Exhibit::Table(_) | Exhibit::Facts(_) => None,
    }
}

/// Says which axes were extended to match another run.
fn rescaled(each: &[(usize, String, &Exhibit)]) -> Option<String> {
    let mut notes = Vec::new();
    // Bars are horizontal, so their values are on the x axis.
    let is_horizontal = each.iter().any(|(_, _, exhibit)| matches!(exhibit, Exhibit::Bars(_)));
    let values = if is_horizontal { "x" } else { "y" };
    for (axis, extent) in [("x", (|e| extent(e).0) as fn(&Exhibit) -> Option<f64>), (values, |e| extent(e).1)]
    {
        let extents: Vec<(&str, f64)> =
            each.iter().filter_map(|(_, name, e)| Some((name.as_str(), extent(e)?))).collect();
        let Some(&(largest, limit)) = extents.iter().max_by(|a, b| a.1.total_cmp(&b.1)) else { continue };
        let smaller: Vec<&str> =
            extents.iter().filter(|(_, own)| *own < limit * 0.999).map(|(name, _)| *name).collect();
        if !smaller.is_empty() {
            notes.push(format!("{axis} of {} scaled to match {largest}", smaller.join(", ")));
        }
    }
    (!notes.is_empty()).then(|| format!("Shared axes: {}.", notes.join("; ")))
}

/// Returns the maximum value on each axis; None for an axis that is not shared.
fn extent(exhibit: &Exhibit) -> (Option<f64>, Option<f64>) {
    let largest = |values: &mut dyn Iterator<Item = f64>| values.filter(|v| v.is_finite()).reduce(f64::max);
    match exhibit {
        Exhibit::Lines(lines) => {
            let points = || lines.series.iter().flat_map(|series| series.points.iter());
            (largest(&mut points().map(|p| p.0)), largest(&mut points().map(|p| p.1)))
        }
        Exhibit::Columns3d(columns) => {
            (None, largest(&mut columns.heights.iter().flatten().flatten().copied()))
        }
        Exhibit::Bars(bars) => (None, largest(&mut bars.bars.iter().filter_map(|(_, value)| *value))),
        Exhibit::Table(_) | Exhibit::Facts(_) | Exhibit::HeatMap(_) | Exhibit::ResponseTimes(_) => {
            (None, None)
        }
    }
}
