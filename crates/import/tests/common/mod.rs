//! Helpers that turn imported files into outcomes and read their tables.

use pts::Outcome;
use pts::exhibit::{Cell, Exhibit, Table};
use record::Entry;

/// Imports a file and returns the outcomes of its run.
pub fn outcomes(bytes: &[u8]) -> Vec<Outcome> {
    let (format, imported) = import::read(bytes, None).unwrap();
    let source = import::Source {
        file: "result",
        bytes,
        id: "run".into(),
        created: jiff::Timestamp::UNIX_EPOCH,
        version: "0",
        commit: None,
        command: Vec::new(),
    };
    let (file, events) = import::run(imported, format, source);
    let entry = |(seq, event)| Entry { seq, wall: jiff::Timestamp::UNIX_EPOCH, event };
    let entries: Vec<Entry> = (0..).zip(events).map(entry).collect();
    // Round trip through JSON, as in a journal.
    let text = serde_json::to_string(&entries).unwrap();
    pts::replay(&file, &serde_json::from_str::<Vec<Entry>>(&text).unwrap()).unwrap().outcomes
}

pub fn tables(outcomes: &[Outcome], test: &str) -> Vec<Table> {
    let outcome = outcomes.iter().find(|outcome| outcome.test == test).unwrap();
    let exhibits = outcome.pages.iter().flat_map(|page| &page.exhibits);
    exhibits
        .filter_map(|exhibit| if let Exhibit::Table(table) = exhibit { Some(table.clone()) } else { None })
        .collect()
}

/// Returns a table as printed: rows of text, each starting with its name.
pub fn printed(table: &Table) -> Vec<Vec<String>> {
    let cell = |cell: &Cell| match cell {
        Cell::Value(value) | Cell::HostLimited(value) => format!("{value:.*}", table.decimals),
        Cell::Absent(why) => why.clone(),
    };
    let row = |row: &pts::exhibit::Row| {
        std::iter::once(row.name.clone()).chain(row.cells.iter().map(cell)).collect()
    };
    table.rows.iter().map(row).collect()
}
