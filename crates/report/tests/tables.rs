//! Compares text tables with golden files. `PLATEAU_BLESS=1` rewrites the golden files.

mod fixture;

use std::path::Path;

use fixture::Scenario;
use pts::exhibit::{Cell, Row, Table};

#[track_caller]
fn is_golden(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("PLATEAU_BLESS").is_some() {
        std::fs::write(&path, found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "{name} differs from its golden file; PLATEAU_BLESS=1 rewrites it");
}

fn table() -> Table {
    let row = |name: &str, cells: [Cell; 3]| Row { name: name.into(), cells: cells.into() };
    let absent = || Cell::Absent("n/a (4Kn)".into());
    Table {
        heading: "IOPS".into(),
        row_heading: "Block Size (KiB)".into(),
        column_heading: "Read / Write Mix %".into(),
        columns: ["0/100", "65/35", "100/0"].map(String::from).into(),
        rows: vec![
            row("0.5", [absent(), absent(), absent()]),
            row("4", [Cell::Value(16563.0), Cell::Value(28018.55), Cell::Value(1_093_707.0)]),
            row("1024", [Cell::Value(74.8), Cell::Value(202.7), Cell::Value(f64::NAN)]),
        ],
        decimals: 1,
        units: pts::Unit::Iops.into(),
    }
}

/// Returns the texts of all headings in tables.
fn headings(html: &str) -> Vec<String> {
    let cells = html.split("<th").skip(1).filter(|rest| !rest.starts_with("ead"));
    let content = |cell: &str| cell.split("</th>").next().unwrap_or_default().to_owned();
    let text = |content: String| -> String {
        content.split('<').filter_map(|tag| tag.split_once('>')).map(|tag| tag.1.to_owned()).collect()
    };
    cells.map(content).map(text).collect()
}

/// The tables of a composite have no heading above their columns.
#[test]
fn no_heading_of_a_table_is_empty() {
    let composite =
        Scenario { id: "composite", profile: "pts-e-1.1", tests: &["ecw"], ..Scenario::default() };
    for scenario in [Scenario::default(), composite] {
        let root = fixture::folder();
        let (run, loaded) = fixture::record(root.path(), &scenario);
        let html = report::html(&report::fold(&run.file, &loaded).unwrap());
        let headings = headings(&html);
        assert!(headings.len() > 20, "{headings:?}");
        assert!(headings.iter().all(|text| !text.trim().is_empty()), "{}: {headings:?}", scenario.id);
    }
}

#[test]
fn golden_text() {
    is_golden("table.txt", &report::text_table(&table()));
    let mut named = table();
    named.rows[0].name = "all sizes".into();
    named.rows[1].cells.pop();
    is_golden("table_named_rows.txt", &report::text_table(&named));
    let empty = Table { columns: Vec::new(), rows: Vec::new(), ..table() };
    assert_eq!(report::text_table(&empty).lines().count(), 4);
}

/// Returns the table of the IOPS test with `value` in every cell.
fn matrix(value: f64) -> Table {
    let row = |name: &str| Row { name: name.into(), cells: vec![Cell::HostLimited(value); 7] };
    Table {
        columns: ["0/100", "5/95", "35/65", "50/50", "65/35", "95/5", "100/0"].map(String::from).to_vec(),
        rows: ["0.5", "4", "8", "16", "32", "64", "128", "1024"].map(row).to_vec(),
        ..table()
    }
}

#[test]
fn the_matrix_of_the_iops_test_fits_a_terminal_of_80_columns() {
    for value in [0.0, 89.4, 44_244.6, 123_456.7, 1_234_567.8, 98_765_432.1] {
        let table = matrix(value);
        let text = report::text_table(&table);
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{widest:?} columns:\n{text}");
        let number = format!("{}*", stdx::units::grouped(value, 1));
        assert_eq!(text.matches(&number).count(), 56, "{text}");
        for name in table.columns.iter().chain(table.rows.iter().map(|row| &row.name)) {
            assert!(text.split_whitespace().any(|word| word == name), "{name} is missing:\n{text}");
        }
        assert!(text.contains("Block Size") && text.contains("(KiB)"), "{text}");
    }
    is_golden("table_narrow.txt", &report::text_table(&matrix(44_244.6)));
    is_golden("table_in_bands.txt", &report::text_table(&matrix(1_234_567.8)));
}

#[test]
fn host_limited_numbers_are_marked() {
    let mut table = table();
    table.rows[1].cells[0] = Cell::HostLimited(16563.0);
    let text = report::text_table(&table);
    assert_eq!(text.matches('*').count(), 2, "{text}");
    assert!(text.contains("16,563.0*"), "{text}");
    assert!(text.ends_with("may reflect the host rather than the drive\n"), "{text}");
}
