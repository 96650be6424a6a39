//! The Python package in `python` reads runs, exports and the index, and agrees with Plateau's output.

mod support;

use std::path::Path;
use std::process::Command;

use support::{Bench, texts};

#[test]
fn the_python_package_agrees_with_plateau() {
    let python = std::env::var("PLATEAU_PYTHON").unwrap_or_else(|_| "python3".into());
    if !Command::new(&python).arg("--version").output().is_ok_and(|output| output.status.success()) {
        skips::without("python3");
        return;
    }
    let bench = Bench::new();
    bench.ok(&["run", "lat", "sim:sas-slc-2011", "--scale", "1/256", "--max-rounds", "5", "--name", "read"]);
    bench.ok(&["tag", "read", "by-python"]);
    bench.ok(&["note", "read", "a note"]);
    bench.ok(&["index"]);
    let export = bench.path("export");
    bench.ok(&["export", "read", "--csv", export.to_str().expect("text")]);
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python");
    let output = Command::new(&python)
        .args(["-m", "unittest", "discover", "--start-directory", "tests"])
        .current_dir(&package)
        .env("PYTHONPATH", package.join("src"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("PLATEAU_LIBRARY", bench.library())
        .env("PLATEAU_TEST_EXPORT", &export)
        .env("PLATEAU_TEST_SHOWN", bench.json(&["show", "read"]).to_string())
        .output()
        .expect("python");
    let (out, err) = texts(&output);
    assert!(output.status.success() && err.contains("Ran 6 tests"), "{out}{err}");
}
