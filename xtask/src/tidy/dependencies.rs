//! Every crate must use all of its dependencies.

use super::check::{Check, Complaint};
use super::tree::Tree;

/// The rule.
pub const CHECK: Check = Check { name: "dependencies", run, bless: None };

/// Section of a manifest, and the directories whose code may use its dependencies.
const SECTIONS: &[(&str, &[&str])] = &[
    ("dependencies", &["src", "fuzz_targets", "properties"]),
    ("dev-dependencies", &["src", "tests", "examples", "benches"]),
];

fn run(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for folder in tree.crates() {
        let path = format!("{folder}/Cargo.toml");
        // Manifests that cannot be parsed are reported by `arrows`.
        let Ok(manifest) = tree.text(&path).unwrap_or_default().parse::<toml::Table>() else { continue };
        for (section, folders) in SECTIONS {
            let names = manifest
                .get(*section)
                .and_then(toml::Value::as_table)
                .into_iter()
                .flat_map(toml::Table::keys);
            for name in names.filter(|name| !is_used(tree, folder, folders, name)) {
                complaints
                    .push(Complaint::file(&path, format!("{name} in [{section}] is not used: remove it")));
            }
        }
    }
    complaints
}

fn is_used(tree: &Tree, folder: &str, folders: &[&str], name: &str) -> bool {
    let module = name.replace('-', "_");
    let inside = |path: &str| folders.iter().any(|inner| path.starts_with(&format!("{folder}/{inner}/")));
    tree.sources().any(|(path, source)| inside(path) && !source.code_places(&module).is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_code_names_is_found() {
        let tree = Tree::of(&[
            (
                "a/Cargo.toml",
                "[dependencies]\nio-uring = \"1\"\nserde = \"1\"\n[dev-dependencies]\nproptest = \"1\"\nrand = \"1\"",
            ),
            ("a/src/lib.rs", "use io_uring::X; // serde"),
            ("a/tests/x.rs", "use proptest::Y; use serde::Z;"),
        ]);
        let texts: Vec<_> = run(&tree).into_iter().map(|c| c.text).collect();
        assert_eq!(
            texts,
            [
                "serde in [dependencies] is not used: remove it",
                "rand in [dev-dependencies] is not used: remove it"
            ]
        );
    }
}
