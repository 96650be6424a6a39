//! The tables as listed in docs/reference/store.md. `PLATEAU_BLESS=1` rewrites the list.

use store::{Kind, TABLES};

const BEGIN: &str = "<!-- tables: written by a test -->\n";
const END: &str = "<!-- end of tables -->\n";

fn manual() -> String {
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
                Kind::Text => "text",
            };
            out.push_str(&format!("| `{}` | {kind} | {} |\n", column.name, column.about));
        }
    }
    out + "\n"
}

#[test]
fn the_page_matches_the_tables() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/store.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let expected = format!("{before}{BEGIN}{}{END}{after}", manual());
    if std::env::var_os("PLATEAU_BLESS").is_some() {
        std::fs::write(path, &expected).unwrap();
        return;
    }
    assert!(
        page == expected,
        "docs/reference/store.md does not match the tables; PLATEAU_BLESS=1 updates it"
    );
}
