//! Decisions must depend on types, never on the wording of a message. Rewording a message must not change what
//! the program does.

use super::check::{Check, Complaint};
use super::tree::Tree;
use crate::source::Source;

/// The rule.
pub const CHECK: Check = Check { name: "text_decisions", run, bless: None };

/// Crates to which the rule applies.
const CRATES: &str = "crates/";
/// Files that parse the output of other programs, by the end of their path.
const FOREIGN: &[(&str, &str)] = &[
    ("array/description/hardware.rs", "slots, in the notation of the controller's program"),
    ("array/storcli/program.rs", "answers of storcli"),
    ("admin/src/storcli.rs", "answers of storcli"),
    ("import/src/formats/fio.rs", "output of fio"),
    ("fleet/src/queue.rs", "output of squeue"),
    ("plateau/src/cli/rejected.rs", "errors of clap, as text"),
];

/// Code that creates a message or refers to a message; white space is ignored.
const MESSAGES: &[&str] = &[
    ".to_string()",
    ".message",
    ".message()",
    ".reason",
    ".explanation",
    ".sentence",
    ".sentence()",
    ".title",
    ".unit.symbol()",
    ".heading",
    ".label",
];
/// Code that may occur between a message and its comparison.
const VIEWS: &[&str] = &[".as_str()", ".as_ref()", ".as_deref()", ".to_lowercase()", ".trim()"];
/// Code that compares the preceding expression.
const COMPARED: &[&str] = &[
    "==",
    "!=",
    ".contains(",
    ".starts_with(",
    ".ends_with(",
    ".find(",
    ".eq(",
    ".split(",
    ".strip_prefix(",
];
/// Code that compares the following expression.
const COMPARED_WITH: &[&str] =
    &["==", "!=", ".contains(", ".starts_with(", ".ends_with(", ".find(", ".eq(", "matches!("];

const REMEDY: &str = "this decision depends on the wording of a message: add a variant or field to the message's \
                      type, and use that instead";

fn run(tree: &Tree) -> Vec<Complaint> {
    let foreign = |path: &str| FOREIGN.iter().any(|(end, _)| path.ends_with(end));
    let all = tree.sources().filter(|(path, _)| path.starts_with(CRATES) && path.contains("/src/"));
    let decides = all.filter(|(path, _)| !foreign(path) && !tree.is_test(path));
    let lines = decides.flat_map(|(path, source)| {
        let mut lines: Vec<usize> = places(source).into_iter().map(|place| source.line_of(place)).collect();
        lines.dedup();
        lines.into_iter().map(move |line| Complaint::line(path, line, REMEDY))
    });
    lines.collect()
}

/// Returns the positions of decisions outside tests that depend on wording.
fn places(source: &Source) -> Vec<usize> {
    let code = Dense::of(source.code());
    let mut all: Vec<usize> = MESSAGES.iter().flat_map(|message| compared(&code, message)).collect();
    all.extend(made_for_comparison(&code));
    all.extend(compared_with_prose(source));
    all.retain(|&place| !source.in_test(place));
    all.sort_unstable();
    all
}

/// Code without white space.
struct Dense {
    text: String,
    /// Position of each byte in the file.
    places: Vec<usize>,
}

impl Dense {
    fn of(code: &str) -> Self {
        let kept = code.char_indices().filter(|(_, c)| c.is_ascii() && !c.is_whitespace());
        let (places, text) = kept.unzip();
        Self { text, places }
    }
}

/// Finds expressions such as `error.to_string().contains(`.
fn compared(code: &Dense, message: &str) -> Vec<usize> {
    let is_compared = |end: usize| {
        let mut rest = &code.text[end..];
        while let Some(after_view) = VIEWS.iter().find_map(|view| rest.strip_prefix(view)) {
            rest = after_view;
        }
        COMPARED.iter().any(|comparison| rest.starts_with(comparison))
    };
    let found = code.text.match_indices(message).filter(|(place, _)| is_compared(place + message.len()));
    found.map(|(place, _)| code.places[place]).collect()
}

/// Finds `== format!(`, `format!(..) ==` and `== error.to_string()`.
fn made_for_comparison(code: &Dense) -> Vec<usize> {
    let mut all = Vec::new();
    for comparison in ["==", "!="] {
        for (place, _) in code.text.match_indices(comparison) {
            let after = code.text[place + 2..].trim_start_matches(['&', '*']);
            let operand = &after[..operand(after)];
            if operand.starts_with("format!(") || operand.ends_with(".to_string()") {
                all.push(code.places[place]);
            }
        }
    }
    for (place, begin) in code.text.match_indices("format!(") {
        let end = place + begin.len() - 1 + closed(&code.text[place + begin.len() - 1..]);
        if COMPARED.iter().any(|comparison| code.text[end..].starts_with(comparison)) {
            all.push(code.places[place]);
        }
    }
    all
}

/// Returns the length of an expression that consists of names, dots and calls.
fn operand(text: &str) -> usize {
    let mut depth = 0;
    for (place, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' if depth > 0 => depth -= 1,
            _ if depth > 0 || c.is_alphanumeric() || "_.:!".contains(c) => {}
            _ => return place,
        }
    }
    text.len()
}

/// Returns the length of the parenthesized expression that `text` starts with.
fn closed(text: &str) -> usize {
    let mut depth = 0;
    for (place, c) in text.char_indices() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        if depth == 0 {
            return place + 1;
        }
    }
    text.len()
}

/// Finds comparisons with a literal that consists of several words.
fn compared_with_prose(source: &Source) -> Vec<usize> {
    let is_prose = |text: &str| {
        let words = text.split(' ').collect::<Vec<_>>();
        words.windows(2).any(|pair| {
            pair[0].ends_with(|c: char| c.is_alphabetic() || ",;:".contains(c))
                && pair[1].starts_with(char::is_alphabetic)
        })
    };
    let code = source.code();
    let is_compared = |place: usize, length: usize| {
        let before = code[..place].trim_end().trim_end_matches(['&', ' ']);
        let after = code[place + length..].trim_start();
        COMPARED_WITH.iter().any(|comparison| before.ends_with(comparison))
            || ["==", "!=", "=>", "|"].iter().any(|comparison| after.starts_with(comparison))
    };
    let texts = source.texts().into_iter().filter(|(_, text)| is_prose(text));
    texts.map(|(place, _)| place).filter(|&place| is_compared(place, source.text_length(place))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(code: &str) -> Vec<Option<usize>> {
        let complaints = run(&Tree::of(&[("crates/a/src/lib.rs", code)]));
        complaints.into_iter().map(|complaint| complaint.line).collect()
    }

    #[test]
    fn comparisons_of_messages_are_found() {
        for code in [
            "if error.to_string().contains(\"EIO\") {}",
            "if error\n    .to_string().starts_with(x) {}",
            "let a = b.to_string().as_str() == c;",
            "let a = b.to_string().to_lowercase().ends_with(c);",
            "let a = c != b.to_string();",
            "let a = c == &*b.d().e.to_string();",
            "let a = fault.message.contains(\"x\");",
            "let a = fault.message().as_str() != c;",
            "let a = deviation.reason.as_deref() == Some(\"x\");",
            "let a = b == format!(\"{c} {d}\");",
            "let a = format!(\"{c}{}\", d(e)) == b;",
            "let a = b.contains(\"no such device\");",
            "let a = b == \"write cache: on\";",
            "let a = \"not polled\" != b;",
            "match text { \"not in progress\" | \"x\" => 1 }",
            "match text { \"in progress\" => 1 }",
            "matches!(\"a sentence\", x)",
            "let a = outcome.title.split(\" Test \").next();",
            "let a = pages.find(|page| page.title == title);",
            "let a = page.title.starts_with(&outcome.title);",
            "if figure.unit.symbol() == \"ms\" {}",
        ] {
            assert_eq!(lines(code).len(), 1, "{code}");
        }
        assert_eq!(lines("\n\nfn f() { a.to_string()\n.contains(b) }"), [Some(3)]);
    }

    #[test]
    fn text_that_decides_nothing_passes() {
        for code in [
            "let a = error.to_string();",
            "let a = f(b == c).to_string();",
            "if a == b { c.to_string() }",
            "let a = b == \"io_uring\" && c.starts_with(\"--\");",
            "let a = vec![\"two words\", \"and more\"];",
            "let a = Some(\"two words\");",
            "// error.to_string().contains(x)\nlet a = \"b.to_string() == c\";",
            "#[cfg(test)]\nmod tests { fn f() { assert!(error.to_string().contains(x)); } }",
            "let a = parse(b).map_err(|error| error.to_string())?;",
        ] {
            assert_eq!(lines(code), [], "{code}");
        }
    }

    #[test]
    fn output_of_other_programs_can_only_be_read_as_text() {
        let code = "fn f() { answer.contains(\"No VD\") || text == \"in progress of it\" }";
        let of = |path: &str| run(&Tree::of(&[(path, code)])).len();
        assert_eq!(of("crates/a/src/array/storcli/program.rs"), 0);
        assert_eq!([of("crates/a/src/array.rs"), of("xtask/src/a.rs"), of("crates/a/tests/b.rs")], [1, 0, 0]);
        assert!(FOREIGN.iter().all(|(_, reason)| !reason.is_empty()));
    }
}
