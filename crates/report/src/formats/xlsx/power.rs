//! The sheet with power and efficiency.

use rust_xlsxwriter::{Format as CellFormat, Workbook, Worksheet, XlsxError};

use super::super::format::Source;
use crate::facts::answers::answers;
use crate::facts::efficiency::{Efficiency, Meter, Quantity};

const QUANTITIES: [&str; 6] = [
    "attributed_watts",
    "attributed_watts_uncertainty",
    "iops_per_watt",
    "iops_per_watt_uncertainty",
    "bytes_per_second_per_watt",
    "bytes_per_second_per_watt_uncertainty",
];

/// Adds the sheet to the book of a run with a power source.
pub(super) fn add(book: &mut Workbook, source: Source<'_>, bold: &CellFormat) -> Result<(), XlsxError> {
    let meter = Meter::of(&source.document.run, source.entries);
    if meter.facts.is_none() {
        return Ok(());
    }
    let sheet = book.add_worksheet();
    sheet.set_name("Power")?;
    sheet.set_column_width(1, 34)?;
    sheet.write_with_format(0, 0, meter.statement(), bold)?;
    if let Some(idle) = meter.idle() {
        heading(sheet, 1, &["idle_watts", "idle_watts_uncertainty"], bold)?;
        quantity(sheet, 2, 0, Some(idle), 1.0)?;
    }
    let row = workloads(sheet, 4, source, bold)?;
    cells(sheet, row + 1, source, &meter, bold)
}

/// Writes the means over the rounds of the windows at `row`; returns the row after them.
fn workloads(
    sheet: &mut Worksheet,
    row: u32,
    source: Source<'_>,
    bold: &CellFormat,
) -> Result<u32, XlsxError> {
    heading(sheet, row, &[&["test", "workload", "rounds_with_power"], &QUANTITIES[..]].concat(), bold)?;
    let mut row = row;
    for supplement in &source.document.supplements {
        for workload in &supplement.per_watt {
            row += 1;
            sheet.write_string(row, 0, &supplement.test)?;
            sheet.write_string(row, 1, &workload.name)?;
            sheet.write_number(row, 2, workload.rounds as f64)?;
            efficiency(sheet, row, 3, workload.mean.as_ref())?;
        }
    }
    Ok(row + 1)
}

/// Writes every workload whose power was measured; `record` identifies it on the sheet of all workloads.
fn cells(
    sheet: &mut Worksheet,
    row: u32,
    source: Source<'_>,
    meter: &Meter<'_>,
    bold: &CellFormat,
) -> Result<(), XlsxError> {
    const HEADS: [&str; 7] = [
        "test",
        "workload",
        "record",
        "power_mean_watts",
        "power_min_watts",
        "power_max_watts",
        "power_samples",
    ];
    heading(sheet, row, &[&HEADS[..], &QUANTITIES[..]].concat(), bold)?;
    let mut row = row;
    for answer in answers(source.entries) {
        let Some(power) = answer.segment.power else { continue };
        row += 1;
        sheet.write_string(row, 0, answer.test)?;
        sheet.write_string(row, 1, answer.segment.workload.to_string())?;
        sheet.write_number(row, 2, answer.record as f64)?;
        for (column, microwatts) in
            (3..).zip([power.mean_microwatts, power.min_microwatts, power.max_microwatts])
        {
            sheet.write_number(row, column, microwatts as f64 / 1e6)?;
        }
        sheet.write_number(row, 6, power.samples)?;
        efficiency(sheet, row, 7, meter.efficiency(answer.segment).as_ref())?;
    }
    Ok(())
}

fn heading(sheet: &mut Worksheet, row: u32, names: &[&str], bold: &CellFormat) -> Result<(), XlsxError> {
    for (column, name) in (0..).zip(names) {
        sheet.write_with_format(row, column, *name, bold)?;
    }
    Ok(())
}

/// Writes six cells; they stay empty if nothing is attributed to the workload.
fn efficiency(
    sheet: &mut Worksheet,
    row: u32,
    column: u16,
    found: Option<&Efficiency>,
) -> Result<(), XlsxError> {
    quantity(sheet, row, column, found.map(|found| found.watts), 1.0)?;
    quantity(sheet, row, column + 2, found.map(|found| found.iops_per_watt), 1.0)?;
    quantity(sheet, row, column + 4, found.map(|found| found.megabytes_per_second_per_watt), 1e6)
}

/// Writes a value and its uncertainty, if they are known.
fn quantity(
    sheet: &mut Worksheet,
    row: u32,
    column: u16,
    quantity: Option<Quantity>,
    factor: f64,
) -> Result<(), XlsxError> {
    let Some(quantity) = quantity.map(|quantity| quantity.times(factor)) else { return Ok(()) };
    sheet.write_number(row, column, quantity.value)?;
    if let Some(uncertainty) = quantity.uncertainty() {
        sheet.write_number(row, column + 1, uncertainty)?;
    }
    Ok(())
}
