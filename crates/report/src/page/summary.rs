//! The first page: device, machine, software, dates, all tests, special notes.

use stdx::units::{amount_base2, amount_base10, grouped};

use super::frame::{
    Place, banners, facts, or_na, report_run_date, set_up_table, sheet, summary_top, test_run_date,
};
use super::notes::{self, NoteRow};
use crate::Document;
use crate::document::{Interruption, MarkKind};
use crate::markup::escape;

const KIND: &str = "SNIA SSS PTS Summary Report";
/// Pixels that a sheet has for special notes when it has nothing but them, and next to one test and no mark.
const ROOM_ALONE: f64 = 540.0;
const ROOM_BESIDE: f64 = 255.0;

/// The special notes of the run, sheet by sheet.
pub(super) fn sheets_of_notes(document: &Document) -> Vec<Vec<NoteRow>> {
    let marks = document.marks(None).len() as f64 * 27.0;
    let tests = (document.outcomes.len() + document.not_begun.len()).saturating_sub(1) as f64 * 32.0;
    notes::paginate(all_notes(document), (ROOM_BESIDE - marks - tests).max(0.0), ROOM_ALONE - marks)
}

/// The all-tests summary; `continued` when its notes go on on the next sheet.
pub(super) fn page(document: &Document, rows: &[NoteRow], continued: bool, place: Place) -> String {
    let blocks = [
        ("DEVICE INFORMATION", device(document)),
        ("TEST HARDWARE PLATFORM", platform(document)),
        ("TEST SOFTWARE", software(document)),
        ("REPORT DATE", dates(document)),
    ];
    let blocks: String = blocks
        .iter()
        .map(|(heading, items)| format!("<div><h3>{heading}</h3>{}</div>\n", facts("block", items)))
        .collect();
    let table = if continued && rows.is_empty() { String::new() } else { notes::table(rows) };
    let body = format!(
        "{}<div class=\"blocks\">{blocks}</div>\n<h2>Testing Summary: Tests Run</h2>\n{}\
         <h2>Test Sponsor - Special Notes</h2>\n{table}{}{}",
        summary_top(document, place, KIND),
        set_up_table(document, &document.outcomes, &document.not_begun),
        go_on(continued, place),
        origin(document)
    );
    sheet(document, place, "summary", &banners(document, None), &body)
}

/// A sheet of special notes that did not fit on the one before.
pub(super) fn notes_page(document: &Document, rows: &[NoteRow], continued: bool, place: Place) -> String {
    let body = format!(
        "{}<h2>Test Sponsor - Special Notes, continued</h2>\n{}{}",
        summary_top(document, place, KIND),
        notes::table(rows),
        go_on(continued, place)
    );
    sheet(document, place, "summary", &banners(document, None), &body)
}

fn go_on(continued: bool, place: Place) -> String {
    if continued {
        format!("<p class=\"remark\">Continued on page {}.</p>\n", place.number + 1)
    } else {
        String::new()
    }
}

fn device(document: &Document) -> Vec<(&'static str, String)> {
    let target = &document.run.target;
    vec![
        ("SERIAL NO.", or_na(target.serial.as_deref())),
        ("FIRMWARE REV.", or_na(target.firmware.as_deref())),
        (
            "USER CAPACITY",
            format!(
                "{}<small>{} B</small>",
                amount_base10(target.capacity_bytes),
                grouped(target.capacity_bytes as f64, 0)
            ),
        ),
        ("DEVICE INTERFACE", or_na(target.interface.as_deref())),
        ("NAND TYPE", or_na(target.nand.as_deref())),
        (
            "SECTOR SIZE",
            format!("{} B / {} B physical", target.logical_block_bytes, target.physical_block_bytes),
        ),
    ]
}

fn platform(document: &Document) -> Vec<(&'static str, String)> {
    let host = &document.run.host;
    let cpu = match (&host.cpu, host.cpus) {
        (Some(cpu), Some(count)) => Some(format!("{count} x {cpu}")),
        (cpu, _) => cpu.clone(),
    };
    vec![
        ("SYSTEM", or_na(host.board.as_deref())),
        ("MOTHERBOARD/CPU", or_na(cpu.as_deref())),
        ("RAM", or_na(host.memory_bytes.map(amount_base2).as_deref())),
        ("DEVICE INTERFACE", or_na(host.pcie_link.as_deref())),
        ("CPU GOVERNOR", or_na(host.governor.as_deref())),
        ("I/O SCHEDULER", or_na(host.scheduler.as_deref())),
    ]
}

fn software(document: &Document) -> Vec<(&'static str, String)> {
    let (run, host) = (&document.run, &document.run.host);
    let system = match (&host.os, &host.kernel) {
        (Some(os), Some(kernel)) => Some(format!("{os}, {kernel}")),
        (os, kernel) => os.clone().or_else(|| kernel.clone()),
    };
    vec![
        ("SYS OS", or_na(system.as_deref())),
        ("SW TOOL", "Plateau".to_owned()),
        ("SW REV", format!("{} (test run)", escape(&run.plateau_version))),
        ("RELEASE", format!("{} (report)", env!("CARGO_PKG_VERSION"))),
        ("LOAD ENGINE", or_na(Some(&document.engines.join("; ")))),
        ("PROFILE", escape(&run.profile)),
    ]
}

fn dates(document: &Document) -> Vec<(&'static str, String)> {
    vec![
        ("REPORT", report_run_date(document)),
        ("TEST RUN", format!("{}<small>to</small>{}", test_run_date(document), report_run_date(document))),
        ("TEST SPONSOR", "n/a".to_owned()),
        ("AUDITOR", "n/a".to_owned()),
    ]
}

fn all_notes(document: &Document) -> Vec<NoteRow> {
    let mut rows = Vec::new();
    for mark in document.marks(None) {
        let comments = match mark.kind {
            MarkKind::Interrupted => document.interruptions.iter().map(Interruption::describe).collect(),
            _ => mark.details,
        };
        rows.push(NoteRow { item: "Run".into(), notation: mark.title, comments });
    }
    for outcome in document.outcomes.iter().filter(|outcome| !outcome.notes.is_empty()) {
        rows.push(NoteRow {
            item: outcome.title.into(),
            notation: "NOTE".into(),
            comments: outcome.notes.clone(),
        });
    }
    if let Some(bytes) = document.torn_bytes {
        rows.push(NoteRow {
            item: "Journal".into(),
            notation: "NOTE".into(),
            comments: vec![format!("an unfinished last record of {bytes} B was left out")],
        });
    }
    rows
}

/// What it takes to find the run again, to repeat it, and to check this report.
fn origin(document: &Document) -> String {
    let run = &document.run;
    let items = [
        ("Run", escape(&run.id)),
        ("Command", or_na(Some(&run.command.join(" ")))),
        ("Seed", run.settings.seed.to_string()),
        ("Journal SHA-256", document.digest.clone()),
    ];
    facts("origin", &items)
}
