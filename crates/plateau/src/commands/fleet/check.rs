//! `plateau fleet check [TARGET]`: whether a job may use a drive, or this host.

use ::fleet::fitness::{Unfit, unfit};
use device::OpenOptions;
use serde_json::json;
use stdx::text::on_one_line;

use crate::cli::{Cli, FleetCheck};
use crate::failure::{Done, Exit, Failure};
use crate::output::printer;
use prepare::{by_serial, models};

pub fn run(cli: &Cli, options: &FleetCheck) -> Done {
    let (subject, reasons) = match &options.target {
        None => (stdx::host_name(), unfit(None, Some(&device::host_conditions()), &options.limits())),
        Some(target) => {
            let path = models::existing_target(&by_serial::resolve(target)?)?;
            let drive = device::open(&path, &OpenOptions::default())?;
            let health = drive.about()?.health;
            (path, unfit(Some(&health), drive.conditions().as_ref(), &options.limits()))
        }
    };
    let subject = on_one_line(&subject).into_owned();
    let each = |reason: &Unfit| json!({ "text": reason.to_string(), "temporary": reason.is_temporary() });
    let document = json!({
        "subject": subject,
        "fit": reasons.is_empty(),
        "reasons": reasons.iter().map(each).collect::<Vec<_>>(),
    });
    if reasons.is_empty() {
        return match cli.json {
            true => printer::print_json(&document),
            false => printer::print(&format!("{subject}: no problem found\n")),
        };
    }
    let texts: Vec<String> =
        reasons.iter().map(|reason| on_one_line(&reason.to_string()).into_owned()).collect();
    let (exit, advice) = match reasons.iter().all(Unfit::is_temporary) {
        true => (Exit::Busy, "let it cool down, and try again later"),
        false => (Exit::Regressed, "repair or replace it, then release the job with `scontrol release`"),
    };
    let text = format!("{subject} is not fit for a test: {}; {advice}", texts.join("; "));
    Err(Failure::text(exit, text).with_document(document))
}
