//! `plateau push` and `plateau forward`: runs reach a server over connections that lose, delay, duplicate and cut
//! off requests, and the server accepts only what it can verify.

#[path = "forwarded/certified.rs"]
mod certified;
#[path = "forwarded/fake.rs"]
mod fake;
#[path = "support/lab_server/mod.rs"]
mod lab_server;
#[path = "forwarded/monitored.rs"]
mod monitored;
mod support;
#[path = "forwarded/unreliable.rs"]
mod unreliable;

use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use forward::{Client, Connection, Credential, Service};
use lab_server::Server;
use record::Library;
use serde_json::Value;
use support::{Bench, finished, hold, send_signal, texts};
use transfer::protocol::Begin;
use transfer::{First, SourceState};
use unreliable::Unreliable;

const SHORT: [&str; 7] =
    ["run", "iops", "sim:sas-slc-2011", "--scale=1/1024", "--max-rounds=5", "--tc=1", "--qd=2"];
/// A run that lasts long enough to be followed.
const LONG: [&str; 6] = ["run", "iops", "sim:sas-slc-2011", "--scale=1/16", "--profile", "pts-e-1.0"];
const LONGEST: Duration = Duration::from_secs(120);

/// A server with its own library and state.
struct Lab {
    bench: Bench,
    server: Server,
}

impl Lab {
    fn new(options: &[&str]) -> Self {
        let bench = Bench::new();
        let server = Server::listening(&bench, &format!("{}:0", own_address()), options);
        Self { bench, server }
    }

    /// Lets a host send its runs; returns its token.
    fn token(&self, name: &str) -> String {
        let document = self.bench.json(&["sender", "add", name]);
        document["token"].as_str().expect("a token").to_owned()
    }

    fn url(&self) -> String {
        format!("http://{}", self.server.address)
    }
}

/// Returns an address of this host that hardly anybody else uses. A server that is started again listens on its old port,
/// which on 127.0.0.1 another process could have received in the meantime, for example for a connection.
fn own_address() -> Ipv4Addr {
    static SERVERS: AtomicU32 = AtomicU32::new(0);
    // A process id has at most 22 bits.
    let number = (std::process::id() << 2) | (SERVERS.fetch_add(1, Ordering::Relaxed) & 3);
    Ipv4Addr::from(u32::from(Ipv4Addr::new(127, 0, 0, 0)) | number & 0xff_ffff)
}

fn has_curl() -> bool {
    let found = Path::new("/usr/bin/curl").exists();
    if !found {
        skips::without("curl");
    }
    found
}

/// Writes a token to a file that only this user can read.
fn token_file(bench: &Bench, token: &str) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let path = bench.path("token");
    fs::write(&path, format!("{token}\n")).expect("writable");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("our own");
    path.to_str().expect("text").to_owned()
}

fn id_of(run: &Path) -> String {
    run.file_name().and_then(|name| name.to_str()).expect("an id").to_owned()
}

fn journal(library: &Path, id: &str) -> Vec<u8> {
    fs::read(library.join(id).join("journal")).expect("a journal")
}

/// The content of every file in a folder, by path.
fn content(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut all = Vec::new();
    for entry in entries {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => all.extend(content(&path)),
            false => all.push((path.clone(), fs::read(&path).expect("readable"))),
        }
    }
    all.sort();
    all
}

#[test]
fn a_pushed_run_is_a_verified_copy_on_the_server() {
    if !has_curl() {
        return;
    }
    let (lab, host) = (Lab::new(&[]), Bench::new());
    host.ok(&SHORT);
    let id = id_of(&host.runs()[0]);
    let (token, url) = (token_file(&host, &lab.token("rack7")), lab.url());
    let document = host.json(&["push", &id, &url, "--token-file", &token]);
    assert_eq!(document["pushed"][0]["run"], id.as_str());
    assert_eq!(journal(&lab.bench.library(), &id), journal(&host.library(), &id));
    lab.bench.ok(&["verify", &id]);
    let shown = lab.bench.ok(&["show", &id]);
    assert!(shown.contains("copy of rack7:/"), "{shown}");
    assert!(host.ok(&["push", "--all", &url, "--token-file", &token]).contains("nothing new"));
    let page = lab.server.get(&format!("/runs/{id}"), &lab.server.enter());
    assert_eq!(page.status, 200);
    assert!(page.body.contains("copy of rack7:/"), "the page says where the run comes from");
    let audit =
        fs::read_to_string(lab.bench.state.path().join("lab/lab.journal")).expect("a journal of changes");
    assert!(audit.contains("\"receive\"") && audit.contains("rack7") && audit.contains(&id), "{audit}");
    assert!(!host.state.path().join("forward").exists(), "requests leave nothing on the disk of the host");
}

#[test]
fn only_admitted_senders_add_runs_and_only_their_own() {
    if !has_curl() {
        return;
    }
    let (lab, host) = (Lab::new(&[]), Bench::new());
    host.ok(&SHORT);
    let id = id_of(&host.runs()[0]);
    let (rack7, rack8) = (lab.token("rack7"), lab.token("rack8"));
    let url = lab.url();
    let push = |code: i32, token: &str| {
        host.fails(code, &["push", &id, &url, "--token-file", &token_file(&host, token)])
    };
    let error = push(2, &"0".repeat(64));
    assert!(error.contains("no valid token") && error.contains("plateau sender add"), "{error}");
    assert_eq!(content(&lab.bench.library()), [], "nothing was stored");

    host.ok(&["push", &id, &url, "--token-file", &token_file(&host, &rack7)]);
    let stored = content(&lab.bench.library());
    let error = push(6, &rack8);
    assert!(error.contains("another run"), "{error}");
    lab.bench.ok(&["sender", "remove", "rack7"]);
    assert!(push(2, &rack7).contains("no valid token"));
    assert_eq!(content(&lab.bench.library()), stored, "nothing was changed");

    // A sender never continues a run that the server itself has made.
    let own = Bench::new();
    own.ok(&SHORT);
    let of_server = id_of(&own.runs()[0]);
    let target = lab.bench.library();
    fs::create_dir(target.join(&of_server)).expect("a folder");
    for name in ["run.json", "journal"] {
        fs::copy(own.library().join(&of_server).join(name), target.join(&of_server).join(name))
            .expect("copied");
    }
    let token = token_file(&own, &rack8);
    let error = own.fails(6, &["push", &of_server, &url, "--token-file", &token]);
    assert!(error.contains("the original run") && error.contains("not a copy"), "{error}");
    assert!(error.contains("that both hosts share, runs need not be sent"), "{error}");

    let error = host.fails(2, &["push", &id, "http://lab.example:7070", "--token-file", &token]);
    assert!(error.contains("not encrypted") && error.contains("ssh -L"), "{error}");
    let open = bench_file(&host, "open", 0o644, &rack8);
    let error = host.fails(2, &["push", &id, &url, "--token-file", &open]);
    assert!(error.contains("can be read by other users") && !error.contains(&rack8), "{error}");
    let error = host.fails(75, &["push", &id, "http://127.0.0.1:1", "--token-file", &token]);
    assert!(error.contains("http://127.0.0.1:1"), "{error}");

    let read_only = Lab::new(&["--read-only"]);
    let token = token_file(&host, &read_only.token("rack7"));
    let error = host.fails(2, &["push", &id, &read_only.url(), "--token-file", &token]);
    assert!(error.contains("read-only"), "{error}");
}

fn bench_file(bench: &Bench, name: &str, mode: u32, text: &str) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let path = bench.path(name);
    fs::write(&path, text).expect("writable");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("our own");
    path.to_str().expect("text").to_owned()
}

#[test]
fn records_that_do_not_verify_are_not_stored() {
    if !has_curl() {
        return;
    }
    let (lab, host) = (Lab::new(&[]), Bench::new());
    host.ok(&SHORT);
    let id = id_of(&host.runs()[0]);
    let (token, url) = (token_file(&host, &lab.token("rack7")), lab.url());
    let path = host.library().join(&id).join("journal");
    let whole = fs::read(&path).expect("a journal");
    // The first half is intact and is stored; a later record is forged.
    let half = whole[..whole.len() / 2].iter().rposition(|byte| *byte == b'\n').expect("a record") + 1;
    fs::write(&path, &whole[..half]).expect("writable");
    host.ok(&["push", &id, &url, "--token-file", &token]);
    let mut forged = whole.clone();
    let digit = (half..forged.len()).rfind(|at| forged[*at].is_ascii_digit()).expect("a digit");
    forged[digit] = if forged[digit] == b'1' { b'2' } else { b'1' };
    fs::write(&path, &forged).expect("writable");
    host.fails(6, &["push", &id, &url, "--token-file", &token]);
    let stored = journal(&lab.bench.library(), &id);
    assert!(whole.starts_with(&stored), "only records of the run were stored");
    // The genuine records after the first half are still accepted.
    fs::write(&path, &whole).expect("writable");
    host.ok(&["push", &id, &url, "--token-file", &token]);
    assert_eq!(journal(&lab.bench.library(), &id), whole);
}

#[test]
fn a_refused_run_does_not_keep_the_others_from_being_pushed() {
    if !has_curl() {
        return;
    }
    let (lab, host) = (Lab::new(&[]), Bench::new());
    let (token, url) = (token_file(&host, &lab.token("rack7")), lab.url());
    for seed in ["1", "2", "3"] {
        host.ok(&[&SHORT[..], &["--seed", seed]].concat());
    }
    let mut ids: Vec<String> = host.runs().iter().map(|run| id_of(run)).collect();
    ids.sort();
    // Damage the journals of two runs; the order in which the runs are sent does not matter.
    for id in &ids[..2] {
        let path = host.library().join(id).join("journal");
        let mut damaged = fs::read(&path).expect("a journal");
        let digit = damaged.iter().rposition(u8::is_ascii_digit).expect("a digit");
        damaged[digit] = if damaged[digit] == b'1' { b'2' } else { b'1' };
        fs::write(&path, damaged).expect("writable");
    }
    let push = ["push", "--all", &url, "--token-file", &token];
    let (out, errors) = texts(&host.run(&[&push[..], &["--json"]].concat()));
    let document: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{errors}"));
    assert_eq!((&document["exit_code"], document["pushed"].as_array().map(Vec::len)), (&6.into(), Some(1)));
    assert_eq!(document["pushed"][0]["run"], ids[2].as_str());
    let mut failed: Vec<&str> =
        document["failed"].as_array().expect("a list").iter().filter_map(|run| run["run"].as_str()).collect();
    failed.sort_unstable();
    assert_eq!((failed, &document["not_tried"]), (vec![&*ids[0], &*ids[1]], &serde_json::json!([])));
    assert_eq!(journal(&lab.bench.library(), &ids[2]), journal(&host.library(), &ids[2]));
    let errors = host.fails(6, &push);
    assert!(ids[..2].iter().all(|id| errors.contains(&format!("run {id}: "))), "{errors}");
    assert!(errors.contains("2 of 3 runs were not sent\n"), "{errors}");

    // If the server cannot be reached, it is not tried again for every run.
    let push = ["push", "--all", "http://127.0.0.1:1", "--token-file", &token];
    let (out, errors) = texts(&host.run(&[&push[..], &["--json"]].concat()));
    let document: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{errors}"));
    assert_eq!(document["failed"].as_array().map(Vec::len), Some(2), "{document}");
    assert_eq!(
        (&document["exit_code"], document["not_tried"].as_array().map(Vec::len)),
        (&75.into(), Some(1))
    );
}

/// Runs a command under strace with these options; returns its output.
fn traced(bench: &Bench, options: &[&str], args: &[&str]) -> Output {
    let plateau = bench.command(args);
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq"]).args(options).arg(plateau.get_program()).args(plateau.get_args());
    strace.env("PLATEAU_LIBRARY", bench.library()).env("PLATEAU_STATE", bench.state.path());
    strace.output().expect("strace")
}

/// A record that a power cut may still remove from the journal must not reach the server.
#[test]
fn records_are_sent_only_once_they_are_on_disk() {
    if !has_curl() {
        return;
    }
    if !Path::new("/usr/bin/strace").exists() {
        return skips::without("strace");
    }
    let (lab, host) = (Lab::new(&[]), Bench::new());
    host.ok(&SHORT);
    let id = id_of(&host.runs()[0]);
    let (token, url) = (token_file(&host, &lab.token("rack7")), lab.url());
    let path = host.library().join(&id).join("journal");
    let whole = fs::read(&path).expect("a journal");
    let half = whole[..whole.len() / 2].iter().rposition(|byte| *byte == b'\n').expect("a record") + 1;
    fs::write(&path, &whole[..half]).expect("writable");
    let push = ["push", &id, &url, "--token-file", &token];
    host.ok(&push);
    fs::write(&path, &whole).expect("writable");
    let name = path.to_str().expect("text");

    let fails = ["-P", name, "-e", "trace=fdatasync", "-e", "inject=fdatasync:error=EIO", "-o", "/dev/null"];
    let (out, errors) = texts(&traced(&host, &fails, &push));
    assert!(errors.contains("cannot sync") && errors.contains("journal"), "{out}{errors}");
    assert_eq!(journal(&lab.bench.library(), &id), &whole[..half], "nothing was sent");

    let trace = host.path("trace");
    let order = ["-y", "-e", "trace=fdatasync,write", "-o", trace.to_str().expect("text")];
    let output = traced(&host, &order, &push);
    assert!(output.status.success(), "{:?}", texts(&output));
    let calls = support::text(&trace);
    let first = |call: &str, file: &str| {
        let found = calls.lines().position(|line| line.contains(call) && line.contains(file));
        found.unwrap_or_else(|| panic!("no {call} of {file}: {calls}"))
    };
    assert!(first("fdatasync(", name) < first("write(", "memfd:request"), "{calls}");
    assert_eq!(journal(&lab.bench.library(), &id), whole);
}

#[test]
fn a_followed_run_arrives_although_the_server_is_killed() {
    if !has_curl() {
        return;
    }
    let (mut lab, host) = (Lab::new(&[]), Bench::new());
    let token = token_file(&host, &lab.token("rack7"));
    let address = lab.server.address.clone();
    let url = lab.url();
    let mut run = host.start(&LONG);
    host.wait_for("a few cells", |journal| finished(journal) >= 2);
    // The run must not end while the server still lists it as a run in progress.
    let held = hold(run.id());
    let follow = ["forward", "--to", &url, "--token-file", &token, "--look-every", "1"];
    let mut forward = host.start(&follow);
    let id = id_of(&host.runs()[0]);
    let arrived =
        || fs::metadata(lab.bench.library().join(&id).join("journal")).map_or(0, |found| found.len());
    wait("the first records", || arrived() > 0);
    wait("the state of the run", || lab.bench.ok(&["show", &id]).contains("which was in progress at"));
    let page = lab.server.get(&format!("/runs/{id}"), &lab.server.enter()).body;
    assert!(page.contains("copy of rack7:/") && page.contains("last received"), "{page}");
    assert!(
        page.contains("This run is a copy") && !page.contains("/stop"),
        "it is stopped on its host: {page}"
    );
    lab.server.signal("-KILL");
    lab.server.end();
    drop(held);
    host.wait_for("more cells", |journal| finished(journal) >= 4);
    let held = hold(run.id());
    lab.server = Server::listening(&lab.bench, &address, &[]);
    let length = || fs::metadata(host.library().join(&id).join("journal")).map_or(0, |found| found.len());
    let arrived =
        || fs::metadata(lab.bench.library().join(&id).join("journal")).map_or(0, |found| found.len());
    wait("the records of the outage", || arrived() == length());
    drop(held);
    run.kill().expect("killed");
    run.wait().expect("ended");
    host.ok(&["resume", &id]);
    wait("the end of the run", || arrived() == length());
    send_signal(forward.id(), "TERM");
    let begun = Instant::now();
    assert!(forward.wait().expect("ended").success());
    assert!(begun.elapsed() < Duration::from_secs(5), "it ends at once");
    assert_eq!(journal(&lab.bench.library(), &id), journal(&host.library(), &id));
    lab.bench.ok(&["verify", &id]);
}

fn wait(what: &str, is_reached: impl Fn() -> bool) {
    let deadline = Instant::now() + LONGEST;
    while !is_reached() {
        assert!(Instant::now() < deadline, "waited two minutes for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn two_hundred_faults_of_the_network_leave_identical_journals() {
    const FAULTS: usize = 200;
    if !has_curl() {
        return;
    }
    let source = Bench::new();
    for seed in ["1", "2", "3"] {
        source.ok(&[&SHORT[..], &["--seed", seed]].concat());
    }
    let proxy = Unreliable::new();
    let lab = Lab::new(&["--allow-host", &proxy.address()]);
    proxy.serve(&lab.server.address);
    let host = Bench::new();
    let library = host.library();
    let connection = Connection {
        address: format!("http://{}", proxy.address()).parse().expect("an address"),
        credential: Credential::Token(lab.token("rack7")),
        ca_file: None,
    };
    let stop = Arc::new(AtomicBool::new(false));
    let client = Client::of(connection, Arc::clone(&stop));
    let mut service = Service::of(Library::at(&library), client, stop);

    // The runs grow by a few records at a time, as if they were in progress.
    let mut runs: Vec<(PathBuf, Vec<u8>, usize)> = Vec::new();
    for run in source.runs() {
        let dir = library.join(id_of(&run));
        fs::create_dir_all(&dir).expect("a folder");
        fs::copy(run.join("run.json"), dir.join("run.json")).expect("copied");
        let whole = fs::read(run.join("journal")).expect("a journal");
        let begin =
            whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).expect("two records").0 + 1;
        fs::write(dir.join("journal"), &whole[..begin]).expect("writable");
        runs.push((dir, whole, begin));
    }
    let deadline = Instant::now() + LONGEST;
    loop {
        let mut are_whole = true;
        for (dir, whole, length) in &mut runs {
            let ends = whole[*length..].iter().enumerate().filter(|(_, byte)| **byte == b'\n').take(2);
            let end = ends.last().map(|(end, _)| *length + end + 1);
            // The last records follow only after enough faults.
            if let Some(end) = end.filter(|end| *end < whole.len() || proxy.faults() >= FAULTS) {
                *length = end;
                fs::write(dir.join("journal"), &whole[..end]).expect("writable");
            }
            are_whole &= *length == whole.len();
        }
        let round = service.round();
        assert!(Instant::now() < deadline, "{} faults; {round:?}", proxy.faults());
        if let Ok(round) = &round {
            assert!(round.failed.is_empty(), "no fault is mistaken for a refusal: {round:?}");
            if are_whole && round.sent.is_empty() {
                break;
            }
        }
    }
    assert!(proxy.faults() >= FAULTS, "{} faults", proxy.faults());
    for (dir, whole, _) in &runs {
        let id = id_of(dir);
        assert!(journal(&lab.bench.library(), &id) == *whole, "run {id} differs; {}", proxy.seed());
        lab.bench.ok(&["verify", &id]);
    }
    assert_eq!(lab.bench.runs().len(), runs.len());
}

/// The service that sends a host's runs.
fn service(host: &Bench, url: &str, token: String) -> Service {
    let address = url.parse().expect("an address");
    let connection = Connection { address, credential: Credential::Token(token), ca_file: None };
    let stop = Arc::new(AtomicBool::new(false));
    Service::of(Library::at(host.library()), Client::of(connection, Arc::clone(&stop)), stop)
}

#[test]
fn a_finished_run_arrives_although_its_copy_was_busy() {
    if !has_curl() {
        return;
    }
    let (lab, host) = (Lab::new(&[]), Bench::new());
    host.ok(&SHORT);
    let id = id_of(&host.runs()[0]);
    let path = host.library().join(&id).join("journal");
    let whole = fs::read(&path).expect("a journal");
    let half = whole[..whole.len() / 2].iter().rposition(|byte| *byte == b'\n').expect("a record") + 1;
    fs::write(&path, &whole[..half]).expect("writable");
    let mut service = service(&host, &lab.url(), lab.token("rack7"));
    assert_eq!(service.round().expect("sent").sent.len(), 1);
    fs::write(&path, &whole).expect("writable");
    let copy = fs::File::open(lab.bench.library().join(&id).join("journal")).expect("a journal");
    copy.lock().expect("not locked");
    let failed = service.round().expect("the server answers").failed;
    assert!(failed[0].1.contains("another process"), "{failed:?}");
    copy.unlock().expect("our own lock");
    let deadline = Instant::now() + LONGEST;
    while journal(&lab.bench.library(), &id) != whole {
        assert!(Instant::now() < deadline, "the run is not tried again");
        let round = service.round().expect("the server answers");
        assert!(round.failed.is_empty(), "the same problem is reported once: {round:?}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn a_run_on_which_the_server_fails_does_not_keep_older_ones_from_being_sent() {
    if !has_curl() {
        return;
    }
    let host = Bench::new();
    host.ok(&SHORT);
    let older = id_of(&host.runs()[0]);
    host.ok(&SHORT);
    let newer = host.runs().iter().map(|run| id_of(run)).find(|id| *id != older).expect("another run");
    let (url, requested) = fake::failing_for(&newer);
    let mut service = service(&host, &url, "token".into());
    let first = service.round().expect_err("the server fails").to_string();
    assert!(first.contains("status 500"), "{first}");
    service.round().expect_err("the server fails again");
    assert_eq!(*requested.lock().expect("no panic"), [newer.clone(), older, newer]);
}

#[test]
fn a_run_never_takes_the_place_of_other_files_of_the_library() {
    let (lab, host) = (Lab::new(&[]), Bench::new());
    let token = lab.token("rack7");
    host.ok(&SHORT);
    let run = host.runs().remove(0);
    for id in ["library.journal", "index.sqlite", "latest", "a.tar.zst"] {
        let library = Library::at(host.library());
        let mut file = library.open(id_of(&run)).expect("a run").file;
        file.id = id.into();
        drop(library.create(file).expect("a run"));
        let of = |name: &str| fs::read(host.library().join(id).join(name)).expect("a file");
        let (run_json, journal) = (of("run.json"), of("journal"));
        let first = First { id, run_json: &run_json, journal: &journal, files: &[] };
        let state = SourceState { bytes: journal.len() as u64, is_in_progress: false };
        let body = serde_json::to_string(&Begin::of(&first, state, "/")).expect("JSON");
        let response = lab_server::Response::of(&lab.server.raw(&format!(
            "POST /receive/v1/runs/{id} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n{body}",
            lab.server.address,
            body.len(),
        )));
        assert!(response.status == 422 && response.body.contains("is reserved"), "{id}: {response:?}");
    }
    assert_eq!(content(&lab.bench.library()), [], "nothing was stored");
    let audit = lab.bench.state.path().join("lab/lab.journal");
    assert!(!audit.exists(), "no run was received");
}
