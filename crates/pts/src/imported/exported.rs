//! Tests from data files that Plateau exported: shows only the tables, charts and figures in the file.

use std::collections::BTreeMap;

use record::{
    Exported, ExportedAxis, ExportedChart, ExportedMark, ExportedRow, ExportedTable, ExportedWindow, Reading,
    ToldFigure,
};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};

use super::jobs;
use super::view::{Kind, View};
use crate::exhibits::exhibit::{Axis, Cell, Exhibit, Lines, Page, Row, Series, Table, Units};
use crate::exhibits::unit::Unit;
use crate::method::steady::WindowStats;
use crate::{KeyFigure, Mark};

use super::absent::ABSENT;

/// The kind of all tests in exported files. Its name is not used: each test has the name given in its file.
pub(super) const KIND: Kind = Kind {
    name: "exported",
    title: "Exported",
    subject: "Exported",
    purpose: "results as exported by another run of Plateau",
    tracked: None,
    pages,
    figures,
};

/// Number of decimal places in tables; the values in the file are not rounded.
const DECIMALS: usize = 3;

fn figures(view: &View<'_>) -> Vec<KeyFigure> {
    view.test.figures.iter().filter_map(figure).collect()
}

/// A figure; None if this version does not know its unit.
fn figure(figure: &ToldFigure) -> Option<KeyFigure> {
    let unit = Unit::of_symbol(&figure.unit)?;
    Some(KeyFigure {
        name: figure.name.clone(),
        key: figure.key.clone(),
        value: figure.value,
        absent: "n/a",
        unit,
        decimals: unit.decimals(),
        host_limited: figure.host_limited,
    })
}

fn pages(view: &View<'_>) -> Vec<Page> {
    let Some(exported) = &view.test.exported else { return Vec::new() };
    let mut pages: Vec<Page> = Vec::new();
    // Exhibits that shared a page when they were exported share a page again.
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut put = |title: &str, exhibit: Exhibit| {
        let next = pages.len();
        match *places.entry(title.to_owned()).or_insert(next) {
            place if place < next => pages[place].exhibits.push(exhibit),
            _ => pages.push(Page::of(format!("exported-{}", next + 1), title, exhibit)),
        }
    };
    for chart in &exported.charts {
        if let Some(lines) = lines(chart) {
            put(&chart.page, Exhibit::Lines(lines));
        }
    }
    for one in &exported.tables {
        put(&one.page, Exhibit::Table(table(one)));
    }
    if pages.is_empty() {
        let measured: Vec<Reading> = view.test.readings.iter().filter(|r| is_result(r)).cloned().collect();
        pages.extend(jobs::sheets(&measured));
    }
    if pages.is_empty() && !view.test.figures.is_empty() {
        pages.push(Page::of("figures", "Figures", Exhibit::Table(table_of_figures(&view.test.figures))));
    }
    pages
}

/// Returns whether a reading is a result; preconditioning is not.
fn is_result(reading: &Reading) -> bool {
    reading.phase.as_deref() != Some("precondition")
}

fn table_of_figures(figures: &[ToldFigure]) -> Table {
    let row = |figure: &ToldFigure| Row {
        name: format!("{} ({})", figure.name, figure.unit),
        cells: vec![Cell::of(figure.value, figure.host_limited, || ABSENT.into())],
    };
    Table {
        heading: "Figures".into(),
        row_heading: "Figure".into(),
        column_heading: "as exported".into(),
        columns: vec!["Value".into()],
        rows: figures.iter().map(row).collect(),
        decimals: DECIMALS,
        units: Units::OfRows(figures.iter().map(|figure| figure.unit.clone()).collect()),
    }
}

fn table(table: &ExportedTable) -> Table {
    Table {
        heading: table.heading.clone(),
        row_heading: table.row_heading.clone(),
        column_heading: table.column_heading.clone(),
        columns: table.columns.clone(),
        rows: table.rows.iter().map(|one| row(one, table.columns.len())).collect(),
        decimals: DECIMALS,
        units: units(table),
    }
}

/// A table's units, either of its rows or of its columns.
fn units(table: &ExportedTable) -> Units {
    let is_of_rows = |row: &ExportedRow| row.units.windows(2).all(|pair| pair[0] == pair[1]);
    let first = |row: &ExportedRow| row.units.first().cloned().unwrap_or_default();
    match table.rows.first() {
        Some(_) if table.rows.iter().all(is_of_rows) => Units::OfRows(table.rows.iter().map(first).collect()),
        row => Units::OfColumns(row.map(|row| row.units.clone()).unwrap_or_default()),
    }
}

fn row(row: &ExportedRow, columns: usize) -> Row {
    let cell = |column: usize| {
        let absent = || row.absent.get(column).filter(|why| !why.is_empty()).cloned();
        let host_limited = row.host_limited.get(column).copied().unwrap_or(false);
        let value = row.values.get(column).copied().flatten();
        Cell::of(value, host_limited, || absent().unwrap_or_else(|| ABSENT.into()))
    };
    Row { name: row.name.clone(), cells: (0..columns).map(cell).collect() }
}

/// A chart; None if this version does not know its kind or one of its scales.
fn lines(chart: &ExportedChart) -> Option<Lines> {
    let axis = |axis: &ExportedAxis| Some(Axis { label: axis.label.clone(), scale: keyed(&axis.scale)? });
    let series = chart.series.iter();
    Some(Lines {
        reading: keyed(&chart.shows)?,
        x: axis(&chart.x)?,
        y: axis(&chart.y)?,
        series: series.map(|one| Series { name: one.name.clone(), points: one.points.clone() }).collect(),
        guides: Vec::new(),
        bands: Vec::new(),
        marked: None,
    })
}

/// Returns the variant with this key.
fn keyed<'de, T: Deserialize<'de>>(key: &'de str) -> Option<T> {
    let key: StrDeserializer<'de, Error> = key.into_deserializer();
    T::deserialize(key).ok()
}

/// The marks in the file, except those with a unit that this version does not know.
pub(super) fn marks(exported: &Exported) -> Vec<Mark> {
    let mark = |mark: &ExportedMark| {
        Some(Mark {
            key: mark.mark.clone(),
            name: mark.name.clone(),
            unit: Unit::of_symbol(&mark.unit)?,
            computed: mark.computed,
            set: mark.set,
            written_bytes: mark.written_bytes,
        })
    };
    exported.marks.iter().filter_map(mark).collect()
}

/// The measurement windows in the file.
pub(super) fn windows(exported: &Exported) -> Vec<(String, WindowStats)> {
    exported.windows.iter().map(|window| (window.variable.clone(), stats(window))).collect()
}

fn stats(window: &ExportedWindow) -> WindowStats {
    WindowStats {
        first_round: window.first_round,
        last_round: window.last_round,
        mean: window.mean,
        range: window.data_excursion,
        range_allowed: window.data_excursion_allowed,
        slope: window.slope_per_round,
        intercept: window.intercept,
        slope_excursion: window.slope_excursion,
        slope_allowed: window.slope_excursion_allowed,
        correlation: window.correlation,
        steady: window.steady,
        host_limited: window.host_limited,
    }
}
