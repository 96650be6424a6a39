//! The Python package in `python` reads runs, exports and the index, and agrees with Plateau's output. Its notebook is
//! executed.

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use support::{Bench, texts};

fn package() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python")
}

/// Returns a command that starts Python with the package; `None`, with a notice, if Python lacks one of the modules.
fn python(modules: &str, missing: &str) -> Option<Command> {
    let python = std::env::var("PLATEAU_PYTHON").unwrap_or_else(|_| "python3".into());
    let mut probe = Command::new(&python);
    probe.args(["-c", &format!("import {modules}")]).stdout(Stdio::null()).stderr(Stdio::null());
    if !probe.status().is_ok_and(|status| status.success()) {
        skips::without(missing);
        return None;
    }
    let mut command = Command::new(&python);
    command.env("PYTHONPATH", package().join("src")).env("PYTHONDONTWRITEBYTECODE", "1");
    Some(command)
}

#[test]
fn the_python_package_agrees_with_plateau() {
    let Some(mut command) = python("sys", "python3") else { return };
    let bench = Bench::new();
    bench.ok(&["run", "lat", "sim:sas-slc-2011", "--scale", "1/256", "--max-rounds", "5", "--name", "read"]);
    bench.ok(&["tag", "read", "by-python"]);
    bench.ok(&["note", "read", "a note"]);
    bench.ok(&["index"]);
    let export = bench.path("export");
    bench.ok(&["export", "read", "--csv", export.to_str().expect("text")]);
    let output = command
        .args(["-m", "unittest", "discover", "--start-directory", "tests"])
        .current_dir(package())
        .env("PLATEAU_LIBRARY", bench.library())
        .env("PLATEAU_TEST_EXPORT", &export)
        .env("PLATEAU_TEST_SHOWN", bench.json(&["show", "read"]).to_string())
        .output()
        .expect("python");
    let (out, err) = texts(&output);
    assert!(output.status.success() && err.contains("Ran 6 tests"), "{out}{err}");
}

/// Executes a notebook, and prints what its cells show as text.
const EXECUTE: &str = r#"
import sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
for cell in notebook.cells:
    for output in cell.get("outputs", []):
        print(output.get("text", ""), output.get("data", {}).get("text/plain", ""), list(output.get("data", {})))
"#;

/// Returns the values in the table of mean IOPS that the demo prints.
fn values(text: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|line| !line.starts_with("----")).skip(1);
    let rows = lines.take_while(|line| !line.trim().is_empty());
    rows.flat_map(|row| row.split_whitespace().skip(1)).map(|value| value.replace(',', "")).collect()
}

#[test]
fn the_notebook_shows_the_table_of_the_report() {
    let modules = "nbclient, nbformat, ipykernel, pandas, matplotlib";
    let Some(mut command) = python(modules, modules) else { return };
    let bench = Bench::new();
    let printed = bench.ok(&["demo"]);
    bench.ok(&["index"]);
    let output = command
        .args(["-c", EXECUTE])
        .arg(package().join("notebooks/library.ipynb"))
        .current_dir(bench.dir.path())
        .env("HOME", bench.dir.path())
        .env("PLATEAU_LIBRARY", bench.library())
        .output()
        .expect("python");
    let (out, err) = texts(&output);
    assert!(output.status.success(), "{out}{err}");
    let table: Vec<&str> = out
        .lines()
        .skip_while(|line| !line.starts_with("block_kib"))
        .skip(1)
        .take_while(|line| line.split_whitespace().count() == 8)
        .flat_map(|line| line.split_whitespace().skip(1))
        .collect();
    let expected = values(&printed);
    // The demo prints its rows in another order.
    let sorted = |mut values: Vec<&str>| {
        values.sort_unstable();
        values.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(expected.len(), 56, "{printed}");
    assert_eq!(sorted(table), sorted(expected.iter().map(|value| &**value).collect()), "{out}");
    assert!(out.contains("image/png"), "{out}");
}
