//! Every data format that Plateau writes and reads: figures and marks survive an export followed by an import, and
//! nothing appears that is not in the file.

mod support;

use std::path::Path;

use record::{Event, ImportedTest, Reading, read_journal};
use serde_json::{Value, json};
use support::Bench;

/// A small drive on which every test in its profile runs.
const DRIVE: [&str; 8] = ["sim:sas-slc-2011", "--scale", "1/1024", "--tc", "1", "--qd", "4", "--json"];

/// A profile's tests, one run of all of them, and the run's JSON document.
struct Measured {
    id: String,
    document: Value,
}

fn measured(bench: &Bench, profile: &pts::Profile) -> Measured {
    let names: Vec<&str> = profile.tests.iter().filter_map(|listed| of_family(listed.family)).collect();
    let args = [&["run"], &names[..], &DRIVE[..], &["--profile", profile.name, "--max-rounds", "6"]].concat();
    // A run without steady state has a different exit code, but its results still count.
    let output = bench.run(&args);
    let summary: Value = serde_json::from_slice(&output.stdout).expect("a summary");
    let id = summary["run"].as_str().expect("an id").to_owned();
    let file = bench.path(&format!("{id}.json"));
    bench.ok(&["report", &id, "--json-file", text(&file)]);
    Measured { id, document: read(&file) }
}

/// The first test in a family. The others differ only in block size.
fn of_family(family: &str) -> Option<&'static str> {
    pts::TESTS.iter().find(|test| test.family == family).map(|test| test.name)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&support::text(path)).expect("JSON")
}

/// An imported run: its summary, and the tests in its journal.
struct Back {
    summary: Value,
    tests: Vec<ImportedTest>,
}

fn import(bench: &Bench, file: &Path) -> Back {
    let summary = bench.json(&["import", text(file)]);
    let dir = summary["path"].as_str().expect("a path").to_owned();
    let journal = read_journal(&Path::new(&dir).join("journal")).expect("a journal");
    let tests = journal.entries.into_iter().filter_map(|entry| match entry.event {
        Event::Imported(test) => Some(test),
        _ => None,
    });
    Back { summary, tests: tests.collect() }
}

fn keys(marks: &Value) -> Vec<&str> {
    let marks = marks.as_array().into_iter().flatten();
    marks.filter_map(|mark| mark["mark"].as_str()).collect()
}

/// The import has the measured run's marks and label; they are null only in a format without fields for facts about
/// the drive.
fn check_marks(own: &Measured, back: &Back, what: &str) {
    let origin = &back.summary["origin"];
    assert_eq!(keys(&origin["marks"]), keys(&own.document["marks"]), "{what}");
    assert!(keys(&origin["marks"]).contains(&"simulated"), "{what}");
    assert_eq!(origin["simulated"], own.document["device"]["simulated_label"], "{what}");
    assert_eq!(origin["exported_run"], own.id.as_str(), "{what}");
    assert!(!origin["tool"].as_str().is_some_and(|tool| tool.contains("TKperf")), "{what}: {origin}");
}

/// A test's cells in the JSON document.
fn cells(test: &Value) -> &Vec<Value> {
    test["cells"].as_array().expect("cells")
}

fn close(a: Option<f64>, b: Option<f64>, tolerance: f64, what: &str) {
    match (a, b) {
        (Some(a), Some(b)) => assert!((a - b).abs() <= tolerance * b.abs().max(1e-9), "{what}: {a} and {b}"),
        (a, b) => assert_eq!(a, b, "{what}"),
    }
}

/// A cell's mean and maximum over both directions, combined as in every format.
fn combined(cell: &Value) -> (Option<f64>, Option<f64>) {
    let ways: Vec<&Value> =
        ["read", "write"].iter().map(|way| &cell[*way]).filter(|way| way["ios"] != 0).collect();
    let ios: f64 = ways.iter().filter_map(|way| way["ios"].as_f64()).sum();
    let sum: Option<f64> =
        ways.iter().map(|way| Some(way["latency_mean_ns"].as_f64()? * way["ios"].as_f64()?)).sum();
    let largest: Option<Vec<f64>> = ways.iter().map(|way| way["latency_max_ns"].as_f64()).collect();
    (sum.filter(|_| ios > 0.0).map(|sum| sum / ios), largest.and_then(|all| all.into_iter().reduce(f64::max)))
}

fn check_reading(reading: &Reading, cell: &Value, what: &str) {
    let (mean, largest) = combined(cell);
    assert_eq!(json!(reading.block_bytes), cell["block_bytes"], "{what}");
    assert_eq!(json!(reading.access), cell["access"], "{what}");
    assert_eq!(json!(reading.threads), cell["threads"], "{what}");
    assert_eq!(json!(reading.queue_depth), cell["queue_depth"], "{what}");
    assert_eq!(json!(reading.round), cell["round"], "{what}");
    assert_eq!(json!(reading.phase), cell["phase"], "{what}");
    assert_eq!(json!(reading.in_window), cell["in_window"], "{what}");
    close(reading.iops, cell["iops"].as_f64(), 1e-9, what);
    // fio reports whole bytes per second.
    let rate = cell["bytes_per_second"].as_f64();
    assert!(reading.bytes_per_second.zip(rate).is_some_and(|(a, b)| (a - b).abs() <= 2.0), "{what}");
    close(reading.latency_mean_ns, mean, 1e-9, what);
    close(reading.latency_max_ns, largest, 1e-9, what);
}

fn check_all_cells(own: &Measured, readings: &[&Reading], what: &str) {
    let all: Vec<&Value> = own.document["tests"].as_array().expect("tests").iter().flat_map(cells).collect();
    // fio reports no jobs without I/Os.
    let all: Vec<&Value> = all.into_iter().filter(|cell| cell["iops"] != 0.0).collect();
    assert_eq!(readings.len(), all.len(), "{what}");
    readings.iter().zip(all).for_each(|(reading, cell)| check_reading(reading, cell, what));
}

/// Facts that a format cannot express are null in `run.json`, not defaults.
fn check_absent(back: &Back, keys: &[&str], what: &str) {
    for key in keys {
        assert_eq!(back.summary["target"][*key], Value::Null, "{what}: {key}");
    }
    assert_eq!(back.summary["target"]["identity"], Value::Null, "{what}");
    assert_eq!(back.summary["settings"], Value::Null, "{what}");
}

const DEVICE: [&str; 8] = [
    "vendor",
    "model",
    "serial",
    "firmware",
    "interface",
    "capacity_bytes",
    "logical_block_bytes",
    "physical_block_bytes",
];

fn json_document(bench: &Bench, own: &Measured) {
    let what = "JSON";
    let file = bench.path(&format!("{}.json", own.id));
    let back = import(bench, &file);
    check_marks(own, &back, what);
    assert_eq!(
        back.summary["origin"]["marks"].as_array().map(Vec::len),
        own.document["marks"].as_array().map(Vec::len)
    );
    let again = bench.path("again.json");
    let id = back.summary["run"].as_str().expect("an id");
    bench.ok(&["report", id, "--json-file", text(&again)]);
    let again = read(&again);
    for key in DEVICE.iter().chain(&["path", "nand", "simulated_label"]) {
        assert_eq!(again["device"][*key], own.document["device"][*key], "{key}");
    }
    for key in ["host", "stated", "settings"] {
        assert_eq!(again[key], own.document[key], "{key}");
    }
    let pairs = again["tests"]
        .as_array()
        .expect("tests")
        .iter()
        .zip(own.document["tests"].as_array().expect("tests"));
    for (found, expected) in pairs {
        let test = &expected["test"];
        for key in [
            "test",
            "title",
            "purge",
            "threads",
            "queue_depth",
            "rounds",
            "converged",
            "acceptance",
            "steady_state",
            "figures",
            "marks",
            "notes",
            "io_errors",
        ] {
            assert_eq!(found[key], expected[key], "{test}: {key}");
        }
        for key in ["tables", "charts"] {
            assert_eq!(sorted(&found[key]), sorted(&expected[key]), "{test}: {key}");
        }
    }
    assert_eq!(own.document["tests"].as_array().map(Vec::len), again["tests"].as_array().map(Vec::len));
    let readings: Vec<&Reading> = back.tests.iter().flat_map(|test| &test.readings).collect();
    let all: Vec<&Value> = own.document["tests"].as_array().expect("tests").iter().flat_map(cells).collect();
    assert_eq!(readings.len(), all.len());
    readings.iter().zip(all).for_each(|(reading, cell)| check_reading(reading, cell, what));
    // A run that was imported twice is still labelled as simulated and records both imports.
    let second = bench.path("second.json");
    std::fs::write(&second, serde_json::to_vec(&again).expect("JSON")).expect("written");
    let second = import(bench, &second);
    let stated = &second.summary["origin"]["marks"];
    let expected: Vec<&str> = std::iter::once("imported").chain(keys(&own.document["marks"])).collect();
    assert_eq!(keys(stated), expected);
    assert_eq!(second.summary["origin"]["tool"], back.summary["origin"]["tool"]);
}

/// Returns a sorted list, because pages are printed in a different order if the charts and tables of several
/// pages alternate.
fn sorted(list: &Value) -> Vec<String> {
    let mut all: Vec<String> = list.as_array().expect("a list").iter().map(Value::to_string).collect();
    all.sort_unstable();
    all
}

fn fio(bench: &Bench, own: &Measured) {
    let file = bench.path(&format!("{}.fio.json", own.id));
    bench.ok(&["report", &own.id, "--fio-json", text(&file)]);
    let back = import(bench, &file);
    check_marks(own, &back, "fio JSON");
    check_absent(&back, &DEVICE, "fio JSON");
    let readings: Vec<&Reading> = back.tests.iter().flat_map(|test| &test.readings).collect();
    check_all_cells(own, &readings, "fio JSON");
}

fn csv(bench: &Bench, own: &Measured) {
    let folder = bench.path(&format!("{}-csv", own.id));
    bench.ok(&["report", &own.id, "--csv", text(&folder)]);
    let table = |name: &str| {
        let back = import(bench, &folder.join(name));
        check_marks(own, &back, name);
        check_absent(&back, &DEVICE, name);
        back
    };
    let back = table("cells.csv");
    let readings: Vec<&Reading> = back.tests.iter().flat_map(|test| &test.readings).collect();
    let all: Vec<&Value> = own.document["tests"].as_array().expect("tests").iter().flat_map(cells).collect();
    assert_eq!(readings.len(), all.len());
    readings.iter().zip(all).for_each(|(reading, cell)| check_reading(reading, cell, "cells.csv"));
    let back = table("figures.csv");
    check_figures(own, &back, 1e-12);
    let back = table("tables.csv");
    for (found, expected) in by_name(own, &back) {
        let tables = found.exported.iter().flat_map(|exported| &exported.tables);
        let values: Vec<Option<f64>> =
            tables.flat_map(|table| &table.rows).flat_map(|row| row.values.clone()).collect();
        let rows =
            expected["tables"].as_array().expect("tables").iter().flat_map(|table| table["rows"].as_array());
        let all = rows.flatten().flat_map(|row| row["values"].as_array()).flatten().map(Value::as_f64);
        let all: Vec<Option<f64>> = all.collect();
        // Pages that are not in the specification are only in the JSON document.
        assert!(values.len() > 1 && all.len() >= values.len(), "{}", expected["test"]);
        assert_eq!(values[..], all[..values.len()], "{}", expected["test"]);
    }
    if own.document["tests"].as_array().expect("tests").iter().any(|test| test["steady_state"] != json!([])) {
        let back = table("steady_state.csv");
        for (found, expected) in by_name(own, &back) {
            let exported = found.exported.as_ref().expect("windows");
            assert_eq!(with_unit(exported), expected["steady_state"], "{}", expected["test"]);
        }
    }
}

/// An imported test's windows as in the JSON document, where each window repeats the unit.
fn with_unit(exported: &record::Exported) -> Value {
    let mut windows = json!(exported.windows);
    for window in windows.as_array_mut().into_iter().flatten() {
        window["unit"] = json!(exported.tracked_unit);
    }
    windows
}

/// Each imported test, with the test that has the same name in the document.
fn by_name<'a>(own: &'a Measured, back: &'a Back) -> Vec<(&'a ImportedTest, &'a Value)> {
    let all = own.document["tests"].as_array().expect("tests");
    let pair = |found: &'a ImportedTest| {
        let expected = all.iter().find(|test| test["test"] == found.test.as_str());
        (found, expected.expect("a test of the document"))
    };
    back.tests.iter().map(pair).collect()
}

fn check_figures(own: &Measured, back: &Back, tolerance: f64) {
    let mut checked = 0;
    for (found, expected) in by_name(own, back) {
        for figure in &found.figures {
            let all = expected["figures"].as_array().expect("figures");
            let same = all.iter().find(|other| other["name"] == figure.name.as_str()).expect("a figure");
            close(figure.value, same["value"].as_f64(), tolerance, &figure.name);
            checked += 1;
        }
    }
    assert!(checked > 0, "no figure was compared");
}

fn openmetrics(bench: &Bench, own: &Measured) {
    let file = bench.path(&format!("{}.prom", own.id));
    bench.ok(&["report", &own.id, "--openmetrics", text(&file)]);
    let back = import(bench, &file);
    check_marks(own, &back, "OpenMetrics");
    check_absent(&back, &["serial", "capacity_bytes", "logical_block_bytes"], "OpenMetrics");
    for (found, expected) in by_name(own, &back) {
        assert_eq!(json!(found.steady), expected["converged"], "{}", expected["test"]);
        for figure in &found.figures {
            let all = expected["figures"].as_array().expect("figures");
            let same = all.iter().find(|other| other["name"] == figure.name.as_str()).expect("a figure");
            // OpenMetrics expresses both milliseconds and minutes in seconds.
            let factor = match (figure.unit.as_str(), same["unit"].as_str()) {
                ("ms", Some("min")) => 1.0 / 60e3,
                ("min", Some("ms")) => 60e3,
                (unit, other) => {
                    assert_eq!(Some(unit), other, "{}", figure.name);
                    1.0
                }
            };
            close(figure.value.map(|value| value * factor), same["value"].as_f64(), 1e-9, &figure.name);
        }
    }
}

/// The cell that corresponds to a reading in a TKperf file. A TKperf file lists the WSAT workloads without their
/// rounds, so each workload counts as one round.
fn of_tkperf<'a>(test: &'a Value, reading: &Reading) -> &'a Value {
    let measured = |cell: &&Value| cell["phase"] == "measure" && cell["round"] != Value::Null;
    let mut all = cells(test).iter().filter(measured);
    let same_load = |cell: &Value| {
        json!(reading.block_bytes) == cell["block_bytes"]
            && json!(reading.read_percent) == cell["read_percent"]
    };
    let cell = match (test["test"].as_str(), reading.round) {
        (Some("wsat"), Some(number)) => all.nth(number as usize - 1).filter(|cell| same_load(cell)),
        _ => all.find(|cell| json!(reading.round) == cell["round"] && same_load(cell)),
    };
    cell.expect("a cell")
}

fn tkperf(bench: &Bench, own: &Measured) {
    let file = bench.path(&format!("{}.xml", own.id));
    bench.ok(&["report", &own.id, "--tkperf-xml", text(&file)]);
    let back = import(bench, &file);
    check_marks(own, &back, "TKperf XML");
    check_absent(&back, &["vendor", "interface"], "TKperf XML");
    for key in ["logical_block_bytes", "physical_block_bytes", "model", "serial", "firmware"] {
        assert_eq!(back.summary["target"][key], own.document["device"][key], "{key}");
    }
    let remarks = back.summary["origin"]["remarks"].to_string();
    assert!(!remarks.contains("weighting"), "the mixes of Plateau are weighted by count: {remarks}");
    for (found, expected) in by_name(own, &back) {
        assert!(found.purge.is_none() && found.preconditioning.is_none(), "not in the file");
        for reading in &found.readings {
            let cell = of_tkperf(expected, reading);
            let (mean, largest) = combined(cell);
            if let Some(iops) = reading.iops {
                assert!(cell["iops"].as_f64().is_some_and(|own| (own - iops).abs() <= 0.5), "whole IOPS");
            }
            if reading.latency_mean_ns.is_some() || expected["test"] == "lat" {
                close(reading.latency_mean_ns, mean, 1e-9, "mean");
                close(reading.latency_max_ns, largest, 1e-9, "maximum");
            }
        }
    }
}

/// The test in `crates/import/tests/exports.rs` compares all profiles without starting a process; in this test, the
/// program writes and reads the files for the profile with the most tests.
#[test]
fn every_test_survives_every_format() {
    let profile = pts::PROFILES.iter().max_by_key(|profile| profile.tests.len()).expect("a profile");
    let bench = Bench::new();
    let own = measured(&bench, profile);
    json_document(&bench, &own);
    fio(&bench, &own);
    csv(&bench, &own);
    openmetrics(&bench, &own);
    tkperf(&bench, &own);
}

#[test]
fn an_imported_run_keeps_its_mark_through_csv_openmetrics_and_json() {
    let bench = Bench::new();
    bench.ok(&["examples", "--install", "wd-sn720"]);
    let id = "example-wd-sn720";
    let (folder, metrics, document) = (bench.path("csv"), bench.path("a.prom"), bench.path("a.json"));
    bench.ok(&[
        "report",
        id,
        "--csv",
        text(&folder),
        "--openmetrics",
        text(&metrics),
        "--json-file",
        text(&document),
    ]);
    for file in [folder.join("cells.csv"), folder.join("figures.csv"), metrics, document] {
        let back = import(&bench, &file);
        assert_eq!(keys(&back.summary["origin"]["marks"]), ["imported"], "{}", file.display());
        assert_eq!(back.summary["origin"]["simulated"], Value::Null, "{}", file.display());
        assert!(!back.tests.is_empty());
    }
}
