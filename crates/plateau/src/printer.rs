//! Standard output: results only, and a closed pipe is not an error worth a backtrace. Standard error:
//! everything else.

use std::io::{ErrorKind, Write as _};

use serde::Serialize;

use crate::failure::{Done, Exit, Failure};

/// Prints one result. A closed pipe is not an error (`plateau runs | head -1`), and what follows is still decided: a
/// command that found something wrong fails all the same.
pub fn print(text: &str) -> Done {
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
    print(&serde_json::to_string_pretty(document).map_err(std::io::Error::from)?)
}

/// Prints while already failing: there is nowhere left to report a second error.
pub fn print_last(text: &str) {
    drop(print(text));
}

/// Says something on standard error. Nobody reading along is no reason to end a run of a day, so errors of
/// standard error are ignored.
pub fn tell(text: &str) {
    let mut err = std::io::stderr().lock();
    drop(err.write_all(text.as_bytes()).and_then(|()| err.flush()));
}

/// `line` without wrapping, for a line that a terminal rewrites: what is beyond the edge is cut. A wrapped one would
/// leave a part behind each time.
pub fn cut(line: &str) -> String {
    format!("\x1b[?7l{line}\x1b[?7h")
}

/// What puts `line` in place of the line that a terminal rewrites.
pub fn rewritten(line: &str) -> String {
    format!("\r\x1b[2K{}", cut(line))
}

/// Says one line on standard error.
pub fn tell_line(line: &str) {
    tell(&format!("{line}\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_rewritten_does_not_wrap() {
        assert_eq!(rewritten("round 1/25"), "\r\x1b[2K\x1b[?7lround 1/25\x1b[?7h");
    }
}
