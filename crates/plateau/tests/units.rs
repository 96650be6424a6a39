//! The systemd units of the packages: `systemd-analyze` accepts the units, and what they permit is sufficient for
//! starts, tags and notes. systemd itself is not needed: a script emulates each directive.

#[path = "support/lab_server/mod.rs"]
mod lab_server;
mod support;

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use lab_server::Server;
use serde_json::Value;
use support::Bench;

/// Number of the user and group of the server.
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
    ];
    let mut verify = Command::new("systemd-analyze");
    verify.arg("verify").args(names.map(|name| dir.path().join(name)));
    let output = verify.output().expect("systemd-analyze");
    let errors = String::from_utf8_lossy(&output.stderr);
    // Unknown keys are warnings. Other units of the host are irrelevant.
    let own = dir.path().to_string_lossy();
    assert!(output.status.success() && !errors.contains(&*own), "{errors}");
}

/// A server in the sandbox of its unit, with the launcher beside it.
fn server(dir: &Path) -> Server {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/units/host.sh");
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--mount-proc"]);
    command.arg("sh").arg(script).arg(dir).arg(env!("CARGO_BIN_EXE_plateau")).arg(units());
    let mut child = command.stdout(Stdio::piped()).spawn().expect("unshare");
    let mut link = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut link).expect("readable");
    let link = link.trim_end().to_owned();
    let address = link.strip_prefix("http://").and_then(|rest| rest.split_once('/'));
    let address = address.unwrap_or_else(|| panic!("a link: {link}")).0.to_owned();
    Server { child, address, link }
}

#[test]
fn the_units_permit_starts_tags_and_notes_and_no_other_writes() {
    if !support::is_root() {
        return skips::skip!("only root can create the sandbox of a unit");
    }
    for program in ["unshare", "setpriv", "systemd-socket-activate"] {
        if !exists(program) {
            return skips::without(program);
        }
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
