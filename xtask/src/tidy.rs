//! Style rules, checked over the contents of files: pure functions, each with a test that makes it fail.
//!
//! To add a rule, add a file to `tidy/` and a line to [`CHECKS`].

mod arrows;
mod clock;
mod dead_files;
mod dependencies;
mod document_paths;
mod journal_format;
mod lengths;
mod machine_paths;
mod tables;
mod tree;
mod unsafe_code;
mod words;

use std::path::Path;

use anyhow::{Context as _, bail};

use tree::Tree;

/// One rule.
struct Check {
    /// Its name.
    name: &'static str,
    /// Returns all violations.
    run: fn(&Tree) -> Vec<Complaint>,
    /// Returns the file that `--bless` rewrites; accepts only permitted changes.
    bless: Option<fn(&Tree) -> Option<Blessed>>,
}

/// A file and its new content.
type Blessed = (&'static str, String);

/// Every rule.
const CHECKS: &[Check] = &[
    arrows::CHECK,
    clock::CHECK,
    dead_files::CHECK,
    dependencies::CHECK,
    document_paths::CHECK,
    journal_format::CHECK,
    lengths::CHECK,
    machine_paths::CHECK,
    tables::CHECK,
    unsafe_code::CHECK,
    words::CHECK,
];

/// A violation of a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Complaint {
    /// File.
    path: String,
    /// Line from 1; `None` for the file as a whole.
    line: Option<usize>,
    /// The violation and its remedy.
    text: String,
}

impl Complaint {
    /// Creates a complaint about a file as a whole.
    fn file(path: &str, text: impl Into<String>) -> Self {
        Self { path: path.into(), line: None, text: text.into() }
    }

    /// Creates a complaint about one line.
    fn line(path: &str, line: usize, text: impl Into<String>) -> Self {
        Self { path: path.into(), line: Some(line), text: text.into() }
    }
}

impl std::fmt::Display for Complaint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path, self.text),
            None => write!(f, "{}: {}", self.path, self.text),
        }
    }
}

/// `cargo xtask tidy [--bless]`.
pub fn run(root: &Path, arguments: &[String]) -> anyhow::Result<()> {
    let mut tree = Tree::read(root)?;
    match arguments {
        [] => {}
        [flag] if flag == "--bless" => {
            bless(root, &tree)?;
            tree = Tree::read(root)?;
        }
        _ => bail!("tidy takes --bless or nothing"),
    }
    let mut count = 0;
    for check in CHECKS {
        let mut complaints = (check.run)(&tree);
        complaints.sort();
        complaints.iter().for_each(|complaint| eprintln!("{complaint} [{}]", check.name));
        count += complaints.len();
    }
    if count > 0 {
        bail!("tidy has {count} complaint{}", if count == 1 { "" } else { "s" });
    }
    Ok(())
}

fn bless(root: &Path, tree: &Tree) -> anyhow::Result<()> {
    for (path, content) in CHECKS.iter().filter_map(|check| check.bless?(tree)) {
        if tree.text(path) != Some(content.as_str()) {
            std::fs::write(root.join(path), content).with_context(|| format!("cannot write {path}"))?;
            println!("blessed {path}");
        }
    }
    Ok(())
}
