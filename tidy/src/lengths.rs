//! Files must remain short (clippy limits functions). Existing files over the limit are listed and may only
//! shrink.

use super::check::{Blessed, Check, Complaint};
use super::ratchet::{self, Counts};
use super::tree::Tree;

/// The rule.
pub const CHECK: Check = Check { name: "lengths", run, bless: Some(bless) };

const SOURCE_LINES: usize = 500;
const TEST_LINES: usize = 800;
/// Section of the ratchet: number of lines, by file.
const SECTION: &str = "lengths";

fn run(tree: &Tree) -> Vec<Complaint> {
    ratchet::compare(tree, SECTION, &too_long(tree), |path, lines, listed| {
        let allowed = listed.max(limit(path));
        vec![Complaint::file(path, format!("has {lines} lines; {allowed} are allowed: split it"))]
    })
}

fn bless(tree: &Tree) -> Option<Blessed> {
    ratchet::bless(tree, SECTION, &too_long(tree))
}

fn limit(path: &str) -> usize {
    if path.contains("/src/") { SOURCE_LINES } else { TEST_LINES }
}

fn too_long(tree: &Tree) -> Counts {
    let files = tree.sources().map(|(path, source)| (path.to_owned(), source.lines()));
    files.filter(|(path, lines)| *lines > limit(path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(list: &str, path: &str, lines: usize) -> usize {
        run(&Tree::of(&[(path, &"\n".repeat(lines)), (ratchet::PATH, list)])).len()
    }

    #[test]
    fn sources_and_tests_have_a_limit() {
        let of = |path: &str, lines: usize| complaints("", path, lines);
        assert_eq!([of("a/src/lib.rs", 500), of("a/src/lib.rs", 501)], [0, 1]);
        assert_eq!([of("a/tests/x.rs", 800), of("a/tests/x.rs", 801)], [0, 1]);
        let list = "[lengths]\n\"a/src/lib.rs\" = 600\n";
        assert_eq!([600, 601].map(|lines| complaints(list, "a/src/lib.rs", lines)), [0, 1]);
    }
}
