//! The first sheet: the tested device, the caveats, and the key figures.

use pts::{KeyFigure, Outcome};
use rust_xlsxwriter::{FormatAlign, Worksheet, XlsxError};

use super::super::format::Source;
use super::style::{bold, doubtful, limited, number, percent};
use crate::pages::remarks::figures_legend;
use crate::pages::test_summary::is_valid;
use crate::pages::values::{absent, fact, model};

const COLUMNS: [&str; 9] = [
    "Figure",
    "Test",
    "Value",
    "Unit",
    "Std. dev. over the window",
    "Steady state",
    "Threads (TC)",
    "Queue depth (QD)",
    "Rounds",
];

pub(super) fn write(sheet: &mut Worksheet, source: Source<'_>) -> Result<(), XlsxError> {
    let document = source.document;
    sheet.set_name("Summary")?;
    let mut row = facts(sheet, source)?;
    for mark in document.marks(None) {
        sheet.write_with_format(row, 0, mark.title, &bold())?;
        sheet.write_string(row, 1, mark.details.join("; "))?;
        row += 1;
    }
    row += 1;
    for (column, heading) in COLUMNS.iter().enumerate() {
        sheet.write_with_format(row, column as u16, *heading, &bold())?;
    }
    for outcome in &document.outcomes {
        for figure in &outcome.key_figures {
            row += 1;
            write_figure(sheet, row, source, outcome, figure)?;
        }
    }
    if let Some(legend) = document.outcomes.iter().find_map(figures_legend) {
        sheet.write_string(row + 2, 0, legend)?;
    }
    sheet.set_column_width(0, 34)?;
    sheet.set_column_width(1, 34)?;
    sheet.set_column_range_width(2, COLUMNS.len() as u16 - 1, 16).map(|_| ())
}

/// Writes the device and the run; returns the next row.
fn facts(sheet: &mut Worksheet, source: Source<'_>) -> Result<u32, XlsxError> {
    let (document, run) = (source.document, &source.document.run);
    let known = |value: &Option<String>| fact(document, value.as_deref());
    let (started, ended) = document.dates_of(None);
    let facts: [(&str, String); 10] = [
        ("Run", run.id.clone()),
        ("Profile", document.profile.revision.to_owned()),
        ("Vendor", known(&run.target.vendor)),
        ("Model", model(document).to_owned()),
        ("Serial number", known(&run.target.serial)),
        ("Firmware", known(&run.target.firmware)),
        ("Started", started),
        ("Ended", ended),
        ("Journal SHA-256", document.digest.clone()),
        ("Plateau", run.plateau_version.clone()),
    ];
    let mut row = 0;
    for (label, value) in facts {
        sheet.write_with_format(row, 0, label, &bold())?;
        sheet.write_string(row, 1, value)?;
        row += 1;
    }
    sheet.write_with_format(row, 0, "Capacity (bytes)", &bold())?;
    match run.target.capacity_bytes {
        0 => sheet.write_string(row, 1, absent(document))?,
        bytes => sheet.write_with_format(row, 1, bytes as f64, &number(0).set_align(FormatAlign::Left))?,
    };
    Ok(row + 1)
}

fn write_figure(
    sheet: &mut Worksheet,
    row: u32,
    source: Source<'_>,
    outcome: &Outcome,
    figure: &KeyFigure,
) -> Result<(), XlsxError> {
    sheet.write_string(row, 0, &figure.name)?;
    sheet.write_string(row, 1, &outcome.title)?;
    let format = if figure.host_limited { limited(figure.decimals) } else { number(figure.decimals) };
    let format = if is_valid(outcome, figure) { format } else { doubtful(format) };
    match figure.value.filter(|v| v.is_finite()) {
        Some(value) => sheet.write_with_format(row, 2, value, &format)?,
        None => sheet.write_string(row, 2, figure.absent)?,
    };
    sheet.write_string(row, 3, figure.unit.symbol())?;
    if let Some(share) = source.document.spread(outcome, figure).filter(|share| share.is_finite()) {
        sheet.write_with_format(row, 4, share, &percent())?;
    }
    sheet.write_string(row, 5, outcome.header.convergence.to_string())?;
    for (column, value) in [(6, outcome.header.threads), (7, outcome.header.queue_depth)] {
        match value {
            Some(value) => sheet.write_number(row, column, value)?,
            None => sheet.write_string(row, column, absent(source.document))?,
        };
    }
    sheet.write_number(row, 8, outcome.rounds).map(|_| ())
}
