//! Creates the runs that are recomputed.

mod job;
mod jobs;

use std::collections::{BTreeSet, VecDeque};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context as _, bail};

use serde_json::Value;

use jobs::ALTERED;

/// The runs in a library.
pub struct Made {
    /// Directory of every run.
    pub all: Vec<PathBuf>,
    /// Directory of each run to alter.
    pub altered: Vec<PathBuf>,
}

/// Creates the runs under `place`, `lanes` at a time.
///
/// # Errors
/// Returns an error if a command does not end with the expected exit code.
pub fn runs(binary: &Path, place: &Path, lanes: usize) -> anyhow::Result<Made> {
    let library = place.join("runs");
    std::fs::create_dir_all(&library)?;
    for (name, changes) in DRIVES {
        std::fs::write(place.join(name), small_drive(binary, changes)?)?;
    }
    std::fs::write(place.join("key.pem"), KEY)?;
    std::fs::write(place.join("custom.toml"), CUSTOM)?;
    let meter = place.join("meter");
    std::fs::write(&meter, METER)?;
    std::fs::set_permissions(&meter, Permissions::from_mode(0o755))?;
    let source = format!("command:{}", meter.display());
    let jobs = jobs::all(&presets(binary)?, &source);
    let queue = Mutex::new(VecDeque::from(jobs));
    let lane = || -> anyhow::Result<()> {
        loop {
            let Some(job) = queue.lock().expect("no lane panics").pop_front() else { return Ok(()) };
            job.execute(binary, &library)?;
        }
    };
    std::thread::scope(|scope| {
        let started: Vec<_> = (0..lanes).map(|_| scope.spawn(lane)).collect();
        started.into_iter().try_for_each(|lane| lane.join().expect("no lane panics"))
    })?;
    let altered = ALTERED.iter().map(|name| Ok(library.join(id_of(binary, &library, name)?)));
    let all = directories(&library)?;
    every_test_has_a_run(&all)?;
    Ok(Made { altered: altered.collect::<anyhow::Result<_>>()?, all })
}

/// Returns the names of all presets.
fn presets(binary: &Path) -> anyhow::Result<Vec<String>> {
    let output = Command::new(binary).args(["plan", "--list"]).output().context("cannot start plateau")?;
    let text = String::from_utf8(output.stdout)?;
    let names: Vec<String> =
        text.lines().filter_map(|line| line.split_whitespace().next()).map(Into::into).collect();
    if names.is_empty() {
        bail!("`plateau plan --list` lists no presets");
    }
    Ok(names)
}

/// Fails if any of the tests is in none of the runs.
fn every_test_has_a_run(runs: &[PathBuf]) -> anyhow::Result<()> {
    let mut missing: BTreeSet<&str> = pts::TESTS.iter().map(|test| test.name).collect();
    for run in runs {
        let file: Value = serde_json::from_slice(&std::fs::read(run.join("run.json"))?)?;
        // An imported run contains no I/Os from which it could be recomputed.
        if file["profile"] != "imported" {
            for test in file["tests"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                missing.remove(test);
            }
        }
    }
    if missing.is_empty() { Ok(()) } else { bail!("tests that no run contains: {missing:?}") }
}

/// Drives that are small enough to be simulated at their full size: name of the file, and the values that differ from
/// the model.
const DRIVES: [(&str, &[(&str, &str)]); 3] = [
    ("small.toml", &[]),
    // Sectors of 4 KiB.
    ("sectors.toml", &[("logical_block_bytes", "4096")]),
    // Coarse units, because the time to simulate an I/O depends on their number.
    ("coarse.toml", &[("map_unit_bytes", "16384"), ("program_unit_bytes", "16384")]),
];
/// The values of all small drives.
const SMALL: [(&str, &str); 4] = [
    ("capacity_bytes", "134217728"),
    ("superblocks", "128"),
    ("program_unit_bytes", "8192"),
    ("write_buffer_bytes", "1048576"),
];

/// Returns a drive that is small enough to be simulated at its full size.
fn small_drive(binary: &Path, changes: &[(&str, &str)]) -> anyhow::Result<String> {
    let words = ["sim", "show", "sas-slc-2011", "--toml"];
    let output = Command::new(binary).args(words).output().context("cannot start plateau")?;
    let line = |line: &str| {
        let key = line.split(" = ").next().unwrap_or_default();
        let value = changes.iter().chain(&SMALL).find(|(name, _)| *name == key);
        value.map_or_else(|| line.to_owned(), |(name, value)| format!("{name} = {value}"))
    };
    Ok(String::from_utf8(output.stdout)?.lines().map(line).collect::<Vec<_>>().join("\n"))
}

/// Returns the id of the run with this name.
fn id_of(binary: &Path, library: &Path, name: &str) -> anyhow::Result<String> {
    let mut command = Command::new(binary);
    let output = command.arg("--library").arg(library).args(["show", name, "--json"]).output()?;
    let shown: Value = serde_json::from_slice(&output.stdout).context("plateau show")?;
    Ok(shown["run"].as_str().context("plateau show does not name a run")?.to_owned())
}

/// Returns the directory of every run, sorted.
fn directories(library: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(library)? {
        let path = entry?.path();
        if path.join("journal").is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// A program that acts as a meter with varying values.
const METER: &str = include_str!("../../recompute/meter.sh");
/// A private key that is used only for these runs: the byte 7 repeated 32 times, as PKCS #8.
const KEY: &str = include_str!("../../recompute/key.pem");
/// A plan of custom tests.
const CUSTOM: &str = include_str!("../../recompute/custom.toml");
