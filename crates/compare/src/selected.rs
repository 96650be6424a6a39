//! A comparison's figures by test, as tables with one row per run and as ranked bars.

use std::collections::BTreeMap;

use charts::{Ranked, RankedBar};
use report::parts::{Better, Figure};

use crate::comparison::{Comparison, Line};
use crate::noise::mean_interval;
use crate::overlays::named;
use crate::wording::{decimals, letters, mean};

/// Up to this many runs without a figure have a row of their own among the bars.
const FEW: usize = 2;

/// Selected figures of one test.
pub(crate) struct Selected<'a> {
    /// Title of the test.
    pub title: &'a str,
    pub lines: Vec<&'a Line>,
}

/// Returns the selected figures, by test.
pub(crate) fn groups(comparison: &Comparison) -> Vec<Selected<'_>> {
    let mut groups: Vec<Selected<'_>> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for line in comparison.lines.iter().filter(|line| line.selected) {
        let next = groups.len();
        let place = *places.entry(line.test.as_str()).or_insert(next);
        if place == next {
            groups.push(Selected { title: &line.test, lines: Vec::new() });
        }
        groups[place].lines.push(line);
    }
    groups
}

/// The runs to list in a table of `group`, and a remark that names the others: several runs without any of its figures are
/// not listed one by one.
pub(crate) fn listed(comparison: &Comparison, group: &Selected<'_>) -> (Vec<usize>, Option<String>) {
    let is_known = |run: &usize| group.lines.iter().any(|line| line.figures[*run].is_some());
    let all = 0..comparison.runs.len();
    let (known, missing): (Vec<usize>, Vec<usize>) = all.clone().partition(is_known);
    if missing.len() <= FEW {
        return (all.collect(), None);
    }
    (known, Some(format!("n/a: {}", letters(&missing))))
}

/// Indices of the runs, the best run in `line` first; runs without the figure come last.
pub(crate) fn ranking(line: &Line) -> Vec<usize> {
    let better = line.figures.iter().flatten().map(|figure| figure.better).next();
    let value = |index: &usize| line.figures[*index].as_ref().and_then(Figure::mean);
    let mut order: Vec<usize> = (0..line.figures.len()).collect();
    order.sort_by(|a, b| match (value(a), value(b)) {
        (Some(a), Some(b)) if better == Some(Better::Less) => a.total_cmp(&b),
        (Some(a), Some(b)) => b.total_cmp(&a),
        (a, b) => a.is_none().cmp(&b.is_none()),
    });
    order
}

/// Returns the 95 % confidence interval of a figure; None if its spread is unknown.
pub(crate) fn interval(figure: &Figure) -> Option<(f64, f64)> {
    match (figure.uncertainty, figure.mean()) {
        (Some(uncertainty), Some(mean)) => Some((mean - uncertainty, mean + uncertainty)),
        _ => mean_interval(&figure.values),
    }
}

/// Returns the runs as bars, best first.
pub(crate) fn ranked(comparison: &Comparison, line: &Line) -> Ranked {
    let decimals = decimals(line);
    let bar = |index: usize| {
        let figure = line.figures[index].as_ref();
        let run = &comparison.runs[index];
        RankedBar {
            name: named(&comparison.runs, index),
            run: index,
            value: figure.and_then(Figure::mean),
            interval: figure.and_then(interval),
            text: figure.and_then(|figure| mean(figure, decimals)).unwrap_or_else(|| "n/a".into()),
            is_baseline: index == 0,
            is_valid: figure.is_some_and(|figure| run.is_valid(figure)),
        }
    };
    let better = match line.figures.iter().flatten().next().map(|figure| figure.better) {
        Some(Better::Less) => ", smaller is better",
        _ => "",
    };
    let is_known = |index: &usize| line.figures[*index].as_ref().and_then(Figure::mean).is_some();
    let (mut order, mut missing): (Vec<usize>, Vec<usize>) = ranking(line).into_iter().partition(is_known);
    if missing.len() <= FEW {
        order.append(&mut missing);
    }
    missing.sort_unstable();
    let without = if missing.is_empty() { String::new() } else { format!("n/a: {}", letters(&missing)) };
    let title = format!("{} ({}{better})", line.name, line.unit);
    Ranked { title, bars: order.into_iter().map(bar).collect(), without }
}
