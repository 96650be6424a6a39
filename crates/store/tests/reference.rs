//! The tables, and the columns of run lists, as listed in docs/reference/store.md. `PLATEAU_BLESS=1` rewrites the
//! lists.

use store::{Kind, RUN_COLUMNS, TABLES};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/store.md");

fn tables() -> String {
    let mut out = String::new();
    for table in TABLES {
        out.push_str(&format!(
            "\n### {}\n\n{}.\n\n| column | type | content |\n|---|---|---|\n",
            table.name, table.about
        ));
        for column in table.columns {
            let kind = match column.kind {
                Kind::Integer => "integer",
                Kind::Real => "real",
                Kind::Boolean => "boolean",
                Kind::Text => "text",
                Kind::Time => "time",
            };
            out.push_str(&format!("| `{}` | {kind} | {} |\n", column.name, column.about));
        }
    }
    out + "\n"
}

fn columns() -> String {
    let rows = RUN_COLUMNS.iter().map(|column| format!("| `{}` | {} |\n", column.name, column.about));
    format!("\n| column | content |\n|---|---|\n{}\n", rows.collect::<String>())
}

/// Returns the page with `list` between the marker comments of this name.
fn with(page: &str, name: &str, list: &str) -> String {
    let (begin, end) = (format!("<!-- {name}: written by a test -->\n"), format!("<!-- end of {name} -->\n"));
    let (before, rest) = page.split_once(&begin).unwrap();
    let (_, after) = rest.split_once(&end).unwrap();
    format!("{before}{begin}{list}{end}{after}")
}

#[test]
fn the_page_matches_the_tables_and_columns() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let expected = with(&with(&page, "tables", &tables()), "columns", &columns());
    if std::env::var_os("PLATEAU_BLESS").is_some() {
        std::fs::write(PAGE, &expected).unwrap();
        return;
    }
    assert!(
        page == expected,
        "docs/reference/store.md does not match the tables or columns; PLATEAU_BLESS=1 updates it"
    );
}
