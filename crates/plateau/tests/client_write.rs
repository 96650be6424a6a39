//! On simulated drives, the sustained client write test finds the model's SLC cache, and finds none if the model
//! has none. On files and loop devices, the recovery after every idle time is measured.

mod support;

use record::Event;
use serde_json::Value;
use support::Bench;
use support::loop_device::{attach, identity};

/// Maximum relative difference from the size in the model.
const TOLERANCE: f64 = 0.08;
const SCALE: &str = "1/128";
const DIVISOR: f64 = 128.0;

fn figure(test: &Value, name: &str) -> Option<f64> {
    let all = test["key_figures"].as_array().unwrap();
    let figure = all.iter().find(|figure| figure["name"] == name);
    figure.unwrap_or_else(|| panic!("no figure '{name}' in {all:?}"))["value"].as_f64()
}

/// The model called `name` with a cache of `bytes`.
fn with_cache(bench: &Bench, name: &str, bytes: u64) -> String {
    let text = bench.ok(&["sim", "show", name, "--toml"]);
    let (before, cache) = text.split_once("[cache]").expect("a cache");
    let line = cache.lines().find(|line| line.starts_with("bytes")).expect("its size");
    let path = bench.path(&format!("{name}-{bytes}.toml"));
    std::fs::write(&path, format!("{before}[cache]{}", cache.replace(line, &format!("bytes = {bytes}"))))
        .unwrap();
    format!("sim:{}", path.display())
}

/// Runs the test on a drive and returns its result.
fn run(bench: &Bench, drive: &str, seed: &str) -> Value {
    let document = bench.json(&["run", "client-write", drive, "--scale", SCALE, "--seed", seed]);
    let id = document["run"].as_str().unwrap();
    assert_eq!(bench.json(&["verify", id])["same"], true);
    document["tests"][0].clone()
}

#[test]
fn the_cache_of_the_model_is_found() {
    const GB: u64 = 1_000_000_000;
    let bench = Bench::new();
    for (name, bytes, seed) in [
        ("nvme-tlc-2018", 4 * GB, "1"),
        ("nvme-tlc-2018", 12 * GB, "2"),
        ("nvme-tlc-2018", 30 * GB, "3"),
        ("nvme-qlc-2024", 128 * GB, "1"),
        ("nvme-qlc-2024", 128 * GB, "2"),
        ("nvme-qlc-2024", 400 * GB, "3"),
    ] {
        let test = run(&bench, &with_cache(&bench, name, bytes), seed);
        let expected = bytes as f64 / 1e9 / DIVISOR;
        let found = figure(&test, "SLC cache").unwrap_or_else(|| panic!("{name}: no cache in {test}"));
        let what = format!("{name}, {expected} GB, seed {seed}: {found} GB");
        assert!((found / expected - 1.0).abs() <= TOLERANCE, "{what}");
        let of = |name: &str| figure(&test, name).unwrap_or_else(|| panic!("{what}: no {name}"));
        assert!(of("Rate in the cache") > 1.5 * of("Sustained rate"), "{what}");
        // Once emptied, a cache fills again after the same number of bytes, and longer idle times empty more of
        // the cache.
        let after = ["1", "5", "15", "60"].map(|minutes| of(&format!("Cache after {minutes} min")));
        let grows = after.windows(2).all(|pair| pair[1] >= pair[0] - TOLERANCE * expected);
        assert!(grows && (after[3] / expected - 1.0).abs() <= TOLERANCE, "{what}: {after:?}");
        println!("{what}: {after:?}");
    }
}

#[test]
fn no_cache_is_found_in_a_drive_without_one() {
    let bench = Bench::new();
    for name in [
        "sas-slc-2011",
        "sata-mlc-2011",
        "sata-mlc-hybrid-2011",
        "sata-eslc-2012",
        "nvme-tlc-enterprise-2024",
    ] {
        for seed in ["1", "2"] {
            let test = run(&bench, &format!("sim:{name}"), seed);
            assert_eq!(figure(&test, "SLC cache"), None, "{name}: {test}");
            assert!(figure(&test, "Sustained rate").is_some_and(|rate| rate > 0.0), "{name}: {test}");
            let notes = test["notes"].as_array().unwrap();
            let says = |note: &Value| note.as_str().unwrap().starts_with("NO CACHE FOUND");
            assert!(notes.iter().any(says), "{name}: {notes:?}");
        }
    }
}

#[test]
fn the_test_is_labelled_as_outside_the_standard() {
    let bench = Bench::new();
    let document = bench.json(&["run", "client-write", "sim:sas-slc-2011", "--scale", "1/1024"]);
    let modified = document["modified"].as_array().unwrap();
    let says = |text: &Value| text.as_str().unwrap().contains("is not a PTS test");
    assert!(modified.iter().any(says), "{modified:?}");
}

/// The test's idle times, in minutes.
const IDLE_MINUTES: [u64; 4] = [1, 5, 15, 60];
const CELL: [&str; 2] = ["--cell-seconds", "0.01"];
const CELL_NS: u64 = 10_000_000;

/// The journal of a completed run on a real target contains all idle times, and the recovery after each of them is
/// measured. A recovery has a rate, and either the size of the emptied cache or the reason why there is none.
fn check_recovery(bench: &Bench, document: &Value) {
    let test = &document["tests"][0];
    assert!(test["stopped"].is_null(), "{test}");
    assert!(figure(test, "Sustained rate").is_some_and(|rate| rate > 0.0), "{test}");
    let entries = bench.journal().expect("a journal").entries;
    let idle = entries.iter().filter_map(|entry| match entry.event {
        Event::Idled { length_ns } => Some(length_ns),
        _ => None,
    });
    assert_eq!(idle.collect::<Vec<_>>(), IDLE_MINUTES.map(|minutes| minutes * CELL_NS));
    let rows = test["tables"][0]["rows"].as_array().unwrap();
    let row = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap();
    let lines = bench.ok(&["show", document["run"].as_str().unwrap()]);
    for (column, minutes) in IDLE_MINUTES.into_iter().enumerate() {
        let cell = |name: &str| row(name)["values"][column].as_f64();
        let rate = figure(test, &format!("Rate after {minutes} min"));
        assert!(rate.is_some_and(|rate| rate > 0.0), "{minutes} min: {test}");
        assert_eq!(cell("Rate (MB/s)"), rate);
        let cache = figure(test, &format!("Cache after {minutes} min"));
        assert_eq!(cell("Cache (GB)"), cache, "{minutes} min");
        let stated = format!("Cache after {minutes} min no fall");
        assert!(cache.is_some() || lines.contains(&stated), "{stated}: {lines}");
    }
}

#[test]
fn recovery_is_measured_on_a_file() {
    let bench = Bench::on_build_disk();
    let file = bench.path("target.bin");
    let file = file.to_str().unwrap();
    let document = bench.json(&[&["run", "client-write", file, "--size", "64MiB"], &CELL[..]].concat());
    check_recovery(&bench, &document);
}

#[test]
fn recovery_is_measured_on_a_loop_device() {
    let bench = Bench::on_build_disk();
    let Some(device) = attach(&bench.path("image"), &[]) else { return };
    let identity = identity(&bench, &device.path);
    let run = ["run", "client-write", &device.path, "--erase", &identity];
    let document = bench.json(&[&run[..], &CELL[..]].concat());
    check_recovery(&bench, &document);
}
