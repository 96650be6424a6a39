//! Rules about the contents of files. Rules are pure functions; each of them has a test in which it fails.
//!
//! To add a rule, add a file to this folder and a line to `CHECKS`.
#![forbid(unsafe_code)]

mod arrows;
mod check;
mod circles;
mod clock;
mod crate_size;
mod dead_files;
mod dependencies;
mod document_paths;
mod journal_format;
mod lengths;
mod machine_paths;
mod option_names;
mod ratchet;
pub mod source;
mod tables;
mod text_decisions;
pub mod tree;
mod unsafe_code;
mod words;

use std::path::Path;

use anyhow::{Context as _, bail};

use check::Check;
use tree::Tree;

/// Every rule.
const CHECKS: &[Check] = &[
    arrows::CHECK,
    circles::CHECK,
    clock::CHECK,
    crate_size::CHECK,
    dead_files::CHECK,
    dependencies::CHECK,
    document_paths::CHECK,
    journal_format::CHECK,
    lengths::CHECK,
    machine_paths::CHECK,
    option_names::CHECK,
    tables::CHECK,
    text_decisions::CHECK,
    unsafe_code::CHECK,
    words::CHECK,
];

/// Checks all rules for the repository at `root`, and prints every complaint.
///
/// # Errors
/// Returns an error if a file cannot be read, or if there is a complaint.
pub fn check(root: &Path) -> anyhow::Result<()> {
    report(&Tree::read(root)?)
}

/// Accepts smaller counts, and writes the hash of the current journal format to its page.
///
/// # Errors
/// Returns an error if a file cannot be read or written.
pub fn bless(root: &Path) -> anyhow::Result<()> {
    let mut tree = Tree::read(root)?;
    for check in CHECKS {
        tree = bless_one(root, tree, check)?;
    }
    Ok(())
}

/// Prints all complaints; fails if there are any.
fn report(tree: &Tree) -> anyhow::Result<()> {
    let mut count = 0;
    for check in CHECKS {
        let mut complaints = (check.run)(tree);
        complaints.sort();
        complaints.iter().for_each(|complaint| eprintln!("{complaint} [{}]", check.name));
        count += complaints.len();
    }
    if count > 0 {
        bail!("tidy has {count} complaint{}", if count == 1 { "" } else { "s" });
    }
    Ok(())
}

/// Rewrites the file of one rule. Returns the resulting tree, because several rules share a file.
fn bless_one(root: &Path, tree: Tree, check: &Check) -> anyhow::Result<Tree> {
    let Some((path, content)) = check.bless.and_then(|bless| bless(&tree)) else { return Ok(tree) };
    if tree.text(path) == Some(content.as_str()) {
        return Ok(tree);
    }
    std::fs::write(root.join(path), content).with_context(|| format!("cannot write {path}"))?;
    println!("blessed {path}");
    Tree::read(root)
}
