//! Standard output: results only, and a closed pipe is not an error worth a backtrace. Standard error:
//! everything else.

use std::io::Write as _;

use crate::failure::Done;

/// Prints one result; a closed pipe surfaces as a failure that `main` treats as success.
pub fn print(text: &str) -> Done {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    Ok(out.flush()?)
}

/// Prints one JSON document.
pub fn print_json(document: &serde_json::Value) -> Done {
    print(&format!("{document:#}"))
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

/// Says one line on standard error.
pub fn tell_line(line: &str) {
    tell(&format!("{line}\n"));
}
