//! Builds and finds the test binaries in the workspace.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::chore::{PROFILE, checking};

/// A test binary.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TestBinary {
    pub package: String,
    /// File in the `tests` directory; empty for unit tests of the library or program.
    pub name: String,
    pub executable: PathBuf,
    /// Directory of the package, which is the working directory of its tests.
    pub home: PathBuf,
}

/// Builds every test in the workspace and returns the binaries, sorted by package and name.
///
/// Always builds the whole workspace: with fewer packages, cargo would select different features and build
/// everything again.
///
/// # Errors
/// Returns an error if the build fails.
pub fn build(root: &Path) -> anyhow::Result<Vec<TestBinary>> {
    let mut command = checking(root);
    command.args(["test", PROFILE, "--workspace", "--locked", "--no-run"]);
    command.arg("--message-format=json-render-diagnostics");
    let output = command.stderr(Stdio::inherit()).output().context("cannot start cargo")?;
    if !output.status.success() {
        bail!("the tests cannot be built: cargo ended with {}", output.status);
    }
    parse(&String::from_utf8(output.stdout)?)
}

/// Finds the test binaries in cargo's messages.
fn parse(messages: &str) -> anyhow::Result<Vec<TestBinary>> {
    let mut binaries = Vec::new();
    for message in messages.lines() {
        let message: Value = serde_json::from_str(message).context("cannot parse a message from cargo")?;
        binaries.extend(TestBinary::from_message(&message));
    }
    binaries.sort();
    Ok(binaries)
}

impl TestBinary {
    fn from_message(message: &Value) -> Option<Self> {
        let executable = message["executable"].as_str()?;
        if message["profile"]["test"] != true {
            return None;
        }
        let home = Path::new(message["manifest_path"].as_str()?).parent()?;
        let target = message["target"]["name"].as_str()?;
        let name = match message["target"]["kind"][0].as_str()? {
            "test" => target,
            // Both libraries and programs can have unit tests; in a package with both, they are in the library.
            "bin" if message["target"]["src_path"].as_str()?.ends_with("/main.rs") => "main",
            _ => "",
        };
        Some(Self {
            package: home.file_name()?.to_str()?.to_owned(),
            name: name.to_owned(),
            executable: executable.into(),
            home: home.to_owned(),
        })
    }

    /// Returns the package and name, such as `device/load` or `device/unit`.
    pub fn label(&self) -> String {
        let name = if self.name.is_empty() { "unit" } else { &self.name };
        format!("{}/{name}", self.package)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binaries_are_found_in_the_messages_of_cargo() {
        let message = |kind: &str, name: &str, executable: &str, test: bool| {
            format!(
                "{{\"manifest_path\":\"/w/crates/device/Cargo.toml\",\"executable\":{executable},\
                 \"profile\":{{\"test\":{test}}},\"target\":{{\"kind\":[\"{kind}\"],\"name\":\"{name}\",\
                 \"src_path\":\"/w/crates/device/src/main.rs\"}}}}\n"
            )
        };
        let messages = [
            message("test", "load", "\"/t/load-1\"", true),
            message("lib", "device", "\"/t/device-2\"", true),
            message("lib", "device", "null", false),
            message("bin", "device", "\"/t/device\"", false),
            message("bin", "device", "\"/t/device-3\"", true),
        ];
        let found = parse(&messages.concat()).unwrap();
        let labels: Vec<_> = found.iter().map(TestBinary::label).collect();
        assert_eq!(labels, ["device/unit", "device/load", "device/main"]);
        assert_eq!(found[1].executable, Path::new("/t/load-1"));
        assert_eq!(found[1].home, Path::new("/w/crates/device"));
        assert!(parse("no JSON").is_err());
    }
}
