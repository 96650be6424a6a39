//! The recipients of notices: a program, a web server and a mail server.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{self, Bench};

/// Time after which a test fails instead of waiting.
const PATIENCE: Duration = Duration::from_secs(120);

/// Waits until a condition holds.
#[track_caller]
pub fn wait_for(what: &str, is_reached: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_reached() {
        assert!(begun.elapsed() < PATIENCE, "waited for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A program that stores the notices it receives.
pub struct Hook {
    pub dir: PathBuf,
}

impl Hook {
    pub fn of(bench: &Bench, name: &str) -> Self {
        let dir = bench.path(name);
        std::fs::create_dir(&dir).expect("a folder");
        Self { dir }
    }

    /// Returns the configuration lines for this program.
    pub fn config(&self, name: &str) -> String {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/notified/hook.sh");
        format!(
            "[[program]]\nname = \"{name}\"\nrun = [\"/bin/sh\", \"{}\", \"{}\"]\n",
            script.display(),
            self.dir.display()
        )
    }

    /// Returns the notices that the program received.
    pub fn notices(&self) -> Vec<Value> {
        documents(&self.dir.join("notices"))
    }

    pub fn events(&self) -> Vec<String> {
        self.notices().iter().map(event).collect()
    }

    /// Returns how often the program was started.
    pub fn begun(&self) -> usize {
        std::fs::read_to_string(self.dir.join("begun")).unwrap_or_default().lines().count()
    }
}

pub fn event(notice: &Value) -> String {
    notice["event"].as_str().expect("an event").to_owned()
}

/// Returns the documents in a file, one per line. A line that is still being written is left out.
pub fn documents(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// A request as received.
#[derive(Debug, Clone)]
pub struct Request {
    pub head: String,
    pub body: String,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found =
            |line: &&str| line.split_once(": ").is_some_and(|(key, _)| key.eq_ignore_ascii_case(name));
        self.head.lines().find(found).and_then(|line| line.split_once(": ")).map(|(_, value)| value)
    }
}

/// A web server that answers each request with the next status in its list, and repeats the last one.
pub struct Web {
    pub address: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Web {
    pub fn answering(statuses: &'static [&'static str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let received = Arc::clone(&requests);
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let status = statuses[number.min(statuses.len() - 1)];
                let Ok(stream) = stream else { continue };
                if let Ok(request) = answer(stream, status) {
                    received.lock().expect("no panic").push(request);
                }
            }
        });
        Self { address, requests }
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().expect("no panic").clone()
    }
}

fn answer(stream: TcpStream, status: &str) -> std::io::Result<Request> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let mut stream = reader.into_inner();
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")?;
    Ok(Request { head, body: String::from_utf8_lossy(&body).into_owned() })
}

/// A mail server.
pub struct Mails {
    child: Child,
    pub port: String,
    file: PathBuf,
}

impl Mails {
    /// Starts a server, with a certificate and key if specified; returns `None` if the library that it needs is
    /// not installed.
    pub fn start(bench: &Bench, certificate: Option<&[PathBuf; 2]>) -> Option<Self> {
        let Some(python) = python() else {
            skips::without("aiosmtpd");
            return None;
        };
        let file = bench.path("mails");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/notified/smtp.py");
        let mut command = Command::new(python);
        command.arg(script).arg(&file).args(certificate.into_iter().flatten()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("python starts");
        let mut port = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut port).expect("readable");
        Some(Self { child, port: port.trim().into(), file })
    }

    pub fn mails(&self) -> Vec<Value> {
        documents(&self.file)
    }
}

impl Drop for Mails {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A Python interpreter that has the mail server's library: Debian's package works only with the system's own
/// interpreter.
fn python() -> Option<&'static str> {
    let has_library = |python: &&str| {
        let mut command = Command::new(python);
        command.args(["-c", "import aiosmtpd.smtp"]).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    ["python3", "/usr/bin/python3"].into_iter().find(has_library)
}

/// A process that is killed when the test ends.
pub struct Process(pub Child);

impl Process {
    /// Starts a command and discards its output.
    pub fn start(bench: &Bench, args: &[&str]) -> Self {
        let mut command = bench.command(args);
        Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("plateau starts"))
    }

    pub fn wait(&mut self) {
        self.0.wait().expect("a child");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// A `plateau notify` process that is killed when the test ends.
pub struct Notifier {
    pub child: Child,
    log: PathBuf,
}

impl Notifier {
    pub fn start(bench: &Bench, config: &Path) -> Self {
        let log = bench.path("notify.log");
        let mut command = bench.command(&["notify", "--config", config.to_str().expect("text")]);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(&log).expect("a file"))
            .spawn()
            .expect("plateau starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("readable");
        assert!(line.starts_with("watching "), "{line}{}", support::text(&log));
        Self { child, log }
    }

    pub fn log(&self) -> String {
        support::text(&self.log)
    }

    /// Sends SIGTERM; returns how long the process took to end.
    pub fn end(mut self) -> Duration {
        let begun = Instant::now();
        support::send_signal(self.child.id(), "TERM");
        let status = self.child.wait().expect("a child");
        assert!(status.success(), "{status}: {}", self.log());
        begun.elapsed()
    }
}

impl Drop for Notifier {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
