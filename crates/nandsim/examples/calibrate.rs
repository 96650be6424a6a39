//! Compares a built-in model, cell by cell, with the measurements to which it was fitted, or fits it again.
//!
//! `calibrate MODEL [--file TOML] [--scale 1/64] [--also 1/16] [--rounds 6] [--climb STEPS] [--seed N] [--keep
//! KEY]... [--threads N] [--out TOML]`
//!
//! MODEL selects the measurements; `--file` compares a different model with them. With `--climb`, the best
//! model is written to `--out`. The `[calibration]` table is always printed. `--also` adds a scale to fit at;
//! `--threads N` runs the throughput tests with N threads of 16 commands in flight rather than with the
//! measured demand.

use std::process::ExitCode;

use nandsim::fit::{Demand, Fit, Measured, Row, Score, Simulated, fit, simulate};
use nandsim::{MODELS, Model, Scale};

fn main() -> ExitCode {
    match calibrate() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("calibrate: {message}");
            ExitCode::FAILURE
        }
    }
}

fn calibrate() -> Result<(), String> {
    let mut words = std::env::args().skip(1);
    let name = words.next().ok_or("name a model")?;
    let mut measured = Measured::of_model(&name).ok_or("that model was not fitted to measurements")?;
    let (_, text) = MODELS.iter().find(|(known, _)| *known == name).ok_or("no such model")?;
    let mut text = (*text).to_owned();
    let mut scale = Scale::one_over(64).expect("a scale");
    let (mut also, mut rounds, mut steps, mut seed) = (None, 6, 0, 1);
    let mut keep = Vec::new();
    let mut out = None;
    while let Some(option) = words.next() {
        let value = words.next().ok_or_else(|| format!("{option} needs a value"))?;
        let number = || value.parse::<u32>().map_err(|e| format!("{option} {value}: {e}"));
        match option.as_str() {
            "--file" => text = std::fs::read_to_string(&value).map_err(|e| format!("{value}: {e}"))?,
            "--scale" => scale = value.parse().map_err(|e| format!("{e}"))?,
            "--also" => also = Some(value.parse::<Scale>().map_err(|e| format!("{e}"))?),
            "--rounds" => rounds = number()?,
            "--climb" => steps = number()?,
            "--seed" => seed = number()?.into(),
            "--keep" => keep.push(value),
            "--threads" => {
                let demand = Demand { threads: number()? as u16, queue_depth: 16 };
                measured.throughput.iter_mut().for_each(|test| test.demand = demand);
            }
            "--out" => out = Some(value),
            _ => return Err(format!("unknown option {option}")),
        }
    }
    let mut model = Model::from_toml(&text).map_err(|e| e.to_string())?;
    if steps > 0 {
        let scales: Vec<Scale> = std::iter::once(scale).chain(also).collect();
        let how = Fit { scales: &scales, rounds, steps, seed, keep: &keep };
        model = fit(model, &measured, &how, &mut |step, score| {
            eprintln!("trial {step}: {score:?}");
            true
        });
        if let Some(path) = &out {
            std::fs::write(path, model.to_toml()).map_err(|e| format!("{path}: {e}"))?;
        }
    }
    let clock = std::time::Instant::now();
    let simulated = simulate(&model, scale, &measured, rounds);
    print_cells(&measured, &simulated);
    println!(
        "# {:.1} s, write amplification {:?}",
        clock.elapsed().as_secs_f64(),
        simulated.write_amplification
    );
    let score = Score::of(&measured, &simulated.iops, scale.divisor());
    println!(
        "# median {} %, fitted {} %, held out {} %",
        score.median_percent, score.fitted_percent, score.held_out_percent
    );
    model.calibration.scores = vec![score];
    model.calibration.rows = Row::of(&measured, &simulated.iops);
    for figure in &simulated.figures {
        println!(
            "# {:<36} {:>12} {:>12} {:>+6.0}% {}",
            figure.name,
            figure.measured,
            figure.simulated,
            100.0 * (figure.simulated / figure.measured - 1.0),
            figure.unit
        );
    }
    model.calibration.figures = simulated.figures;
    print!("{}", toml::to_string(&model.calibration).map_err(|e| e.to_string())?);
    Ok(())
}

fn print_cells(measured: &Measured, simulated: &Simulated) {
    println!(
        "# simulated IOPS, and their share of the measured IOPS in percent; columns: percentage of reads"
    );
    for (row, cells) in measured.cells.chunks(7).enumerate() {
        let iops = &simulated.iops[row * 7..];
        let cell = |(cell, iops): (&nandsim::fit::Cell, &f64)| {
            format!("{iops:>9.0} {:>4.0}%", 100.0 * iops / cell.iops)
        };
        println!("# {:>8} {}", cells[0].block_bytes, cells.iter().zip(iops).map(cell).collect::<String>());
    }
}
