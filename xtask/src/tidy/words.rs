//! Words that do not stay in code, and what to write instead.

use super::{Check, Complaint, tree::Tree};

/// The rule.
pub const CHECK: Check = Check { name: "words", run, bless: None };

/// A word that does not stay.
struct Banned {
    word: &'static str,
    instead: &'static str,
    /// Files that may have it.
    allowed: &'static [&'static str],
}

const IN_CODE: &[Banned] = &[
    Banned { word: "todo!", instead: "finish it, or leave it out", allowed: &[] },
    Banned { word: "unimplemented!", instead: "return an error that says what to do", allowed: &[] },
    Banned { word: "dbg!", instead: "remove it", allowed: &[] },
    Banned {
        word: "#[ignore",
        instead: "make the test quick, or detect what it needs and say so",
        allowed: &[],
    },
    Banned { word: "#[allow(", instead: "`#[expect(.., reason = \"..\")]`", allowed: &[] },
    Banned { word: "#![allow(", instead: "`#[expect(.., reason = \"..\")]` at the place", allowed: &[] },
    Banned {
        word: "process::exit",
        instead: "return an error; only main turns it into an exit code",
        allowed: &["crates/plateau/src/main.rs"],
    },
];

const IN_COMMENTS: &[Banned] = &[
    Banned { word: "FIXME", instead: "fix it, or open an issue", allowed: &[] },
    Banned { word: "XXX", instead: "say what is wrong, or fix it", allowed: &[] },
];

fn run(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (path, source) in tree.sources() {
        let mut complain = |banned: &Banned, place: usize| {
            if !banned.allowed.contains(&path) {
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
    fn main_may_end_the_process() {
        let text = "fn main() { std::process::exit(1) }";
        assert_eq!(run(&Tree::of(&[("crates/plateau/src/main.rs", text)])), []);
        assert_eq!(run(&Tree::of(&[("crates/plateau/src/web.rs", text)])).len(), 1);
    }
}
