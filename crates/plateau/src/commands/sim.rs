//! `plateau sim list`, `plateau sim show MODEL`.

use nandsim::{Class, MODELS, Model};
use serde_json::{Value, json};
use stdx::units::amount_base10;

use crate::cli::{Cli, Sim};
use crate::failure::{Done, Exit, Failure};
use crate::printer;

pub fn run(cli: &Cli, action: &Sim) -> Done {
    match action {
        Sim::List => list(cli),
        Sim::Show { model } => show(cli, model),
    }
}

fn named(name: &str) -> Done<Model> {
    Model::named(name).map_err(|error| Failure::new(Exit::Usage, error))
}

fn list(cli: &Cli) -> Done {
    let models = MODELS.iter().map(|(name, _)| named(name)).collect::<Done<Vec<_>>>()?;
    if cli.json {
        return printer::print_json(&models.iter().map(document).collect());
    }
    let line = |model: &Model| {
        let capacity = amount_base10(model.geometry.capacity_bytes);
        format!("{:<26} {:>9}  {:<11} {}\n", model.name, capacity, class(model), model.description)
    };
    printer::print(&models.iter().map(line).collect::<String>())
}

fn show(cli: &Cli, name: &str) -> Done {
    let model = named(name)?;
    if cli.json {
        return printer::print_json(&document(&model));
    }
    let paragraph = |heading: &str, lines: &[String]| {
        let lines: String = lines.iter().map(|line| format!("  * {line}\n")).collect();
        format!("\n{heading}\n{lines}")
    };
    printer::print(&format!(
        "{}, version {}: {}\n{}, {} NAND, {}, {}\n{}{}",
        model.name,
        model.version,
        model.description,
        class(&model),
        model.nand,
        model.interface,
        amount_base10(model.geometry.capacity_bytes),
        paragraph("How it was calibrated", &model.calibration),
        paragraph("Where it is known to differ from real drives", &model.misfits)
    ))
}

fn class(model: &Model) -> &'static str {
    match model.class {
        Class::Enterprise => "enterprise",
        Class::Client => "client",
    }
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
        "calibration": model.calibration,
        "misfits": model.misfits,
    })
}
