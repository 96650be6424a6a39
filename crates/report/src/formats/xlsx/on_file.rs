//! The sheet with the share of the file system of a run on a file.

use rust_xlsxwriter::{Format as CellFormat, Workbook, Worksheet, XlsxError};

use super::super::format::Source;
use crate::facts::answers::answers;
use crate::facts::file_share::{Share, statement};

/// Name of the sheet.
pub(super) const SHEET: &str = "File system";

/// Name and value of a column.
type Column = (&'static str, fn(&Share) -> Option<f64>);

const RATIOS: [Column; 5] = [
    ("bytes_written_per_byte", Share::bytes_written_per_byte),
    ("writes_per_write", Share::writes_per_write),
    ("bytes_read_per_byte", Share::bytes_read_per_byte),
    ("reads_per_read", Share::reads_per_read),
    ("flushes_per_thousand_writes", Share::flushes_per_thousand_writes),
];

/// Adds the sheet to the book of a run on a file: the whole run, then each workload over the rounds of its window.
pub(super) fn add(book: &mut Workbook, source: Source<'_>, bold: &CellFormat) -> Result<(), XlsxError> {
    let Some(statement) = statement(&source.document.run, source.entries) else { return Ok(()) };
    let sheet = book.add_worksheet();
    sheet.set_name(SHEET)?;
    sheet.set_column_width(1, 34)?;
    sheet.write_with_format(0, 0, statement, bold)?;
    let heads = ["test", "workload"].into_iter().chain(RATIOS.map(|(name, _)| name)).chain(["extents"]);
    for (column, name) in (0..).zip(heads) {
        sheet.write_with_format(2, column, name, bold)?;
    }
    let whole = Share::of(answers(source.entries).iter().map(|answer| answer.segment));
    sheet.write_string(3, 0, "all")?;
    ratios(sheet, 3, whole.as_ref())?;
    let mut row = 3;
    for supplement in &source.document.supplements {
        for workload in &supplement.file_share {
            row += 1;
            sheet.write_string(row, 0, &supplement.test)?;
            sheet.write_string(row, 1, &workload.name)?;
            ratios(sheet, row, workload.share.as_ref())?;
            if let Some(extents) = workload.extents {
                sheet.write_number(row, 2 + RATIOS.len() as u16, extents as f64)?;
            }
        }
    }
    Ok(())
}

/// Writes the ratios of a row; a ratio that is not known stays empty.
fn ratios(sheet: &mut Worksheet, row: u32, share: Option<&Share>) -> Result<(), XlsxError> {
    for (column, (_, of)) in (2..).zip(RATIOS) {
        if let Some(value) = share.and_then(of) {
            sheet.write_number(row, column, value)?;
        }
    }
    Ok(())
}
