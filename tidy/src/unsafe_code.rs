//! Only engine and device may contain `unsafe`.

use super::check::{Check, Complaint};
use super::tree::Tree;

/// The rule.
pub const CHECK: Check = Check { name: "unsafe_code", run, bless: None };

const UNSAFE_CRATES: &[&str] = &["crates/engine", "crates/device"];

fn run(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for folder in tree.crates().into_iter().filter(|folder| !UNSAFE_CRATES.contains(folder)) {
        let roots = [format!("{folder}/src/lib.rs"), format!("{folder}/src/main.rs")];
        for (root, source) in roots.iter().filter_map(|root| Some((root, tree.source(root)?))) {
            if source.code_places("#![forbid(unsafe_code)]").is_empty() {
                complaints.push(Complaint::file(
                    root,
                    "add `#![forbid(unsafe_code)]`; only engine and device may omit it",
                ));
            }
        }
    }
    let may = |path: &str| {
        UNSAFE_CRATES.iter().any(|folder| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
    };
    for (path, source) in tree.sources().filter(|(path, _)| !may(path)) {
        for place in source.code_places("unsafe") {
            complaints.push(Complaint::line(
                path,
                source.line_of(place),
                "`unsafe` is allowed only in engine and device",
            ));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_crate_but_engine_and_device_forbids_it() {
        let tree = Tree::of(&[
            ("crates/a/Cargo.toml", ""),
            ("crates/a/src/lib.rs", "#![forbid(unsafe_code)]"),
            ("crates/b/Cargo.toml", ""),
            ("crates/b/src/lib.rs", "// #![forbid(unsafe_code)]"),
            ("crates/device/Cargo.toml", ""),
            ("crates/device/src/lib.rs", "unsafe {}"),
        ]);
        let paths: Vec<_> = run(&tree).into_iter().map(|c| c.path).collect();
        assert_eq!(paths, ["crates/b/src/lib.rs"]);
    }

    #[test]
    fn tests_elsewhere_do_not_use_it_either() {
        let tree = Tree::of(&[("crates/a/tests/x.rs", "// unsafe\nfn a() { unsafe { b() } }")]);
        assert_eq!(run(&tree).into_iter().map(|c| c.line).collect::<Vec<_>>(), [Some(2)]);
    }
}
