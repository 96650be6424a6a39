//! A `plateau serve`, and requests in the session of a signed-in user.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::Value;

/// Kernel ticks per second in /proc (USER_HZ).
const TICKS: f64 = 100.0;
const TIMEOUT: Duration = Duration::from_secs(300);

/// A server, killed when dropped.
pub struct Server {
    child: Child,
    address: String,
    /// Name and value, as in the `Cookie` header.
    cookie: String,
}

impl Server {
    /// Starts a server at a free port, and signs in.
    ///
    /// # Errors
    /// Returns an error if the server does not start.
    pub fn start(binary: &Path, library: &Path, state: &Path) -> anyhow::Result<Self> {
        Self::changed(binary, library, state, |_| {})
    }

    /// Starts a server whose command is changed by `change`.
    ///
    /// # Errors
    /// Returns an error if the server does not start.
    pub fn changed(
        binary: &Path,
        library: &Path,
        state: &Path,
        change: impl FnOnce(&mut Command),
    ) -> anyhow::Result<Self> {
        let mut command = Command::new(binary);
        command.args(["--json", "serve", "--listen", "127.0.0.1:0", "--library"]).arg(library);
        change(&mut command);
        let mut child = command.env("PLATEAU_STATE", state).stdout(Stdio::piped()).spawn()?;
        let mut lines = BufReader::new(child.stdout.take().context("piped")?);
        let mut text = String::new();
        let document: Value = loop {
            ensure!(lines.read_line(&mut text)? > 0, "the server did not start: {text}");
            if let Ok(document) = serde_json::from_str(&text) {
                break document;
            }
        };
        let text = |key: &str| document[key].as_str().map(ToOwned::to_owned).context("no address");
        let (address, link) = (text("address")?, text("link")?);
        let path = link.split_once(&address).context("the link contains another address")?.1;
        let mut server = Self { child, address, cookie: String::new() };
        let (head, _) = server.answer(path)?;
        let cookie = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("set-cookie").then_some(value)
        });
        let cookie = cookie.context("the server set no cookie")?;
        server.cookie = cookie.split(';').next().unwrap_or_default().to_owned();
        Ok(server)
    }

    /// Returns the address of a page.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns the name and value of the session's cookie.
    pub fn cookie(&self) -> (&str, &str) {
        self.cookie.split_once('=').unwrap_or_default()
    }

    /// Returns the body of a page.
    pub fn get(&self, path: &str) -> anyhow::Result<Vec<u8>> {
        let (head, body) = self.answer(path)?;
        ensure!(head.starts_with("HTTP/1.1 200"), "{path}: {}", head.lines().next().unwrap_or_default());
        Ok(body)
    }

    fn answer(&self, path: &str) -> anyhow::Result<(String, Vec<u8>)> {
        let mut stream = self.request(path, "Connection: close\r\n")?;
        let mut all = Vec::new();
        stream.read_to_end(&mut all)?;
        let end = all.windows(4).position(|four| four == b"\r\n\r\n").context("no end of the header")?;
        let body = all.split_off(end + 4);
        Ok((String::from_utf8_lossy(&all).into_owned(), body))
    }

    /// Sends a request and returns the connection.
    pub fn request(&self, path: &str, headers: &str) -> anyhow::Result<TcpStream> {
        let mut stream = self.connect()?;
        stream.write_all(self.head(path, headers).as_bytes())?;
        Ok(stream)
    }

    /// Opens a connection for several requests.
    pub fn keep(&self) -> anyhow::Result<Kept<'_>> {
        Ok(Kept { server: self, stream: BufReader::new(self.connect()?) })
    }

    fn connect(&self) -> anyhow::Result<TcpStream> {
        let stream = TcpStream::connect(&self.address)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        Ok(stream)
    }

    fn head(&self, path: &str, headers: &str) -> String {
        let (host, cookie) = (&self.address, &self.cookie);
        format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n{headers}\r\n")
    }

    /// Returns the server's resident memory.
    pub fn resident_mb(&self) -> anyhow::Result<f64> {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        Ok(line.trim().trim_end_matches("kB").trim().parse::<f64>()? * 1024.0 / 1e6)
    }

    /// Returns the CPU time that the server has used so far.
    pub fn cpu_seconds(&self) -> anyhow::Result<f64> {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The name of the program, in parentheses, may contain spaces.
        let (_, fields) = text.rsplit_once(')').context("no end of the name")?;
        let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<f64>);
        Ok(ticks.sum::<Result<f64, _>>()? / TICKS)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A connection that is kept open between requests, like those of a browser.
pub struct Kept<'s> {
    server: &'s Server,
    stream: BufReader<TcpStream>,
}

impl Kept<'_> {
    /// Returns the body of a page.
    pub fn get(&mut self, path: &str) -> anyhow::Result<Vec<u8>> {
        self.stream.get_mut().write_all(self.server.head(path, "").as_bytes())?;
        let mut status = String::new();
        self.stream.read_line(&mut status)?;
        ensure!(status.starts_with("HTTP/1.1 200"), "{path}: {}", status.trim());
        let mut length = None;
        loop {
            let mut line = String::new();
            ensure!(self.stream.read_line(&mut line)? > 0, "{path}: the server closed the connection");
            let Some((name, value)) = line.split_once(':') else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = Some(value.trim().parse()?);
            }
        }
        let mut body = vec![0; length.with_context(|| format!("{path}: no length"))?];
        self.stream.read_exact(&mut body)?;
        Ok(body)
    }
}
