//! Output of comparisons for terminals and other programs.

use pts::host_limit::{legend, marked};
use record::SimulatedFacts;
use serde_json::{Value, json};
use stdx::units::grouped;

use super::{Comparison, Difference, Figure, Line};

/// Formats a value for display: milliseconds are small, IOPS are large.
pub(super) fn value(value: f64) -> String {
    grouped(value, if value.abs() < 10.0 { 3 } else { 1 })
}

/// Mean of a figure, marked if it is host-limited; None if not measured.
pub(super) fn mean(figure: &Figure) -> Option<String> {
    Some(marked(value(figure.mean()?), figure.host_limited))
}

/// Explains the mark if any of `lines` has it.
pub(super) fn marks<'a>(mut lines: impl Iterator<Item = &'a Line>) -> Option<String> {
    let has_mark = |figure: &Figure| figure.host_limited && !figure.values.is_empty();
    lines.any(|line| line.figures.iter().flatten().any(has_mark)).then(legend)
}

/// Formats as `-12.3 % (-15.0 to -9.6): worse`.
pub(super) fn difference(difference: &Difference) -> String {
    let interval = difference
        .interval_percent
        .map_or_else(String::new, |(low, high)| format!(" ({} to {})", signed(low), signed(high)));
    format!("{} %{interval}: {}", signed(difference.percent), difference.finding.word())
}

/// One decimal place, with a sign unless the result is zero.
fn signed(percent: f64) -> String {
    let rounded = (percent * 10.0).round() / 10.0;
    if rounded == 0.0 { "0.0".to_owned() } else { format!("{rounded:+.1}") }
}

/// The comparison as text: warnings, then one line for each selected figure, or for all figures.
#[must_use]
pub fn text(comparison: &Comparison, all: bool) -> String {
    let mut out = String::new();
    for (index, run) in comparison.runs.iter().enumerate() {
        let role = if index == 0 { "  (baseline)" } else { "" };
        out.push_str(&format!("{:<2} {}  {}{role}\n", letter(index), run.name, run.document.run.id));
    }
    out.push('\n');
    for warning in &comparison.warnings {
        out.push_str(&format!("warning: {warning}\n"));
    }
    let shown: Vec<&Line> = comparison.lines.iter().filter(|line| all || line.selected).collect();
    let rows: Vec<Vec<String>> = shown.iter().map(|line| row(line)).collect();
    let head: Vec<String> = ["figure".to_owned(), "unit".into()]
        .into_iter()
        .chain((0..comparison.runs.len()).map(letter))
        .chain((1..comparison.runs.len()).map(|i| format!("{} vs. A", letter(i))))
        .collect();
    let widths: Vec<usize> = (0..head.len())
        .map(|i| rows.iter().chain([&head]).map(|row| row[i].chars().count()).max().unwrap_or(0))
        .collect();
    let line = |row: &[String]| {
        let mut line = format!("{:<1$}  {2:<3$}", row[0], widths[0], row[1], widths[1]);
        for (i, cell) in row.iter().enumerate().skip(2) {
            let right = i < 2 + comparison.runs.len();
            line +=
                &if right { format!("  {cell:>0$}", widths[i]) } else { format!("  {cell:<0$}", widths[i]) };
        }
        line.trim_end().to_owned() + "\n"
    };
    if !comparison.warnings.is_empty() {
        out.push('\n');
    }
    out.push_str(&line(&head));
    rows.iter().for_each(|row| out.push_str(&line(row)));
    out.push_str("\nIn parentheses: 95 % confidence interval from the rounds of the measurement windows.\n");
    out.extend(marks(shown.into_iter()).map(|text| text + "\n"));
    out
}

/// Letter of a run: A, B, C.
pub(super) fn letter(index: usize) -> String {
    char::from(b'A' + index as u8).to_string()
}

fn row(line: &Line) -> Vec<String> {
    let figures =
        line.figures.iter().map(|figure| figure.as_ref().and_then(mean).unwrap_or_else(|| "n/a".to_owned()));
    let differences =
        line.differences.iter().skip(1).map(|d| d.as_ref().map_or_else(|| "n/a".into(), difference));
    [line.name.clone(), line.unit.to_owned()].into_iter().chain(figures).chain(differences).collect()
}

/// One row per figure and run.
#[must_use]
pub fn csv(comparison: &Comparison) -> String {
    let mut out = String::from(
        "key,name,unit,selected,run,run_name,values,mean,spread_percent,difference_percent,low_percent,\
         high_percent,finding,host_limited,simulated\n",
    );
    for line in &comparison.lines {
        for ((run, figure), difference) in comparison.runs.iter().zip(&line.figures).zip(&line.differences) {
            let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
            let figure = figure.as_ref();
            let interval = difference.as_ref().and_then(|d| d.interval_percent);
            let fields = [
                quoted(&line.key),
                quoted(&line.name),
                line.unit.to_owned(),
                line.selected.to_string(),
                quoted(&run.document.run.id),
                quoted(&run.name),
                figure.map_or(0, |figure| figure.values.len()).to_string(),
                number(figure.and_then(super::Figure::mean)),
                number(figure.and_then(super::Figure::spread_share).map(|share| share * 100.0)),
                number(difference.as_ref().map(|d| d.percent)),
                number(interval.map(|(low, _)| low)),
                number(interval.map(|(_, high)| high)),
                difference.as_ref().map_or("", |d| d.finding.word()).to_owned(),
                figure.is_some_and(|figure| figure.host_limited).to_string(),
                quoted(&run.document.simulated()),
            ];
            out.push_str(&fields.join(","));
            out.push('\n');
        }
    }
    out
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}

/// The comparison as a JSON document.
#[must_use]
pub fn json(comparison: &Comparison) -> Value {
    let runs: Vec<Value> = comparison
        .runs
        .iter()
        .map(|run| {
            json!({
                "run": run.document.run.id,
                "name": run.name,
                "journal_sha256": run.document.digest,
                "simulated": run.document.run.target.simulated.as_ref().map(SimulatedFacts::label),
            })
        })
        .collect();
    let lines: Vec<Value> = comparison.lines.iter().map(line_json).collect();
    json!({ "runs": runs, "warnings": comparison.warnings, "figures": lines })
}

fn line_json(line: &Line) -> Value {
    let runs: Vec<Value> = line
        .figures
        .iter()
        .zip(&line.differences)
        .map(|(figure, difference)| {
            let difference = difference.as_ref().map(|d| {
                json!({
                    "percent": d.percent,
                    "low_percent": d.interval_percent.map(|(low, _)| low),
                    "high_percent": d.interval_percent.map(|(_, high)| high),
                    "finding": d.finding.word(),
                })
            });
            json!({
                "mean": figure.as_ref().and_then(super::Figure::mean),
                "host_limited": figure.as_ref().map(|figure| figure.host_limited),
                "values": figure.as_ref().map(|figure| figure.values.clone()),
                "difference": difference,
            })
        })
        .collect();
    json!({ "key": line.key, "name": line.name, "unit": line.unit, "selected": line.selected, "runs": runs })
}
