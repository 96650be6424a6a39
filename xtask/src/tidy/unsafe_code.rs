//! Only drive contains `unsafe`.

use super::check::{Check, Complaint};
use super::tree::Tree;

/// The rule.
pub const CHECK: Check = Check { name: "unsafe_code", run, bless: None };

const UNSAFE_CRATE: &str = "crates/drive";

fn run(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for folder in tree.crates().into_iter().filter(|folder| *folder != UNSAFE_CRATE) {
        let roots = [format!("{folder}/src/lib.rs"), format!("{folder}/src/main.rs")];
        for (root, source) in roots.iter().filter_map(|root| Some((root, tree.source(root)?))) {
            if source.code_places("#![forbid(unsafe_code)]").is_empty() {
                complaints
                    .push(Complaint::file(root, "add `#![forbid(unsafe_code)]`; only drive may omit it"));
            }
        }
    }
    let drive = format!("{UNSAFE_CRATE}/");
    for (path, source) in tree.sources().filter(|(path, _)| !path.starts_with(&drive)) {
        for place in source.code_places("unsafe") {
            complaints.push(Complaint::line(path, source.line_of(place), "`unsafe` belongs in drive"));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_crate_but_drive_forbids_it() {
        let tree = Tree::of(&[
            ("crates/a/Cargo.toml", ""),
            ("crates/a/src/lib.rs", "#![forbid(unsafe_code)]"),
            ("crates/b/Cargo.toml", ""),
            ("crates/b/src/lib.rs", "// #![forbid(unsafe_code)]"),
            ("crates/drive/Cargo.toml", ""),
            ("crates/drive/src/lib.rs", "unsafe {}"),
        ]);
        let paths: Vec<_> = run(&tree).into_iter().map(|c| c.path).collect();
        assert_eq!(paths, ["crates/b/src/lib.rs"]);
    }

    #[test]
    fn tests_outside_drive_do_not_use_it_either() {
        let tree = Tree::of(&[("crates/a/tests/x.rs", "// unsafe\nfn a() { unsafe { b() } }")]);
        assert_eq!(run(&tree).into_iter().map(|c| c.line).collect::<Vec<_>>(), [Some(2)]);
    }
}
