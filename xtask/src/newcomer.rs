//! Checks the claims in CONTRIBUTING.md that a PTS test is one file and one line, and that a run setting is one
//! table entry. Extracts the examples from the page, adds them to a copy of the crates, and checks that
//! everything derived from the tables includes them.

mod copied;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context as _, ensure};
use copied::copy_folder;

use crate::chore::{BUILD, Chore, PROFILE, PROGRAMS, build_folder, cargo};

const PAGE: &str = "CONTRIBUTING.md";
/// Path of an example; on the page, each example is preceded by a comment with its path.
const TEST: &str = "crates/pts/src/tests/toy.rs";
const SETTING: &str = "crates/plans/src/settings/table.rs";
/// The table of tests.
const TESTS: &str = "crates/pts/src/tests.rs";
/// Integration test that runs all tests in the table (`pts`).
const TEST_CHECKS: &str = "replayed";
const PAGE_CHECKS: &str = "settings_page";
/// An integration test of the program; to run it, cargo also builds the program.
const PROGRAM_CHECKS: &str = "version";
/// The page that lists the settings.
const SETTINGS_PAGE: &str = "docs/reference/plans.md";
/// Name of the setting in the example.
const NAME: &str = "toy-minutes";
const MEANING: &str = "Minutes of the toy test, 1 to 60";

/// Follow the examples in CONTRIBUTING.md for a new test and a new setting, in a copy
#[derive(clap::Args)]
pub struct Newcomer {}

impl Chore for Newcomer {
    fn run(self, root: &Path) -> anyhow::Result<()> {
        follow(root)
    }
}

/// Runs the check for `cargo xtask ci`.
pub fn ci(root: &Path) -> anyhow::Result<Option<String>> {
    follow(root).map(|()| None)
}

fn follow(root: &Path) -> anyhow::Result<()> {
    let copy = ModifiedCopy {
        folder: root.join("target/newcomer"),
        target: root.join("target/newcomer/target"),
        build: build_folder(root),
    };
    copy.prepare(root)?;
    copy.test(&["--test", TEST_CHECKS], &[])?;
    copy.test(&["--test", PAGE_CHECKS], &[("PLATEAU_BLESS", "1")])?;
    let page = fs::read_to_string(copy.folder.join(SETTINGS_PAGE))?;
    ensure!(page.contains(&format!("| `{NAME}` |")), "{SETTINGS_PAGE} does not list {NAME}");
    copy.test(&["--test", PROGRAM_CHECKS, "--no-run"], &[])?;
    copy.check_options()?;
    copy.check_plan()?;
    copy.check_manual()
}

/// A copy of the workspace with the examples.
struct ModifiedCopy {
    folder: PathBuf,
    /// Directory for the programs of the copy, so that they do not replace the workspace's programs.
    target: PathBuf,
    /// Directory for everything else that cargo builds. The workspace's own directory is used, because its tests
    /// have already built the dependencies.
    build: PathBuf,
}

impl ModifiedCopy {
    /// Creates the copy in a persistent folder, so that later runs rebuild little.
    fn prepare(&self, root: &Path) -> anyhow::Result<()> {
        let text = |path: &str| fs::read_to_string(root.join(path)).with_context(|| path.to_owned());
        let page = text(PAGE)?;
        let example =
            |path: &str| example(&page, path).with_context(|| format!("{PAGE} has no example for {path}"));
        let unexpected = |path: &str| format!("{path} has an unexpected format");
        let tests = with_test(&text(TESTS)?).with_context(|| unexpected(TESTS))?;
        let settings =
            with_setting(&text(SETTING)?, example(SETTING)?).with_context(|| unexpected(SETTING))?;
        let changed = BTreeMap::from([
            (self.folder.join(TEST), example(TEST)?.to_owned()),
            (self.folder.join(TESTS), tests),
            (self.folder.join(SETTING), settings),
        ]);
        let manifest: toml::Table = text("Cargo.toml")?.parse()?;
        // Tests in `plans` read documents.
        for folder in members(&manifest).context("Cargo.toml lists no members")?.chain(["docs"]) {
            copy_folder(&root.join(folder), &self.folder.join(folder), &changed)?;
        }
        fs::copy(root.join("Cargo.lock"), self.folder.join("Cargo.lock"))?;
        fs::write(self.folder.join("Cargo.toml"), toml::to_string(&without_optimisation(manifest.clone()))?)?;
        Ok(())
    }

    /// Runs `cargo test` on the workspace: with fewer packages, cargo would select other features and build the
    /// dependencies again.
    fn test(&self, arguments: &[&str], environment: &[(&str, &str)]) -> anyhow::Result<()> {
        let status = cargo()
            .args(["test", PROFILE, "--workspace", "--offline", "--quiet"])
            .args(arguments)
            .env(PROGRAMS, &self.target)
            .env(BUILD, &self.build)
            .envs(environment.iter().copied())
            .current_dir(&self.folder)
            .status()?;
        ensure!(
            status.success(),
            "with the examples of {PAGE}, `cargo test {}` fails: {status}",
            arguments.join(" ")
        );
        Ok(())
    }

    /// Returns the output of the program with the examples.
    fn plateau(&self, arguments: &[&str]) -> anyhow::Result<Output> {
        let program = self.target.join("release/plateau");
        let output = Command::new(program).args(arguments).current_dir(&self.folder).output()?;
        Ok(output)
    }

    fn text(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let output = self.plateau(arguments)?;
        let error = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`plateau {}` fails: {error}", arguments.join(" "));
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Checks that the option appears in the help and in shell completion, and rejects values outside its limits.
    fn check_options(&self) -> anyhow::Result<()> {
        for command in ["run", "plan"] {
            let help = self.text(&[command, "--help"])?;
            let words: Vec<&str> = help.split_whitespace().collect();
            ensure!(words.join(" ").contains(MEANING), "the help of {command} does not explain --{NAME}");
        }
        let refused = self.plateau(&["plan", "iops", "sim:sas-slc-2011", "--toy-minutes", "61"])?;
        let error = String::from_utf8_lossy(&refused.stderr).into_owned();
        ensure!(refused.status.code() == Some(2), "--{NAME} 61 is accepted");
        ensure!(
            error.contains("use 1 to 60 (nearest: 60)"),
            "--{NAME} 61 is refused with an unexpected message: {error}"
        );
        let completed = Command::new(self.target.join("release/plateau"))
            .args(["--", "plateau", "run", "--toy"])
            .envs([("PLATEAU_COMPLETE", "fish")])
            .output()?;
        let completed = String::from_utf8(completed.stdout)?;
        ensure!(completed.contains("--toy-minutes"), "shells do not complete --{NAME}: {completed}");
        Ok(())
    }

    /// Checks that plans may contain the key, that the command line overrides it, and that the result lists it
    /// as a deviation.
    fn check_plan(&self) -> anyhow::Result<()> {
        let plan = self.folder.join("toy.toml");
        fs::write(&plan, "tests = [\"toy\"]\n[settings]\ntoy-minutes = 7\n")?;
        let plan = plan.to_str().context("the path is not UTF-8")?;
        self.text(&["plan", "--check", plan])?;
        let target = ["sim:sas-slc-2011", "--scale", "1/64", "--no-rehearsal", "--json"];
        for (more, minutes) in [(&[][..], "7"), (&["--toy-minutes", "9"], "9")] {
            let arguments = [&["plan", "--plan", plan], &target[..], more].concat();
            let document: serde_json::Value = serde_json::from_str(&self.text(&arguments)?)?;
            let found = &document["settings"]["further"][NAME];
            ensure!(found == minutes, "plan --json has {found} for {NAME}, not {minutes}");
            let modified = document["modified"].to_string();
            ensure!(modified.contains(NAME), "{NAME} is not listed as a deviation: {modified}");
        }
        Ok(())
    }

    fn check_manual(&self) -> anyhow::Result<()> {
        let folder = self.folder.join("man");
        self.text(&["man", folder.to_str().context("the path is not UTF-8")?])?;
        let page = fs::read_to_string(folder.join("plateau-run.1"))?;
        ensure!(page.contains(MEANING), "the manual page of run does not explain --{NAME}");
        Ok(())
    }
}

/// Returns the code block after the comment with `path`.
fn example<'a>(page: &'a str, path: &str) -> Option<&'a str> {
    let (_, rest) = page.split_once(&format!("<!-- {path} -->"))?;
    let (code, _) = rest.trim_start().strip_prefix("```rust\n")?.split_once("```")?;
    Some(code)
}

/// Returns the table of tests with the example's module and entry added.
fn with_test(table: &str) -> Option<String> {
    let (head, rest) = table.split_once("mod tp;\n")?;
    let (middle, tail) = rest.split_once("pub const TESTS: &[Test] = &[\n")?;
    Some(format!("{head}mod toy;\nmod tp;\n{middle}pub const TESTS: &[Test] = &[\n    toy::TEST,\n{tail}"))
}

/// Returns the table of settings with `entry` added.
fn with_setting(table: &str, entry: &str) -> Option<String> {
    let begin = "pub const SETTINGS: &[Setting] = &[\n";
    let (head, tail) = table.split_once(begin)?;
    Some(format!("{head}{begin}{entry}{tail}"))
}

/// Returns the folders that contain the members of the workspace.
fn members(manifest: &toml::Table) -> Option<impl Iterator<Item = &str>> {
    let members = manifest.get("workspace")?.get("members")?.as_array()?.iter();
    Some(members.filter_map(toml::Value::as_str).map(|member| member.trim_end_matches("/*")))
}

/// Returns the manifest with optimisation disabled for the workspace's own crates, which are built only for a
/// few small tests. The dependencies keep their profile, so they are not built again.
fn without_optimisation(mut manifest: toml::Table) -> toml::Table {
    let packages = manifest
        .get_mut("profile")
        .and_then(|profiles| profiles.get_mut("bench")?.get_mut("package")?.as_table_mut());
    let ours = packages.into_iter().flatten().filter(|(name, _)| *name != "*");
    for settings in ours.filter_map(|(_, settings)| settings.as_table_mut()) {
        settings.insert("opt-level".to_owned(), 0.into());
    }
    manifest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_is_the_block_after_its_path() {
        let page = "text\n\n```rust\nother\n```\n<!-- a.rs -->\n\n```rust\nfn toy() {}\n```\nmore";
        assert_eq!(example(page, "a.rs"), Some("fn toy() {}\n"));
        assert_eq!(example(page, "b.rs"), None);
    }

    #[test]
    fn an_entry_is_the_first_of_its_table() {
        let table = "//! x\npub const SETTINGS: &[Setting] = &[\n    B,\n];\n";
        let with = with_setting(table, "    A,\n").unwrap();
        assert_eq!(with, "//! x\npub const SETTINGS: &[Setting] = &[\n    A,\n    B,\n];\n");
        assert_eq!(with_setting("other", "A"), None);
    }

    #[test]
    fn only_dependencies_are_optimised() {
        let text = "[workspace]\nmembers = [\"crates/*\", \"xtask\"]\n[profile.bench.package.pts]\nopt-level = 1\n\
                    [profile.bench.package.\"*\"]\nopt-level = 1\n";
        let manifest: toml::Table = text.parse().unwrap();
        assert_eq!(members(&manifest).unwrap().collect::<Vec<_>>(), ["crates", "xtask"]);
        let copy = without_optimisation(manifest);
        let level = |name: &str| copy["profile"]["bench"]["package"][name]["opt-level"].as_integer();
        assert_eq!([level("*"), level("pts")], [Some(1), Some(0)]);
    }
}
