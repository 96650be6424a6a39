//! The documentation's recipes for reading exported data. A recipe is skipped if its program is not installed.

mod support;

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use support::Bench;

const PAGE: &str = "docs/reference/exports.md";

/// Mean IOPS by run and test.
type Means = BTreeMap<(String, String), f64>;

/// Returns the documentation page's code blocks in `language`.
fn blocks(language: &str) -> Vec<String> {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PAGE);
    let text = support::text(&page);
    let fence = format!("```{language}\n");
    let blocks = text.split(&fence).skip(1);
    blocks.map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// Exports a simulated and an imported run.
fn exported(bench: &Bench) {
    let run = bench.json(&[
        "run",
        "iops",
        "sim:sas-slc-2011",
        "--scale",
        "1/1024",
        "--max-rounds",
        "5",
        "--tc=1",
        "--qd=2",
    ]);
    bench.ok(&["examples", "--install"]);
    let data = bench.path("data");
    let runs = [run["run"].as_str().unwrap(), "example-slc-a"];
    bench.ok(&[&["export", "--csv", data.to_str().unwrap()], &runs[..]].concat());
}

/// Runs a recipe and returns the means that it prints.
fn means(bench: &Bench, program: &str, option: &str, recipe: &str) -> Means {
    let output = Command::new(program).args([option, recipe]).current_dir(bench.dir.path()).output();
    let output = output.expect("the program");
    let (text, errors) = support::texts(&output);
    assert!(output.status.success(), "{recipe}\n{errors}");
    let mut lines = text.lines().filter(|line| !line.is_empty());
    assert_eq!(lines.next(), Some("run,test,iops"), "{text}");
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        ((fields[0].to_owned(), fields[1].to_owned()), fields[2].parse().unwrap())
    };
    lines.map(row).collect()
}

fn can_run(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    let status = command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

#[test]
fn the_recipes_read_measured_and_imported_runs_and_agree_with_the_report() {
    let python = std::env::var("PLATEAU_PYTHON").unwrap_or_else(|_| "python3".into());
    let recipes = blocks("python");
    assert_eq!((recipes.len(), blocks("r").len()), (2, 1), "{PAGE}");
    let bench = Bench::new();
    exported(&bench);
    let expected = of_tables(&bench);
    assert_eq!(expected.len(), 2, "{expected:?}");
    let mut all = Vec::new();
    for (module, recipe) in ["pandas", "duckdb"].iter().zip(&recipes) {
        if can_run(&python, &["-c", &format!("import pandas, {module}")]) {
            all.push(means(&bench, &python, "-c", recipe));
        } else {
            skips::without(module);
        }
    }
    if can_run("Rscript", &["--version"]) {
        all.push(means(&bench, "Rscript", "-e", &blocks("r")[0]));
    } else {
        skips::without("Rscript");
    }
    for found in all {
        for (run, value) in &expected {
            let mean = found[&(run.clone(), "iops".to_owned())];
            assert!((mean / value - 1.0).abs() < 1e-6, "{run}: {mean} instead of {value}");
        }
    }
}

/// Returns the IOPS of random 4 KiB writes from the exported tables, by run.
fn of_tables(bench: &Bench) -> BTreeMap<String, f64> {
    let folders = std::fs::read_dir(bench.path("data")).unwrap();
    let mut all = BTreeMap::new();
    for folder in folders {
        let text = support::text(&folder.unwrap().path().join("tables.csv"));
        let line = text.lines().find(|line| line.contains(",IOPS,4,0/100,")).unwrap();
        let fields: Vec<&str> = line.split(',').collect();
        let value = fields.iter().position(|field| *field == "0/100").unwrap() + 1;
        all.insert(fields[0].to_owned(), fields[value].parse().unwrap());
    }
    all
}
