//! Crates must not become larger than one person can keep in mind. Lines of tests do not count.

use super::check::{Blessed, Check, Complaint};
use super::ratchet::{self, Counts};
use super::tree::Tree;

/// The rule.
pub const CHECK: Check = Check { name: "crate_size", run, bless: Some(bless) };

const MOST_LINES: usize = 12_000;
/// Section of the ratchet: number of lines, by crate.
const SECTION: &str = "crate_lines";

fn run(tree: &Tree) -> Vec<Complaint> {
    ratchet::compare(tree, SECTION, &too_large(tree), |folder, lines, listed| {
        let allowed = listed.max(MOST_LINES);
        let manifest = format!("{folder}/Cargo.toml");
        let text = format!(
            "has {lines} lines of source (without tests); {allowed} are allowed: split the crate, or remove \
              code that is not needed"
        );
        vec![Complaint::file(&manifest, text)]
    })
}

fn bless(tree: &Tree) -> Option<Blessed> {
    ratchet::bless(tree, SECTION, &too_large(tree))
}

/// Returns the lines of all crates that are too large.
fn too_large(tree: &Tree) -> Counts {
    let all = tree.crates().into_iter().map(|folder| (folder.to_owned(), lines(tree, folder)));
    all.filter(|(_, lines)| *lines > MOST_LINES).collect()
}

/// Returns the number of source lines in a crate's `src` folder, without code that is compiled only for tests.
fn lines(tree: &Tree, folder: &str) -> usize {
    let sources = format!("{folder}/src/");
    let files = tree.sources().filter(|(path, _)| path.starts_with(&sources) && !tree.is_test(path));
    files.map(|(_, source)| source.lines_outside_tests()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(list: &str, lines: usize) -> Vec<String> {
        let source = "fn a() {}\n".repeat(lines - 4);
        let root =
            format!("mod b;\n#[cfg(test)]\nmod c;\n{source}#[cfg(test)]\nmod tests {{\n    {source}}}\n");
        let files = [
            ("crates/a/Cargo.toml", ""),
            ("crates/a/src/lib.rs", root.as_str()),
            ("crates/a/src/b.rs", "\n\n\n"),
            ("crates/a/src/c.rs", &source),
            ("crates/a/tests/d.rs", &source),
            ("crates/b/src/lib.rs", &source),
            (ratchet::PATH, list),
        ];
        run(&Tree::of(&files)).into_iter().map(|complaint| complaint.text).collect()
    }

    #[test]
    fn sources_count_and_tests_do_not() {
        assert_eq!(texts("", MOST_LINES), [""; 0]);
        assert!(texts("", MOST_LINES + 1)[0].starts_with("has 12001 lines of source"));
    }

    #[test]
    fn a_listed_crate_may_only_shrink() {
        let list = format!("[{SECTION}]\n\"crates/a\" = {}\n", MOST_LINES + 100);
        assert_eq!(texts(&list, MOST_LINES + 100), [""; 0]);
        assert!(texts(&list, MOST_LINES + 101)[0].contains("12100 are allowed"));
        assert!(texts(&list, MOST_LINES + 99)[0].contains("--bless"));
    }
}
