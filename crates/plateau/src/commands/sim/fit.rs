//! `plateau sim fit RUN`: fits a model to the IOPS test of a measured drive.

use std::path::PathBuf;

use nandsim::fit::{
    ActiveRange, Cell, Demand, FITTED_MIXES, Fit, HELD_OUT_MIXES, Measured, Row, Score, Simulated, fit,
    movable_keys, simulate,
};
use nandsim::{Calibration, MODELS, Model, Scale};
use record::{Event, Note, RunFile, Segment};
use serde_json::json;
use stdx::units::{block_size, grouped};

use super::scores::{HELD_OUT_LIMIT, held_out, scores};
use crate::cli::models::named_model;
use crate::cli::{Cli, SimFit};
use crate::failure::{Done, Exit, Failure};
use crate::output::file;
use crate::output::places;
use crate::output::printer;
use crate::output::summary::Summary;

/// Bytes simulated per trial; larger drives would only take longer.
const TRIAL_BYTES: u64 = 2_500_000_000;
/// Number of rounds of a trial, and of the final score.
const ROUNDS: (u32, u32) = (4, 6);
/// Number of rounds to average if the run did not reach steady state.
const LAST_ROUNDS: u32 = 5;

pub fn run(cli: &Cli, options: &SimFit) -> Done {
    let usage = |text: String| Failure::text(Exit::Usage, text);
    let summary = Summary::of(places::library(cli.library.as_deref())?.find(&options.run)?)?;
    let file = &summary.run.file;
    if file.origin.is_some() {
        let text = format!("run {} is imported, so it has no measured rounds to fit a model to", file.id);
        return Err(usage(text));
    }
    let measured = measured(&summary).map_err(usage)?;
    let capacity_bytes = file.target.capacity_bytes * u64::from(file.scale_divisor());
    let scale = scale(options.scale.as_deref(), capacity_bytes).map_err(usage)?;
    let path = options.output.clone().unwrap_or_else(|| PathBuf::from(format!("fit-{}.toml", file.id)));
    file::check([path.as_path()], cli.json)?;
    if !file::is_stdout(&path) && path.exists() {
        return Err(usage(format!("{} already exists; choose another file with --output", path.display())));
    }
    let start = start(options, file, capacity_bytes, &measured, scale)?;
    kept(&options.keep, &start).map_err(usage)?;
    let how = Fit {
        scales: &[scale],
        rounds: ROUNDS.0,
        steps: options.steps,
        seed: options.seed,
        keep: &options.keep,
    };
    let from = start.name.clone();
    let mut model = fit(start, &measured, &how, &mut |step, score| {
        printer::print_line(&format!(
            "trial {step} of {}: fitted mixes {:.1} % off, held-out mixes {:.1} %",
            how.steps, score.fitted_percent, score.held_out_percent
        ));
        true
    });
    let simulated = simulate(&model, scale, &measured, ROUNDS.1);
    let score = Score::of(&measured, &simulated.iops, scale.divisor());
    describe(&mut model, &from, &summary, &measured, &simulated, score);
    file::file(&path, model.to_toml().as_bytes())?;
    if cli.json {
        return printer::print_json(&json!({
            "model": path, "from": from, "score": score, "held_out_ratio": score.held_out_ratio(),
            "held_out_met": score.held_out_ratio() <= HELD_OUT_LIMIT,
            "cells": cells(&measured, &simulated).map(|(cell, iops)| json!({
                "block_bytes": cell.block_bytes, "read_percent": cell.read_percent,
                "measured_iops": cell.iops, "simulated_iops": iops,
            })).collect::<Vec<_>>(),
        }));
    }
    if file::is_stdout(&path) {
        return Ok(());
    }
    printer::print(&format!(
        "{}\n{}\n{}\n\nmodel     {}\nuse it    plateau run iops sim:{}\n",
        table(&measured, &simulated),
        scores(&[score]),
        held_out(&score),
        path.display(),
        path.display()
    ))
}

fn scale(requested: Option<&str>, capacity_bytes: u64) -> Result<Scale, String> {
    match requested {
        Some(text) => text.parse().map_err(|e| format!("--scale: {e}")),
        None => {
            let n = (capacity_bytes / TRIAL_BYTES).clamp(1, Scale::MAX.into()) as u32;
            Ok(Scale::one_over(n).expect("within the limits"))
        }
    }
}

/// Checks that each key to keep is one that the fit would vary.
fn kept(keep: &[String], model: &Model) -> Result<(), String> {
    let known = movable_keys(model);
    match keep.iter().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(format!(
            "--keep {key}: a fit of {} does not vary this key; it varies {}",
            model.name,
            known.join(", ")
        )),
    }
}

/// Returns the results of the IOPS test: means over the measurement window, or over the last rounds.
fn measured(summary: &Summary) -> Result<Measured, String> {
    let file = &summary.run.file;
    let settings = pts::Context::of(file)?.settings;
    if settings.test_range_percent != 100 {
        return Err(format!(
            "run {} touched {} % of the drive; a fit needs a run over the whole drive",
            file.id, settings.test_range_percent
        ));
    }
    let outcome = summary.replayed.outcomes.iter().find(|o| o.test == "iops");
    let outcome = outcome.ok_or_else(|| format!("run {} has no IOPS test; a fit needs one", file.id))?;
    let steady = outcome.window.first().filter(|_| outcome.converged == Some(true));
    let rounds = match steady {
        Some((_, window)) => window.first_round..=window.last_round,
        None if outcome.rounds > 0 => outcome.rounds.saturating_sub(LAST_ROUNDS - 1).max(1)..=outcome.rounds,
        None => return Err(format!("the IOPS test of run {} has no complete round", file.id)),
    };
    let mut cells: Vec<(Cell, u32)> = Vec::new();
    for (round, segment) in segments(summary) {
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
fn segments(summary: &Summary) -> Vec<(u32, &Segment)> {
    let mut found = Vec::new();
    let (mut inside, mut round) = (false, 0);
    for entry in &summary.loaded.entries {
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

/// Returns the initial model: the specified one, or the built-in one with the smallest error.
fn start(
    options: &SimFit,
    file: &RunFile,
    capacity_bytes: u64,
    measured: &Measured,
    scale: Scale,
) -> Done<Model> {
    let adapted = |mut model: Model| {
        model.geometry.capacity_bytes = capacity_bytes;
        model.geometry.logical_block_bytes = file.target.logical_block_bytes;
        model.geometry.map_unit_bytes = model.geometry.map_unit_bytes.max(file.target.logical_block_bytes);
        model.faults = Vec::new();
        model.cache.iter_mut().for_each(|cache| cache.bytes = cache.bytes.min(capacity_bytes));
        model.hybrid.iter_mut().for_each(|hybrid| hybrid.log_bytes = hybrid.log_bytes.min(capacity_bytes));
        model
    };
    if let Some(name) = &options.from {
        let model = adapted(named_model(name)?);
        // The capacity of the run may be invalid for a model of a different size.
        return Model::from_toml(&model.to_toml())
            .map_err(|e| Failure::text(Exit::Usage, format!("{name} with the capacity of the run: {e}")));
    }
    let mut best: Option<(f64, Model)> = None;
    for (name, _) in MODELS {
        let Ok(model) = Model::from_toml(&adapted(named_model(name)?).to_toml()) else { continue };
        let simulated = simulate(&model, scale, measured, ROUNDS.0);
        let error = Score::of(measured, &simulated.iops, scale.divisor()).fitted_percent;
        printer::print_line(&format!("as {name}: {error:.1} % off"));
        if best.as_ref().is_none_or(|(least, _)| error < *least) {
            best = Some((error, model));
        }
    }
    let none = || {
        Failure::text(Exit::Usage, "no model can be given the capacity of this run; choose one with --from")
    };
    best.map(|(_, model)| model).ok_or_else(none)
}

/// Updates the description of the model: its origin, the quality of the fit, and deviations.
fn describe(
    model: &mut Model,
    from: &str,
    summary: &Summary,
    measured: &Measured,
    simulated: &Simulated,
    score: Score,
) {
    let file = &summary.run.file;
    let drive = file.target.model.as_deref().unwrap_or(&file.target.path);
    model.name = format!("fit-{}", file.id);
    model.description = format!("Fitted to run {} on {drive}, starting from {from}", file.id);
    model.version = 1;
    let mixes = |mixes: &[u8]| mixes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    model.calibration = Calibration {
        source: format!(
            "Fitted to the IOPS test of run {} on {drive}: mixes of {} percent reads; {} are held out",
            file.id,
            mixes(&FITTED_MIXES),
            mixes(&HELD_OUT_MIXES)
        ),
        aim_percent: 0.0,
        scores: vec![score],
        rows: Row::of(measured, &simulated.iops),
        figures: Vec::new(),
        notes: Vec::new(),
    };
    let mut worst: Vec<(f64, String)> = cells(measured, simulated)
        .map(|(cell, iops)| {
            let share = iops / cell.iops;
            let block = block_size(cell.block_bytes.into());
            (
                share.max(1.0 / share),
                format!(
                    "{block} at {} percent reads reaches {:.0} % of the measured IOPS.",
                    cell.read_percent,
                    100.0 * share
                ),
            )
        })
        .filter(|(off, _)| *off > 1.3)
        .collect();
    worst.sort_by(|a, b| b.0.total_cmp(&a.0));
    model.misfits = worst.into_iter().take(10).map(|(_, text)| text).collect();
    model.misfits.push(
        "Only the IOPS test was fitted: fresh writes, sequential rates and latencies come from the original \
         model or follow from the fit."
            .into(),
    );
}

fn cells<'a>(measured: &'a Measured, simulated: &'a Simulated) -> impl Iterator<Item = (&'a Cell, f64)> {
    measured.cells.iter().zip(simulated.iops.iter().copied())
}

/// Formats simulated IOPS and their ratio to the measured IOPS.
fn table(measured: &Measured, simulated: &Simulated) -> String {
    let column = |of: &dyn Fn(&Cell) -> u32| {
        let mut all: Vec<u32> = measured.cells.iter().map(of).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    let mixes = column(&|cell| cell.read_percent.into());
    let mut out = "simulated IOPS, and their percentage of the measured IOPS\n".to_owned();
    out.push_str(&format!(
        "{:>10}{}\n",
        "reads",
        mixes.iter().map(|mix| format!("{mix:>17}%")).collect::<String>()
    ));
    for block in column(&|cell| cell.block_bytes) {
        out.push_str(&format!("{:>10}", block_size(block.into())));
        for mix in &mixes {
            let found = cells(measured, simulated)
                .find(|(cell, _)| (cell.block_bytes, u32::from(cell.read_percent)) == (block, *mix));
            out.push_str(&found.map_or(" ".repeat(18), |(cell, iops)| {
                format!("{:>12} {:>4.0}%", grouped(iops, 0), 100.0 * iops / cell.iops)
            }));
        }
        out.push('\n');
    }
    out
}
