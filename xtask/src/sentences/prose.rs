//! Extracts the sentences in comments, documents and messages, with their positions.

use tidy::source::Source;
use tidy::tree::Tree;

/// Minimum number of words in a sentence; shorter strings are names, units and headings.
const FEWEST_WORDS: usize = 4;
/// String literals of up to this length are rarely sentences.
const SHORT_MESSAGE: usize = 30;
/// Documents, identified by their path or the beginning of their path.
const DOCUMENTS: &[&str] = &[
    "docs/",
    "README.md",
    "CONTRIBUTING.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "fuzz/README.md",
];
/// Abbreviations whose full stop does not end a sentence.
const ABBREVIATIONS: &[&str] = &["e.g.", "i.e.", "vs.", "cf.", "No.", "ca.", "etc."];

/// A sentence, or a fragment such as an entry in a list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sentence {
    pub path: String,
    /// Line, starting at 1, of the paragraph or message that contains the sentence.
    pub line: usize,
    pub text: String,
}

/// Returns all sentences of the workspace.
pub fn sentences(tree: &Tree) -> Vec<Sentence> {
    let mut all = Vec::new();
    for (path, source) in tree.sources() {
        all.extend(of_paragraphs(path, &comment_lines(source)));
        if !tree.is_test(path) {
            all.extend(of_messages(path, source));
        }
    }
    for (path, text) in tree.texts().filter(|(path, _)| is_document(path)) {
        let lines: Vec<_> = text.lines().enumerate().map(|(i, line)| (i + 1, line.to_owned())).collect();
        all.extend(of_paragraphs(path, &lines));
    }
    all
}

fn is_document(path: &str) -> bool {
    path.ends_with(".md") && DOCUMENTS.iter().any(|begin| path.starts_with(begin))
}

/// Returns the lines of comments without comment markers; empty lines separate comments of different kinds, and
/// comments from code.
fn comment_lines(source: &Source) -> Vec<(usize, String)> {
    let mut lines = Vec::new();
    let mut last = "";
    for (i, line) in source.comments().lines().enumerate() {
        let text = line.trim_start();
        let mark = ["//!", "///", "//"].into_iter().find(|mark| text.starts_with(mark)).unwrap_or_default();
        if mark != last {
            lines.push((i + 1, String::new()));
        }
        lines.push((i + 1, text[mark.len()..].to_owned()));
        last = mark;
    }
    lines
}

fn of_messages(path: &str, source: &Source) -> Vec<Sentence> {
    let long = |(_, text): &(usize, String)| text.chars().count() > SHORT_MESSAGE;
    let of = |(place, text): (usize, String)| {
        let content = text.trim_start_matches(['b', 'r', '#']).trim_end_matches('#').trim_matches('"');
        split(content).into_iter().map(move |text| (place, text)).collect::<Vec<_>>()
    };
    let texts = source.texts().into_iter().filter(long).flat_map(of);
    texts.map(|(place, text)| Sentence { path: path.into(), line: source.line_of(place), text }).collect()
}

/// Joins lines into paragraphs and splits paragraphs into sentences. Blocks of code are omitted; table cells and list
/// entries are paragraphs.
fn of_paragraphs(path: &str, lines: &[(usize, String)]) -> Vec<Sentence> {
    let mut all = Vec::new();
    let mut paragraph = (0, String::new());
    let mut fenced = false;
    let mut end = |(line, text): (usize, String)| {
        all.extend(split(&text).into_iter().map(|text| Sentence { path: path.into(), line, text }));
    };
    for (number, line) in lines {
        let text = line.trim();
        let fence = text.starts_with("```");
        fenced ^= fence;
        let alone = text.is_empty() || fence || fenced || text.starts_with(['#', '|']);
        if alone || text.starts_with("* ") || text.starts_with("- ") {
            end(std::mem::take(&mut paragraph));
        }
        if !alone {
            let begun = if paragraph.1.is_empty() { *number } else { paragraph.0 };
            paragraph = (begun, format!("{} {}", paragraph.1, text.trim_start_matches(['*', '-'])));
        } else if text.starts_with('|') && !fenced {
            text.split('|').for_each(|cell| end((*number, cell.into())));
        }
    }
    end(paragraph);
    all
}

/// Splits a paragraph into sentences.
fn split(paragraph: &str) -> Vec<String> {
    let words: Vec<&str> = paragraph.split_whitespace().collect();
    let mut all = Vec::new();
    let mut sentence: Vec<&str> = Vec::new();
    for (i, word) in words.iter().enumerate() {
        sentence.push(word);
        let closed = word.ends_with(['.', '!', '?']) && !ABBREVIATIONS.contains(word);
        let begins = words.get(i + 1).is_none_or(|next| !next.starts_with(char::is_lowercase));
        if closed && begins {
            all.push(std::mem::take(&mut sentence));
        }
    }
    all.push(sentence);
    all.into_iter().filter(|words| words.len() >= FEWEST_WORDS).map(|words| words.join(" ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<(usize, String)> {
        sentences(&Tree::of(&[(path, text)])).into_iter().map(|found| (found.line, found.text)).collect()
    }

    #[test]
    fn comments_are_split_into_sentences_and_kinds_of_comment_are_separate() {
        let text = "//! One line is\n//! not two. Another one is here.\n/// This is about a.\nfn a() {} // and this \
                    one too\n/// ```\n/// let code = is not prose;\n/// ```\nfn b() {}";
        let expected = [
            (1, "One line is not two."),
            (1, "Another one is here."),
            (3, "This is about a."),
            (4, "and this one too"),
        ];
        assert_eq!(found("crates/a/src/lib.rs", text), expected.map(|(line, text)| (line, text.to_owned())));
    }

    #[test]
    fn long_messages_count_unless_they_are_of_tests() {
        let text = "fn a() { b(\"this message is long enough, \\\n    see. It names an error\", \"this is too \
              short\") }";
        let expected = [
            (1, "this message is long enough, see.".to_owned()),
            (
                1,
                "It names an \
          error"
                    .to_owned(),
            ),
        ];
        assert_eq!(found("crates/a/src/lib.rs", text), expected);
        assert_eq!(found("crates/a/tests/a.rs", text), []);
    }

    #[test]
    fn documents_have_paragraphs_lists_and_cells() {
        let text = "# A heading of some words\n\nA line of a\nparagraph, e.g. this one.\n* An entry of a\n  list\n* \
                    Another entry, that is\n\n| cell with four words | no |\n";
        let expected = [
            (3, "A line of a paragraph, e.g. this one."),
            (5, "An entry of a list"),
            (7, "Another entry, that is"),
            (9, "cell with four words"),
        ];
        assert_eq!(found("docs/a/b.md", text), expected.map(|(line, text)| (line, text.to_owned())));
        assert_eq!(found("crates/a/b.md", text), []);
    }
}
