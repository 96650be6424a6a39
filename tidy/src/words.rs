//! Words that code and documents must not contain, and what to use instead.

use super::check::{Check, Complaint};
use super::tree::Tree;

/// The rule.
pub const CHECK: Check = Check { name: "words", run, bless: None };

/// A banned word.
struct Banned {
    word: &'static str,
    instead: &'static str,
    /// Whether a file may contain the word.
    allowed: fn(&str) -> bool,
}

const IN_CODE: &[Banned] = &[
    Banned {
        word: "#[ignore",
        instead: "make the test quick, or skip it with a reason if a requirement is missing",
        allowed: nobody,
    },
    Banned { word: "#[allow(", instead: "`#[expect(.., reason = \"..\")]`", allowed: nobody },
    Banned {
        word: "#![allow(",
        instead: "`#[expect(.., reason = \"..\")]` where it is needed",
        allowed: is_shared_by_tests,
    },
];

const IN_COMMENTS: &[Banned] = &[
    Banned { word: "FIXME", instead: "fix it, or open an issue", allowed: nobody },
    Banned { word: "XXX", instead: "say what is wrong, or fix it", allowed: nobody },
];

/// A phrase that sounds translated.
struct Phrase {
    /// In lower case; matches only whole words.
    phrase: &'static str,
    instead: &'static str,
    /// Idioms that may contain the phrase, in lower case.
    idioms: &'static [&'static str],
}

const AFTER: &str = "\"after\" for time; \"behind\" is for space";
const COMPARE: &str = "\"compare with\"";

/// Phrases that documents and messages must not contain; code spans, code blocks and tables generated from code are
/// not checked.
const PHRASES: &[Phrase] = &[
    Phrase { phrase: "so many", instead: "\"up to N\" or \"that many\"", idioms: &[] },
    Phrase { phrase: "behind the", instead: AFTER, idioms: &["behind the scenes"] },
    Phrase { phrase: "behind it", instead: AFTER, idioms: &[] },
    Phrase { phrase: "behind its", instead: AFTER, idioms: &[] },
    Phrase { phrase: "behind them", instead: AFTER, idioms: &[] },
    Phrase { phrase: "behind this", instead: AFTER, idioms: &[] },
    Phrase { phrase: "behind that", instead: AFTER, idioms: &[] },
    Phrase { phrase: "behind each", instead: AFTER, idioms: &[] },
    Phrase { phrase: "hold against", instead: COMPARE, idioms: &[] },
    Phrase { phrase: "holds against", instead: COMPARE, idioms: &[] },
    Phrase { phrase: "held against", instead: COMPARE, idioms: &[] },
    Phrase {
        phrase: "is no",
        instead: "\"is not a\" or \"there is no\"",
        idioms: &["there is no", "is no longer"],
    },
    Phrase {
        phrase: "are no",
        instead: "\"are not\" or \"there are no\"",
        idioms: &["there are no", "are no longer"],
    },
    Phrase { phrase: "mend", instead: "\"fix\"", idioms: &[] },
    Phrase { phrase: "tells", instead: "\"reports\", \"returns\" or \"says\"", idioms: &[] },
    Phrase { phrase: "scripted answers", instead: "\"mock responses\"", idioms: &[] },
];

/// The lines that enclose a generated part of a document, which a test derives from strings in the code.
const GENERATED: (&str, &str) = ("<!-- keys -->", "<!-- end of keys -->");

/// Files whose string literals are not checked, because they contain the list of phrases.
const EXEMPT: [&str; 1] = ["tidy/src/words.rs"];

fn nobody(_: &str) -> bool {
    false
}

/// Returns whether this module is shared by several test binaries that each use only a part of it. `expect`
/// would fail in binaries in which the lint does not fire.
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
    for (path, text) in tree.texts().filter(|(path, _)| path.ends_with(".md")) {
        for (line, prose) in prose(text) {
            complaints.extend(phrases_in(&prose).map(|text| Complaint::line(path, line, text)));
        }
    }
    complaints.extend(messages(tree));
    complaints
}

/// Checks string literals, most of which are messages, help or report text.
fn messages(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (path, source) in tree.sources().filter(|(path, _)| !EXEMPT.contains(path) && !tree.is_test(path)) {
        for (place, text) in source.texts() {
            let line = source.line_of(place);
            let text = text.to_lowercase();
            complaints.extend(phrases_in(&text).map(|text| Complaint::line(path, line, text)));
        }
    }
    complaints
}

/// Returns a complaint about each phrase in `text`, which is in lower case.
fn phrases_in(text: &str) -> impl Iterator<Item = String> + '_ {
    let found = PHRASES.iter().filter(move |phrase| contains(text, phrase));
    found.map(|phrase| format!("`{}`: write {}", phrase.phrase, phrase.instead))
}

/// Returns the lines of a document that are neither code nor generated, numbered from 1, in lower case and without code
/// spans.
fn prose(text: &str) -> Vec<(usize, String)> {
    let (mut fenced, mut generated, mut lines) = (false, false, Vec::new());
    for (i, line) in text.lines().enumerate() {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        generated = (generated || line == GENERATED.0) && line != GENERATED.1;
        if !fenced && !fence && !generated {
            let outside: Vec<&str> = line.split('`').step_by(2).collect();
            lines.push((i + 1, outside.join("`").to_lowercase()));
        }
    }
    lines
}

/// Returns whether a line contains the phrase as whole words, outside its idioms.
fn contains(line: &str, phrase: &Phrase) -> bool {
    let rest = phrase.idioms.iter().fold(line.to_owned(), |rest, idiom| rest.replace(idiom, ""));
    let letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    rest.match_indices(phrase.phrase).any(|(place, found)| {
        !letter(rest[..place].chars().next_back()) && !letter(rest[place + found.len()..].chars().next())
    })
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

    fn complaints_about(document: &str) -> Vec<(Option<usize>, String)> {
        run(&Tree::of(&[("docs/a.md", document)])).into_iter().map(|c| (c.line, c.text)).collect()
    }

    #[test]
    fn every_phrase_is_found_in_prose_and_names_a_better_one() {
        for phrase in PHRASES {
            let found = complaints_about(&format!("A line.\nThat {} x.", phrase.phrase));
            let text = format!("`{}`: write {}", phrase.phrase, phrase.instead);
            assert_eq!(found, [(Some(2), text)], "{}", phrase.phrase);
            assert_eq!(complaints_about(&format!("`{0}`\n```text\n{0}\n```", phrase.phrase)), []);
            assert_eq!(
                complaints_about(&format!("<!-- keys -->\n{}\n<!-- end of keys -->", phrase.phrase)),
                []
            );
            assert_eq!(run(&Tree::of(&[("a/src/lib.rs", &format!("// {}", phrase.phrase))])), []);
        }
        assert_eq!(complaints_about("```\nx\n```\nSo many words").len(), 1);
        assert_eq!(complaints_about("<!-- keys -->\n<!-- end of keys -->\nmend").len(), 1);
    }

    #[test]
    fn every_phrase_is_found_in_messages_but_not_in_those_of_tests() {
        for phrase in PHRASES {
            let (first, last) = phrase.phrase.split_once(' ').unwrap_or((phrase.phrase, ""));
            let source = format!("\nfn a() {{ let a = \"that {first} \\\n    {last} x\"; }}");
            let found = run(&Tree::of(&[("crates/a/src/lib.rs", &source)]));
            let text = format!("`{}`: write {}", phrase.phrase, phrase.instead);
            assert_eq!(found.into_iter().map(|c| (c.line, c.text)).collect::<Vec<_>>(), [(Some(2), text)]);
            let test = format!("#[cfg(test)]\nmod tests {{ const A: &str = \"that {}\"; }}", phrase.phrase);
            assert_eq!(run(&Tree::of(&[("crates/a/src/lib.rs", &test)])), []);
            assert_eq!(run(&Tree::of(&[("crates/a/tests/a.rs", &source)])), []);
        }
    }

    #[test]
    fn parts_of_words_and_idioms_pass() {
        assert_eq!(complaints_about("We recommend amendments; is not; also manyfold; behind theirs"), []);
        assert_eq!(complaints_about("There is no drive, there are no rules, and it is no longer here"), []);
        assert_eq!(complaints_about("There is no drive that is no target").len(), 1);
    }

    #[test]
    fn modules_shared_by_test_binaries_may_allow() {
        let text = "#![allow(dead_code, reason = \"each binary uses a part\")]";
        assert_eq!(run(&Tree::of(&[("crates/a/tests/common/mod.rs", text)])), []);
        assert_eq!(run(&Tree::of(&[("crates/a/tests/common.rs", text)])).len(), 1);
    }
}
