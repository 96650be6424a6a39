//! Words that do not stay in code, and what to write instead.

use super::{Check, Complaint, tree::Tree};

/// The rule.
pub const CHECK: Check = Check { name: "words", run, bless: None };

/// A word that does not stay.
struct Banned {
    word: &'static str,
    instead: &'static str,
    /// Whether a file may have it.
    allowed: fn(&str) -> bool,
}

const IN_CODE: &[Banned] = &[
    Banned { word: "todo!", instead: "finish it, or leave it out", allowed: nobody },
    Banned { word: "unimplemented!", instead: "return an error that says what to do", allowed: nobody },
    Banned { word: "dbg!", instead: "remove it", allowed: nobody },
    Banned {
        word: "#[ignore",
        instead: "make the test quick, or detect what it needs and say so",
        allowed: nobody,
    },
    Banned { word: "#[allow(", instead: "`#[expect(.., reason = \"..\")]`", allowed: nobody },
    Banned {
        word: "#![allow(",
        instead: "`#[expect(.., reason = \"..\")]` at the place",
        allowed: is_shared_by_tests,
    },
    Banned {
        word: "process::exit",
        instead: "return an error; only main turns it into an exit code",
        allowed: |path| path == "crates/plateau/src/main.rs",
    },
];

const IN_COMMENTS: &[Banned] = &[
    Banned { word: "FIXME", instead: "fix it, or open an issue", allowed: nobody },
    Banned { word: "XXX", instead: "say what is wrong, or fix it", allowed: nobody },
];

fn nobody(_: &str) -> bool {
    false
}

/// A module that several test binaries use in part: in some of them an expectation would not be met.
fn is_shared_by_tests(path: &str) -> bool {
    path.contains("/tests/") && !path.contains("/src/") && path.ends_with("/mod.rs")
}

fn run(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (path, source) in tree.sources() {
        let mut complain = |banned: &Banned, place: usize| {
            if !(banned.allowed)(path) {
                let text = format!("`{}`: {}", banned.word, banned.instead);
                complaints.push(Complaint::line(path, source.line_of(place), text));
            }
        };
        for banned in IN_CODE {
            source.code_places(banned.word).into_iter().for_each(|place| complain(banned, place));
        }
        for banned in IN_COMMENTS {
            source.comment_places(banned.word).into_iter().for_each(|place| complain(banned, place));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_banned_word_is_found_where_it_counts() {
        for banned in IN_CODE {
            let found = run(&Tree::of(&[("crates/a/src/lib.rs", &format!("\n{}", banned.word))]));
            assert_eq!(found.len(), 1, "{}", banned.word);
            assert!(found[0].line == Some(2) && found[0].text.contains(banned.instead));
            assert_eq!(run(&Tree::of(&[("a/src/lib.rs", &format!("// {}", banned.word))])), []);
        }
        for banned in IN_COMMENTS {
            assert_eq!(run(&Tree::of(&[("a/src/lib.rs", &format!("// {}: x", banned.word))])).len(), 1);
            assert_eq!(run(&Tree::of(&[("a/src/lib.rs", &format!("\"{}\"", banned.word))])), []);
        }
    }

    #[test]
    fn modules_shared_by_test_binaries_may_allow() {
        let text = "#![allow(dead_code, reason = \"each binary uses a part\")]";
        assert_eq!(run(&Tree::of(&[("crates/a/tests/common/mod.rs", text)])), []);
        assert_eq!(run(&Tree::of(&[("crates/a/tests/common.rs", text)])).len(), 1);
    }

    #[test]
    fn main_may_end_the_process() {
        let text = "fn main() { std::process::exit(1) }";
        assert_eq!(run(&Tree::of(&[("crates/plateau/src/main.rs", text)])), []);
        assert_eq!(run(&Tree::of(&[("crates/plateau/src/web.rs", text)])).len(), 1);
    }
}
