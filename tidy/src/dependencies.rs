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
    let shared: Vec<String> =
        tree.texts().filter(|(path, _)| inside(path)).flat_map(|(path, text)| included(path, text)).collect();
    let used = |path: &str| inside(path) || shared.iter().any(|known| known == path);
    tree.sources().any(|(path, source)| used(path) && !source.code_places(&module).is_empty())
}

/// Returns the files in other crates that a file includes: `#[path = "../../report/tests/fixture/mod.rs"]`.
fn included<'a>(path: &'a str, text: &'a str) -> impl Iterator<Item = String> + 'a {
    let named = text.lines().filter_map(|line| line.strip_prefix("#[path = \"")?.strip_suffix("\"]"));
    named.map(move |named| {
        let mut parts: Vec<&str> = path.split('/').collect();
        parts.pop();
        for part in named.split('/') {
            match part {
                ".." => drop(parts.pop()),
                _ => parts.push(part),
            }
        }
        parts.join("/")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_shared_by_tests_count() {
        let tree = Tree::of(&[
            ("a/Cargo.toml", "[dev-dependencies]\nproptest = \"1\"\nrand = \"1\""),
            ("a/tests/x.rs", "#[path = \"../../b/tests/shared.rs\"]\nmod shared;\n"),
            ("b/tests/shared.rs", "use proptest::Y;"),
            ("b/tests/other.rs", "use rand::Y;"),
        ]);
        let texts: Vec<_> = run(&tree).into_iter().map(|c| c.text).collect();
        assert_eq!(texts, ["rand in [dev-dependencies] is not used: remove it"]);
    }

    #[test]
    fn unused_dependencies_are_found() {
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
