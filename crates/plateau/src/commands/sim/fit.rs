//! `plateau sim fit RUN`: fits a model to a measured drive's IOPS test.

use std::path::PathBuf;

use fitting::{HELD_OUT_LIMIT, cells, describe, held_out, measured, scores, table};
use nandsim::fit::{Fit, Measured, Score, fit, movable_keys, simulate};
use nandsim::{MODELS, Model, Scale};
use prepare::models::named_model;
use record::RunFile;
use serde_json::json;

use crate::cli::{Cli, SimFit};
use crate::failure::{Done, Exit, Failure};
use crate::output::file;
use crate::output::places;
use crate::output::printer;
use crate::output::summary::Summary;

/// Bytes simulated per trial; larger drives would only take longer.
const TRIAL_BYTES: u64 = 2_500_000_000;
/// Number of rounds in each trial, and for the final score.
const ROUNDS: (u32, u32) = (4, 6);

pub fn run(cli: &Cli, options: &SimFit) -> Done {
    let usage = |text: String| Failure::text(Exit::Usage, text);
    let summary = Summary::of(places::library(cli.library.as_deref())?.find(&options.run)?)?;
    let file = &summary.run.file;
    if file.origin.is_some() {
        let text = format!("run {} is imported, so it has no measured rounds to fit a model to", file.id);
        return Err(usage(text));
    }
    let measured = measured(file, &summary.loaded.entries, &summary.replayed.outcomes).map_err(usage)?;
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
    describe(&mut model, &from, file, &measured, &simulated, score);
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

/// Checks that each key to keep is one that the fit would otherwise vary.
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

/// Returns the initial model: the specified model, or the built-in model with the smallest error.
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
        // The run's capacity may be invalid for a model of a different size.
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
