//! The metrics that `plateau forward --listen` serves.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Child, Stdio};

use super::lab_server::{Response, Server, document};
use super::support::{Bench, send_signal, texts};
use super::{Lab, SHORT, has_curl, id_of, journal, token_file, wait};

/// `prometheus:a long password` in base64.
const RIGHT: &str = "Authorization: Basic cHJvbWV0aGV1czphIGxvbmcgcGFzc3dvcmQ=\r\n";

/// A process that is killed when the test ends.
struct Forward {
    child: Child,
    metrics: Server,
}

impl Drop for Forward {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Forward {
    fn start(host: &Bench, url: &str, token: &str, options: &[&str]) -> Self {
        let words = ["--json", "forward", "--to", url, "--token-file", token, "--look-every", "1"];
        let mut command = host.command(&[&words[..], &["--listen", "127.0.0.1:0"], options].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("plateau starts");
        let address = document(&mut child)["metrics"].as_str().expect("an address").to_owned();
        // The requests need an address only; this child ends by itself.
        let other = std::process::Command::new("true").spawn().expect("a child");
        Self { child, metrics: Server { child: other, address, link: String::new() } }
    }

    fn get(&self, path: &str, headers: &str) -> Response {
        self.metrics.get(path, headers)
    }

    /// The value of each metric without labels.
    fn values(&self) -> BTreeMap<String, f64> {
        let response = self.get("/metrics", RIGHT);
        assert_eq!(response.status, 200, "{response:?}");
        let pairs = response.body.lines().filter(|line| !line.starts_with('#'));
        pairs
            .filter_map(|line| line.split_once(' '))
            .filter_map(|(name, value)| Some((name.into(), value.parse().ok()?)))
            .collect()
    }
}

fn add_user(host: &Bench) {
    let mut command = host.command(&["user", "add", "prometheus", "--role", "viewer"]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().expect("plateau starts");
    child.stdin.take().expect("piped").write_all(b"a long password\n").expect("writable");
    assert!(child.wait().expect("a child").success());
}

#[test]
fn a_host_without_pages_serves_metrics_that_show_an_outage() {
    if !has_curl() {
        return;
    }
    let (mut lab, host) = (Lab::new(&[]), Bench::new());
    let (token, url) = (token_file(&host, &lab.token("rack7")), lab.url());
    let address = lab.server.address.clone();
    add_user(&host);
    host.ok(&SHORT);
    let mut forward = Forward::start(&host, &url, &token, &[]);
    let behind = |forward: &Forward| forward.values()["plateau_forward_behind_bytes"];
    wait("the run", || behind(&forward) == 0.0);
    let values = forward.values();
    assert_eq!(values["plateau_forward_failures_total"], 0.0, "{values:?}");
    assert_eq!(values["plateau_forward_unsent_runs"], 0.0, "{values:?}");
    assert_eq!(values["plateau_runs{state=\"steady\"}"] + values["plateau_runs{state=\"unsteady\"}"], 1.0);
    assert!(values["plateau_library_free_bytes"] > 0.0 && !values.keys().any(|name| name.contains("starts")));

    lab.server.signal("-KILL");
    lab.server.end();
    host.ok(&SHORT);
    let lengths =
        host.runs().iter().map(|run| journal(&host.library(), &id_of(run)).len()).collect::<Vec<_>>();
    wait("the outage", || forward.values()["plateau_forward_failures_total"] > 1.0);
    let values = forward.values();
    let newest = values["plateau_forward_behind_bytes"];
    assert!(lengths.iter().any(|length| *length as f64 == newest), "{newest} of {lengths:?}");
    assert!(values["plateau_forward_success_age_seconds"] > 1.0, "{values:?}");

    // A run that cannot be read is not sent; the other one is, once the server is back.
    let unreadable = host.library().join("unreadable");
    std::fs::create_dir(&unreadable).expect("a folder");
    std::fs::write(unreadable.join("journal"), "x").expect("writable");
    lab.server = Server::listening(&lab.bench, &address, &[]);
    wait("the records of the outage", || behind(&forward) == 1.0);
    wait("the unreadable run", || forward.values()["plateau_forward_unsent_runs"] == 1.0);
    assert_eq!(lab.bench.runs().len(), 2);

    // Nothing else is served, and only to users.
    for (path, headers, status) in [
        ("/metrics", "", 401),
        ("/", RIGHT, 401),
        ("/api/runs", RIGHT, 401),
        ("/login", RIGHT, 401),
        ("/receive/v1/runs/x", RIGHT, 401),
    ] {
        assert_eq!(forward.get(path, headers).status, status, "{path}");
    }
    send_signal(forward.child.id(), "TERM");
    assert!(forward.child.wait().expect("ended").success());
}

#[test]
fn metrics_have_the_rules_of_the_pages() {
    if !has_curl() {
        return;
    }
    let (lab, host) = (Lab::new(&[]), Bench::new());
    let (token, url) = (token_file(&host, &lab.token("rack7")), lab.url());
    let words = ["forward", "--to", &url, "--token-file", &token];
    for (options, part) in [
        (&["--listen", "0.0.0.0:0"][..], "connections are not encrypted"),
        (&["--listen", &lab.server.address], "cannot listen on"),
        (&["--tls-self-signed"], "add --listen"),
        (&["--once", "--listen"], "cannot be used with"),
    ] {
        let error = host.fails(2, &[&words[..], options].concat());
        assert!(error.contains(part), "{options:?}: {error}");
    }
    // Without users, it says how to add one.
    let mut child = host.start(&[&words[..], &["--listen", "127.0.0.1:0"]].concat());
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().expect("piped")));
    let lines: Vec<String> = (0..3).map(|_| lines.next().expect("a line").expect("readable")).collect();
    assert!(
        lines[1].starts_with("metrics at http://127.0.0.1:") && lines[1].ends_with("/metrics"),
        "{lines:?}"
    );
    assert!(lines[2].contains("plateau user add"), "{lines:?}");
    send_signal(child.id(), "TERM");
    let output = child.wait_with_output().expect("ended");
    assert!(output.status.success(), "{:?}", texts(&output));
}
