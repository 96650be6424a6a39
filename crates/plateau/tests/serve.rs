//! `plateau serve`: access control, and agreement of pages and events with the journal.

#[path = "serve/described.rs"]
mod described;
#[path = "serve/documents.rs"]
mod documents;
#[path = "serve/ended.rs"]
mod ended;
#[path = "serve/fuzzed.rs"]
mod fuzzed;
#[path = "serve/hosts.rs"]
mod hosts;
#[path = "support/lab_server/mod.rs"]
mod lab_server;
#[path = "serve/reported.rs"]
mod reported;
#[path = "serve/sized.rs"]
mod sized;
#[path = "serve/sorted.rs"]
mod sorted;
mod support;

use std::fs::Permissions;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use lab_server::{Response, Server, demo, events, in_progress};
use serde_json::Value;
use support::Bench;

/// Returns a server address with its placeholders replaced.
fn filled(path: &str, run: &str) -> String {
    path.replace("{id}", run).replace("{format}", "json-file")
}

/// Returns a page's status for a browser that requests the page without a query.
fn expected_status(path: &str) -> u16 {
    match path {
        "/compare" | "/api/compare" => 422,
        "/drive" => 404,
        path if path.starts_with("/start/") => 404,
        _ => 200,
    }
}

/// A method that no route has is not a way around the gate, and neither is one that the server derives from GET.
fn other_methods_are_refused(server: &Server, path: &str, cookie: &str) {
    let (own, foreign) = (server.address.as_str(), format!("{cookie}Origin: http://evil.example\r\n"));
    for other in ["HEAD", "OPTIONS", "PUT", "PATCH", "DELETE"] {
        let ask = |headers: &str, host: &str| {
            let head =
                format!("{other} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n");
            Response::of(&server.raw(&head)).status
        };
        assert_eq!(ask(cookie, "evil.example"), 421, "{other} {path} for another host");
        assert_eq!(ask(&foreign, own), 403, "{other} {path} for another origin");
        assert_eq!(ask("", own), 401, "{other} {path} without a session");
        let admitted = ask(cookie, own);
        assert!(other == "HEAD" || admitted == 405, "{other} {path}: {admitted}");
    }
}

#[test]
fn every_address_refuses_strangers_and_answers_the_browser_that_entered() {
    let bench = Bench::new();
    let run = demo(&bench);
    let server = Server::start(&bench);
    let cookie = server.enter();
    let csrf = server.csrf(&cookie);
    add_user(&bench, "ann", "viewer");
    let viewer = login(&server, "ann", PASSWORD).cookie();
    let of_viewer = server.csrf(&viewer);
    assert!(lab::addresses().count() > 20);
    for (method, path, access) in lab::addresses() {
        let path = filled(path, &run);
        let what = format!("{method} {path}");
        let ask = |headers: &str, host: &str, form: &str| {
            Response::of(&server.raw(&format!(
                "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: \
                 application/x-www-form-urlencoded\r\nContent-Length: {}\r\n{headers}\r\n{form}",
                form.len()
            )))
        };
        let own = server.address.as_str();
        let valid = format!("csrf={csrf}");
        assert_eq!(ask(&cookie, "evil.example", &valid).status, 421, "{what} for another host");
        let foreign = format!("{cookie}Origin: http://evil.example\r\n");
        assert_eq!(ask(&foreign, own, &valid).status, 403, "{what} for another origin");
        if access == "public" {
            assert!(method == "GET" || ask("", own, "").status == 403, "{what} without an origin");
            continue;
        }
        let is_sent = access == "sender";
        for headers in ["", "Cookie: plateau_7070=0\r\n", &cookie].iter().take(if is_sent { 3 } else { 2 }) {
            let response = ask(headers, own, &valid);
            assert_eq!(response.status, 401, "{what} without a session: {}", response.head);
            assert!(!response.body.contains(&run), "{what} shows a run");
        }
        if is_sent {
            continue;
        }
        other_methods_are_refused(&server, &path, &cookie);
        if method == "POST" {
            for token in ["", "csrf=", "csrf=0", &format!("csrf={of_viewer}")] {
                assert_eq!(ask(&cookie, own, token).status, 403, "{what} with '{token}'");
            }
            if access == "operator" {
                assert_eq!(ask(&viewer, own, &format!("csrf={of_viewer}")).status, 403, "{what} as a viewer");
            }
            continue;
        }
        let response = ask(&cookie, own, "");
        assert_eq!(response.status, expected_status(&path), "{what}: {}", response.head);
        let policy = response.header("content-security-policy").expect("a policy");
        assert!(policy.starts_with("default-src 'none'"), "{what}: {policy}");
        assert_eq!(response.header("x-content-type-options"), Some("nosniff"), "{what}");
        let referrer = response.header("referrer-policy");
        assert_eq!(referrer, Some("same-origin"), "{what}: browsers would hide the origin of its forms");
        let takes_post =
            lab::addresses().any(|(other, same, _)| other == "POST" && filled(same, &run) == path);
        let posted = server.post(&path, &cookie, &[]).status;
        assert!(takes_post || posted == 405, "{path} takes no POST: {posted}");
    }
    let nothing = server.get("/nothing", &cookie);
    assert_eq!(nothing.status, 404);
    assert!(nothing.body.contains("No such page"), "{}", nothing.body);
    assert_eq!(server.get("/nothing", "").status, 401, "strangers do not learn what exists");
    assert_eq!(server.get(link_path(&server), "").status, 401, "a link works once");
    for path in ["/runs/..%2f..%2fetc", "/runs/.%2e", "/runs/%00", "/api/runs/nothing"] {
        assert_eq!(server.get(path, &cookie).status, 404, "{path}");
    }
}

/// A stranger must not learn how the server interprets an address, nor make it read a long body.
#[test]
fn the_gate_decides_before_a_path_or_a_body_is_looked_at() {
    let bench = Bench::new();
    let server = Server::start(&bench);
    let (cookie, own) = (server.enter(), server.address.as_str());
    let ask = |method: &str, path: &str, host: &str, headers: &str| {
        let request =
            format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n");
        Response::of(&server.raw(&request)).status
    };
    for path in ["/runs/%ff", "/api/runs/%ff", "/start/%ff", "/receive/v1/runs/%ff"] {
        assert_eq!(ask("GET", path, "evil.example", &cookie), 421, "{path} for another host");
        assert_eq!(ask("GET", path, own, ""), 401, "{path} without a session");
    }
    assert_eq!(ask("GET", "/runs/%ff", own, &cookie), 404);
    // None of the body is sent, so a server that waits for it does not answer.
    let long = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 200000\r\n";
    for path in ["/start", "/runs/example/stop"] {
        assert_eq!(ask("POST", path, "evil.example", &format!("{cookie}{long}")), 421, "{path}");
        assert_eq!(ask("POST", path, own, long), 401, "{path}");
    }
}

#[test]
fn every_page_has_an_icon() {
    let bench = Bench::new();
    let server = Server::start(&bench);
    // Browsers request the icon even on pages that do not link to it and before signing in.
    for path in ["/favicon.ico", "/static/icon.svg"] {
        let icon = server.get(path, "");
        assert_eq!((icon.status, icon.header("content-type")), (200, Some("image/svg+xml")), "{path}");
    }
    assert!(server.get("/", &server.enter()).body.contains("<link rel=\"icon\" href=\"/static/icon.svg\""));
}

fn link_path(server: &Server) -> &str {
    server.link.split_once(&server.address).expect("the link names the address").1
}

#[test]
fn a_request_for_the_head_does_not_use_up_a_link() {
    let bench = Bench::new();
    let server = Server::with(&bench, &["--behind-proxy"]);
    let request = format!(
        "HEAD {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        link_path(&server),
        server.address
    );
    let head = Response::of(&server.raw(&request));
    assert_eq!((head.status, head.header("set-cookie")), (405, None), "{}", head.head);
    let entered = server.get(link_path(&server), "");
    assert_eq!(entered.status, 303, "{}", entered.head);
    let cookie = entered.header("set-cookie").expect("a cookie");
    assert!(cookie.contains("; Secure"), "the proxy encrypts connections: {cookie}");
}

#[test]
fn links_are_not_printed_to_a_log_once_there_are_users() {
    let bench = Bench::new();
    let mut command = bench.command(&["serve", "--listen", "127.0.0.1:0"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("a server");
    let mut output = BufReader::new(child.stdout.take().expect("piped"));
    let mut link = String::new();
    output.read_line(&mut link).expect("readable");
    let rest = link.trim_end().strip_prefix("http://").expect("a link before there are users");
    let (address, path) = rest.split_at(rest.find('/').expect("a path"));
    add_user(&bench, "ann", "operator");
    let mut server = Server { child, address: address.to_owned(), link: link.trim_end().to_owned() };
    assert_eq!(server.get(path, "").status, 303);
    server.signal("-TERM");
    assert_eq!(server.end(), Some(0));
    let mut later = String::new();
    output.read_to_string(&mut later).expect("readable");
    assert!(!later.contains("token="), "{later}");

    let server = Server::start(&bench);
    assert_eq!(server.link, "", "users sign in");
    drop(server);
    let mut command = bench.command(&["serve", "--listen", "127.0.0.1:0"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("a server");
    let mut first = String::new();
    let mut output = BufReader::new(child.stdout.take().expect("piped"));
    output.read_line(&mut first).expect("readable");
    output.read_line(&mut first).expect("readable");
    child.kill().and_then(|()| child.wait()).expect("a child");
    assert!(
        first.contains("http://127.0.0.1:") && first.contains("sign in") && !first.contains("token="),
        "{first}"
    );
}

#[test]
fn logins_at_the_same_time_are_limited_like_failed_ones() {
    let bench = Bench::new();
    let server = Server::start(&bench);
    let answers: Vec<u16> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..16).map(|_| scope.spawn(|| login(&server, "ann", "wrong").status)).collect();
        all.into_iter().map(|thread| thread.join().expect("answered")).collect()
    });
    let count = |status: u16| answers.iter().filter(|answer| **answer == status).count();
    assert_eq!((count(401), count(429)), (10, 6), "{answers:?}");
}

#[test]
fn a_stream_of_events_ends_with_its_session() {
    type End<'a> = &'a dyn Fn(&str);
    let bench = Bench::new();
    let run = demo(&bench);
    let _lock = in_progress(&bench, &run);
    let server = Server::start(&bench);
    let leave = |cookie: &str| {
        let csrf = server.csrf(cookie);
        assert_eq!(server.post("/leave", cookie, &[("csrf", &csrf)]).status, 303);
    };
    let change_password = |_: &str| add_user(&bench, "ann", "viewer");
    let remove = |_: &str| drop(bench.ok(&["user", "remove", "ann"]));
    let ends: [(&str, End<'_>); 3] =
        [("logout", &leave), ("a new password", &change_password), ("removal", &remove)];
    for (what, end) in ends {
        add_user(&bench, "ann", "viewer");
        let cookie = login(&server, "ann", PASSWORD).cookie();
        let mut stream = open_stream(&server, &run, &cookie);
        end(&cookie);
        let mut rest = String::new();
        stream.read_to_string(&mut rest).unwrap_or_else(|error| panic!("{what} ends the stream: {error}"));
        assert!(rest.contains("event: signed-out"), "{what}: {rest}");
        assert_eq!(server.get("/", &cookie).status, 401, "{what}");
    }
}

/// Opens a run's event stream and waits for its first byte.
fn open_stream(server: &Server, run: &str, cookie: &str) -> TcpStream {
    let mut stream = TcpStream::connect(&server.address).expect("the server listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let request = format!(
        "GET /api/runs/{run}/events HTTP/1.1\r\nHost: {}\r\n{cookie}Connection: close\r\n\r\n",
        server.address
    );
    stream.write_all(request.as_bytes()).expect("writable");
    let mut first = [0; 1];
    stream.read_exact(&mut first).expect("the stream is open");
    stream
}

#[test]
fn a_form_that_is_too_long_is_refused() {
    let bench = Bench::new();
    let server = Server::start(&bench);
    let cookie = server.enter();
    let csrf = server.csrf(&cookie);
    // The server need not read all of a form that is too long, so the connection may break.
    let long = server.posted("/start", &cookie, &[("csrf", &csrf), ("plan", &"x".repeat(300 << 10))]);
    let mut stream = TcpStream::connect(&server.address).expect("the server listens");
    drop(stream.write_all(long.as_bytes()));
    let mut response = Vec::new();
    drop(stream.read_to_end(&mut response));
    let response = String::from_utf8_lossy(&response).into_owned();
    assert!(response.is_empty() || Response::of(&response).status == 413, "{response}");
    assert_eq!(server.get("/api/starts", &cookie).body.trim(), "[]", "nothing was planned");
}

/// Time after which a test fails instead of waiting.
const PATIENCE: Duration = Duration::from_secs(120);
const PASSWORD: &str = "correct horse";

/// Signs in with a name and a password.
fn login(server: &Server, name: &str, password: &str) -> Response {
    server.post("/login", &server.origin(), &[("name", name), ("password", password)])
}

fn add_user(bench: &Bench, name: &str, role: &str) {
    let mut command = bench.command(&["user", "add", name, "--role", role]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().expect("plateau starts");
    child.stdin.take().expect("piped").write_all(format!("{PASSWORD}\n").as_bytes()).expect("writable");
    assert!(child.wait().expect("a child").success());
}

#[test]
fn users_sign_in_until_they_are_removed_and_wrong_passwords_are_limited() {
    let bench = Bench::new();
    add_user(&bench, "ann", "operator");
    assert_eq!(bench.ok(&["user", "list"]), "operator  ann\n");
    let server = Server::start(&bench);
    let cookie = login(&server, "ann", PASSWORD).cookie();
    assert!(server.get("/account", &cookie).body.contains("operator"));
    let csrf = server.csrf(&cookie);
    assert_eq!(server.post("/leave", &cookie, &[("csrf", &csrf)]).status, 303);
    assert_eq!(server.get("/", &cookie).status, 401, "the session has ended");
    let cookie = login(&server, "ann", PASSWORD).cookie();
    bench.ok(&["user", "remove", "ann"]);
    assert_eq!(server.get("/", &cookie).status, 401, "the user was removed");
    bench.fails(2, &["user", "remove", "ann"]);
    let answers: Vec<u16> = (0..12).map(|_| login(&server, "ann", "wrong").status).collect();
    assert_eq!(answers[0], 401);
    assert_eq!(answers[11], 429, "{answers:?}");
}

#[test]
fn a_server_that_only_reads_refuses_every_change() {
    let bench = Bench::new();
    let run = demo(&bench);
    let server = Server::with(&bench, &["--read-only"]);
    let cookie = server.enter();
    let csrf = server.csrf(&cookie);
    for (method, path, access) in lab::addresses().filter(|(_, _, access)| *access == "operator") {
        let response = server.post(&filled(path, &run), &cookie, &[("csrf", &csrf)]);
        assert_eq!(response.status, 403, "{method} {path} for {access}");
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
    let report = server.get(&format!("/runs/{run}/report"), &cookie).body;
    let written = bench.path("report.html");
    bench.ok(&["report", &run, written.to_str().unwrap()]);
    assert_eq!(report, support::text(&written), "the report is that of `plateau report`");
    let empty: Value =
        serde_json::from_str(&server.get("/api/runs?state=running", &cookie).body).expect("JSON");
    assert_eq!(empty, serde_json::json!([]));
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
    // Otherwise, a browser would connect again and again.
    let journal = bench.library().join(&run).join("journal");
    assert_eq!(server.get("/api/runs/nothing/events", &cookie).status, 404);
    std::fs::write(journal, "nonsense\nnonsense\n").expect("written");
    assert_eq!(server.get(&path, &cookie).status, 500);
}

#[test]
fn following_a_run_live_does_not_affect_it() {
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
fn a_list_of_waiting_runs_that_cannot_be_read_is_refused() {
    let bench = Bench::new();
    let folder = bench.state.path().join("lab");
    std::fs::create_dir(&folder).expect("a folder");
    let file = folder.join("queue.json");
    std::fs::write(&file, "[{").expect("a file");
    // Files that others can write to are refused for a different reason.
    std::fs::set_permissions(&folder, Permissions::from_mode(0o750)).expect("permissions");
    std::fs::set_permissions(&file, Permissions::from_mode(0o640)).expect("permissions");
    let mut command = bench.command(&["serve", "--listen", "127.0.0.1:0"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("a server");
    let mut output = child.stderr.take().expect("piped");
    let mut server = Server { child, address: String::new(), link: String::new() };
    assert_eq!(server.end(), Some(6));
    let mut errors = String::new();
    output.read_to_string(&mut errors).expect("readable");
    assert!(errors.contains(file.to_str().expect("text")), "{errors}");
    assert_eq!(support::text(&file), "[{", "unchanged");
    let advice = errors.split('`').find(|part| part.starts_with("mv ")).expect("advice");
    assert!(Command::new("sh").args(["-c", advice]).status().expect("a shell").success(), "{advice}");
    let server = Server::start(&bench);
    let cookie = server.enter();
    assert_eq!(server.get("/api/starts", &cookie).body.trim(), "[]");
    assert_eq!(support::text(&folder.join("queue.json.unread")), "[{", "kept");
}

#[test]
fn a_second_server_with_the_same_folder_does_not_start() {
    let bench = Bench::new();
    let first = Server::start(&bench);
    let errors = bench.fails(75, &["serve", "--listen", &first.address]);
    assert!(
        errors.contains("another server uses the same folder") && errors.contains("lab/lock"),
        "{errors}"
    );
    assert!(errors.contains("`PLATEAU_STATE=DIR plateau serve`"), "{errors}");
    let beside = Server::with(&bench, &["--read-only"]);
    let cookie = beside.enter();
    assert_eq!(beside.get("/api/starts", &cookie).body.trim(), "[]");
    drop(first);
    let second = Server::start(&bench);
    assert!(!second.link.is_empty(), "the lock was released with the process");
}

#[test]
fn addresses_that_other_hosts_reach_need_encryption() {
    let bench = Bench::new();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let errors = bench.fails(2, &["serve", "--listen", address]);
        let advice = ["not encrypted", "--tls-self-signed", "--tls-cert", "ssh -L", "--behind-proxy"];
        assert!(advice.iter().all(|part| errors.contains(part)), "{errors}");
    }
}

#[test]
fn idle_connections_do_not_keep_others_from_the_server() {
    const IDLE: usize = 200;
    let bench = Bench::new();
    let served = bench.command(&["--json", "serve", "--listen", "127.0.0.1:0"]);
    // The limit on the server's open files is below the number of idle connections.
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", "ulimit -n 128; exec \"$0\" \"$@\""])
        .arg(served.get_program())
        .args(served.get_args());
    command.envs(served.get_envs().filter_map(|(name, value)| value.map(|value| (name, value))));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("a server");
    let address = lab_server::document(&mut child)["address"].as_str().expect("an address").to_owned();
    let server = Server { child, address, link: String::new() };
    let idle: Vec<TcpStream> =
        (0..IDLE).map(|_| TcpStream::connect(&server.address).expect("the server listens")).collect();
    let mut stream = TcpStream::connect(&server.address).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
    let request = format!("GET /login HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", server.address);
    stream.write_all(request.as_bytes()).expect("writable");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("the server answers");
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    drop(idle);
}
