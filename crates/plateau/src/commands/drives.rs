//! `plateau drives`: lists the drives that the runs in the library tested.

use serde_json::{Value, json};
use stdx::table::fitted;
use stdx::text::on_one_line;
use stdx::units::amount_base10;
use store::{Drive, Index};

use crate::cli::{Cli, Drives};
use crate::failure::Done;
use crate::output::places;
use crate::output::printer;
use crate::output::shared;

pub fn run(cli: &Cli, options: &Drives) -> Done {
    let store = store::chosen(options.store.store.as_ref())?;
    let library = places::library(cli.library.as_deref())?;
    let drives = shared::or_own(store.as_ref(), &library, Index::drives)?;
    if cli.json {
        return printer::print_json(&drives.iter().map(document).collect());
    }
    if drives.is_empty() {
        return printer::print(&format!("no runs in {}", library.root().display()));
    }
    let head = ["drive", "model", "firmware", "capacity", "runs", "last run (UTC)", "run"].map(str::to_owned);
    let rows: Vec<[String; 7]> = std::iter::once(head).chain(drives.iter().map(row)).collect();
    printer::print(&fitted(&rows, 0..0, printer::columns()))
}

fn document(drive: &Drive) -> Value {
    json!({
        "drive": drive.drive, "identity": drive.identity, "kind": drive.kind, "model": drive.model, "serial": drive.serial,
        "firmware": drive.firmware, "capacity_bytes": drive.capacity_bytes, "runs": drive.runs,
        "last_run": drive.last_run, "last_run_created": drive.last_run_created.to_string(),
        "simulated": drive.simulated,
    })
}

/// Formats the capacity; the file of an imported run may lack it.
fn capacity(bytes: u64) -> String {
    if bytes == 0 { "n/a".into() } else { amount_base10(bytes) }
}

fn row(drive: &Drive) -> [String; 7] {
    let label = match (drive.simulated.is_some(), &*drive.kind) {
        (true, _) => "SIMULATED ",
        (false, "imported") => "IMPORTED ",
        (false, _) => "",
    };
    let model = drive.model.as_deref().unwrap_or("n/a");
    [
        drive.drive.clone(),
        format!("{label}{model}"),
        drive.firmware.join(", "),
        capacity(drive.capacity_bytes),
        drive.runs.to_string(),
        drive.last_run_created.strftime("%Y-%m-%d %H:%M").to_string(),
        drive.last_run.clone(),
    ]
    .map(|cell| on_one_line(&cell).into_owned())
}
