//! `cargo xtask recompute [RUN]...`: recomputes runs from their journals and compares them with their reports.
//!
//! The recomputation is `xtask/recompute/recompute.py`, which is based only on the description of the format and on the
//! specification. If no runs are given, this module first creates small simulated runs: every test of every profile,
//! every preset, other custom tests and settings, and runs that were interrupted, signed or imported. A self-test alters
//! a run and must detect each alteration.

mod made;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::chore::Chore;
use crate::test::SKIPS;

const PYTHON: &str = "python3";
/// Maximum number of runs, and also of recomputations, in progress at the same time.
const LANES: usize = 2;

/// Recompute runs from their journals in Python, and compare the results with Plateau's reports
///
/// If no runs are given, small simulated runs of every test, profile and preset are recomputed, followed by a
/// self-test.
#[derive(Default, clap::Args)]
pub struct Recompute {
    /// A plateau binary to use instead of building one
    #[arg(long, value_name = "PROGRAM")]
    binary: Option<PathBuf>,
    /// Use the binary built for the tests, as `cargo xtask ci` does
    #[arg(long)]
    ci: bool,
    /// Directory of a run
    #[arg(value_name = "RUN")]
    runs: Vec<PathBuf>,
}

impl Chore for Recompute {
    /// Fails on any mismatch.
    fn run(self, root: &Path) -> anyhow::Result<()> {
        match perform(root, &self)? {
            Some(reason) => bail!("nothing was recomputed: {reason}"),
            None => Ok(()),
        }
    }
}

/// Recomputes small simulated runs for `cargo xtask ci`; if Python is missing, returns the reason why nothing
/// was recomputed.
pub fn ci(root: &Path) -> anyhow::Result<Option<String>> {
    let skipped = perform(root, &Recompute { ci: true, ..Recompute::default() })?;
    if let Some(reason) = &skipped {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(root.join(SKIPS))?;
        writeln!(file, "recompute\t{PYTHON}\t{reason}")?;
    }
    Ok(skipped)
}

fn perform(root: &Path, options: &Recompute) -> anyhow::Result<Option<String>> {
    if Command::new(PYTHON).arg("--version").output().is_err() {
        return Ok(Some(format!("{PYTHON} is not installed")));
    }
    let binary = match &options.binary {
        Some(path) => std::fs::canonicalize(path)?,
        None => crate::chore::plateau_program(root, options.ci)?,
    };
    if !options.runs.is_empty() {
        return recompute(root, &binary, &[], &options.runs).map(|()| None);
    }
    let place = tempfile::Builder::new().prefix("plateau-recompute-").tempdir_in(fast_place(root)?)?;
    let made = made::runs(&binary, place.path(), LANES)?;
    for altered in &made.altered {
        recompute(root, &binary, &["--self-test"], std::slice::from_ref(altered))?;
    }
    match recompute(root, &binary, &["--complete"], &made.all) {
        Ok(()) => Ok(None),
        Err(error) => Err(error.context(format!("see the runs in {}", place.keep().display()))),
    }
}

/// Returns a folder for the runs, in memory if possible, because every record is synced to disk.
fn fast_place(root: &Path) -> anyhow::Result<PathBuf> {
    let memory = Path::new("/dev/shm");
    if tempfile::tempfile_in(memory).is_ok() {
        return Ok(memory.into());
    }
    let folder = root.join("target/recompute");
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Runs the recomputation, which prints its findings.
fn recompute(root: &Path, binary: &Path, options: &[&str], runs: &[PathBuf]) -> anyhow::Result<()> {
    let status = Command::new(PYTHON)
        .arg("-B")
        .arg(root.join("xtask/recompute/recompute.py"))
        .arg("--plateau")
        .arg(binary)
        .args(["--jobs", &LANES.to_string()])
        .args(options)
        .args(runs)
        .status()
        .context("cannot start python3")?;
    if status.success() { Ok(()) } else { bail!("the recomputation ended with {status}") }
}
