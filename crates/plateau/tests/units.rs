//! The systemd units of the packages: `systemd-analyze` accepts the units, and what they permit is sufficient for
//! starts, tags, notes, notices and sending runs. systemd itself is not needed: scripts emulate each directive.

#[path = "support/lab_server/mod.rs"]
mod lab_server;
mod support;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use lab_server::Server;
use serde_json::Value;
use support::Bench;

/// Numeric ID of the server's user and group.
const SERVER: u32 = 64711;
/// Time after which a test fails instead of waiting.
const PATIENCE: Duration = Duration::from_secs(120);

fn units() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dist/units").canonicalize().expect("the units")
}

fn exists(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

#[test]
fn systemd_accepts_the_units() {
    if !exists("systemd-analyze") {
        return skips::without("systemd-analyze");
    }
    let dir = tempfile::tempdir().expect("a folder");
    for unit in std::fs::read_dir(units()).expect("the units") {
        let path = unit.expect("a unit").path();
        let text = support::text(&path).replace("/usr/bin/plateau", env!("CARGO_BIN_EXE_plateau"));
        std::fs::write(dir.path().join(path.file_name().expect("a name")), text).expect("written");
    }
    let names = [
        "plateau-serve.service",
        "plateau-launcher.socket",
        "plateau-launcher@1.service",
        "plateau-notify.service",
        "plateau-forward.service",
    ];
    let mut verify = Command::new("systemd-analyze");
    verify.arg("verify").args(names.map(|name| dir.path().join(name)));
    let output = verify.output().expect("systemd-analyze");
    let errors = String::from_utf8_lossy(&output.stderr);
    // Unknown keys cause only warnings, so check that no message names these units; messages about the host's
    // other units are irrelevant.
    let own = dir.path().to_string_lossy();
    assert!(output.status.success() && !errors.contains(&*own), "{errors}");
    // The services that run all the time and need no device are confined. The limits are in tenths of the
    // exposure level that `systemd-analyze` prints.
    for (name, limit) in
        [("plateau-forward.service", 15), ("plateau-notify.service", 20), ("plateau-serve.service", 65)]
    {
        let mut security = Command::new("systemd-analyze");
        security.args(["security", "--no-pager", "--offline=true"]).arg(format!("--threshold={limit}"));
        let output = security.arg(dir.path().join(name)).output().expect("systemd-analyze");
        let (out, errors) = support::texts(&output);
        if errors.contains("unrecognized option") {
            skips::skip!("this systemd-analyze cannot rate units that are not loaded");
            return;
        }
        assert!(output.status.success(), "{name}: {out}{errors}");
    }
}

/// A script in its own namespaces, in which it can create a unit's sandbox.
fn script(name: &str, dir: &Path) -> Command {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/units").join(name);
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--mount-proc"]);
    command.arg("sh").arg(script).arg(dir).arg(env!("CARGO_BIN_EXE_plateau")).arg(units());
    command.stdout(Stdio::piped());
    command
}

/// Returns whether this process can create a unit's sandbox with these programs.
fn has_sandbox(programs: &[&str]) -> bool {
    if !support::is_root() {
        skips::skip!("only root can create the sandbox of a unit");
        return false;
    }
    let missing = programs.iter().find(|program| !exists(program));
    missing.inspect(|program| skips::without(program)).is_none()
}

/// A server in its unit's sandbox, together with the launcher.
fn server(dir: &Path) -> Server {
    let mut child = script("host.sh", dir).spawn().expect("unshare");
    let mut link = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut link).expect("readable");
    let link = link.trim_end().to_owned();
    let address = link.strip_prefix("http://").and_then(|rest| rest.split_once('/'));
    let address = address.unwrap_or_else(|| panic!("a link: {link}")).0.to_owned();
    Server { child, address, link }
}

#[test]
fn the_units_permit_starts_tags_and_notes_and_no_other_writes() {
    if !has_sandbox(&["unshare", "setpriv", "systemd-socket-activate"]) {
        return;
    }
    let bench = Bench::new();
    let server = server(bench.dir.path());
    let cookie = server.enter();
    let csrf = server.csrf(&cookie);
    let post = |path: &str, form: &[(&str, &str)]| {
        let headers = format!("{cookie}{}", server.origin());
        let response = server.post(path, &headers, &[&[("csrf", csrf.as_str())], form].concat());
        assert_eq!(response.status, 303, "{path}: {}", response.body);
        response.header("location").unwrap_or_default().to_owned()
    };
    let json = |path: &str| -> Value { serde_json::from_str(&server.get(path, &cookie).body).expect("JSON") };
    let model = "sim:sas-slc-2011";
    let plan = [
        ("target", model),
        ("scale", "1/64"),
        ("kind", "tests"),
        ("tests", "iops"),
        ("profile", "pts-e-1.0"),
    ];
    let page = post("/start", &plan);
    post(&page, &[("identity", model)]);
    let begun = Instant::now();
    let run = loop {
        let entry = json("/api/starts")[0].clone();
        match entry["stage"].as_str() {
            Some("begun") => break entry["run"].as_str().expect("a run").to_owned(),
            Some("failed") => panic!("{entry}"),
            _ => assert!(begun.elapsed() < PATIENCE, "it does not start: {entry}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    while json(&format!("/api/runs/{run}"))["state"] != "steady" {
        assert!(begun.elapsed() < PATIENCE, "the run does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
    post(&format!("/runs/{run}/tag"), &[("tag", "wall")]);
    post(&format!("/runs/{run}/note"), &[("note", "on the wall")]);
    assert_eq!(json("/api/runs?q=wall")[0]["run"], run.as_str());

    let library = bench.path("lib/plateau/runs");
    let is = |path: &Path| {
        let found = std::fs::metadata(path).expect("it exists");
        (found.uid(), found.gid(), found.mode() & 0o777)
    };
    assert!(support::text(&library.join("library.journal")).contains("on the wall"));
    assert_eq!(is(&library.join("library.journal")), (0, SERVER, 0o664));
    assert_eq!(is(&library), (0, SERVER, 0o755), "only root creates runs");
    assert_eq!(is(&library.join(&run)), (0, SERVER, 0o750), "the server reads runs");
    let (owner, _, _) = is(&bench.path("lib/plateau-serve/lab/lab.journal"));
    assert_eq!(owner, SERVER);
}

/// A service that is killed when the test ends.
struct Service(Child);

impl Drop for Service {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[test]
fn the_unit_of_notices_permits_reading_runs_secrets_and_starting_programs() {
    if !has_sandbox(&["unshare", "setpriv", "curl"]) {
        return;
    }
    let bench = Bench::new();
    std::fs::set_permissions(bench.dir.path(), std::fs::Permissions::from_mode(0o755)).expect("our own");
    let config = "look-every = \"20 ms\"\n\
        [[program]]\nname = \"file\"\nrun = [\"/bin/sh\", \"-c\", \"cat >>/var/lib/plateau-notify/notices\"]\n\
        [[webhook]]\nname = \"chat\"\nurl = \"https://chat.invalid/\"\ntoken-file = \"/run/plateau/token\"\n\
        events = [\"stuck\"]\n";
    std::fs::write(bench.path("notify.toml"), config).expect("writable");
    std::fs::write(bench.path("token"), "a secret\n").expect("writable");
    // The script starts a run as soon as it has read a line.
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    let mut command = Command::new("sh");
    command.args(["-c", "exec 3<&0 \"$@\" </dev/null", "sh"]);
    let inner = script("notify.sh", bench.dir.path());
    command.arg(inner.get_program()).args(inner.get_args());
    let child = command.stdin(reader).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("unshare");
    let mut service = Service(child);
    let mut line = String::new();
    BufReader::new(service.0.stdout.take().expect("piped")).read_line(&mut line).expect("readable");
    if !line.starts_with("watching /var/lib/plateau/runs for: file, chat") {
        drop(service.0.kill());
        let mut errors = String::new();
        service.0.stderr.take().expect("piped").read_to_string(&mut errors).expect("readable");
        panic!("{line}{errors}");
    }
    writer.write_all(b"\n").expect("writable");
    let notices = bench.path("lib/plateau-notify/notices");
    let begun = Instant::now();
    let notice: Value = loop {
        let text = std::fs::read_to_string(&notices).unwrap_or_default();
        if let Some((line, _)) = text.split_once('\n') {
            break serde_json::from_str(line).expect("JSON");
        }
        let log = std::fs::read_to_string(bench.path("run.log")).unwrap_or_default();
        assert!(begun.elapsed() < PATIENCE, "no notice: {log}");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(notice["event"], "finished", "{notice}");
    let memory = std::fs::read_dir(bench.path("lib/plateau-notify/notify")).expect("the memory").next();
    let owner = memory.expect("a library").expect("a folder").metadata().expect("it exists").uid();
    assert_eq!(owner, SERVER);
}

#[test]
fn the_unit_that_forwards_runs_permits_reading_the_runs_and_its_token() {
    if !has_sandbox(&["unshare", "setpriv", "curl"]) {
        return;
    }
    let (lab, bench) = (Bench::new(), Bench::new());
    let server = Server::with(&lab, &[]);
    let token = lab.json(&["sender", "add", "rack7"])["token"].as_str().expect("a token").to_owned();
    std::fs::set_permissions(bench.dir.path(), std::fs::Permissions::from_mode(0o755)).expect("our own");
    std::fs::write(bench.path("token"), token).expect("writable");
    std::fs::write(bench.path("server"), format!("http://{}", server.address)).expect("writable");
    let child = script("forward.sh", bench.dir.path()).stderr(Stdio::piped()).spawn().expect("unshare");
    let mut service = Service(child);
    let mut lines = BufReader::new(service.0.stdout.take().expect("piped"));
    let mut line = String::new();
    lines.read_line(&mut line).expect("readable");
    if !line.starts_with("forwarding the runs in /var/lib/plateau/runs to http://127.0.0.1:") {
        drop(service.0.kill());
        let mut errors = String::new();
        service.0.stderr.take().expect("piped").read_to_string(&mut errors).expect("readable");
        panic!("{line}{errors}");
    }
    line.clear();
    lines.read_line(&mut line).expect("readable");
    let metrics = line.trim_end().strip_prefix("metrics at http://").and_then(|rest| rest.split_once('/'));
    let (address, path) = metrics.unwrap_or_else(|| panic!("an address: {line}"));
    let mut stream = std::net::TcpStream::connect(address).expect("it listens");
    // `prometheus:a long password` in base64.
    let request = format!(
        "GET /{path} HTTP/1.0\r\nHost: {address}\r\nAuthorization: Basic cHJvbWV0aGV1czphIGxvbmcgcGFzc3dvcmQ=\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).expect("writable");
    let mut scraped = String::new();
    stream.read_to_string(&mut scraped).expect("readable");
    assert!(scraped.contains("\nplateau_forward_behind_bytes "), "{scraped}");

    let library = bench.path("lib/plateau/runs");
    // The run was created before the service was started.
    let runs = std::fs::read_dir(&library).expect("a library").map(|entry| entry.expect("a run"));
    let id = runs.map(|run| run.file_name()).find(|name| library.join(name).join("journal").exists());
    let id = id.expect("a run");
    let whole = std::fs::read(library.join(&id).join("journal")).expect("a journal");
    let begun = Instant::now();
    while std::fs::read(lab.library().join(&id).join("journal")).unwrap_or_default() != whole {
        assert!(begun.elapsed() < PATIENCE, "the run does not arrive");
        std::thread::sleep(Duration::from_millis(20));
    }
    let mode = |path: &Path| std::fs::metadata(path).expect("it exists").mode() & 0o777;
    assert_eq!(mode(&library.join(&id)), 0o750, "the service reads the run through its group");
    let errors = BufReader::new(service.0.stderr.take().expect("piped")).lines();
    let mut errors = errors.map(|line| line.expect("readable"));
    let reported = errors.find(|line| line.starts_with("private: not sent: ")).expect("a report");
    assert!(reported.contains("Permission denied"), "{reported}");
}
