//! Simulator fidelity: write amplification, scaling, calibration.

use std::path::Path;

use nandsim::fit::{Deviation, Measured, Score, saturation_curve, simulate};
use nandsim::{Load, MODELS, Model, Scale, Ssd, Until, VictimPolicy};
use stdx::access::{Order, Span};

use crate::bench::results::Row;

const SPARE_PERCENT: [f64; 8] = [7.0, 10.0, 15.0, 20.0, 28.0, 40.0, 60.0, 100.0];
const AMPLIFICATION_LIMIT_PERCENT: f64 = 2.5;
const SCALE_MODEL: &str = "sas-slc-2011";
const SCALES: [u32; 2] = [8, 32];
const SCALE_ROUNDS: u32 = 8;
/// Rounds used for the published calibrations.
const CALIBRATION_ROUNDS: u32 = 6;
const SATURATION_LIMIT_PERCENT: f64 = 10.0;
const HELD_OUT_LIMIT: f64 = 1.5;

/// Returns all rows, in percent.
pub fn rows(_: &Path) -> anyhow::Result<Vec<Row>> {
    let mut rows = vec![amplification()?];
    rows.extend(scales()?);
    for (name, _) in MODELS {
        if let Some(measured) = Measured::of_model(name) {
            rows.extend(calibration(name, &measured)?);
        }
    }
    Ok(rows)
}

fn row(what: String, value: f64, limit: f64) -> Row {
    let (target, measured) = (format!("<= {limit} %"), format!("{value:.1} %"));
    Row { what, target, measured, value, limit: Some(limit), best_quarter: None }
}

/// Returns the largest deviation of FIFO collection from the closed-form solution.
fn amplification() -> anyhow::Result<Row> {
    let mut most = 0.0_f64;
    for percent in SPARE_PERCENT {
        let mut model = Model::named(SCALE_MODEL)?;
        (model.geometry.capacity_bytes, model.geometry.superblocks) = (1 << 30, 1024);
        model.geometry.effective_op_percent = percent;
        model.firmware.victim_policy = VictimPolicy::Fifo;
        let mut ssd = Ssd::new(&model, Scale::FULL, 1);
        write(&mut ssd, Order::Sequential, 1);
        write(&mut ssd, Order::Random, 5);
        let before = ssd.health();
        write(&mut ssd, Order::Random, 3);
        let factor = ssd.health().since(&before).write_amplification().unwrap_or(f64::NAN);
        most = most.max((100.0 * (factor / closed_form(ssd.effective_op()) - 1.0)).abs());
    }
    let what = "write amplification v closed form, FIFO, OP 7-100 %";
    Ok(row(what.into(), most, AMPLIFICATION_LIMIT_PERCENT))
}

/// Solves u = exp(-(1 + spare)(1 - u)) for u, the fraction of valid slots in a victim.
fn closed_form(spare: f64) -> f64 {
    let valid = (0..10_000).fold(0.5_f64, |valid, _| (-(1.0 + spare) * (1.0 - valid)).exp());
    1.0 / (1.0 - valid)
}

fn write(ssd: &mut Ssd, order: Order, capacities: u64) {
    let load = Load {
        order,
        read_percent: 0,
        block_bytes: 4096,
        threads: 2,
        queue_depth: 16,
        span: Span::contiguous(0, ssd.capacity_bytes()),
        until: Until::Bytes(capacities * ssd.capacity_bytes()),
        seed: capacities,
        min_completions: 0,
        tick_ns: 0,
    };
    ssd.run(&load, &mut |_| true);
}

fn scales() -> anyhow::Result<Vec<Row>> {
    let model = Model::named(SCALE_MODEL)?;
    let measured = Measured::of_model(SCALE_MODEL).expect("it was fitted");
    let measured = measured.only_cells();
    let [large, small] = SCALES.map(|n| Scale::one_over(n).expect("a scale"));
    let curve = Deviation::between(&saturation_curve(&model, large), &saturation_curve(&model, small));
    let cells = |scale| simulate(&model, scale, &measured, SCALE_ROUNDS).iops;
    let cells = Deviation::between(&cells(large), &cells(small));
    let what = |what: &str| format!("{SCALE_MODEL} at {small} and {large}: {what}");
    Ok(vec![
        row(what("write saturation, maximum"), curve.most_percent, 2.0),
        row(what("56 cells, median"), cells.median_percent, 2.0),
        row(what("56 cells, 90th percentile"), cells.p90_percent, 5.0),
    ])
}

fn calibration(name: &str, measured: &Measured) -> anyhow::Result<Vec<Row>> {
    let model = Model::named(name)?;
    let scale = Scale::one_over(64).expect("a scale");
    let simulated = simulate(&model, scale, measured, CALIBRATION_ROUNDS);
    let score = Score::of(measured, &simulated.iops, scale.divisor());
    let mut rows = vec![row(
        format!("{name}: 56 cells, median error"),
        score.median_percent,
        model.calibration.aim_percent,
    )];
    for figure in simulated.figures.iter().filter(|figure| figure.unit == "IOPS") {
        let off = (100.0 * (figure.simulated / figure.measured - 1.0)).abs();
        rows.push(row(format!("{name}: {}", figure.name), off, SATURATION_LIMIT_PERCENT));
    }
    rows.push(Row {
        what: format!("{name}: held-out and fitted mixes"),
        target: format!("<= {HELD_OUT_LIMIT} times"),
        measured: format!("{:.2} times", score.held_out_ratio()),
        value: score.held_out_ratio(),
        limit: Some(HELD_OUT_LIMIT),
        best_quarter: None,
    });
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::closed_form;

    #[test]
    fn the_closed_form_matches_published_values() {
        for (spare, factor) in [(0.07, 7.69), (0.28, 2.482), (1.0, 1.255)] {
            assert!((closed_form(spare) / factor - 1.0).abs() < 0.02, "{spare}: {}", closed_form(spare));
        }
    }
}
