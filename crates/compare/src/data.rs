//! The comparison for other programs: CSV and JSON.

use serde_json::{Value, json};

use crate::comparison::{Comparison, Line};
use report::parts::Figure;

/// One row per figure and run.
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
                "simulated": Some(run.document.simulated()).filter(|label| !label.is_empty()),
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
                "mean": figure.as_ref().and_then(Figure::mean),
                "uncertainty": figure.as_ref().and_then(|figure| figure.uncertainty),
                "host_limited": figure.as_ref().map(|figure| figure.host_limited),
                "values": figure.as_ref().map(|figure| figure.values.clone()),
                "difference": difference,
            })
        })
        .collect();
    json!({ "key": line.key, "name": line.name, "unit": line.unit.symbol(), "selected": line.selected, "runs": runs })
}
