//! A view as a JSON object for programs (`--progress json`). All fields are described in
//! `docs/reference/progress.md`.

use std::time::Duration;

use pts::steady::{RANGE_LIMIT, SLOPE_LIMIT, WINDOW_ROUNDS};
use serde::Serialize;

use super::view::{Left, Phase, View};

/// One line of `--progress json`. All fields are always present; unknown values are null.
#[derive(Debug, Serialize)]
pub struct Record<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    time: jiff::Timestamp,
    run: Option<&'a str>,
    target: Option<&'a str>,
    test: Option<&'a str>,
    phase: Phase,
    step: Option<&'a str>,
    round: Option<u32>,
    max_rounds: Option<u32>,
    cell: Option<u32>,
    cells: Option<u32>,
    share_done: Option<f64>,
    elapsed_seconds: f64,
    left_seconds: Option<f64>,
    left_is_estimate: bool,
    test_left_min_seconds: Option<f64>,
    test_left_max_seconds: Option<f64>,
    iops: Option<f64>,
    bytes_per_second: Option<f64>,
    mean_latency_seconds: Option<f64>,
    max_latency_seconds: Option<f64>,
    temperature_celsius: Option<i16>,
    host_limited: bool,
    window: Option<WindowRecord<'a>>,
}

#[derive(Debug, Serialize)]
struct WindowRecord<'a> {
    rounds: u32,
    rounds_needed: u32,
    variable: Option<&'a str>,
    range_share: Option<f64>,
    range_limit: f64,
    slope_share: Option<f64>,
    slope_limit: f64,
    forecast_round: Option<u32>,
}

impl<'a> Record<'a> {
    pub fn of(view: &'a View, run: Option<&'a str>, target: Option<&'a str>, time: jiff::Timestamp) -> Self {
        let seconds = |time: Duration| time.as_secs_f64();
        let window = view.window.as_ref().map(|window| WindowRecord {
            rounds: window.rounds,
            rounds_needed: WINDOW_ROUNDS as u32,
            variable: window.variable.as_deref(),
            range_share: window.range_share,
            range_limit: RANGE_LIMIT,
            slope_share: window.slope_share,
            slope_limit: SLOPE_LIMIT,
            forecast_round: window.forecast_round,
        });
        Self {
            kind: "progress",
            time,
            run,
            target,
            test: view.test.as_deref(),
            phase: view.phase,
            step: Some(view.what.as_str()).filter(|what| !what.is_empty()),
            round: view.round.map(|(round, _)| round),
            max_rounds: view.round.map(|(_, rounds)| rounds),
            cell: view.cell.map(|(cell, _)| cell),
            cells: view.cell.and_then(|(_, cells)| cells),
            share_done: view.share_done,
            elapsed_seconds: seconds(view.elapsed),
            left_seconds: view.left_of_part().map(seconds),
            left_is_estimate: matches!(view.left, Some(Left::Expected(_) | Left::Overdue)),
            test_left_min_seconds: view.test_left.map(|(from, _)| seconds(from)),
            test_left_max_seconds: view.test_left.map(|(_, to)| seconds(to)),
            iops: view.rate.map(|rate| rate.iops),
            bytes_per_second: view.rate.map(|rate| rate.bytes_per_second),
            mean_latency_seconds: view.rate.map(|rate| rate.mean_latency_ms / 1e3),
            max_latency_seconds: view.rate.and_then(|rate| rate.max_latency_ms).map(|ms| ms / 1e3),
            temperature_celsius: view.temperature_celsius,
            host_limited: view.host_limited,
            window,
        }
    }
}
