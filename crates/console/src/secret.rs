//! Reads a secret without echoing it on the terminal.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _, stdin};

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use crate::printer;

/// Maximum length of the line.
const MOST_BYTES: u64 = 4096;

/// Reads a line from standard input. On a terminal, prints the question first and does not echo the input.
///
/// # Errors
/// Returns an error if a system call fails or the line is not text.
pub fn secret(question: &str) -> io::Result<String> {
    let input = stdin();
    if !input.is_terminal() {
        return line();
    }
    printer::ask(question);
    let before = tcgetattr(&input)?;
    let mut hidden = before.clone();
    hidden.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&input, OptionalActions::Flush, &hidden)?;
    let typed = line();
    tcsetattr(&input, OptionalActions::Now, &before)?;
    printer::print_line("");
    typed
}

fn line() -> io::Result<String> {
    let mut line = String::new();
    stdin().lock().take(MOST_BYTES).read_line(&mut line)?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}
