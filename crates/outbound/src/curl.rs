//! Sends requests with the `curl` program of the host's own distribution, which supports the protocols,
//! certificates and proxies in use there. A library for this would be larger than the rest of this crate and
//! would itself need updates.
//!
//! The program is searched for in a fixed list of folders and runs without the caller's environment. Addresses and
//! secrets are passed through its standard input, because the arguments of a process are visible to every user.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rustix::fs::{MemfdFlags, memfd_create};
use stdx::text::short;

use crate::process::{self, ProcessError};

/// Folders that only root can write to.
const FOLDERS: [&str; 4] = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];
/// Size limit of a server's response.
const MOST_RESPONSE_BYTES: usize = 1 << 20;
/// Maximum length of the status after a response.
const MOST_STATUS_BYTES: usize = 16;
/// Name and version of Plateau, which servers receive as the user agent.
pub const AGENT: &str = concat!("plateau/", env!("CARGO_PKG_VERSION"));
const CONNECT_WITHIN: Duration = Duration::from_secs(20);
/// Additional time in which the program can report that its own time limit has passed.
const GRACE: Duration = Duration::from_secs(2);

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum CurlError {
    /// The program is missing.
    #[error(
        "the program curl is not installed; requests to servers need it (packages of most distributions: curl)"
    )]
    Missing,
    /// The program cannot be started, or took too long.
    #[error("curl")]
    Process(#[from] ProcessError),
    /// The request failed.
    #[error("{0}")]
    Failed(String),
    /// The server refused the request.
    #[error("the server answered with status {0}")]
    Status(u16),
}

/// A request, as lines of a curl configuration.
#[derive(Debug, Default)]
pub struct Request {
    text: String,
    /// Texts that must not occur in messages.
    secrets: Vec<String>,
    /// Content of the request. The file has no name in any folder, so nothing remains of it if this process is
    /// killed.
    body: Option<File>,
}

impl Request {
    /// Adds an option without a value.
    pub fn flag(&mut self, name: &str) {
        let _ = writeln!(self.text, "{name}");
    }

    /// Adds an option with a value.
    pub fn option(&mut self, name: &str, value: &str) {
        let _ = writeln!(self.text, "{name} = \"{}\"", quoted(value));
    }

    /// Adds an option whose value must not occur in messages.
    pub fn secret(&mut self, name: &str, value: &str, hidden: &str) {
        self.option(name, value);
        if !hidden.is_empty() {
            self.secrets.push(hidden.to_owned());
        }
    }

    /// Sends `bytes`, unchanged, as the content of the request, which makes it a POST request.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub fn body(&mut self, bytes: &[u8]) -> io::Result<()> {
        // The program inherits the descriptor.
        let mut file = File::from(memfd_create("request", MemfdFlags::empty())?);
        file.write_all(bytes)?;
        self.option("data-binary", &format!("@/proc/self/fd/{}", file.as_raw_fd()));
        self.body = Some(file);
        Ok(())
    }
}

/// Quotes a value. Values contain no line breaks, because JSON documents are written on one line.
fn quoted(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            other => out.push(other),
        }
    }
    out
}

/// Returns the path of the program.
///
/// # Errors
/// Returns an error if it is not installed.
pub fn program() -> Result<PathBuf, CurlError> {
    let programs = FOLDERS.iter().map(|folder| Path::new(folder).join("curl"));
    programs.into_iter().find(|program| program.is_file()).ok_or(CurlError::Missing)
}

/// The response of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// Status code; 0 if the protocol has none.
    pub status: u16,
    /// Its body.
    pub body: Vec<u8>,
}

/// Sends a request within `limit`. Returns the server's status code, or 0 if the protocol has none.
///
/// # Errors
/// Returns an error if the server cannot be reached or does not respond in time.
pub fn send(mut request: Request, limit: Duration, stop: &AtomicBool) -> Result<u16, CurlError> {
    request.option("output", "/dev/null");
    Ok(exchange(request, limit, stop)?.status)
}

/// Sends a request within `limit`, and returns the response.
///
/// # Errors
/// Same as [`send`].
pub fn exchange(mut request: Request, limit: Duration, stop: &AtomicBool) -> Result<Response, CurlError> {
    request.option("max-time", &format!("{:.3}", limit.as_secs_f64()));
    request.option("connect-timeout", &format!("{:.3}", limit.min(CONNECT_WITHIN).as_secs_f64()));
    request.option("max-filesize", &MOST_RESPONSE_BYTES.to_string());
    request.option("write-out", "\n%{response_code}");
    // Redirects are not followed: they could lead to another host or protocol.
    ["silent", "show-error", "globoff"].into_iter().for_each(|flag| request.flag(flag));
    let mut command = Command::new(program()?);
    // The first argument keeps curl from reading the user's configuration.
    command.args(["--disable", "--config", "-"]).env_clear().env("LC_ALL", "C").current_dir("/");
    let most_kept_bytes = MOST_RESPONSE_BYTES + MOST_STATUS_BYTES;
    let (text, limit) = (request.text.as_bytes(), limit + GRACE);
    let ended = process::run_keeping(most_kept_bytes, &mut command, text, limit, stop)?;
    if !ended.status.success() {
        let text = String::from_utf8_lossy(&ended.err);
        let line = text.lines().next().unwrap_or_default().trim();
        let line =
            request.secrets.iter().fold(line.to_owned(), |line, secret| line.replace(secret, "(hidden)"));
        let text = if line.is_empty() { format!("curl ended with {}", ended.status) } else { short(&line) };
        return Err(CurlError::Failed(text));
    }
    if ended.out.len() == most_kept_bytes {
        // The end of the output, which contains the status, is missing.
        let text = format!("the server's response is longer than {MOST_RESPONSE_BYTES} B");
        return Err(CurlError::Failed(text));
    }
    Ok(response(ended.out))
}

/// Separates the body from the status in the last line.
fn response(mut out: Vec<u8>) -> Response {
    let end = out.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
    let status = String::from_utf8_lossy(&out[end..]).trim().parse().unwrap_or(0);
    out.truncate(end);
    Response { status, body: out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_is_the_last_line() {
        let of = |text: &str| {
            let response = response(text.into());
            (response.status, String::from_utf8(response.body).expect("text"))
        };
        assert_eq!(of("{\"a\": 1}\n\n200"), (200, "{\"a\": 1}\n".into()));
        assert_eq!(of("\n404"), (404, String::new()));
        assert_eq!(of("\n000"), (0, String::new()));
        assert_eq!(of(""), (0, String::new()));
    }

    #[test]
    fn a_value_stays_within_its_quotes() {
        let mut request = Request::default();
        request.option("url", "a\"\nurl = \"file:///etc/passwd\\");
        request.flag("silent");
        assert_eq!(request.text, "url = \"a\\\"\\nurl = \\\"file:///etc/passwd\\\\\"\nsilent\n");
    }
}
