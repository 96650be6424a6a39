//! `plateau drives`: the drives of the runs in the library.

use console::table;
use serde_json::{Value, json};
use stdx::text::on_one_line;
use stdx::units::amount_base10;
use store::Drive;

use crate::cli::Cli;
use crate::failure::Done;
use crate::output::catalogue;
use crate::output::places;
use crate::output::printer;

pub fn run(cli: &Cli) -> Done {
    let library = places::library(cli.library.as_deref())?;
    let drives = catalogue::current(&library)?.drives()?;
    if cli.json {
        return printer::print_json(&drives.iter().map(document).collect());
    }
    if drives.is_empty() {
        return printer::print(&format!("no runs in {}", library.root().display()));
    }
    let head =
        ["identity", "model", "firmware", "capacity", "runs", "last run (UTC)", "run"].map(str::to_owned);
    let rows: Vec<[String; 7]> = std::iter::once(head).chain(drives.iter().map(row)).collect();
    printer::print(&table(&rows))
}

fn document(drive: &Drive) -> Value {
    json!({
        "identity": drive.identity, "kind": drive.kind, "model": drive.model, "serial": drive.serial,
        "firmware": drive.firmware, "capacity_bytes": drive.capacity_bytes, "runs": drive.runs,
        "last_run": drive.last_run, "last_run_utc": drive.last_run_utc, "simulated": drive.simulated,
    })
}

fn row(drive: &Drive) -> [String; 7] {
    let label = match (drive.simulated.is_some(), &*drive.kind) {
        (true, _) => "SIMULATED ",
        (false, "imported") => "IMPORTED ",
        (false, _) => "",
    };
    let model = drive.model.as_deref().unwrap_or("n/a");
    [
        drive.identity.clone(),
        format!("{label}{model}"),
        drive.firmware.join(", "),
        amount_base10(drive.capacity_bytes),
        drive.runs.to_string(),
        drive.last_run_utc.get(..16).unwrap_or_default().replace('T', " "),
        drive.last_run.clone(),
    ]
    .map(|cell| on_one_line(&cell).into_owned())
}
