//! Checks that docs/reference/plans.md lists the settings of plans. `PLATEAU_BLESS=1` rewrites the list.

const BEGIN: &str = "<!-- settings: written by a test -->\n";
const END: &str = "<!-- end of settings -->\n";

#[test]
fn the_page_matches_the_table_of_settings() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/plans.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let expected = format!("{before}{BEGIN}{}{END}{after}", plans::settings::manual());
    if std::env::var_os("PLATEAU_BLESS").is_some() {
        std::fs::write(path, &expected).unwrap();
        return;
    }
    assert!(
        page == expected,
        "docs/reference/plans.md does not match the table of settings; PLATEAU_BLESS=1 updates it"
    );
}
