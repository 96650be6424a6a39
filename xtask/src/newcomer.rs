//! Checks the promise of CONTRIBUTING.md that a test of the PTS is one file and one line. Extracts the example from
//! the page, adds it to a copy of the required crates, and runs the checks for all tests there.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};

/// Crates required by a test of the PTS.
const CRATES: [&str; 4] = ["skips", "stdx", "record", "pts"];
const PAGE: &str = "CONTRIBUTING.md";
/// Comment that precedes the example in the page; its path in the crate.
const MARK: &str = "<!-- crates/pts/src/tests/toy.rs -->";
const FILE: &str = "crates/pts/src/tests/toy.rs";
const TABLE: &str = "crates/pts/src/tests.rs";
/// Integration test that checks every test in the table.
const CHECKS: &str = "replayed";

/// Runs the check.
pub fn run(root: &Path, arguments: &[String]) -> anyhow::Result<()> {
    if let Some(unknown) = arguments.first() {
        bail!("newcomer takes no arguments, but got '{unknown}'");
    }
    let page = fs::read_to_string(root.join(PAGE)).context(PAGE)?;
    let example = example(&page).with_context(|| format!("{PAGE} has no example after '{MARK}'"))?;
    // A persistent directory, so that later runs rebuild little.
    let copy = root.join("target/newcomer");
    drop(fs::remove_dir_all(copy.join("crates")));
    for name in CRATES {
        let folder = format!("crates/{name}");
        copy_folder(&root.join(&folder), &copy.join(&folder))?;
    }
    // One test of pts reads a page.
    copy_folder(&root.join("docs"), &copy.join("docs"))?;
    fs::copy(root.join("Cargo.lock"), copy.join("Cargo.lock"))?;
    fs::write(copy.join("Cargo.toml"), manifest(&fs::read_to_string(root.join("Cargo.toml"))?)?)?;
    fs::write(copy.join(FILE), example)?;
    let table = fs::read_to_string(copy.join(TABLE))?;
    fs::write(copy.join(TABLE), with_line(&table).context("the table of tests has an unexpected format")?)?;
    let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["test", "--offline", "--quiet", "--package", "pts", "--test", CHECKS])
        .env("CARGO_TARGET_DIR", root.join("target/newcomer/target"))
        .current_dir(&copy)
        .status()?;
    if status.success() { Ok(()) } else { bail!("the example of {PAGE} does not pass: {status}") }
}

/// Returns the code block after the mark.
fn example(page: &str) -> Option<&str> {
    let (_, rest) = page.split_once(MARK)?;
    let (code, _) = rest.trim_start().strip_prefix("```rust\n")?.split_once("```")?;
    Some(code)
}

/// Returns the table with the module and the entry of the example added.
fn with_line(table: &str) -> Option<String> {
    let (head, rest) = table.split_once("mod tp;\n")?;
    let (middle, tail) = rest.split_once("pub const TESTS: &[Test] = &[\n")?;
    Some(format!("{head}mod toy;\nmod tp;\n{middle}pub const TESTS: &[Test] = &[\n    toy::TEST,\n{tail}"))
}

/// Returns the workspace manifest, reduced to the copied crates.
fn manifest(text: &str) -> anyhow::Result<String> {
    let mut manifest: toml::Table = text.parse()?;
    let workspace =
        manifest.get_mut("workspace").and_then(toml::Value::as_table_mut).context("a workspace")?;
    workspace.insert("members".into(), vec![toml::Value::from("crates/*")].into());
    workspace.remove("default-members");
    let dependencies =
        workspace.get_mut("dependencies").and_then(toml::Value::as_table_mut).context("dependencies")?;
    dependencies.retain(|name, value| value.get("path").is_none() || CRATES.contains(&name));
    if let Some(profile) = manifest.get_mut("profile").and_then(toml::Value::as_table_mut) {
        profile.clear();
    }
    Ok(toml::to_string(&manifest)?)
}

fn copy_folder(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| from.display().to_string())? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_is_the_block_behind_its_mark() {
        let page = format!("text\n\n```rust\nother\n```\n{MARK}\n\n```rust\nfn toy() {{}}\n```\nmore");
        assert_eq!(example(&page), Some("fn toy() {}\n"));
        assert_eq!(example("no mark"), None);
    }

    #[test]
    fn the_copy_knows_only_what_it_has() {
        let text = "[workspace]\nmembers = [\"crates/*\", \"xtask\"]\n[workspace.dependencies]\n\
                    pts = { path = \"crates/pts\" }\ndevice = { path = \"crates/device\" }\nserde = \"1\"\n";
        let copy = manifest(text).unwrap();
        assert!(copy.contains("[workspace.dependencies.pts]") || copy.contains("pts = "), "{copy}");
        assert!(copy.contains("serde") && !copy.contains("device") && !copy.contains("xtask"), "{copy}");
    }
}
