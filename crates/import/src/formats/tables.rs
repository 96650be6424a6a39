//! The CSV tables of a Plateau report, one file at a time: workloads, readings, figures, windows or tables. Columns are
//! found by name, so that other columns may be added.

mod cells;
mod rows;

use std::collections::BTreeMap;

use record::{Exported, ExportedRow, ExportedTable, ExportedWindow, HostFacts, ImportedTest, ToldFigure};

use super::format::{Format, first_byte, text};
use crate::imported::{Device, Imported, Provenance};
use crate::number::bounded;
use crate::provenance;
use rows::Row;

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "csv",
    title: "Plateau CSV",
    about: "cells.csv, figures.csv, steady_state.csv or tables.csv of a Plateau report",
    largest_bytes: 64 << 20,
    is,
    read,
};

/// Adds a row to its test.
type Enter = fn(&Row<'_>, &mut ImportedTest, &mut Exported) -> Result<(), String>;

/// A table of results: a combination of columns that no other table has, and the meaning of its rows.
const TABLES: &[(&[&str], Enter)] = &[
    (&["job", "phase", "access", "read_ios", "iops", "latency_mean_ns"], cells::cell),
    (&["figure", "unit", "value", "host_limited"], figure),
    (&["variable", "first_round", "slope_per_round"], window),
    (&["page", "table", "row", "column", "value"], value),
];

fn table(columns: &[&str]) -> Option<Enter> {
    let has = |required: &&&str| columns.contains(*required);
    let found = TABLES.iter().find(|(required, _)| required.iter().filter(has).count() == required.len());
    found.map(|(_, enter)| *enter)
}

fn is(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(4 << 10)];
    let head = String::from_utf8_lossy(head);
    let columns: Vec<&str> = head.lines().next().unwrap_or_default().split(',').collect();
    first_byte(bytes).is_some_and(|byte| byte.is_ascii_alphabetic())
        && columns.contains(&"test")
        && columns.len() > 3
        && columns.contains(&"simulated")
}

fn read(bytes: &[u8]) -> Result<Imported, String> {
    let mut reader = csv::ReaderBuilder::new().from_reader(text(bytes)?.as_bytes());
    let heading = reader.headers().map_err(|error| error.to_string())?.clone();
    let columns: Vec<&str> = heading.iter().collect();
    let enter = table(&columns).ok_or(
        "it contains no results itself; import cells.csv, figures.csv, steady_state.csv or tables.csv, \
         or the JSON document, which has everything",
    )?;
    let mut tests: Vec<(ImportedTest, Exported)> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let (mut run, mut tool) = (Provenance::default(), None);
    for (number, record) in reader.records().enumerate() {
        let record = record.map_err(|error| error.to_string())?;
        let row = Row { columns: &columns, record: &record };
        let named = |problem: String| format!("row {}: {problem}", number + 1);
        note(&row, &mut run).map_err(named)?;
        tool = row.text("imported").map(provenance::tool_of);
        let name = row.text("test").unwrap_or_default();
        let at = *places.entry(name.clone()).or_insert(tests.len());
        if at == tests.len() {
            let test = ImportedTest { test: name.clone(), ..ImportedTest::default() };
            tests.push((test, Exported { title: name, ..Exported::default() }));
        }
        let (test, exported) = &mut tests[at];
        enter(&row, test, exported).map_err(named)?;
    }
    let id = run.run.clone().unwrap_or_else(|| "of unknown id".into());
    let tests = tests.into_iter().map(|(test, exported)| ImportedTest {
        outline: format!("as exported from run {id}"),
        exported: Some(exported),
        ..test
    });
    Ok(Imported {
        tool: tool.unwrap_or_else(|| "Plateau (version not in the file)".into()),
        date: None,
        transcribed: false,
        reports_mebibytes: false,
        remarks: Vec::new(),
        exported: run,
        settings: None,
        stated: record::Stated::default(),
        device: Device::default(),
        host: HostFacts::default(),
        tests: tests.collect(),
    })
}

/// Reads the run, the simulated drive and the marks, which every row repeats.
fn note(row: &Row<'_>, provenance: &mut Provenance) -> Result<(), String> {
    let run = row.text("run");
    if provenance.run.is_some() && provenance.run != run {
        return Err("the file has rows from several runs; import them one at a time".into());
    }
    provenance.run = run;
    provenance.simulated = row.text("simulated");
    if provenance.marks.is_empty() {
        provenance.marks = provenance::marks(&row.text("marks").unwrap_or_default())?;
    }
    Ok(())
}

fn figure(row: &Row<'_>, test: &mut ImportedTest, exported: &mut Exported) -> Result<(), String> {
    // Each figure repeats the verdict of its test.
    test.steady = row.parsed("steady")?;
    if row.parsed("complete")? == Some(false) {
        exported.stopped = Some("the reason is not in the file".into());
    }
    let name = row.text("figure").ok_or("a figure without a name")?;
    test.figures.push(ToldFigure {
        value: row.number("value")?.map(|value| bounded(value, &name)).transpose()?,
        unit: row.text("unit").unwrap_or_default(),
        host_limited: row.parsed("host_limited")?.unwrap_or(false),
        key: None,
        name,
    });
    Ok(())
}

fn window(row: &Row<'_>, test: &mut ImportedTest, exported: &mut Exported) -> Result<(), String> {
    let number = |column: &str| -> Result<f64, String> {
        let value = row.number(column)?.ok_or_else(|| format!("no {column}"))?;
        bounded(value, column)
    };
    let round = |column: &str| row.parsed::<u32>(column)?.ok_or_else(|| format!("no {column}"));
    let window = ExportedWindow {
        variable: row.text("variable").unwrap_or_default(),
        first_round: round("first_round")?,
        last_round: round("last_round")?,
        mean: number("mean")?,
        data_excursion: number("data_excursion")?,
        data_excursion_allowed: number("data_excursion_allowed")?,
        slope_per_round: number("slope_per_round")?,
        intercept: number("intercept")?,
        slope_excursion: number("slope_excursion")?,
        slope_excursion_allowed: number("slope_excursion_allowed")?,
        correlation: row.number("correlation")?.map(|value| bounded(value, "correlation")).transpose()?,
        steady: row.parsed("steady")?.ok_or("no verdict")?,
        host_limited: row.parsed("host_limited")?.unwrap_or(false),
    };
    // Several tracking variables must be steady in the same window.
    test.steady = Some(test.steady.unwrap_or(true) && window.steady);
    test.window.get_or_insert((window.first_round, window.last_round));
    exported.tracked_unit = row.text("unit");
    exported.windows.push(window);
    Ok(())
}

fn value(row: &Row<'_>, _: &mut ImportedTest, exported: &mut Exported) -> Result<(), String> {
    let text = |column: &str| row.text(column).unwrap_or_default();
    let (page, heading) = (text("page"), text("table"));
    let place = exported.tables.last().map(|table| (&table.page, &table.heading));
    if place != Some((&page, &heading)) {
        exported.tables.push(ExportedTable { page, heading, ..ExportedTable::default() });
    }
    let Some(table) = exported.tables.last_mut() else { return Ok(()) };
    let (name, column) = (text("row"), text("column"));
    // A value in the first column starts a new row, even if two rows have the same name.
    let continues = |last: &ExportedRow| last.name == name && table.columns.first() != Some(&column);
    if !table.rows.last().is_some_and(continues) {
        table.rows.push(ExportedRow { name, ..ExportedRow::default() });
    }
    if table.rows.len() == 1 {
        table.columns.push(column);
    }
    let value = row.number("value")?.map(|value| bounded(value, "a value")).transpose()?;
    if let Some(last) = table.rows.last_mut() {
        last.values.push(value);
        last.absent.push(text("absent"));
        last.host_limited.push(row.parsed("host_limited")?.unwrap_or(false));
        last.units.push(text("unit"));
    }
    Ok(())
}
