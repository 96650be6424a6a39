//! Makes untrusted text safe to print or to use in a file name.
//!
//! Terminals interpret control characters, and bidirectional formatting characters change the displayed order
//! of a line. Such characters may occur in the names of files and drives, in results from other tools, and in
//! runs from other hosts.

use std::any::Any;
use std::borrow::Cow;

/// Returns the message of a panic that was caught.
#[must_use]
pub fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

/// Returns whether a terminal would do anything other than display the character in place; true for newlines,
/// tabs and other control characters.
#[must_use]
pub fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            // Directional marks, overrides and isolates; line and paragraph separators; and invisible characters
            // that make different names look the same: soft hyphen, joiners, fillers, tags.
            '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
                | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// Returns `text` on one line, with all unprintable characters escaped.
#[must_use]
pub fn on_one_line(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// Maximum number of characters that [`short`] returns.
const MOST_SHORT_CHARS: usize = 200;

/// Returns `text` on one line, with all unprintable characters escaped, and truncated to 200 characters.
#[must_use]
pub fn short(text: &str) -> String {
    let safe = on_one_line(text);
    if safe.chars().count() <= MOST_SHORT_CHARS {
        return safe.into_owned();
    }
    let mut cut: String = safe.chars().take(MOST_SHORT_CHARS - 1).collect();
    cut.push('…');
    cut
}

/// Returns `text` with all unprintable characters escaped except for its line breaks.
#[must_use]
pub fn in_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c == '\n')
}

/// Returns a JSON document with all unprintable characters in its strings escaped.
#[must_use]
pub fn in_json(document: &str) -> Cow<'_, str> {
    // Serializers escape all characters below U+0020; all other unprintable characters occur only in strings.
    let is_kept = |c: char| c == '\n' || !is_unprintable(c);
    if document.chars().all(is_kept) {
        return Cow::Borrowed(document);
    }
    let mut out = String::with_capacity(document.len());
    for c in document.chars() {
        if is_kept(c) {
            out.push(c);
        } else {
            out.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    Cow::Owned(out)
}

/// Formats an error and its causes on one line. Omits a cause that repeats the text before it: some errors are printed
/// like their own cause.
#[must_use]
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    let mut texts = vec![error.to_string()];
    texts.extend(causes.map(ToString::to_string));
    texts.dedup();
    texts.join(": ")
}

/// Returns `word` as it must be typed in a shell, in quotes only if necessary.
#[must_use]
pub fn shell_word(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=+@".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) { word.into() } else { in_quotes(word).into() }
}

/// Returns `text` in single quotes, so that a shell reads it literally.
#[must_use]
pub fn in_quotes(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Converts `text` to a file name of lowercase letters, digits and dashes.
#[must_use]
pub fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    out.truncate(60);
    out.trim_end_matches('-').to_owned()
}

fn escaped(text: &str, keep: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_kept = |c: char| keep(c) || !is_unprintable(c);
    // Most texts are ASCII, of which a processor compares many bytes at once.
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') || byte.is_ascii() & keep(byte.into());
    if text.bytes().fold(true, |all, byte| all & is_plain(byte)) || text.chars().all(is_kept) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_kept(c) { out.push(c) } else { out.extend(c.escape_default()) }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_are_printable_and_on_one_line() {
        assert_eq!(short("a\r\nBcc: b\u{202e}"), "a\\r\\nBcc: b\\u{202e}");
        let long = short(&"ü".repeat(1000));
        assert_eq!((long.chars().count(), long.ends_with('…')), (MOST_SHORT_CHARS, true));
        assert_eq!(short(&short("a\nb")), short("a\nb"));
    }

    #[test]
    fn an_error_is_followed_by_its_causes() {
        #[derive(Debug)]
        struct Outer(std::io::Error);
        impl std::fmt::Display for Outer {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("cannot open a")
            }
        }
        impl std::error::Error for Outer {
            fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
                Some(&self.0)
            }
        }
        let error = Outer(std::io::Error::other("no disk"));
        assert_eq!(with_causes(&error), "cannot open a: no disk");
        assert_eq!(with_causes(&error.0), "no disk");
        let repeated = Outer(std::io::Error::other("cannot open a"));
        assert_eq!(with_causes(&repeated), "cannot open a");
    }

    #[test]
    fn file_names_are_plain() {
        assert_eq!(slug("ALL RW Mix & BS - 3D Columns"), "all-rw-mix-bs-3d-columns");
        assert_eq!(slug("../../x\n\"é"), "x");
    }

    #[test]
    fn characters_that_a_terminal_acts_on_are_escaped() {
        let cases = [
            ("plain ü 中 °", "plain ü 中 °"),
            ("\x1b[2Jx", "\\u{1b}[2Jx"),
            ("a\nb\tc\r", "a\\nb\\tc\\r"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("abc\u{202e}fed", "abc\\u{202e}fed"),
            ("\u{2066}\u{2069}\u{200f}\u{7f}\0", "\\u{2066}\\u{2069}\\u{200f}\\u{7f}\\u{0}"),
        ];
        for (text, expected) in cases {
            assert_eq!(on_one_line(text), expected);
        }
        assert_eq!(in_lines("a\nb\x1b"), "a\nb\\u{1b}");
    }

    #[test]
    fn an_escaped_document_remains_valid_json() {
        assert_eq!(in_json("{\n  \"a\": \"\u{9b}ü\u{202e}\"\n}"), "{\n  \"a\": \"\\u009bü\\u202e\"\n}");
    }
}
