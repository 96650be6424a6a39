//! Standard output: results only, and a closed pipe is not an error worth a backtrace. Standard error:
//! everything else.
//!
//! All text leaves here, and only here what a terminal acts on is told from what is to be shown: whatever comes from
//! outside is escaped.

use std::io::{ErrorKind, Write as _};

use serde::Serialize;
use stdx::text::{in_json, in_lines, on_one_line};

use crate::failure::{Done, Exit, Failure};

/// Prints one result. A closed pipe is not an error (`plateau runs | head -1`), and what follows is still decided: a
/// command that found something wrong fails all the same.
pub fn print(text: &str) -> Done {
    print_as_it_is(&in_lines(text))
}

fn print_as_it_is(text: &str) -> Done {
    let mut out = std::io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let printed = out.write_all(text.as_bytes()).and_then(|()| out.write_all(end.as_bytes()));
    outcome(printed.and_then(|()| out.flush()))
}

/// What came of writing to standard output.
pub fn outcome(printed: std::io::Result<()>) -> Done {
    match printed {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::new(Exit::Run, anyhow::Error::new(error).context("cannot write to standard output")))
        }
        _ => Ok(()),
    }
}

/// Prints the bytes of a file that is streamed.
pub fn print_bytes(bytes: &[u8]) -> Done {
    let mut out = std::io::stdout().lock();
    outcome(out.write_all(bytes).and_then(|()| out.flush()))
}

/// Prints one JSON document.
pub fn print_json(document: &serde_json::Value) -> Done {
    print_document(document)
}

/// The same of a type whose keys stay in their order.
pub fn print_document(document: &impl Serialize) -> Done {
    print_as_it_is(&in_json(&serde_json::to_string_pretty(document).map_err(std::io::Error::from)?))
}

/// Prints a document while already failing: there is nowhere left to report a second error.
pub fn print_last(document: &serde_json::Value) {
    drop(print_as_it_is(&in_json(&format!("{document:#}"))));
}

/// Says something on standard error, with what a terminal is to do; what is shown is escaped by then. Nobody reading
/// along is no reason to end a run of a day, so errors of standard error are ignored.
pub fn control(text: &str) {
    let mut err = std::io::stderr().lock();
    drop(err.write_all(text.as_bytes()).and_then(|()| err.flush()));
}

/// `line` without wrapping, for a line that a terminal rewrites: what is beyond the edge is cut. A wrapped one would
/// leave a part behind each time.
pub fn cut(line: &str) -> String {
    format!("\x1b[?7l{}\x1b[?7h", on_one_line(line))
}

/// What puts `line` in place of the line that a terminal rewrites.
pub fn rewritten(line: &str) -> String {
    format!("\r\x1b[2K{}", cut(line))
}

/// Says a line on standard error; further lines of it are indented, so that none can be taken for another message.
pub fn tell_line(line: &str) {
    control(&format!("{}\n", said(line)));
}

/// What is said, safe to show.
pub fn said(line: &str) -> String {
    let text = in_lines(line.trim_end_matches('\n'));
    let indent = |(number, line): (usize, &str)| match (number, line) {
        (0, _) | (_, "") => line.to_owned(),
        _ => format!("  {line}"),
    };
    text.split('\n').enumerate().map(indent).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_rewritten_does_not_wrap() {
        assert_eq!(rewritten("round 1/25"), "\r\x1b[2K\x1b[?7lround 1/25\x1b[?7h");
    }

    #[test]
    fn nothing_that_is_said_is_taken_for_a_command_or_for_another_message() {
        assert_eq!(said("a\x1b[2Jb\nplateau: c\n"), "a\\u{1b}[2Jb\n  plateau: c");
        assert_eq!(rewritten("\u{9b}2J\n"), "\r\x1b[2K\x1b[?7l\\u{9b}2J\\n\x1b[?7h");
    }
}
