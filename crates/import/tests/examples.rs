//! The bundled published figures.

mod common;

use common::{outcomes, printed, tables};
use import::examples::EXAMPLES;

fn example(name: &str) -> Vec<pts::Outcome> {
    outcomes(EXAMPLES.iter().find(|example| example.name == name).unwrap().text.as_bytes())
}

#[test]
fn every_example_opens_with_a_page_for_every_test() {
    for example in EXAMPLES {
        let (format, imported) = import::read(example.text.as_bytes(), None).unwrap();
        assert_eq!(format.name, "published");
        assert!(imported.transcribed);
        for outcome in outcomes(example.text.as_bytes()) {
            assert!(!outcome.pages.is_empty(), "{} {}", example.name, outcome.test);
        }
    }
}

#[test]
fn figures_match_the_tables_instead_of_the_misprints() {
    let cell = |name: &str, test: &str, row: &str, column: &str| {
        let table = &tables(&example(name), test)[0];
        let at = table.columns.iter().position(|c| c == column).unwrap();
        printed(table).into_iter().find(|cells| cells[0] == row).unwrap()[at + 1].clone()
    };
    assert_eq!(cell("mlc-b", "iops", "4", "65/35"), "425.5");
    assert_eq!(cell("mlc-a", "iops", "4", "65/35"), "3779.3");
    assert_eq!(cell("mlc-a", "iops", "4", "35/65"), "3044.4");
    assert_eq!(cell("mlc-a", "iops", "128", "0/100"), "92.5");
    assert_eq!(cell("slc-b", "iops", "4", "65/35"), "29827.0");
    assert_eq!(cell("slc-a", "iops", "128", "0/100"), "612.7");
    assert_eq!(cell("slc-a", "tp-1024", "1024", "0/100"), "157.5");
}

#[test]
fn drive_fills_are_computed() {
    let fills = |name: &str| -> Vec<(String, String)> {
        let rows = printed(&tables(&example(name), "wsat")[0]);
        rows.into_iter()
            .filter(|row| row[0].contains("fills"))
            .map(|row| (row[0].clone(), row[1].clone()))
            .collect()
    };
    let text = |drop: &str, steady: &str| {
        vec![
            ("Peak Drop (drive fills)".to_owned(), drop.to_owned()),
            ("Steady State (drive fills)".to_owned(), steady.to_owned()),
        ]
    };
    assert_eq!(fills("slc-b"), text("2.00", "6.00"));
    assert_eq!(fills("mlc-b"), text("0.24", "0.50"));
}

#[test]
fn windows_of_tkperf_reports_are_reevaluated() {
    for name in ["stec-mach16", "wd-sn720"] {
        for outcome in example(name) {
            assert!(outcome.window[0].1.steady && outcome.converged == Some(true), "{name} {}", outcome.test);
        }
    }
    let iops = &example("wd-sn720")[0];
    assert_eq!(iops.header.rounds, "19-23");
}
