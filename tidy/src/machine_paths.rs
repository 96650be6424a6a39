//! The repository must not contain paths from the machine on which it was written.

use super::check::{Check, Complaint};
use super::tree::Tree;

/// The rule.
pub const CHECK: Check = Check { name: "machine_paths", run, bless: None };

/// Prefixes of paths that exist only on one machine. They are split so that this file passes the check.
const NEEDLES: &[&str] =
    &[concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/Us", "ers/"), concat!("/wo", "rk/")];

fn run(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (path, text) in tree.texts() {
        for (i, line) in text.lines().enumerate() {
            for needle in NEEDLES.iter().filter(|needle| begins_path(line, needle)) {
                let text = format!(
                    "`{needle}`: this path exists only on one machine; use one that exists for \
                      every reader"
                );
                complaints.push(Complaint::line(path, i + 1, text));
            }
        }
    }
    complaints
}

/// Returns whether `needle` occurs at the start of a path rather than in the middle.
fn begins_path(line: &str, needle: &str) -> bool {
    let before = |place: usize| line[..place].chars().next_back();
    let inside = |c: char| c.is_alphanumeric() || "._-~}".contains(c);
    line.match_indices(needle).any(|(place, _)| before(place).is_none_or(|c| !inside(c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_one_machine_are_found_in_any_text() {
        for needle in NEEDLES {
            for path in ["README.md", "crates/a/src/lib.rs", "crates/a/tests/x.json"] {
                assert_eq!(
                    run(&Tree::of(&[(path, &format!("a\n\"{needle}x\""))])).len(),
                    1,
                    "{needle} {path}"
                );
            }
            assert_eq!(run(&Tree::of(&[("a.md", &format!("https://a.b{needle}x crates{needle}y"))])), []);
        }
    }
}
