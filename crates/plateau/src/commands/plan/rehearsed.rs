//! Output of `plateau plan` for a rehearsal.

use console::bars;
use serde_json::{Value, json};
use stdx::units::{amount_base10, count_of, grouped, span};

use crate::run::rehearsal::{Curve, Rehearsal, Rehearsed};

pub fn text(rehearsal: &Rehearsal) -> String {
    let mut out = format!(
        "\nrehearsed on {}; times and amounts are scaled to the target, without purges\n",
        rehearsal.label
    );
    rehearsal.note().into_iter().for_each(|note| out.push_str(&format!("note      {note}\n")));
    if let Some(seconds) = rehearsal.wall_seconds {
        let wall = span((seconds * 1e9) as u64);
        out.push_str(&format!("wall time about {wall} for the whole run on this host\n"));
    }
    rehearsal.tests.iter().for_each(|test| out.push_str(&of_test(test)));
    out
}

fn of_test(test: &Rehearsed) -> String {
    let verdict = match (test.converged, test.rounds) {
        (Some(true), rounds) => format!("steady state in {}", count_of(rounds, "round")),
        (Some(false), rounds) => format!("no steady state in {}", count_of(rounds, "round")),
        (None, _) => "complete".into(),
    };
    let mut out = format!(
        "\n{}: {verdict}; {}, {} written\n",
        test.test,
        span(test.duration_ns),
        amount_base10(test.written_bytes)
    );
    let chart = bars(&test.curve.points, decimals(&test.curve));
    if !chart.is_empty() {
        out.push_str(&format!("{}, {} by {}\n", test.curve.name, test.curve.unit, test.curve.over));
        chart.iter().for_each(|line| out.push_str(&format!("{line}\n")));
    }
    for figure in &test.figures {
        let value = figure.value.map_or_else(
            || figure.absent.to_owned(),
            |value| format!("{} {}", grouped(value, figure.decimals), figure.unit),
        );
        out.push_str(&format!("  {} {value}\n", figure.name));
    }
    out
}

fn decimals(curve: &Curve) -> usize {
    if curve.unit == "ms" { 3 } else { 0 }
}

pub fn document(rehearsal: &Rehearsal) -> Value {
    json!({
        "model": rehearsal.model,
        "simulated": rehearsal.label,
        "scale_divisor": rehearsal.scale_divisor,
        "note": rehearsal.note(),
        "wall_seconds": rehearsal.wall_seconds,
        "tests": rehearsal.tests.iter().map(|test| json!({
            "test": test.test,
            "duration_ns": test.duration_ns,
            "written_bytes": test.written_bytes,
            "rounds": test.rounds,
            "converged": test.converged,
            "curve": {
                "name": test.curve.name,
                "unit": test.curve.unit,
                "over": test.curve.over,
                "points": test.curve.points,
            },
            "figures": test.figures.iter().map(|figure| json!({
                "name": figure.name,
                "value": figure.value,
                "unit": figure.unit,
            })).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
    })
}
