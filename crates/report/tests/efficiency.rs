//! Power and efficiency in reports and data.

mod fixture;

use std::io::Read as _;

use fixture::Scenario;
use record::PowerSubject;
use report::formats::{FORMATS, Make, Source};
use serde_json::Value;

/// Returns a scenario with 1,000 IOPS in every cell.
fn scenario(power: Option<(PowerSubject, f64)>) -> Scenario {
    Scenario { power, settled_at: Some([[1000.0; 7]; 8]), ..Scenario::default() }
}

fn export(scenario: &Scenario, format: &str) -> Vec<(String, String)> {
    let files = bytes(scenario, format).into_iter();
    files.map(|(name, bytes)| (name, String::from_utf8(bytes).expect("text"))).collect()
}

fn bytes(scenario: &Scenario, format: &str) -> Vec<(String, Vec<u8>)> {
    let root = fixture::folder();
    let (run, loaded) = fixture::record(root.path(), scenario);
    let document = report::fold(&run.file, &loaded).expect("a report");
    let source = Source { document: &document, entries: &loaded.entries };
    match FORMATS.iter().find(|known| known.name == format).expect("a format").make {
        Make::File(make) => vec![(String::new(), make(source).expect("a file"))],
        Make::Folder(make) => make(source).expect("files"),
    }
}

fn file(scenario: &Scenario, format: &str) -> String {
    export(scenario, format).swap_remove(0).1
}

fn document(scenario: &Scenario) -> Value {
    serde_json::from_str(&file(scenario, "json-file")).expect("JSON")
}

fn close(value: &Value, expected: f64) -> bool {
    value.as_f64().is_some_and(|value| (value / expected - 1.0).abs() < 2e-3)
}

#[test]
fn a_page_has_efficiency_with_its_uncertainty() {
    let page = file(&scenario(Some((PowerSubject::Drive, 5.0))), "html");
    assert!(
        page.contains("Power: sensor nvme (hwmon2) (hwmon:nvme). Idle: 2.000 ± 0.040 W, measured for"),
        "idle"
    );
    // 1,000 IOPS divided by 5 W. The uncertainty is 1 % from the meter and, over five rounds, 20 mW / sqrt(5)
    // of scatter.
    assert!(page.contains("200.0 ± 2.4"), "IOPS/W");
    assert!(page.contains("<th scope=\"col\" class=\"n\">IOPS/W</th>"));
}

#[test]
fn a_run_without_a_meter_says_so() {
    let page = file(&scenario(None), "html");
    assert!(page.contains("Power and efficiency: not measured."));
    assert!(!page.contains("IOPS/W"));
    let simulated = file(&Scenario { simulated: true, ..scenario(None) }, "html");
    assert!(simulated.contains("the power of a simulated drive cannot be measured"));
    let document = document(&scenario(None));
    assert_eq!(
        (&document["power"], &document["tests"][0]["cells"][0]["power"]),
        (&Value::Null, &Value::Null)
    );
}

#[test]
fn only_the_hosts_difference_from_idle_is_attributed() {
    let host = document(&scenario(Some((PowerSubject::Host, 5.0))));
    assert_eq!(host["power"]["subject"], "host");
    let found = &host["tests"][0]["efficiency"][0]["mean"];
    assert!(
        close(&found["watts"]["value"], 3.0) && close(&found["iops_per_watt"]["value"], 1000.0 / 3.0),
        "{found}"
    );
    let idle = file(&scenario(Some((PowerSubject::Host, 2.01))), "html");
    assert!(idle.contains("<td class=\"n\">not measured</td>"), "no difference from idle");
}

#[test]
fn an_upper_bound_is_labelled_as_one() {
    let page = file(&scenario(Some((PowerSubject::UpperBound, 5.0))), "html");
    assert!(page.contains("at most 5.000 ±") && page.contains("at least 200.0 ±"));
    assert!(page.contains("values per watt are lower bounds"));
}

#[test]
fn data_has_the_power_of_each_cell() {
    let measured = scenario(Some((PowerSubject::Drive, 5.0)));
    let files = export(&measured, "csv");
    let (_, cells) = files.iter().find(|(name, _)| name == "cells.csv").expect("cells");
    let mut lines = cells.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().expect("a heading");
    let last = lines.next_back().expect("a cell");
    let place = |name: &str| head.iter().position(|known| *known == name).expect(name);
    let value = |name: &str| last[place(name)].parse::<f64>().expect(name);
    assert_eq!((value("power_mean_watts"), value("power_samples")), (5.0, 61.0));
    assert!((value("iops_per_watt") / 200.0 - 1.0).abs() < 2e-3);
    assert!((value("iops_per_watt_uncertainty") / 2.8 - 1.0).abs() < 2e-3, "1 % and 20 mW of 5 W");
    let document = document(&measured);
    assert!(close(&document["power"]["idle_watts"]["uncertainty"], 0.04));
    let cells = document["tests"][0]["cells"].as_array().expect("cells");
    assert!(cells.iter().all(|cell| close(&cell["power"]["mean_watts"], 5.0)), "preconditioning as well");
}

/// Returns the value of the first metric that begins with this text.
fn metric(text: &str, begin: &str) -> f64 {
    let line = text.lines().find(|line| line.starts_with(begin)).unwrap_or_else(|| panic!("{begin}: {text}"));
    line.rsplit(' ').next().expect("a value").parse().expect("a number")
}

#[test]
fn metrics_have_power_and_efficiency_in_base_units() {
    let text = file(&scenario(Some((PowerSubject::Drive, 5.0))), "openmetrics");
    let near = |begin: &str, expected: f64| {
        let found = metric(&text, begin);
        assert!((found / expected - 1.0).abs() < 1e-2, "{begin}: {found} instead of {expected}");
    };
    near("plateau_idle_power_watts{", 2.0);
    near("plateau_idle_power_uncertainty_watts{", 0.04);
    near("plateau_power_watts{", 5.0);
    near("plateau_efficiency_ios_per_joule{", 200.0);
    near("plateau_efficiency_uncertainty_ios_per_joule{", 2.358);
    let line =
        text.lines().find(|line| line.starts_with("plateau_efficiency_bytes_per_joule{")).expect("bytes");
    assert!(line.contains("test=\"iops\",workload=\"") && line.contains("subject=\"drive\""), "{line}");
    assert!(text.contains("# UNIT plateau_efficiency_bytes_per_joule bytes_per_joule\n"));
    // All samples of a metric are in one block, so its type appears only once.
    let types: Vec<&str> = text.lines().filter(|line| line.starts_with("# TYPE plateau_")).collect();
    let distinct: std::collections::BTreeSet<_> = types.iter().collect();
    assert_eq!(types.len(), distinct.len(), "{types:?}");
    assert!(!file(&scenario(None), "openmetrics").contains("plateau_power"));
}

/// Returns the content of the sheet with this name as XML; `None` if there is none.
fn sheet(scenario: &Scenario, name: &str) -> Option<String> {
    let book = bytes(scenario, "xlsx").swap_remove(0).1;
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(book)).expect("an archive");
    let mut part = |name: &str| {
        let mut text = String::new();
        archive.by_name(name).expect(name).read_to_string(&mut text).expect("text");
        text
    };
    let names = part("xl/workbook.xml");
    let named = format!("name=\"{name}\"");
    let place = names.split("<sheet ").skip(1).position(|sheet| sheet.contains(&named))?;
    Some(part(&format!("xl/worksheets/sheet{}.xml", place + 1)))
}

#[test]
fn a_spreadsheet_has_power_on_a_sheet_of_its_own() {
    let power = sheet(&scenario(Some((PowerSubject::Drive, 5.0))), "Power").expect("a sheet");
    let numbers: Vec<f64> = power
        .split("<v>")
        .skip(1)
        .filter_map(|part| part.split("</v>").next()?.parse().ok())
        .filter(|value: &f64| value.fract() != 0.0 || *value >= 2.0)
        .collect();
    for expected in [2.0, 0.04, 5.0, 2.8] {
        assert!(numbers.iter().any(|value| (value / expected - 1.0).abs() < 2e-3), "{expected}: {numbers:?}");
    }
    let cells = document(&scenario(Some((PowerSubject::Drive, 5.0))))["tests"][0]["cells"].clone();
    assert!(power.matches("<row ").count() > cells.as_array().expect("cells").len(), "a row for each cell");
    assert_eq!(sheet(&scenario(None), "Power"), None);
}
