//! Results of a run's IOPS test, as the input for a fit.

use nandsim::fit::{ActiveRange, Cell, Demand, Measured};
use pts::Outcome;
use record::{Entry, Event, Note, RunFile, Segment};

/// Number of rounds to average if the run did not reach steady state.
const LAST_ROUNDS: u32 = 5;

/// Returns the results of the IOPS test: means over the measurement window, or over the last rounds.
///
/// # Errors
/// Returns an error if no model can be fitted to the run.
pub fn measured(file: &RunFile, entries: &[Entry], outcomes: &[Outcome]) -> Result<Measured, String> {
    let settings = pts::Context::of(file)?.settings;
    if settings.test_range_percent != 100 {
        return Err(format!(
            "run {} accessed {} % of the drive; a fit needs a run over the whole drive",
            file.id, settings.test_range_percent
        ));
    }
    let outcome = outcomes.iter().find(|o| o.test == "iops");
    let outcome = outcome.ok_or_else(|| format!("run {} has no IOPS test; a fit needs one", file.id))?;
    let steady = outcome.window.first().filter(|_| outcome.converged == Some(true));
    let rounds = match steady {
        Some((_, window)) => window.first_round..=window.last_round,
        None if outcome.rounds > 0 => outcome.rounds.saturating_sub(LAST_ROUNDS - 1).max(1)..=outcome.rounds,
        None => return Err(format!("the IOPS test of run {} has no complete round", file.id)),
    };
    let mut cells: Vec<(Cell, u32)> = Vec::new();
    for (round, segment) in segments(entries) {
        let workload = &segment.workload;
        if !rounds.contains(&round) || segment.iops() <= 0.0 {
            continue;
        }
        let key = (workload.block_bytes, workload.read_percent);
        match cells.iter_mut().find(|(cell, _)| (cell.block_bytes, cell.read_percent) == key) {
            Some((cell, count)) => (cell.iops, *count) = (cell.iops + segment.iops(), *count + 1),
            None => cells.push((Cell { block_bytes: key.0, read_percent: key.1, iops: segment.iops() }, 1)),
        }
    }
    cells.iter_mut().for_each(|(cell, count)| cell.iops /= f64::from(*count));
    let active_range = settings
        .active_range_amount_bytes
        .map(|bytes| ActiveRange { bytes, segments: settings.active_range_segments });
    Ok(Measured {
        demand: Demand { threads: settings.threads, queue_depth: settings.queue_depth },
        cell_ns: settings.cell_ns,
        active_range,
        cells: cells.into_iter().map(|(cell, _)| cell).collect(),
        saturation: None,
        throughput: Vec::new(),
        latency: Vec::new(),
    })
}

/// Returns the measured segments since the IOPS test last started, with their rounds.
fn segments(entries: &[Entry]) -> Vec<(u32, &Segment)> {
    let mut found = Vec::new();
    let (mut inside, mut round) = (false, 0);
    for entry in entries {
        match &entry.event {
            Event::TestStarted { test } | Event::Restarted { test } => {
                inside = test == "iops";
                if inside {
                    found.clear();
                }
            }
            Event::TestEnded { .. } => inside = false,
            Event::Noted(Note::RoundStarted { round: number, .. }) => round = *number,
            Event::Measured(segment) if inside => found.push((round, segment)),
            _ => {}
        }
    }
    found
}
