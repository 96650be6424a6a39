//! A spreadsheet: tables as numbers with their formats, charts that the spreadsheet program draws from the numbers, and
//! every workload.

mod cells;
mod chart;
mod on_file;
mod overview;
mod power;
mod style;

use pts::Outcome;
use pts::exhibit::{Cell, Exhibit, Facts, Table};
use pts::host_limit::legend;
use rust_xlsxwriter::{DocProperties, ExcelDateTime, Workbook, Worksheet, XlsxError};

use super::format::{Format, Make, Source};
use crate::document::marks::{Mark, MarkKind};
use crate::pages::cells::has_host_limited;
use crate::pages::test_summary::has_valid_results;
use chart::ChartData;
use style::{bold, doubtful, labelled, limited, number};

/// The spreadsheet format.
pub(super) const FORMAT: Format = Format {
    name: "xlsx",
    about: "a spreadsheet: tables as numbers, native charts, every workload of every round",
    extensions: &["xlsx"],
    make: Make::File(|source| book(source).map_err(|error| error.to_string())),
};

/// Maximum length of a sheet name.
const NAME_CHARACTERS: usize = 31;

fn book(source: Source<'_>) -> Result<Vec<u8>, XlsxError> {
    let mut book = Workbook::new();
    // By default, the library stores the current time, but the same journal must yield the same bytes.
    let born = ExcelDateTime::from_timestamp(source.document.run.created.as_second())?;
    book.set_properties(
        &DocProperties::new().set_creation_datetime(&born).set_title(&source.document.run.id),
    );
    overview::write(book.add_worksheet(), source)?;
    let mut data = ChartData::new(source.document.label())?;
    let mut names: Vec<String> =
        ["summary", "cells", "power", on_file::SHEET, chart::SHEET].map(str::to_lowercase).into();
    for outcome in source.document.outcomes.iter().filter(|outcome| has_content(outcome)) {
        // Custom tests may share a title, but their names are unique.
        let title = sheet_name(&outcome.title);
        let is_taken = names.contains(&title.to_lowercase());
        let name = if is_taken { sheet_name(&outcome.test) } else { title };
        names.push(name.to_lowercase());
        test(book.add_worksheet().set_name(name)?, source, outcome, &mut data)?;
    }
    if let Some(sheet) = cells::sheet(source)? {
        book.push_worksheet(sheet);
    }
    power::add(&mut book, source, &bold())?;
    on_file::add(&mut book, source, &bold())?;
    if let Some(sheet) = data.sheet()? {
        book.push_worksheet(sheet);
    }
    for sheet in book.worksheets_mut() {
        // Except for the numbers of the charts, a printed sheet is as wide as the page.
        if sheet.name() != chart::SHEET {
            sheet.set_landscape().set_print_fit_to_pages(1, 0);
        }
    }
    book.save_to_buffer()
}

/// Returns whether there is anything to put on the sheet of a test.
fn has_content(outcome: &Outcome) -> bool {
    pages(outcome).any(|page| !page.exhibits.is_empty())
}

fn pages(outcome: &Outcome) -> impl Iterator<Item = &pts::exhibit::Page> {
    outcome.pages.iter().chain(&outcome.beyond)
}

/// Labels the sheet of a test, says why its numbers are invalid or were interrupted, and returns the first free row.
fn caveats(sheet: &mut Worksheet, source: Source<'_>, outcome: &Outcome) -> Result<u32, XlsxError> {
    let mut row = labelled(sheet, source)?;
    let doubtful = |mark: &Mark| {
        matches!(mark.kind, MarkKind::NotAchieved | MarkKind::NotComplete | MarkKind::Interrupted)
    };
    for mark in source.document.marks(Some(outcome)).iter().filter(|mark| doubtful(mark)) {
        let text = format!("{}: {}", mark.title, mark.details.join("; "));
        sheet.write_with_format(row, 0, text, &bold())?;
        row += 2;
    }
    Ok(row)
}

/// Writes one sheet: the tables of a test, then its charts.
fn test(
    sheet: &mut Worksheet,
    source: Source<'_>,
    outcome: &Outcome,
    data: &mut ChartData,
) -> Result<(), XlsxError> {
    let mut row = caveats(sheet, source, outcome)?;
    let is_valid = has_valid_results(outcome);
    let exhibits = || pages(outcome).flat_map(|page| page.exhibits.iter().map(|e| (page.title.as_str(), e)));
    for (page, exhibit) in exhibits() {
        match exhibit {
            Exhibit::Table(table) => row = numbers(sheet, row, page, (table, is_valid))? + 1,
            Exhibit::Facts(facts) => row = labelled_values(sheet, row, page, facts)? + 1,
            _ => {}
        }
    }
    for (page, exhibit) in exhibits() {
        row = data.insert(sheet, row, (&outcome.title, page), exhibit)?;
    }
    sheet.set_column_width(0, 34).map(|_| ())
}

/// Replaces characters that sheet names must not contain: brackets, slashes, colons, asterisks, question marks.
fn sheet_name(title: &str) -> String {
    title.chars().map(|c| if "[]:*?/\\'".contains(c) { ' ' } else { c }).take(NAME_CHARACTERS).collect()
}

/// Writes `table` at `row`, pale if its numbers are not valid results; returns the row after it.
fn numbers(
    sheet: &mut Worksheet,
    row: u32,
    page: &str,
    (table, is_valid): (&Table, bool),
) -> Result<u32, XlsxError> {
    let shown = |format| if is_valid { format } else { doubtful(format) };
    let mut row = row;
    let heading =
        if table.heading.is_empty() { page.to_owned() } else { format!("{page}: {}", table.heading) };
    sheet.write_with_format(row, 0, heading, &bold())?;
    row += 1;
    sheet.write_with_format(row, 0, table.row_heading.as_str(), &bold())?;
    for (column, name) in table.columns.iter().enumerate() {
        sheet.write_with_format(row, column as u16 + 1, name.as_str(), &bold())?;
    }
    for (index, line) in table.rows.iter().enumerate() {
        row += 1;
        match line.name.parse::<f64>() {
            Ok(number) => sheet.write_number(row, 0, number)?,
            Err(_) => sheet.write_string(row, 0, &line.name)?,
        };
        for (column, cell) in line.cells.iter().enumerate() {
            let decimals = table.decimals_at(index, column);
            let column = column as u16 + 1;
            match cell {
                Cell::Value(value) if value.is_finite() => {
                    sheet.write_with_format(row, column, *value, &shown(number(decimals)))?
                }
                Cell::HostLimited(value) if value.is_finite() => {
                    sheet.write_with_format(row, column, *value, &shown(limited(decimals)))?
                }
                Cell::Value(_) | Cell::HostLimited(_) => sheet.write_string(row, column, "n/a")?,
                Cell::Absent(why) => sheet.write_string(row, column, why)?,
            };
        }
    }
    if has_host_limited(table) {
        row += 1;
        sheet.write_string(row, 0, legend())?;
    }
    Ok(row + 1)
}

/// Writes values as printed; returns the row after them.
fn labelled_values(sheet: &mut Worksheet, row: u32, page: &str, facts: &Facts) -> Result<u32, XlsxError> {
    sheet.write_with_format(row, 0, format!("{page}: {}", facts.heading), &bold())?;
    let mut row = row + 1;
    for (label, value) in &facts.items {
        sheet.write_string(row, 0, label)?;
        sheet.write_string(row, 1, value)?;
        row += 1;
    }
    if facts.host_limited {
        sheet.write_string(row, 0, legend())?;
        row += 1;
    }
    Ok(row)
}
