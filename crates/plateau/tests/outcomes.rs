//! Every test in every profile on a simulated drive, from purge to verdict, compared with golden files.
//! `PLATEAU_BLESS=1` rewrites them.

mod support;

use std::fmt::Write as _;
use std::path::Path;

use pts::{Profile, Test};
use serde_json::Value;
use support::{Bench, text};

const DRIVE: [&str; 3] = ["sim:sas-slc-2011", "--scale", "1/256"];

/// Runs all of the tests in `profile` as one campaign, verifies it, and compares it with its golden file.
fn complete(profile: &str) {
    let listed = Profile::named(profile).unwrap().tests;
    let names: Vec<&str> = listed.iter().map(|listed| listed.family).collect();
    let bench = Bench::new();
    let ran = bench.json(&[&["run", &names.join(",")], &DRIVE[..], &["--profile", profile]].concat());
    let tests = ran["tests"].as_array().unwrap();
    let known = Profile::named(profile).unwrap();
    let families = names.iter().map(|name| Test::all_named(name, known).unwrap());
    let expected: Vec<&str> = families.flatten().map(|test| test.name).collect();
    assert_eq!(tests.iter().map(|test| test["test"].as_str().unwrap()).collect::<Vec<_>>(), expected);
    assert!(tests.iter().all(|test| test["stopped"].is_null()), "every test completed");
    let modified: Vec<_> = ran["modified"].as_array().unwrap().iter().map(|m| m.as_str().unwrap()).collect();
    let is_of_scale = |text: &&str| text.contains("scale 1/256") || text.contains("per outstanding I/O");
    assert!(modified[0].contains("scale") && modified.iter().all(is_of_scale), "{modified:?}");

    let verified = bench.json(&["verify", ran["run"].as_str().unwrap()]);
    assert_eq!(verified["same"], true, "{verified}");
    assert_eq!(verified["tests"].as_array().unwrap().len(), expected.len());

    let name = format!("{profile}.txt");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(&name);
    let found = outcome(tests);
    if std::env::var_os("PLATEAU_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &found).unwrap();
    }
    let golden = text(&path);
    let line = found.lines().zip(golden.lines()).find(|(found, golden)| found != golden);
    assert!(found == golden, "{name} differs, PLATEAU_BLESS=1 rewrites it: {line:?}");
}

/// Formats each test's verdict, window and key figures with as many digits as reports print.
fn outcome(tests: &[Value]) -> String {
    let mut all = String::new();
    for test in tests {
        let converged = match test["converged"].as_bool() {
            Some(true) => "steady",
            Some(false) => "not steady",
            None => "no steady state asked for",
        };
        writeln!(all, "{}: {converged}, {} rounds", test["test"].as_str().unwrap(), test["rounds"]).unwrap();
        for window in test["window"].as_array().unwrap() {
            writeln!(
                all,
                "  window of {}: {}-{}, mean {:.3}",
                window["variable"].as_str().unwrap(),
                window["first_round"],
                window["last_round"],
                window["mean"].as_f64().unwrap()
            )
            .unwrap();
        }
        for figure in test["key_figures"].as_array().unwrap() {
            let value = figure["value"].as_f64().map_or_else(|| "n/a".to_owned(), |v| format!("{v:.3}"));
            let unit = figure["unit"].as_str().unwrap();
            writeln!(all, "  {}: {value} {unit}", figure["name"].as_str().unwrap()).unwrap();
        }
    }
    all
}

#[test]
fn pts_c_1_0() {
    complete("pts-c-1.0");
}

#[test]
fn pts_c_1_1() {
    complete("pts-c-1.1");
}

#[test]
fn pts_c_1_2() {
    complete("pts-c-1.2");
}

#[test]
fn pts_e_1_0() {
    complete("pts-e-1.0");
}

#[test]
fn pts_e_1_1() {
    complete("pts-e-1.1");
}

#[test]
fn pts_c_2_0() {
    complete("pts-c-2.0");
}

#[test]
fn pts_e_2_0() {
    complete("pts-e-2.0");
}
