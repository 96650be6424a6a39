//! Test helper that records tests skipped for lack of root privileges, a program or a kernel feature.
//!
//! Each skip is printed to standard error and appended to the file that the [`FILE`] variable names. `cargo
//! xtask ci` prints and counts the entries at the end, because the output of passed tests is not shown.
#![forbid(unsafe_code)]

use std::fs::OpenOptions;
use std::io::Write as _;

/// Environment variable with the path of the file that collects skips.
pub const FILE: &str = "PLATEAU_SKIPS";

/// Reports that a test, or part of it, is skipped; takes a format string.
#[macro_export]
macro_rules! skip {
    ($($reason:tt)*) => { $crate::record(None, &format!($($reason)*)) };
}

/// Reports that a test is skipped because `program` is not installed.
pub fn without(program: &str) {
    record(Some(program), &format!("{program} is not installed"));
}

/// Writes one line: test, program (or nothing) and reason, separated by tabs.
///
/// # Panics
/// Panics if the file cannot be written, because the skip would go unnoticed.
pub fn record(program: Option<&str>, reason: &str) {
    eprintln!("skipped: {reason}");
    let Some(path) = std::env::var_os(FILE) else { return };
    let line = line(std::thread::current().name().unwrap_or("?"), program, reason);
    let file = OpenOptions::new().create(true).append(true).open(&path);
    file.and_then(|mut file| file.write_all(line.as_bytes())).expect("skips can be recorded");
}

fn line(test: &str, program: Option<&str>, reason: &str) -> String {
    let reason = reason.replace(['\n', '\t'], " ");
    format!("{test}\t{}\t{reason}\n", program.unwrap_or_default())
}

/// A recorded skip.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skip {
    /// Name of the test.
    pub test: String,
    /// The missing program, if that is the reason.
    pub program: Option<String>,
    /// The reason as text.
    pub reason: String,
}

/// Parses the skips in a file; ignores lines that are not skips.
#[must_use]
pub fn parse(text: &str) -> Vec<Skip> {
    let skip = |line: &str| {
        let mut parts = line.splitn(3, '\t');
        let (test, program, reason) = (parts.next()?, parts.next()?, parts.next()?);
        let program = (!program.is_empty()).then(|| program.to_owned());
        Some(Skip { test: test.to_owned(), program, reason: reason.to_owned() })
    };
    text.lines().filter_map(skip).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_are_written() {
        let text = line("a::b", Some("fio"), "fio is\nnot installed") + &line("c", None, "no loop device");
        let skips = parse(&text);
        assert_eq!(skips.len(), 2);
        assert_eq!((&skips[0].test[..], skips[0].program.as_deref()), ("a::b", Some("fio")));
        assert_eq!(skips[0].reason, "fio is not installed");
        assert_eq!((&skips[1].reason[..], &skips[1].program), ("no loop device", &None));
    }
}
