//! The comparison for other programs: CSV and JSON.

use serde_json::{Value, json};

use crate::comparison::{Comparison, Line};
use crate::group::Group;
use crate::noise::Difference;
use crate::statistics::Summary;
use report::parts::Figure;

/// Returns the comparison as CSV, with one row per figure and run.
#[must_use]
pub fn csv(comparison: &Comparison) -> String {
    let mut out = String::from(
        "key,name,unit,selected,run,run_name,values,mean,spread_percent,difference_percent,low_percent,\
         high_percent,finding,host_limited,uncertainty,simulated\n",
    );
    for line in &comparison.lines {
        for ((run, figure), difference) in comparison.runs.iter().zip(&line.figures).zip(&line.differences) {
            let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
            let figure = figure.as_ref();
            let interval = difference.as_ref().and_then(|d| d.interval_percent);
            let fields = [
                quoted(&line.key),
                quoted(&line.name),
                line.unit.to_string(),
                line.selected.to_string(),
                quoted(&run.document.run.id),
                quoted(&run.name),
                figure.map_or(0, |figure| figure.values.len()).to_string(),
                number(figure.and_then(Figure::mean)),
                number(figure.and_then(Figure::spread_share).map(|share| share * 100.0)),
                number(difference.as_ref().map(|d| d.percent)),
                number(interval.map(|(low, _)| low)),
                number(interval.map(|(_, high)| high)),
                difference.as_ref().map_or("", |d| d.finding.word()).to_owned(),
                figure.is_some_and(|figure| figure.host_limited).to_string(),
                number(figure.and_then(|figure| figure.uncertainty)),
                quoted(&run.document.simulated()),
            ];
            out.push_str(&fields.join(","));
            out.push('\n');
        }
    }
    out
}

pub(crate) fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}

/// Returns the comparison as a JSON document.
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
                "marks": run.marks(),
                "simulated": Some(run.document.simulated()).filter(|label| !label.is_empty()),
            })
        })
        .collect();
    let lines: Vec<Value> = comparison.lines.iter().map(|line| line_json(comparison, line)).collect();
    let warnings: Vec<String> = comparison.warning_texts().collect();
    let mut document = json!({ "runs": runs, "warnings": warnings, "figures": lines });
    if !comparison.groups.is_empty() {
        document["groups"] = comparison.groups.iter().map(|group| group_json(comparison, group)).collect();
    }
    document
}

/// Returns a group, with the ids of its runs.
fn group_json(comparison: &Comparison, group: &Group) -> Value {
    let ids: Vec<&str> =
        group.runs.iter().map(|run| comparison.runs[*run].document.run.id.as_str()).collect();
    json!({ "name": group.name, "runs": ids })
}

/// Returns a group's summary; outliers are given as run ids.
fn summary_json(comparison: &Comparison, summary: &Summary) -> Value {
    let outliers: Vec<&str> =
        summary.outliers.iter().map(|run| comparison.runs[*run].document.run.id.as_str()).collect();
    json!({
        "drives": summary.counts.0,
        "runs": summary.counts.1,
        "mean": summary.mean,
        "low": summary.interval.map(|(low, _)| low),
        "high": summary.interval.map(|(_, high)| high),
        "between_drives_percent": summary.between_drives_percent,
        "between_runs_percent": summary.between_runs_percent,
        "outliers": outliers,
        "difference": summary.difference.as_ref().map(difference_json),
    })
}

fn difference_json(difference: &Difference) -> Value {
    json!({
        "percent": difference.percent,
        "low_percent": difference.interval_percent.map(|(low, _)| low),
        "high_percent": difference.interval_percent.map(|(_, high)| high),
        "finding": difference.finding.word(),
    })
}

fn line_json(comparison: &Comparison, line: &Line) -> Value {
    let runs: Vec<Value> = line
        .figures
        .iter()
        .zip(&line.differences)
        .map(|(figure, difference)| {
            let difference = difference.as_ref().map(difference_json);
            json!({
                "mean": figure.as_ref().and_then(Figure::mean),
                "uncertainty": figure.as_ref().and_then(|figure| figure.uncertainty),
                "host_limited": figure.as_ref().map(|figure| figure.host_limited),
                "values": figure.as_ref().map(|figure| figure.values.clone()),
                "difference": difference,
            })
        })
        .collect();
    let mut found = json!({
        "key": line.key,
        "name": line.name,
        "unit": line.unit.symbol(),
        "selected": line.selected,
        "runs": runs,
    });
    if !comparison.groups.is_empty() {
        let summaries = comparison.summaries(line);
        found["groups"] = summaries.iter().map(|summary| summary_json(comparison, summary)).collect();
    }
    found
}
