//! `plateau sim list`, `plateau sim show MODEL`, `plateau sim fit RUN`.

mod fit;

use fitting::{held_out, scores, verdict};
use nandsim::{Calibration, Class, MODELS, Model};
use prepare::models::named_model;
use serde_json::{Value, json};
use stdx::units::{CELSIUS, amount_base10, block_size, grouped};

use crate::cli::{Cli, Sim};
use crate::failure::Done;
use crate::output::printer;

pub fn run(cli: &Cli, action: &Sim) -> Done {
    match action {
        Sim::List => list(cli),
        Sim::Show { model, toml } => show(cli, model, *toml),
        Sim::Fit(options) => fit::run(cli, options),
    }
}

fn list(cli: &Cli) -> Done {
    let models = MODELS.iter().map(|(name, _)| named_model(name)).collect::<Done<Vec<_>>>()?;
    if cli.json {
        return printer::print_json(&models.iter().map(document).collect());
    }
    let line = |model: &Model| {
        let capacity = amount_base10(model.geometry.capacity_bytes);
        let error = model.calibration.scores.first();
        let error = error.map_or("not calibrated".to_owned(), |s| format!("error {} %", s.median_percent));
        format!(
            "{:<26} {:<10} {:>9}  {:<11} {error:<15} {}\n",
            model.name,
            format!("version {}", model.version),
            capacity,
            class(model),
            model.description
        )
    };
    printer::print(&models.iter().map(line).collect::<String>())
}

fn show(cli: &Cli, name: &str, toml: bool) -> Done {
    let model = named_model(name)?;
    if cli.json {
        return printer::print_json(&whole(&model));
    }
    if toml {
        return printer::print(&model.to_toml());
    }
    printer::print(&format!(
        "{}, version {}: {}\n{}, {} NAND, {}, {}\n\n{}\nHow it was calibrated\n{}\nWhere it is known to \
         differ from real drives\n{}",
        model.name,
        model.version,
        model.description,
        class(&model),
        model.nand,
        model.interface,
        amount_base10(model.geometry.capacity_bytes),
        parts(&model),
        calibration(&model.calibration),
        points(&model.misfits),
    ))
}

/// Formats the model's geometry, wear and faults.
fn parts(model: &Model) -> String {
    let (geometry, firmware) = (&model.geometry, &model.firmware);
    let dies = u32::from(geometry.channels) * u32::from(geometry.dies_per_channel);
    let mapping = model.hybrid.as_ref().map_or("page-mapped".to_owned(), |hybrid| {
        format!("granules of {} with a log of map units", block_size(hybrid.granule_bytes.into()))
    });
    let cache = model
        .cache
        .as_ref()
        .map_or("none".to_owned(), |cache| format!("{}, SLC", amount_base10(cache.bytes)));
    let throttle = match model.thermal.throttle_c {
        c if c > 0.0 => format!("{} MB/s from {c} {CELSIUS}", model.thermal.throttle_mb_per_s),
        _ => "never due to temperature".to_owned(),
    };
    let rows = [
        (
            "flash",
            format!(
                "{dies} dies on {} channels, {} % spare",
                geometry.channels, geometry.effective_op_percent
            ),
        ),
        ("mapping", format!("{mapping}, map unit {}", block_size(geometry.map_unit_bytes.into()))),
        ("collection", format!("{:?}", firmware.victim_policy).to_lowercase()),
        ("write buffer", amount_base10(firmware.write_buffer_bytes)),
        ("cache", cache),
        ("throttle", throttle),
        ("wear", format!("a block is rated for {} erases", grouped(geometry.rated_erases.into(), 0))),
        (
            "faults",
            if model.faults.is_empty() {
                "none (see --sim-fault)".to_owned()
            } else {
                model.faults.join("; ")
            },
        ),
    ];
    rows.iter().map(|(name, value)| format!("  {name:<13} {value}\n")).collect()
}

fn points(lines: &[String]) -> String {
    lines.iter().map(|line| format!("  * {line}\n")).collect()
}

/// Formats the measurements that the model was compared with, the accuracy targets, and whether the targets are
/// met.
fn calibration(known: &Calibration) -> String {
    let mut out = String::new();
    if !known.source.is_empty() {
        out.push_str(&format!("  {}\n", known.source));
    }
    if let Some(score) = known.scores.first() {
        if known.aim_percent > 0.0 {
            let met = verdict(score.median_percent <= known.aim_percent);
            out.push_str(&format!(
                "  target: median error of all cells at most {} %: {met} with {} %\n",
                known.aim_percent, score.median_percent
            ));
        }
        out.push_str(&format!("  {}\n\n{}", held_out(score), scores(&known.scores)));
    }
    out.push_str(&figures(known));
    if !known.notes.is_empty() && !out.is_empty() {
        out.push('\n');
    }
    out + &points(&known.notes)
}

/// Formats all measured figures next to the simulated figures, however large the errors.
fn figures(known: &Calibration) -> String {
    let mut out = String::new();
    if !(known.rows.is_empty() && known.figures.is_empty()) {
        out.push_str(&format!("\n  {:<36} {:>10} {:>10} {:>7}\n", "figure", "measured", "simulated", "off"));
    }
    let mut line = |name: String, measured: f64, simulated: f64| {
        let text = |value: f64| grouped(value, if value < 10.0 { 3 } else { 0 });
        out.push_str(&format!(
            "  {name:<36} {:>10} {:>10} {:>+6.0}%\n",
            text(measured),
            text(simulated),
            100.0 * (simulated / measured - 1.0)
        ));
    };
    for figure in &known.figures {
        line(format!("{}, {}", figure.name, figure.unit), figure.measured, figure.simulated);
    }
    for row in &known.rows {
        let cells = row.read_percents.iter().zip(row.measured.iter().zip(&row.simulated));
        for (read_percent, (&measured, &simulated)) in cells {
            let (block, mix) = (block_size(row.block_bytes.into()), mix(*read_percent));
            line(format!("IOPS RND {block} {mix}"), measured, simulated);
        }
    }
    out
}

fn mix(read_percent: u8) -> String {
    match read_percent {
        0 => "W".to_owned(),
        100 => "R".to_owned(),
        percent => format!("{percent}/{}", 100 - percent),
    }
}

fn class(model: &Model) -> &'static str {
    match model.class {
        Class::Enterprise => "enterprise",
        Class::Client => "client",
    }
}

/// Returns the JSON document of a model with all of its parameters added, named as in the model file.
fn whole(model: &Model) -> Value {
    let mut document = document(model);
    if let (Some(entries), Ok(Value::Object(all))) = (document.as_object_mut(), serde_json::to_value(model)) {
        for (key, value) in all {
            entries.entry(key).or_insert(value);
        }
    }
    document
}

fn document(model: &Model) -> Value {
    json!({
        "name": model.name,
        "version": model.version,
        "description": model.description,
        "class": class(model),
        "interface": model.interface,
        "nand": model.nand,
        "capacity_bytes": model.geometry.capacity_bytes,
        "rated_erases": model.geometry.rated_erases,
        "faults": model.faults,
        "calibration": model.calibration,
        "misfits": model.misfits,
    })
}
