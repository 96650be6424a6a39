//! Prints output and failures to this process's streams; errors have an exit code.

pub use console::printer::{Manner, Style, ask, close_taskbar, mute, notice, print_line, set_manner};
use serde::Serialize;

use failure::{Done, Failure};

/// Returns the number of columns of standard output if it is a terminal.
pub fn columns() -> Option<usize> {
    console::printer::manner().out_columns
}

/// Prints one result.
pub fn print(text: &str) -> Done {
    Ok(console::printer::print(text)?)
}

/// Prints a file's bytes to standard output.
pub fn print_bytes(bytes: &[u8]) -> Done {
    Ok(console::printer::print_bytes(bytes)?)
}

/// Prints one JSON document.
pub fn print_json(document: &serde_json::Value) -> Done {
    print_document(document)
}

/// Prints a document, keeping the order of its keys.
pub fn print_document(document: &impl Serialize) -> Done {
    Ok(console::printer::print_document(document)?)
}

/// Converts the result of writing to standard output.
pub fn outcome(printed: std::io::Result<()>) -> Done {
    Ok(console::printer::outcome(printed)?)
}

/// Prints an error and, with `json`, a document with the error and the results obtained before it.
pub fn print_failure(failure: &Failure, json: bool) {
    if failure.is_silent() {
        return;
    }
    if let Some(document) = failure.document().filter(|_| json) {
        // The process is already failing, so a second error cannot be reported.
        drop(print_document(&document));
    }
    print_line(&format!("plateau: {}", failure.message()));
}
