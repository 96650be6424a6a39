//! The sheet with power and efficiency.

use record::{Efficiency, Uncertain};
use rust_xlsxwriter::{Format as CellFormat, Workbook, Worksheet, XlsxError};

use super::super::format::Source;
use super::style::labelled;
use crate::facts::observations::{Observation, observations};

const QUANTITIES: [&str; 6] = [
    "attributed_watts",
    "attributed_watts_uncertainty",
    "iops_per_watt",
    "iops_per_watt_uncertainty",
    "bytes_per_second_per_watt",
    "bytes_per_second_per_watt_uncertainty",
];

/// Adds the sheet if the run has a power source, or if its imported file contains the power of workloads.
pub(super) fn add(book: &mut Workbook, source: Source<'_>, bold: &CellFormat) -> Result<(), XlsxError> {
    let document = source.document;
    let all = observations(&source.judged());
    if document.meter.is_none() && all.iter().all(|observation| observation.power.is_none()) {
        return Ok(());
    }
    let sheet = book.add_worksheet();
    sheet.set_name("Power")?;
    sheet.set_column_width(1, 34)?;
    let first = labelled(sheet, source)?;
    sheet.write_with_format(first, 0, document.power.as_str(), bold)?;
    if let Some(idle) = document.meter.as_ref().and_then(|meter| meter.idle_watts) {
        heading(sheet, first + 1, &["idle_watts", "idle_watts_uncertainty"], bold)?;
        quantity(sheet, first + 2, 0, Some(idle))?;
    }
    let row = workloads(sheet, first + 4, source, bold)?;
    cells(sheet, row + 1, &all, bold)
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
    for one in &source.document.per_workload {
        for workload in &one.efficiency {
            row += 1;
            sheet.write_string(row, 0, &one.test)?;
            sheet.write_string(row, 1, &workload.workload)?;
            if let Some(rounds) = workload.rounds {
                sheet.write_number(row, 2, rounds as f64)?;
            }
            efficiency(sheet, row, 3, workload.mean.as_ref())?;
        }
    }
    Ok(row + 1)
}

/// Writes every workload whose power was measured; `record` identifies it on the sheet of all workloads.
fn cells(
    sheet: &mut Worksheet,
    row: u32,
    all: &[Observation<'_>],
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
    for (observation, power) in all.iter().filter_map(|observation| Some((observation, observation.power?))) {
        row += 1;
        sheet.write_string(row, 0, observation.test)?;
        sheet.write_string(row, 1, &observation.workload)?;
        sheet.write_number(row, 2, observation.record as f64)?;
        for (column, watts) in (3..).zip([power.mean_watts, power.min_watts, power.max_watts]) {
            sheet.write_number(row, column, watts)?;
        }
        sheet.write_number(row, 6, power.samples)?;
        efficiency(sheet, row, 7, power.efficiency.as_ref())?;
    }
    Ok(())
}

fn heading(sheet: &mut Worksheet, row: u32, names: &[&str], bold: &CellFormat) -> Result<(), XlsxError> {
    for (column, name) in (0..).zip(names) {
        sheet.write_with_format(row, column, *name, bold)?;
    }
    Ok(())
}

/// Writes six cells; they stay empty if no power is attributed to the workload.
fn efficiency(
    sheet: &mut Worksheet,
    row: u32,
    column: u16,
    found: Option<&Efficiency>,
) -> Result<(), XlsxError> {
    quantity(sheet, row, column, found.map(|found| found.watts))?;
    quantity(sheet, row, column + 2, found.map(|found| found.iops_per_watt))?;
    quantity(sheet, row, column + 4, found.map(|found| found.bytes_per_second_per_watt))
}

/// Writes a value and its uncertainty, if they are known.
fn quantity(
    sheet: &mut Worksheet,
    row: u32,
    column: u16,
    quantity: Option<Uncertain>,
) -> Result<(), XlsxError> {
    let Some(quantity) = quantity else { return Ok(()) };
    sheet.write_number(row, column, quantity.value)?;
    if let Some(uncertainty) = quantity.uncertainty {
        sheet.write_number(row, column + 1, uncertainty)?;
    }
    Ok(())
}
