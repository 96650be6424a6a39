//! Monitoring: a real Prometheus scrapes `plateau serve` with the files in `dist/monitoring`.

#[path = "support/lab_server/mod.rs"]
mod lab_server;
#[path = "monitoring/provoked.rs"]
mod provoked;
mod support;

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use lab_server::{Response, Server, document};
use record::read_journal;
use serde_json::Value;
use support::{Bench, round, text};

const USER: &str = "prometheus";
const PASSWORD: &str = "a long password";
/// `prometheus:a long password` in base64.
const SIGNED_IN: &str = "Authorization: Basic cHJvbWV0aGV1czphIGxvbmcgcGFzc3dvcmQ=\r\n";
/// Time within which Prometheus starts and scrapes on a busy host.
const PATIENCE: Duration = Duration::from_secs(120);

fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dist/monitoring").join(name)
}

fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if found.is_err() {
        skips::without(program);
    }
    found.is_ok()
}

#[test]
fn every_alert_fires_on_its_series() {
    if !has("promtool") {
        return;
    }
    for words in [["check", "rules", "alerts.yml"], ["test", "rules", "alerts_test.yml"]] {
        let output = Command::new("promtool").args(words).current_dir(shipped("")).output();
        let output = output.expect("promtool starts");
        let (out, err) = support::texts(&output);
        assert!(output.status.success(), "{out}{err}");
    }
    // The test names every alert, so that new alerts cannot remain untested.
    let (rules, tests) = (text(&shipped("alerts.yml")), text(&shipped("alerts_test.yml")));
    let names = rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: "));
    assert_eq!(
        names.clone().filter(|name| !tests.contains(&format!("\"{name}\""))).collect::<Vec<_>>(),
        [""; 0]
    );
    assert!(names.count() > 5);
}

/// A process that is killed when the test ends, whether or not the test passes.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// A Prometheus server that is killed when the test ends.
struct Prometheus {
    _process: Process,
    address: String,
    _folder: tempfile::TempDir,
}

impl Prometheus {
    /// Scrapes servers using the shipped files, with different addresses and another interval. The interval also limits the
    /// time for a scrape, which includes checking a password.
    fn of(addresses: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let config = text(&shipped("prometheus.yml"));
        assert!(config.contains("\"127.0.0.1:7070\"") && config.contains("scrape_interval: 15s"), "{config}");
        let config = config
            .replace("127.0.0.1:7070", &addresses.join("\", \""))
            .replace("interval: 15s", "interval: 5s");
        std::fs::write(folder.path().join("prometheus.yml"), config).expect("writable");
        std::fs::write(folder.path().join("alerts.yml"), text(&shipped("alerts.yml"))).expect("writable");
        std::fs::write(folder.path().join("password"), PASSWORD).expect("writable");
        let start = |address: &str| {
            let mut command = Command::new("prometheus");
            command
                .current_dir(folder.path())
                .args(["--config.file=prometheus.yml", "--storage.tsdb.path=data"])
                .arg(format!("--web.listen-address={address}"));
            command
        };
        let (process, address, _) = answering("/-/ready", start);
        Self { _process: process, address, _folder: folder }
    }

    /// Returns the series that a query finds.
    fn query(&self, query: &str) -> Vec<Value> {
        let encoded: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let response = get(&self.address, &format!("/api/v1/query?query={encoded}")).expect("an answer");
        let answer: Value = serde_json::from_str(&response.body).unwrap_or_else(|_| panic!("{response:?}"));
        assert_eq!(answer["status"], "success", "{query}: {answer}");
        answer["data"]["result"].as_array().expect("a result").clone()
    }
}

/// Starts a server, given the address at which it is to listen, and waits until it answers a request; returns the
/// process, the address and the response.
fn answering(path: &str, start: impl Fn(&str) -> Command) -> (Process, String, Response) {
    let begun = Instant::now();
    loop {
        // Another process may take the port before the server does.
        let free = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
        let address = free.expect("a free port").to_string();
        let mut command = start(&address);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut process = Process(command.spawn().expect("it starts"));
        while process.0.try_wait().expect("a child").is_none() {
            if let Some(response) = get(&address, path).filter(|response| response.status == 200) {
                return (process, address, response);
            }
            assert!(begun.elapsed() < PATIENCE, "{command:?} does not answer");
            std::thread::sleep(Duration::from_millis(50));
        }
        assert!(begun.elapsed() < PATIENCE, "{command:?} ends");
    }
}

/// Sends a request without compression or chunks.
fn get(address: &str, path: &str) -> Option<Response> {
    get_with(address, path, "")
}

/// The same with headers.
fn get_with(address: &str, path: &str, headers: &str) -> Option<Response> {
    let mut stream = TcpStream::connect(address).ok()?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\n{headers}\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(Response::of(&answer))
}

/// Returns the dashboard's queries, for all hosts.
fn queries() -> Vec<String> {
    let dashboard: Value = serde_json::from_str(&text(&shipped("grafana-dashboard.json"))).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels").iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().expect("targets").clone());
    targets.map(|target| target["expr"].as_str().expect("a query").replace("$instance", ".*")).collect()
}

/// Returns the names of the metrics that the alert rules use.
fn metrics_of_alerts() -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_lowercase() || c == '_';
    let rules = text(&shipped("alerts.yml"));
    let queries = rules.lines().filter_map(|line| line.trim().strip_prefix("expr: "));
    queries
        .flat_map(|query| query.split(|c| !is_part(c)))
        .filter(|word| word.starts_with("plateau_"))
        .map(ToOwned::to_owned)
        .collect()
}

/// Waits until this number of runs measure their first round.
fn wait_for_rounds(bench: &Bench, runs: usize) {
    let begun = Instant::now();
    let measures =
        |run: &PathBuf| read_journal(&run.join("journal")).is_ok_and(|journal| round(&journal) > 0);
    while bench.runs().iter().filter(|run| measures(run)).count() < runs {
        assert!(begun.elapsed() < PATIENCE, "{runs} runs do not begin");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn add_user(bench: &Bench) {
    let mut command = bench.command(&["user", "add", USER, "--role", "viewer"]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().expect("plateau starts");
    child.stdin.take().expect("piped").write_all(format!("{PASSWORD}\n").as_bytes()).expect("writable");
    assert!(child.wait().expect("a child").success());
}

/// Starts to forward the runs of a host to the server of a bench, with a command that is changed by `change`; returns the process
/// and the address of its metrics.
fn forward(
    host: &Bench,
    lab: &Bench,
    server: &Server,
    change: impl FnOnce(&mut Command),
) -> (Process, String) {
    let token = lab.json(&["sender", "add", "rack7"])["token"].as_str().expect("a token").to_owned();
    let file = host.path("token");
    std::fs::write(&file, token).expect("writable");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("our own");
    let (file, url) = (file.to_str().expect("text"), format!("http://{}", server.address));
    let words = ["--json", "forward", "--to", &url, "--token-file", file, "--listen", "127.0.0.1:0"];
    let mut command = host.command(&words);
    change(&mut command);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("plateau starts");
    let address = document(&mut child)["metrics"].as_str().expect("an address").to_owned();
    (Process(child), address)
}

#[test]
fn prometheus_finds_a_series_for_every_query() {
    if !has("prometheus") || !has("curl") {
        return;
    }
    let bench = Bench::on_build_disk();
    add_user(&bench);
    let server = Server::start(&bench);
    // The first run's remaining time is known, and its cells last longer than the test. The second run reports
    // health; its process is stopped, so that the run cannot end and its lock remains held.
    let file = bench.path("target");
    let long = ["--cell-seconds", "600", "--size", "16MiB", "--profile", "pts-e-1.0"];
    let _on_file =
        Process(bench.start(&[&["run", "iops", file.to_str().expect("text")], &long[..]].concat()));
    wait_for_rounds(&bench, 1);
    let simulated = ["run", "iops", "sim:sas-slc-2011", "--scale", "1/64", "--profile", "pts-e-1.0"];
    let run = Process(bench.start(&simulated));
    wait_for_rounds(&bench, 2);
    let held = support::hold(run.0.id());
    let host = Bench::new();
    add_user(&host);
    let (_forward, address) = forward(&host, &bench, &server, |_| ());
    let prometheus = Prometheus::of(&[&server.address, &address]);
    let begun = Instant::now();
    while prometheus.query("plateau_run_latest_iops").is_empty()
        || prometheus.query("plateau_forward_behind_bytes").is_empty()
    {
        let up = prometheus.query("up");
        assert!(begun.elapsed() < PATIENCE, "nothing is scraped: {up:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
    for query in queries().into_iter().chain(metrics_of_alerts()) {
        assert!(!prometheus.query(&query).is_empty(), "no series for {query}");
    }
    let running = prometheus.query("sum(plateau_runs{state=\"running\"})");
    assert_eq!(running[0]["value"][1], "2", "{running:?}");
    assert_eq!(prometheus.query("plateau_runs{state=\"running\"}").len(), 2, "a lab and a host");
    drop(held);
}

#[test]
fn programs_sign_in_with_each_request() {
    let bench = Bench::new();
    add_user(&bench);
    let server = Server::start(&bench);
    let right = SIGNED_IN;
    // `prometheus:wrong` in base64.
    let wrong = "Authorization: Basic cHJvbWV0aGV1czp3cm9uZw==\r\n";
    let metrics = server.get("/metrics", right);
    assert_eq!(metrics.status, 200, "{metrics:?}");
    assert!(metrics.body.ends_with("# EOF\n") && metrics.body.contains("plateau_runs{state=\"steady\"} 0"));
    assert_eq!(metrics.header("set-cookie"), None, "no session begins");
    assert_eq!(server.get("/api/runs", right).status, 200);
    for (headers, status) in
        [("", 401), (wrong, 401), ("Authorization: Basic !\r\n", 401), ("Authorization: Bearer x\r\n", 401)]
    {
        let response = server.get("/metrics", headers);
        assert_eq!(response.status, status, "{headers}: {response:?}");
        // With this header, a browser would ask for a name and password and then send them with every request.
        assert_eq!(response.header("www-authenticate"), None);
    }
    let foreign = format!("{right}Origin: http://evil.example\r\n");
    assert_eq!(server.get("/metrics", &foreign).status, 403);
    let change = format!("{right}{}", server.origin());
    assert_eq!(server.post("/leave", &change, &[]).status, 401, "a change needs a session");
    assert_eq!(server.get("/api/runs/x/events", right).status, 401, "an open stream needs a session");
    let answers: Vec<u16> = (0..12).map(|_| server.get("/metrics", wrong).status).collect();
    assert_eq!(answers[11], 429, "{answers:?}");
}

/// The names of the metrics in the text.
fn names(text: &str) -> BTreeSet<&str> {
    text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect()
}

#[test]
fn metrics_without_a_server_are_those_of_a_server() {
    if !has("promtool") {
        return;
    }
    let bench = Bench::new();
    add_user(&bench);
    bench.ok(&["run", "iops", "sim:sas-slc-2011", "--scale=1/1024", "--max-rounds=5", "--tc=1", "--qd=2"]);
    let mut run = Process(bench.start(&[
        "run",
        "iops",
        "sim:sas-slc-2011",
        "--scale",
        "1/8",
        "--profile",
        "pts-e-1.0",
    ]));
    wait_for_rounds(&bench, 2);
    let held = support::hold(run.0.id());
    let file = bench.path("plateau.prom");
    std::fs::write(&file, "an earlier state").expect("writable");
    let path = file.to_str().expect("text");
    assert_eq!(bench.ok(&["metrics", "--textfile", path]), "");
    let (written, printed) = (text(&file), bench.ok(&["metrics"]));
    assert_eq!(names(&written), names(&printed));
    let mut check = Command::new("promtool");
    check.args(["check", "metrics"]).stdin(std::fs::File::open(&file).expect("a file"));
    let output = check.output().expect("promtool starts");
    let (out, err) = support::texts(&output);
    assert!(output.status.success(), "{out}{err}{written}");
    let server = Server::start(&bench);
    let right = SIGNED_IN;
    let scraped = server.get("/metrics", right).body;
    let mut expected = names(&scraped);
    assert!(expected.remove("plateau_starts") && expected.contains("plateau_run_latest_iops"), "{scraped}");
    assert_eq!(names(&written), expected);
    assert!(written.contains("plateau_runs{state=\"running\"} 1\n"), "{written}");
    assert!(bench.fails(2, &["metrics", "--json"]).contains("not as JSON"));
    drop(held);
    drop(run.0.kill());
}
