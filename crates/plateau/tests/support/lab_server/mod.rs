//! A `plateau serve` process, and requests to it.
#![allow(dead_code, clippy::allow_attributes, reason = "each test file uses a different part of it")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Bench, text as text_of};

/// Timeout for a server to end on a busy host. The server's own limit is `lab::ENDS_WITHIN`.
const END: Duration = Duration::from_secs(120);

/// A server that is killed when the test ends.
pub struct Server {
    pub child: Child,
    pub address: String,
    /// The link for signing in; empty if the server prints none.
    pub link: String,
}

impl Server {
    pub fn start(bench: &Bench) -> Self {
        Self::with(bench, &[])
    }

    /// Starts a server with additional options.
    pub fn with(bench: &Bench, options: &[&str]) -> Self {
        Self::listening(bench, "127.0.0.1:0", options)
    }

    /// Starts a server at an address.
    pub fn listening(bench: &Bench, address: &str, options: &[&str]) -> Self {
        Self::started(bench.command(&[&["--json", "serve", "--listen", address], options].concat()))
    }

    /// Starts a server with additional options whose command is changed by `change`.
    pub fn configured(bench: &Bench, options: &[&str], change: impl FnOnce(&mut Command)) -> Self {
        let mut command = bench.command(&[&["--json", "serve", "--listen", "127.0.0.1:0"], options].concat());
        change(&mut command);
        Self::started(command)
    }

    fn started(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a server");
        let document = document(&mut child);
        let text = |key: &str| document[key].as_str().unwrap_or_default().to_owned();
        Self { child, address: text("address"), link: text("link") }
    }

    /// Sends a request and returns the whole response.
    pub fn raw(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("the server listens");
        stream.write_all(request.as_bytes()).expect("writable");
        let mut response = Vec::new();
        stream.read_to_end(&mut response).expect("readable");
        String::from_utf8_lossy(&response).into_owned()
    }

    pub fn get(&self, path: &str, headers: &str) -> Response {
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{headers}\r\n", self.address);
        Response::of(&self.raw(&request))
    }

    /// Submits a form.
    pub fn post(&self, path: &str, headers: &str, form: &[(&str, &str)]) -> Response {
        Response::of(&self.raw(&self.posted(path, headers, form)))
    }

    /// The request that submits a form.
    pub fn posted(&self, path: &str, headers: &str, form: &[(&str, &str)]) -> String {
        let body = fields(form);
        format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/x-www-form-urlencoded\r\n\
             Content-Length: {}\r\n{headers}\r\n{body}",
            self.address,
            body.len()
        )
    }

    /// The pages' origin, as a header.
    pub fn origin(&self) -> String {
        format!("Origin: http://{}\r\n", self.address)
    }

    /// The session token in a `Cookie` header.
    pub fn csrf(&self, cookie: &str) -> String {
        let page = self.get("/account", cookie).body;
        let rest = page.split_once("name=\"csrf\" value=\"").expect("a token").1;
        rest.split_once('"').expect("the end of the token").0.to_owned()
    }

    /// Signs in with the link and returns the `Cookie` header.
    pub fn enter(&self) -> String {
        let path = self.link.split_once(&self.address).expect("the link names the address").1;
        let response = self.get(path, "");
        assert_eq!(response.status, 303, "{response:?}");
        response.cookie()
    }

    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").args([name, &self.child.id().to_string()]).status().expect("kill");
        assert!(status.success());
    }

    /// Waits for the server to end and returns its exit code.
    pub fn end(&mut self) -> Option<i32> {
        let begun = Instant::now();
        loop {
            match self.child.try_wait().expect("a child") {
                Some(status) => return status.code(),
                None => assert!(begun.elapsed() < END, "the server does not end"),
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Encodes a text as a part of a path, a query or a form.
pub fn encoded(text: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric();
    text.bytes()
        .map(|byte| if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// Encodes the fields of a query or a form.
pub fn fields(fields: &[(&str, &str)]) -> String {
    let pairs: Vec<String> =
        fields.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
    pairs.join("&")
}

/// Reads the JSON document that a server prints when it starts.
pub fn document(child: &mut Child) -> Value {
    let mut document = String::new();
    let mut lines = BufReader::new(child.stdout.take().expect("piped"));
    while serde_json::from_str::<Value>(&document).is_err() {
        assert_ne!(lines.read_line(&mut document).expect("readable"), 0, "no document: {document}");
    }
    serde_json::from_str(&document).expect("a document")
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Response {
    pub fn of(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        Self { status, head: head.to_owned(), body: body.to_owned() }
    }

    /// The `Cookie` header of the session that this response begins.
    pub fn cookie(&self) -> String {
        let set = self.header("set-cookie").unwrap_or_else(|| panic!("a cookie: {self:?}"));
        assert!(set.contains("HttpOnly") && set.contains("SameSite=Strict"), "{set}");
        format!("Cookie: {}\r\n", set.split(';').next().expect("a pair"))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }
}

/// Reads events until `until` returns true for one of them; returns (id, kind) of each record.
pub fn events(
    server: &Server,
    path: &str,
    headers: &str,
    mut until: impl FnMut(&str) -> bool,
) -> Vec<(u64, String)> {
    let mut stream = TcpStream::connect(&server.address).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
    let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{headers}\r\n", server.address);
    stream.write_all(request.as_bytes()).expect("writable");
    let (mut all, mut id) = (Vec::new(), None);
    for line in BufReader::new(&stream).lines() {
        let line = line.expect("readable");
        if let Some(number) = line.strip_prefix("id: ") {
            id = number.parse().ok();
        }
        if let Some(data) = line.strip_prefix("data: ") {
            if let Some(id) = id.take() {
                let data: Value = serde_json::from_str(data).expect("JSON");
                all.push((id, data["kind"].as_str().expect("a kind").to_owned()));
            }
            if until(data) {
                break;
            }
        }
    }
    drop(stream.shutdown(Shutdown::Both));
    all
}

/// Runs a short simulated test and returns the run's id.
pub fn demo(bench: &Bench) -> String {
    let document =
        bench.json(&["run", "iops", "sim:sas-slc-2011", "--scale", "1/1024", "--profile", "pts-e-1.0"]);
    document["run"].as_str().expect("an id").to_owned()
}

/// Makes a run appear to be in progress as long as the returned file is open.
pub fn in_progress(bench: &Bench, run: &str) -> std::fs::File {
    // Without its last record, the run is in progress while a process holds the journal's lock.
    let path = bench.library().join(run).join("journal");
    let text = text_of(&path);
    let last = text.trim_end().rfind('\n').expect("several lines");
    std::fs::write(&path, &text[..=last]).expect("writable");
    let journal = std::fs::File::open(&path).expect("a journal");
    journal.lock().expect("a lock");
    journal
}
