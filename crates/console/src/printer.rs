//! Prints results to standard output, where a closed pipe is not an error, and everything else to standard error.
//!
//! All text passes through this module, and no other module writes escape sequences for the terminal; those in
//! external text are escaped.

use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use serde::Serialize;
use stdx::text::{in_json, in_lines};

use crate::screen::{Line, Screen, Taskbar};
use crate::terminal::{self, Abilities, Size, folded, in_ascii, wrapped};

/// Why a result could not be printed.
#[derive(Debug, thiserror::Error)]
pub enum PrintError {
    /// Writing to standard output failed.
    #[error("cannot write to standard output")]
    Write(#[source] std::io::Error),
    /// The document cannot be represented as JSON.
    #[error(transparent)]
    Serialize(#[from] serde_json::Error),
}

/// Result of printing.
type Printed = Result<(), PrintError>;

/// How progress is displayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Lines that are rewritten on a terminal.
    Live,
    /// Lines that are not rewritten, one per minute.
    Plain,
    /// JSON objects, one per line.
    Json,
    /// No progress.
    Quiet,
}

/// Properties of standard output and standard error.
#[derive(Debug, Clone, Copy)]
pub struct Manner {
    /// How progress is displayed.
    pub style: Style,
    /// Capabilities of standard error.
    pub err: Abilities,
    /// Whether standard output supports non-ASCII characters.
    pub out_unicode: bool,
    /// Number of columns of standard output; `None` if it is not a terminal.
    pub out_columns: Option<usize>,
}

/// Default for a process that has not called `set_manner`, such as a test.
const DEFAULT: Manner =
    Manner { style: Style::Plain, err: Abilities::OF_A_FILE, out_unicode: true, out_columns: None };

static MUTED: AtomicBool = AtomicBool::new(false);
static MANNER: OnceLock<Manner> = OnceLock::new();
/// There is one screen, because all threads share one terminal.
static SCREEN: Mutex<Screen> = Mutex::new(Screen::new());

impl Manner {
    /// Returns this process's output style: `requested`, or if that is `None`, a style that suits the terminal.
    pub fn of_process(requested: Option<Style>) -> Self {
        let err = Abilities::of_stream(&std::io::stderr());
        let style = requested.unwrap_or(if err.rewrites { Style::Live } else { Style::Plain });
        let out = std::io::stdout();
        let out_columns = out.is_terminal().then(|| terminal::size(&out).columns);
        Self { style, err, out_unicode: Abilities::of_stream(&out).unicode, out_columns }
    }
}

/// Sets this process's output style; only the first call has an effect.
pub fn set_manner(manner: Manner) {
    // Later calls are ignored on purpose.
    let _ = MANNER.set(manner);
}

/// Disables all output to standard error, including errors.
pub fn mute() {
    MUTED.store(true, Ordering::Relaxed);
}

/// Returns this process's output style.
pub fn manner() -> Manner {
    MANNER.get().copied().unwrap_or(DEFAULT)
}

/// Returns the size of the terminal connected to standard error.
pub(crate) fn size() -> Size {
    terminal::size(&std::io::stderr())
}

fn screen() -> MutexGuard<'static, Screen> {
    SCREEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the usable number of columns: some terminals wrap as soon as the last column is filled.
pub(crate) fn room(size: Size) -> usize {
    size.columns.saturating_sub(1).max(1)
}

/// Rewrites the lines at the bottom of the terminal and updates its task bar.
pub(crate) fn show(lines: Vec<Line>, taskbar: Taskbar) {
    let mut screen = screen();
    let mut text = screen.redraw(&[], lines, size().columns);
    if manner().err.taskbar {
        text += &screen.show_in_taskbar(taskbar);
    }
    write_err(&text);
}

/// Prints a line that is neither a warning nor an error, unless `--quiet` is set.
pub fn notice(line: &str) {
    if manner().style != Style::Quiet {
        print_line(line);
    }
}

/// Prints a question; the answer is typed on the same line.
pub fn ask(question: &str) {
    write_err(&in_lines(question));
}

/// Clears the task bar for the rest of the process.
pub fn close_taskbar() {
    let text = screen().close_taskbar();
    write_err(&text);
}

/// Prints one result. A closed pipe is not an error (`plateau runs | head -1`) and does not change the exit code: a
/// command that found a problem still fails.
pub fn print(text: &str) -> Printed {
    let manner = manner();
    let text = in_lines(text);
    let text = if manner.out_unicode || text.is_ascii() { text } else { in_ascii(&text).into() };
    match manner.out_columns {
        Some(columns) => print_as_it_is(&folded(&text, columns)),
        None => print_as_it_is(&text),
    }
}

fn print_as_it_is(text: &str) -> Printed {
    // Erase the lines first, because both streams may share a terminal.
    let erased = screen().erase(size().columns);
    write_err(&erased);
    let mut out = std::io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let printed = out.write_all(text.as_bytes()).and_then(|()| out.write_all(end.as_bytes()));
    outcome(printed.and_then(|()| out.flush()))
}

/// A broken pipe is ignored: the reader, such as `head`, may need no more output.
pub fn outcome(printed: std::io::Result<()>) -> Printed {
    match printed {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(PrintError::Write(error)),
        _ => Ok(()),
    }
}

/// Prints a file's bytes to standard output.
pub fn print_bytes(bytes: &[u8]) -> Printed {
    let mut out = std::io::stdout().lock();
    outcome(out.write_all(bytes).and_then(|()| out.flush()))
}

/// Prints one JSON document.
pub fn print_document(document: &impl Serialize) -> Printed {
    print_as_it_is(&pretty(document)?)
}

/// Returns a document in the format that all commands print.
fn pretty(document: &impl Serialize) -> serde_json::Result<String> {
    Ok(in_json(&serde_json::to_string_pretty(document)?).into_owned())
}

/// Writes to standard error, ignoring errors: a closed terminal must not end a day-long run.
fn write_err(text: &str) {
    if text.is_empty() || MUTED.load(Ordering::Relaxed) {
        return;
    }
    let mut err = std::io::stderr().lock();
    drop(err.write_all(text.as_bytes()).and_then(|()| err.flush()));
}

/// Writes a JSON object on its own line.
pub(crate) fn print_record(record: &impl Serialize) {
    if let Ok(text) = serde_json::to_string(record) {
        write_err(&format!("{}\n", in_json(&text)));
    }
}

/// A message among the records of `--progress json`.
#[derive(Serialize)]
struct Message<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    time: jiff::Timestamp,
    run: Option<&'a str>,
    text: &'a str,
}

/// Prints a line to standard error; continuation lines are indented so that they cannot be mistaken for other
/// messages.
pub fn print_line(line: &str) {
    print_line_of(None, line);
}

/// Prints a line about a run, prefixed with its name if there are several runs.
pub fn print_line_of(run: Option<(&str, &str)>, line: &str) {
    let manner = manner();
    if manner.style == Style::Json {
        let run = run.map(|(id, _)| id);
        return print_record(&Message { kind: "message", time: record::wall_now(), run, text: line });
    }
    let line = match run {
        Some((_, name)) if !name.is_empty() => indented(&format!("{name}  {line}")),
        _ => indented(line),
    };
    let line = if manner.err.unicode { line } else { in_ascii(&line) };
    if !manner.err.is_terminal {
        return write_err(&format!("{line}\n"));
    }
    let size = size();
    let lines: Vec<String> = line.split('\n').flat_map(|line| wrapped(line, room(size))).collect();
    if !manner.err.rewrites {
        return write_err(&format!("{}\n", lines.join("\n")));
    }
    // The lock is held during the write, so that messages are not interleaved.
    let mut screen = screen();
    let text = screen.print(&lines, size.columns);
    write_err(&text);
}

/// Returns a message's text, made safe to display.
pub(crate) fn indented(line: &str) -> String {
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
    fn messages_contain_no_escape_sequences_and_cannot_pose_as_others() {
        assert_eq!(indented("a\x1b[2Jb\nplateau: c\n"), "a\\u{1b}[2Jb\n  plateau: c");
    }
}
