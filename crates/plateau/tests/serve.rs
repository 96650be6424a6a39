//! `plateau serve`: who is answered, and whether pages and events agree with the journal.

mod support;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use support::Bench;

/// Time within which the server must end.
const END: Duration = Duration::from_secs(10);

/// A server that ends with the test.
struct Server {
    child: Child,
    address: String,
    link: String,
}

impl Server {
    fn start(bench: &Bench) -> Self {
        let mut command = bench.command(&["--json", "serve", "--listen", "127.0.0.1:0"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a server");
        let mut document = String::new();
        let mut lines = BufReader::new(child.stdout.take().expect("piped"));
        while serde_json::from_str::<Value>(&document).is_err() {
            assert_ne!(lines.read_line(&mut document).expect("readable"), 0, "no document: {document}");
        }
        let document: Value = serde_json::from_str(&document).expect("a document");
        let text = |key: &str| document[key].as_str().expect("text").to_owned();
        Self { child, address: text("address"), link: text("link") }
    }

    /// Sends a request and returns the whole response.
    fn raw(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("the server listens");
        stream.write_all(request.as_bytes()).expect("writable");
        let mut response = Vec::new();
        stream.read_to_end(&mut response).expect("readable");
        String::from_utf8_lossy(&response).into_owned()
    }

    fn get(&self, path: &str, headers: &str) -> Response {
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{headers}\r\n", self.address);
        Response::of(&self.raw(&request))
    }

    /// Enters with the link and returns the `Cookie` header.
    fn enter(&self) -> String {
        let path = self.link.split_once(&self.address).expect("the link names the address").1;
        let response = self.get(path, "");
        assert_eq!(response.status, 303, "{response:?}");
        let set = response.header("set-cookie").expect("a cookie");
        assert!(set.contains("HttpOnly") && set.contains("SameSite=Strict"), "{set}");
        format!("Cookie: {}\r\n", set.split(';').next().expect("a pair"))
    }

    fn signal(&self, name: &str) {
        let status = Command::new("kill").args([name, &self.child.id().to_string()]).status().expect("kill");
        assert!(status.success());
    }

    /// Waits for the end of the server and returns its exit code.
    fn end(&mut self) -> Option<i32> {
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

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[derive(Debug)]
struct Response {
    status: u16,
    head: String,
    body: String,
}

impl Response {
    fn of(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        Self { status, head: head.to_owned(), body: body.to_owned() }
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }
}

/// Every address of the server, with a run in place of the placeholders.
fn addresses(server: &Server, cookie: &str, run: &str) -> Vec<String> {
    let api: Value =
        serde_json::from_str(&server.get("/api/openapi.json", cookie).body).expect("a description");
    let described = api["paths"].as_object().expect("paths").keys();
    let pages = ["/", "/drives", "/drive", "/compare", "/runs/{id}", "/runs/{id}/live", "/runs/{id}/page"];
    let more = ["/runs/{id}/report", "/api", "/metrics"];
    let all = described.map(String::as_str).chain(pages).chain(more);
    all.map(|path| path.replace("{id}", run).replace("{format}", "json-file")).collect()
}

fn demo(bench: &Bench) -> String {
    let document =
        bench.json(&["run", "iops", "sim:sas-slc-2011", "--scale", "1/64", "--profile", "pts-e-1.0"]);
    document["run"].as_str().expect("an id").to_owned()
}

#[test]
fn every_address_refuses_strangers_and_answers_the_browser_that_entered() {
    let bench = Bench::new();
    let run = demo(&bench);
    let server = Server::start(&bench);
    let cookie = server.enter();
    let all = addresses(&server, &cookie, &run);
    assert!(all.len() > 12, "{all:?}");
    for path in &all {
        let foreign = format!("{cookie}Origin: http://evil.example\r\n");
        for (what, headers, status) in [
            ("no cookie", "", 401),
            ("a wrong cookie", "Cookie: plateau_7070=0\r\n", 401),
            ("a foreign origin", &foreign, 403),
        ] {
            let response = server.get(path, headers);
            assert_eq!(response.status, status, "{path} with {what}: {}", response.head);
            assert!(!response.body.contains(&run), "{path} with {what} shows a run");
        }
        let evil = format!("GET {path} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n{cookie}\r\n");
        assert_eq!(Response::of(&server.raw(&evil)).status, 421, "{path} for another host");
        let post = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: 0\r\n{cookie}\r\n",
            server.address
        );
        assert_eq!(Response::of(&server.raw(&post)).status, 405, "{path} takes no POST");
        let response = server.get(path, &cookie);
        let expected: &[u16] = match path.as_str() {
            "/compare" => &[422],
            "/drive" => &[404],
            _ => &[200],
        };
        assert!(expected.contains(&response.status), "{path}: {}", response.head);
        let policy = response.header("content-security-policy").expect("a policy");
        assert!(policy.starts_with("default-src 'none'"), "{path}: {policy}");
        assert_eq!(response.header("x-content-type-options"), Some("nosniff"), "{path}");
    }
    assert_eq!(server.get("/nothing", &cookie).status, 404);
    assert_eq!(server.get("/nothing", "").status, 401, "strangers do not learn what exists");
    let path = server.link.split_once(&server.address).expect("the link names the address").1;
    assert_eq!(server.get(path, "").status, 401, "a link works once");
    for path in ["/runs/..%2f..%2fetc", "/runs/.%2e", "/runs/%00", "/api/runs/nothing"] {
        assert_eq!(server.get(path, &cookie).status, 404, "{path}");
    }
}

#[test]
fn pages_and_api_show_what_the_report_shows() {
    let bench = Bench::new();
    let run = demo(&bench);
    let server = Server::start(&bench);
    let cookie = server.enter();
    let shown = bench.json(&["show", &run]);
    let listed: Value = serde_json::from_str(&server.get("/api/runs", &cookie).body).expect("JSON");
    assert_eq!(listed[0]["run"], run.as_str());
    assert_eq!(listed[0]["state"], "steady");
    let figures = &shown["tests"][0]["key_figures"];
    assert!(figures.as_array().is_some_and(|all| !all.is_empty()));
    for (listed, figure) in listed[0]["figures"].as_array().unwrap().iter().zip(figures.as_array().unwrap()) {
        assert_eq!(listed["value"], figure["value"], "{figure}");
    }
    let page = server.get(&format!("/runs/{run}"), &cookie).body;
    assert!(page.contains("SIMULATED") && page.contains("<svg"), "marks and charts");
    assert!(
        !page.contains("style=\"") && !page.contains("<script>"),
        "the policy forbids inline style and script"
    );
    let report = server.get(&format!("/runs/{run}/report"), &cookie).body;
    let written = bench.path("report.html");
    bench.ok(&["report", &run, written.to_str().unwrap()]);
    assert_eq!(report, support::text(&written), "the report is that of `plateau report`");
    let empty: Value =
        serde_json::from_str(&server.get("/api/runs?state=running", &cookie).body).expect("JSON");
    assert_eq!(empty, serde_json::json!([]));
}

/// Reads events until `until` returns true for one of them; returns (id, kind) of each record.
fn events(
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

#[test]
fn events_continue_after_the_last_record_that_was_received() {
    let bench = Bench::new();
    let run = demo(&bench);
    let server = Server::start(&bench);
    let cookie = server.enter();
    let path = format!("/api/runs/{run}/events");
    let whole = events(&server, &path, &cookie, |data| data == "steady state");
    let numbers: Vec<u64> = whole.iter().map(|(id, _)| *id).collect();
    assert_eq!(numbers, (0..whole.len() as u64).collect::<Vec<_>>(), "every record once, in order");
    assert_eq!(whole.last().map(|(_, kind)| kind.as_str()), Some("closed"));
    let mut seen = 0;
    let first = events(&server, &path, &cookie, |_| {
        seen += 1;
        seen == 10
    });
    let last = first.last().expect("records").0;
    let rest =
        events(&server, &path, &format!("{cookie}Last-Event-ID: {last}\r\n"), |data| data == "steady state");
    assert_eq!([first, rest].concat(), whole);
}

#[test]
fn a_run_is_followed_live_and_does_not_notice() {
    let bench = Bench::new();
    let server = Server::start(&bench);
    let cookie = server.enter();
    let target = bench.path("target.bin");
    let arguments = [
        "run",
        "lat",
        target.to_str().unwrap(),
        "--size",
        "16MiB",
        "--cell-seconds",
        "0.2",
        "--max-rounds",
        "5",
    ];
    let mut running =
        bench.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a run");
    let run = loop {
        let listed: Value =
            serde_json::from_str(&server.get("/api/runs?state=running", &cookie).body).expect("JSON");
        match listed[0]["run"].as_str() {
            Some(run) => break run.to_owned(),
            None => {
                assert!(running.try_wait().expect("a child").is_none(), "the run was never shown as running")
            }
        }
    };
    let page = server.get(&format!("/runs/{run}"), &cookie).body;
    assert!(page.contains("/static/live.js"), "a run in progress is followed");
    let path = format!("/api/runs/{run}/events");
    let mut end = String::new();
    let seen = events(&server, &path, &cookie, |data| {
        let is_end = !data.starts_with('{');
        if is_end {
            end = data.to_owned();
        }
        is_end
    });
    assert!(running.wait().expect("a child").success());
    assert!(!end.is_empty(), "the stream says how the run ended");
    let journal = std::fs::read_to_string(bench.library().join(&run).join("journal")).expect("a journal");
    // The first line is the header.
    assert_eq!(seen.len(), journal.lines().count() - 1, "every record was sent once");
    bench.ok(&["verify", &run]);
}

#[test]
fn a_signal_ends_the_server_although_a_stream_is_open() {
    let bench = Bench::new();
    let run = demo(&bench);
    let mut server = Server::start(&bench);
    let cookie = server.enter();
    // Without its last record, the run is in progress while a process holds the lock of the journal.
    let path = bench.library().join(&run).join("journal");
    let text = support::text(&path);
    let last = text.trim_end().rfind('\n').expect("several lines");
    std::fs::write(&path, &text[..=last]).expect("writable");
    let journal = std::fs::File::open(&path).expect("a journal");
    journal.lock().expect("a lock");
    let mut stream = TcpStream::connect(&server.address).expect("the server listens");
    let request = format!("GET /api/runs/{run}/events HTTP/1.1\r\nHost: {}\r\n{cookie}\r\n", server.address);
    stream.write_all(request.as_bytes()).expect("writable");
    let mut first = [0; 1];
    stream.read_exact(&mut first).expect("the stream is open");
    server.signal("-TERM");
    assert_eq!(server.end(), Some(0));
}

#[test]
fn addresses_that_other_hosts_reach_need_a_proxy() {
    let bench = Bench::new();
    let errors = bench.fails(2, &["serve", "--listen", "0.0.0.0:0"]);
    assert!(errors.contains("--behind-proxy") && errors.contains("not encrypted"), "{errors}");
}
