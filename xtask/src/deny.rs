//! Checks Cargo.lock against the rules in `deny.toml`. Licences and sources are checked here. If cargo-deny
//! is installed, it repeats these checks, and also checks bans and, if the database can be fetched,
//! advisories. Checks that were not performed are reported.

use std::path::Path;
use std::process::{ExitStatus, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::chore::{Chore, cargo};

const RULES: &str = "deny.toml";
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";
/// One of the platforms in `deny.toml`; the checks in this module yield the same result for the others.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";
const MISSING: &str =
    "bans and advisories were not checked: cargo-deny is not installed (cargo install --locked cargo-deny)";
const NO_DATABASE: &str = "advisories were not checked: the database cannot be fetched";
const NOT_ASKED: &str =
    "advisories were not checked; `cargo xtask deny` checks them if the network can be reached";

/// Whether to check advisories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Advisories {
    /// Only if the database can be fetched.
    IfReachable,
    No,
}

/// Check the packages in Cargo.lock for licences and sources that deny.toml does not allow, and for advisories
#[derive(clap::Args)]
pub struct Deny {
    /// Do not check advisories, whose database has to be fetched
    #[arg(long)]
    offline: bool,
}

impl Chore for Deny {
    fn run(self, root: &Path) -> anyhow::Result<()> {
        let advisories = if self.offline { Advisories::No } else { Advisories::IfReachable };
        let left_out = checked(root, advisories)?;
        left_out.iter().for_each(|what| println!("deny: {what}"));
        Ok(())
    }
}

/// Runs the checks that are part of `cargo xtask ci`. They do not use the network, so that their duration does
/// not vary.
pub fn ci(root: &Path) -> anyhow::Result<Option<String>> {
    let left_out = checked(root, Advisories::No)?;
    // This is expected in ci: only `cargo xtask deny` checks advisories.
    Ok(left_out.filter(|what| *what != NOT_ASKED).map(str::to_owned))
}

/// Runs all possible checks, and returns those that were skipped.
fn checked(root: &Path, advisories: Advisories) -> anyhow::Result<Option<&'static str>> {
    let count = check_packages(root)?;
    println!("deny: licences and sources of {count} packages are as specified in {RULES}");
    if !is_installed() {
        return Ok(Some(MISSING));
    }
    deny(root, &["--offline", "check", "licenses", "bans", "sources"])?;
    if advisories == Advisories::No {
        return Ok(Some(NOT_ASKED));
    }
    if !start(root, &["fetch", "db"])?.success() {
        return Ok(Some(NO_DATABASE));
    }
    deny(root, &["check", "--disable-fetch", "advisories"])?;
    println!("deny: no advisory applies to a package in Cargo.lock");
    Ok(None)
}

/// Checks the licences and sources of all packages in a Linux build, and returns the number of packages.
fn check_packages(root: &Path) -> anyhow::Result<usize> {
    let rules: toml::Table = std::fs::read_to_string(root.join(RULES)).context(RULES)?.parse()?;
    let allowed = rules.get("licenses").and_then(|licences| licences.get("allow")?.as_array());
    let allowed = allowed.with_context(|| format!("{RULES} allows no licences"))?;
    let allowed: Vec<&str> = allowed.iter().filter_map(toml::Value::as_str).collect();
    let output = cargo()
        .args(["metadata", "--locked", "--format-version", "1", "--filter-platform", PLATFORM])
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo")?;
    ensure!(output.status.success(), "cargo metadata ended with {}", output.status);
    let document: Value = serde_json::from_slice(&output.stdout).context("cargo metadata printed no JSON")?;
    let packages = document["packages"].as_array().context("cargo metadata lists no packages")?;
    let wrong: Vec<String> = packages.iter().filter_map(|package| wrong(package, &allowed)).collect();
    ensure!(wrong.is_empty(), "{}; change {RULES} only after reading the licence", wrong.join("; "));
    Ok(packages.len())
}

/// Returns a description of the rule that a package violates, if any.
fn wrong(package: &Value, allowed: &[&str]) -> Option<String> {
    let name = format!("{} {}", package["name"].as_str()?, package["version"].as_str()?);
    let Some(licence) = package["license"].as_str() else {
        return Some(format!("{name} does not specify a licence"));
    };
    if !is_allowed(licence, allowed) {
        return Some(format!("{name} is licensed under {licence}, which {RULES} does not allow"));
    }
    match package["source"].as_str() {
        // Packages in the workspace have no source.
        None | Some(REGISTRY) => None,
        Some(other) => Some(format!("{name} comes from {other}, which {RULES} does not allow")),
    }
}

/// Returns whether the allowed licences satisfy an SPDX expression. Contrary to SPDX, AND has a lower
/// precedence than OR, which is never less strict.
fn is_allowed(expression: &str, allowed: &[&str]) -> bool {
    let meets = |one: &str| allowed.contains(&one.trim_matches(['(', ')', ' ']));
    expression.replace('/', " OR ").split(" AND ").all(|part| part.split(" OR ").any(meets))
}

fn deny(root: &Path, words: &[&str]) -> anyhow::Result<()> {
    let status = start(root, words)?;
    ensure!(status.success(), "cargo deny {} ended with {status}", words.join(" "));
    Ok(())
}

fn start(root: &Path, words: &[&str]) -> anyhow::Result<ExitStatus> {
    cargo().args(["deny", "--locked"]).args(words).current_dir(root).status().context("cannot start cargo")
}

fn is_installed() -> bool {
    let version = cargo().args(["deny", "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ALLOWED: [&str; 2] = ["MIT", "Apache-2.0"];

    #[test]
    fn or_needs_one_licence_and_and_needs_all() {
        for expression in ["MIT", "MIT/X11", "GPL-3.0 OR MIT", "(MIT OR X11) AND (X11 OR Apache-2.0)"] {
            assert!(is_allowed(expression, &ALLOWED), "{expression}");
        }
        for expression in ["", "GPL-3.0", "MIT AND X11", "MIT OR GPL-3.0 AND X11", "MIT WITH x"] {
            assert!(!is_allowed(expression, &ALLOWED), "{expression}");
        }
    }

    #[test]
    fn disallowed_licences_and_sources_are_named() {
        let package = |licence: Value, source: Value| {
            let package = json!({ "name": "a", "version": "1.0.0", "license": licence, "source": source });
            wrong(&package, &ALLOWED)
        };
        assert_eq!(package("MIT".into(), REGISTRY.into()), None);
        assert_eq!(package("MIT".into(), Value::Null), None);
        assert!(package(Value::Null, REGISTRY.into()).unwrap() == "a 1.0.0 does not specify a licence");
        assert!(package("GPL-3.0".into(), REGISTRY.into()).unwrap().contains("GPL-3.0"));
        let git = package("MIT".into(), "git+https://example.org/a".into()).unwrap();
        assert!(git.contains("comes from git+"), "{git}");
    }
}
