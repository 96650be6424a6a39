//! Checks that the fuzz targets compile with the stable compiler. They are outside the workspace, so no other step
//! would detect that they no longer match a parser.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};

use crate::chore::{Chore, PROFILE, build_folder, checking};

const MANIFEST: &str = "fuzz/Cargo.toml";
const NO_COMPILER: &str = "libfuzzer-sys needs a C++ compiler, and there is no c++ or $CXX";
const NOT_FETCHED: &str =
    "the dependencies of the fuzz targets cannot be fetched, or fuzz/Cargo.lock is out of date; see above";

/// Check that the fuzz targets compile; running them needs nightly Rust and cargo-fuzz
#[derive(clap::Args)]
pub struct Fuzz {}

impl Chore for Fuzz {
    fn run(self, root: &Path) -> anyhow::Result<()> {
        let skipped = ci(root)?;
        ensure!(skipped.is_none(), "{}", skipped.unwrap_or_default());
        Ok(())
    }
}

/// Checks the fuzz targets, or returns the reason why they cannot be checked on this host.
pub fn ci(root: &Path) -> anyhow::Result<Option<String>> {
    if !has_compiler(&compiler()) {
        return Ok(Some(NO_COMPILER.into()));
    }
    if !cargo(root, &["fetch", "--locked"])? {
        return Ok(Some(NOT_FETCHED.into()));
    }
    // In the workspace's build folder and with its profiles, common dependencies are compiled only once.
    let profiles = profiles(root)?;
    ensure!(
        cargo(root, &["check", PROFILE, "--locked", "--bins", "--config", &profiles])?,
        "a fuzz target does not compile"
    );
    Ok(None)
}

/// Writes the workspace's profiles to a file for `--config` and returns its path.
fn profiles(root: &Path) -> anyhow::Result<String> {
    let manifest: toml::Table = std::fs::read_to_string(root.join("Cargo.toml"))?.parse()?;
    let profiles = manifest.into_iter().filter(|(name, _)| name == "profile");
    let path = build_folder(root).join("profiles-for-fuzz.toml");
    std::fs::write(&path, toml::to_string(&profiles.collect::<toml::Table>())?)?;
    Ok(path.to_str().context("the path is not UTF-8")?.to_owned())
}

/// Returns whether cargo succeeds with these arguments for the fuzz targets.
fn cargo(root: &Path, arguments: &[&str]) -> anyhow::Result<bool> {
    let mut command = checking(root);
    command.args(arguments).args(["--manifest-path", MANIFEST]);
    Ok(command.status().context("cannot start cargo")?.success())
}

/// Returns the C++ compiler that build scripts use.
fn compiler() -> String {
    std::env::var("CXX").unwrap_or_else(|_| "c++".into())
}

fn has_compiler(name: &str) -> bool {
    let mut command = Command::new(name);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_compiler_is_noticed() {
        assert!(!has_compiler("a-compiler-that-does-not-exist"));
    }

    #[test]
    fn there_is_a_lock_file_for_the_targets() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        assert!(root.join(MANIFEST).with_file_name("Cargo.lock").is_file());
    }
}
