//! A spreadsheet with tables as numbers and charts as pictures.

mod power;

use pts::exhibit::{Cell, Exhibit, Table};
use pts::host_limit::{MARK, legend};
use record::Effort;
use rust_xlsxwriter::{
    DocProperties, ExcelDateTime, Format as CellFormat, Image, Workbook, Worksheet, XlsxError,
};

use super::format::{Format, Make, Source};
use super::{raster, svg};
use crate::facts::answers::{Answer, answers, percentile_ns};
use crate::pages::cells::has_host_limited;
use crate::pages::remarks::figures_legend;

/// The spreadsheet format.
pub(super) const FORMAT: Format = Format {
    name: "xlsx",
    about: "a spreadsheet: tables as numbers, charts as images, every cell of every round",
    extensions: &["xlsx"],
    make: Make::File(|source| book(source).map_err(|error| error.to_string())),
};

/// Default row height of a sheet.
const ROW_PIXELS: f64 = 20.0;
/// Maximum length of a sheet name.
const NAME_CHARACTERS: usize = 31;

fn book(source: Source<'_>) -> Result<Vec<u8>, XlsxError> {
    let mut book = Workbook::new();
    // By default, the library stores the current time, but the same journal must yield the same bytes.
    let born = ExcelDateTime::from_timestamp(source.document.run.created.as_second())?;
    book.set_properties(
        &DocProperties::new().set_creation_datetime(&born).set_title(&source.document.run.id),
    );
    let bold = CellFormat::new().set_bold();
    overview(book.add_worksheet(), source, &bold)?;
    let mut names: Vec<String> = vec!["summary".into()];
    for outcome in &source.document.outcomes {
        let sheet = book.add_worksheet();
        // Custom tests may share a title, but names are unique.
        let title = sheet_name(&outcome.title);
        let is_taken = names.contains(&title.to_lowercase());
        let name = if is_taken { sheet_name(&outcome.test) } else { title };
        names.push(name.to_lowercase());
        sheet.set_name(name)?;
        let mut row = labelled(sheet, source, &bold)?;
        for page in &outcome.pages {
            for exhibit in &page.exhibits {
                if let Exhibit::Table(table) = exhibit {
                    row = numbers(sheet, row, &page.title, table, &bold)? + 1;
                    if has_host_limited(table) {
                        sheet.write_string(row - 1, 0, legend())?;
                        row += 1;
                    }
                }
            }
        }
    }
    let pictures = book.add_worksheet();
    pictures.set_name("Charts")?;
    let mut row = 0;
    for svg::Chart { name, svg, reading } in svg::charts(source) {
        pictures.write_with_format(row, 0, &name, &bold)?;
        pictures.write_string(row + 1, 0, reading)?;
        let png = raster::png(&svg, 1.0).map_err(XlsxError::ParameterError)?;
        let image = Image::new_from_buffer(&png)?.set_alt_text(&name);
        pictures.insert_image(row + 2, 0, &image)?;
        row += 4 + (image.height() / ROW_PIXELS) as u32;
    }
    cells(book.add_worksheet(), source, &bold)?;
    power::add(&mut book, source, &bold)?;
    book.save_to_buffer()
}

/// Labels a sheet with simulated or imported results; returns the first free row.
fn labelled(sheet: &mut Worksheet, source: Source<'_>, bold: &CellFormat) -> Result<u32, XlsxError> {
    let Some(label) = source.document.label() else { return Ok(0) };
    sheet.write_with_format(0, 0, label, bold)?;
    Ok(2)
}

/// Format of host-limited numbers: the cell displays the mark, but remains numeric.
fn marked() -> CellFormat {
    CellFormat::new().set_num_format(format!("General\"{MARK}\""))
}

/// Replaces characters that sheet names must not contain: brackets, slashes, colons, asterisks, question marks.
fn sheet_name(title: &str) -> String {
    title.chars().map(|c| if "[]:*?/\\'".contains(c) { ' ' } else { c }).take(NAME_CHARACTERS).collect()
}

fn overview(sheet: &mut Worksheet, source: Source<'_>, bold: &CellFormat) -> Result<(), XlsxError> {
    let (document, run) = (source.document, &source.document.run);
    sheet.set_name("Summary")?;
    sheet.set_column_width(0, 34)?;
    let capacity = run.target.capacity_bytes.to_string();
    let facts: [(&str, &str); 8] = [
        ("Run", &run.id),
        ("Profile", document.profile.revision),
        ("Model", run.target.model.as_deref().unwrap_or(&run.target.path)),
        ("Serial number", run.target.serial.as_deref().unwrap_or("n/a")),
        ("Firmware", run.target.firmware.as_deref().unwrap_or("n/a")),
        ("Capacity (bytes)", &capacity),
        ("Journal SHA-256", &document.digest),
        ("Plateau", &run.plateau_version),
    ];
    let mut row = 0;
    for (label, value) in facts {
        sheet.write_with_format(row, 0, label, bold)?;
        sheet.write_string(row, 1, value)?;
        row += 1;
    }
    for mark in document.marks(None) {
        sheet.write_with_format(row, 0, mark.title, bold)?;
        sheet.write_string(row, 1, mark.details.join("; "))?;
        row += 1;
    }
    row += 1;
    for (column, heading) in ["Figure", "Test", "Value", "Unit", "Steady state"].iter().enumerate() {
        sheet.write_with_format(row, column as u16, *heading, bold)?;
    }
    for outcome in &document.outcomes {
        for figure in &outcome.key_figures {
            row += 1;
            sheet.write_string(row, 0, &figure.name)?;
            sheet.write_string(row, 1, &outcome.title)?;
            match figure.value.filter(|v| v.is_finite()) {
                Some(value) if figure.host_limited => sheet.write_with_format(row, 2, value, &marked())?,
                Some(value) => sheet.write_number(row, 2, value)?,
                None => sheet.write_string(row, 2, figure.absent)?,
            };
            sheet.write_string(row, 3, figure.unit.symbol())?;
            sheet.write_string(row, 4, outcome.header.convergence.to_string())?;
        }
    }
    if let Some(legend) = document.outcomes.iter().find_map(figures_legend) {
        sheet.write_string(row + 2, 0, legend)?;
    }
    Ok(())
}

/// Writes `table` at `row`; returns the row after it.
fn numbers(
    sheet: &mut Worksheet,
    row: u32,
    page: &str,
    table: &Table,
    bold: &CellFormat,
) -> Result<u32, XlsxError> {
    let mut row = row;
    let heading =
        if table.heading.is_empty() { page.to_owned() } else { format!("{page}: {}", table.heading) };
    sheet.write_with_format(row, 0, heading, bold)?;
    row += 1;
    sheet.write_with_format(row, 0, table.row_heading.as_str(), bold)?;
    for (column, name) in table.columns.iter().enumerate() {
        sheet.write_with_format(row, column as u16 + 1, name.as_str(), bold)?;
    }
    for line in &table.rows {
        row += 1;
        match line.name.parse::<f64>() {
            Ok(number) => sheet.write_number(row, 0, number)?,
            Err(_) => sheet.write_string(row, 0, &line.name)?,
        };
        for (column, cell) in line.cells.iter().enumerate() {
            let column = column as u16 + 1;
            match cell {
                Cell::Value(value) if value.is_finite() => sheet.write_number(row, column, *value)?,
                Cell::HostLimited(value) if value.is_finite() => {
                    sheet.write_with_format(row, column, *value, &marked())?
                }
                Cell::Value(_) | Cell::HostLimited(_) => sheet.write_string(row, column, "n/a")?,
                Cell::Absent(why) => sheet.write_string(row, column, why)?,
            };
        }
    }
    Ok(row + 1)
}

fn cells(sheet: &mut Worksheet, source: Source<'_>, bold: &CellFormat) -> Result<(), XlsxError> {
    const HEADINGS: [&str; 20] = [
        "test",
        "phase",
        "round",
        "record",
        "workload",
        "block_bytes",
        "read_percent",
        "duration_ns",
        "iops",
        "bytes_per_second",
        "latency_mean_ns",
        "latency_p99_ns",
        "errors",
        "host_share",
        "user_ns",
        "system_ns",
        "voluntary_switches",
        "involuntary_switches",
        "host_limited",
        "simulated",
    ];
    let simulated = source.document.simulated();
    sheet.set_name("Cells")?;
    for (column, heading) in HEADINGS.iter().enumerate() {
        sheet.write_with_format(0, column as u16, *heading, bold)?;
    }
    for (index, Answer { record, test, phase, round, segment, .. }) in
        answers(source.entries).iter().enumerate()
    {
        let row = index as u32 + 1;
        let times = pts::response::merged([*segment]);
        sheet.write_string(row, 0, *test)?;
        sheet.write_string(row, 1, phase.name())?;
        sheet.write_string(row, 4, segment.workload.to_string())?;
        sheet.write_boolean(row, 18, segment.is_host_limited())?;
        sheet.write_string(row, 19, &simulated)?;
        let effort = |of: fn(&Effort) -> u64| segment.host.as_ref().map(|host| of(&host.effort) as f64);
        let numbers = [
            (2, round.map(f64::from)),
            (3, Some(*record as f64)),
            (5, Some(f64::from(segment.workload.block_bytes))),
            (6, Some(f64::from(segment.workload.read_percent))),
            (7, Some(segment.end_ns.saturating_sub(segment.start_ns) as f64)),
            (8, Some(segment.iops())),
            (9, Some(segment.megabytes_per_second() * 1e6)),
            (10, times.mean()),
            (11, percentile_ns(&times, 10_000).map(|ns| ns as f64)),
            (12, Some(segment.error_count() as f64)),
            (13, segment.host_share()),
            (14, effort(|effort| effort.user_ns)),
            (15, effort(|effort| effort.system_ns)),
            (16, effort(|effort| effort.voluntary_switches)),
            (17, effort(|effort| effort.involuntary_switches)),
        ];
        for (column, value) in numbers {
            if let Some(value) = value.filter(|v| v.is_finite()) {
                sheet.write_number(row, column, value)?;
            }
        }
    }
    sheet.set_freeze_panes(1, 0).map(|_| ())
}
