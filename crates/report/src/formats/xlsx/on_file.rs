//! The sheet with the I/O overhead of the file system, for a run on a file.

use record::FileShare;
use rust_xlsxwriter::{Format as CellFormat, Workbook, Worksheet, XlsxError};

use super::super::format::Source;
use super::style::labelled;

/// Name of the sheet.
pub(super) const SHEET: &str = "File system";

/// Name and value of a column.
type Column = (&'static str, fn(&FileShare) -> Option<f64>);

const RATIOS: [Column; 5] = [
    ("bytes_written_per_byte", |share| share.bytes_written_per_byte),
    ("writes_per_write", |share| share.writes_per_write),
    ("bytes_read_per_byte", |share| share.bytes_read_per_byte),
    ("reads_per_read", |share| share.reads_per_read),
    ("flushes_per_thousand_writes", |share| share.flushes_per_thousand_writes),
];

/// Adds the sheet to the workbook of a run on a file: the whole run, then each workload over the rounds of its
/// window.
pub(super) fn add(book: &mut Workbook, source: Source<'_>, bold: &CellFormat) -> Result<(), XlsxError> {
    let document = source.document;
    let Some((facts, statement)) = document.file_system.as_ref().zip(document.on_file.as_ref()) else {
        return Ok(());
    };
    let sheet = book.add_worksheet();
    sheet.set_name(SHEET)?;
    sheet.set_column_width(1, 34)?;
    let first = labelled(sheet, source)?;
    sheet.write_with_format(first, 0, statement.as_str(), bold)?;
    let heads = ["test", "workload"].into_iter().chain(RATIOS.map(|(name, _)| name)).chain(["extents"]);
    for (column, name) in (0..).zip(heads) {
        sheet.write_with_format(first + 2, column, name, bold)?;
    }
    let mut row = first + 3;
    sheet.write_string(row, 0, "all")?;
    ratios(sheet, row, facts.share.as_ref())?;
    for one in &document.per_workload {
        for workload in &one.file_share {
            row += 1;
            sheet.write_string(row, 0, &one.test)?;
            sheet.write_string(row, 1, &workload.workload)?;
            ratios(sheet, row, workload.share.as_ref())?;
            if let Some(extents) = workload.extents {
                sheet.write_number(row, 2 + RATIOS.len() as u16, extents as f64)?;
            }
        }
    }
    Ok(())
}

/// Writes a row's ratios; the cell of an unknown ratio stays empty.
fn ratios(sheet: &mut Worksheet, row: u32, share: Option<&FileShare>) -> Result<(), XlsxError> {
    for (column, (_, of)) in (2..).zip(RATIOS) {
        if let Some(value) = share.and_then(of) {
            sheet.write_number(row, column, value)?;
        }
    }
    Ok(())
}
