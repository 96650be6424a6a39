//! Plateau never acts on files or environment variables crafted by other users.

mod support;

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::{Bench, finished, text, texts};

const SIMULATED: [&str; 7] =
    ["run", "tp-128", "sim:sas-slc-2011", "--scale", "1/256", "--profile", "pts-e-1.0"];
const NOBODY: u32 = 65534;

fn root_or_skip() -> bool {
    let root = support::is_root();
    if !root {
        skips::skip!("only root can make files of another user");
    }
    root
}

fn permit(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("our own");
}

/// Returns a restore record for host settings that requests a write to an unrelated file.
fn tuning_note(victim: &Path) -> String {
    let boot = text(Path::new("/proc/sys/kernel/random/boot_id"));
    let setting = json!({
        "setting": "governor of policy0", "path": victim, "was": "attacked", "to": "performance", "of_host": true,
    });
    json!({ "boot": boot.trim(), "tunings": [setting] }).to_string()
}

/// Creates a library as an attacker would; returns the file that the library requests a write to.
fn prepared_library(bench: &Bench) -> PathBuf {
    let victim = bench.path("victim");
    fs::write(&victim, "mine").expect("a file");
    fs::create_dir_all(bench.library()).expect("a library");
    fs::write(bench.library().join(".tuning-host.json"), tuning_note(&victim)).expect("a note");
    victim
}

#[test]
fn a_record_in_a_library_writes_to_no_file() {
    let bench = Bench::new();
    let victim = prepared_library(&bench);
    let output = bench.run(&SIMULATED);
    let (out, err) = texts(&output);
    assert!(output.status.success(), "{out}\n{err}");
    assert_eq!(text(&victim), "mine");
    assert!(err.contains(".tuning-host.json: restore records in a library are ignored"), "{err}");
}

#[test]
fn a_record_next_to_a_resumed_run_writes_to_no_file() {
    let bench = Bench::new();
    let mut child = bench.start(&SIMULATED);
    bench.wait_for("a cell", |journal| finished(journal) > 0);
    child.kill().expect("it runs");
    child.wait().expect("it is gone");
    let victim = prepared_library(&bench);
    let run = bench.runs()[0].clone();
    let output = bench.run(&["resume", run.file_name().and_then(|name| name.to_str()).expect("an id")]);
    assert!(output.status.success(), "{}", texts(&output).1);
    assert_eq!(text(&victim), "mine");
}

#[test]
fn a_record_of_the_same_user_changes_only_known_settings() {
    let bench = Bench::new();
    let victim = bench.path("victim");
    fs::write(&victim, "mine").expect("a file");
    fs::write(bench.state.path().join(".tuning-host.json"), tuning_note(&victim)).expect("a note");
    let output = bench.run(&SIMULATED);
    assert!(output.status.success(), "{}", texts(&output).1);
    assert_eq!(text(&victim), "mine");
    assert!(texts(&output).1.contains("is not restored from a record"), "{output:?}");
}

/// A script that replaces `mdadm`, logs its arguments, and reports the record's array on every device.
const MDADM: &str = "#!/bin/sh\necho \"$*\" >> \"$(dirname \"$0\")/asked\"\necho MD_UUID=a:b:c:d\n";

/// A file that a record names as a member of an array.
struct Member {
    bench: Bench,
    path: String,
    identity: String,
    note: Value,
}

impl Member {
    fn new() -> Self {
        let bench = Bench::new();
        fs::create_dir(bench.path("bin")).expect("a folder");
        fs::write(bench.path("bin/mdadm"), MDADM).expect("a program");
        permit(&bench.path("bin/mdadm"), 0o755);
        let path = bench.path("member").to_str().expect("a path").to_owned();
        fs::write(&path, vec![1; 16 << 20]).expect("a file");
        let info = bench.json(&["info", &path]);
        let identity = info["target"]["identity"].as_str().expect("an identity").to_owned();
        let note = json!({
            "level": 0, "uuid": "a:b:c:d",
            "members": [{ "path": path, "identity": identity, "capacity_bytes": 16 << 20 }],
        });
        fs::create_dir_all(bench.library()).expect("a library");
        Self { bench, path, identity, note }
    }

    fn noted_in(self, folder: &Path) -> Self {
        fs::write(folder.join(".array-a-b-c-d.json"), self.note.to_string()).expect("a note");
        permit(&folder.join(".array-a-b-c-d.json"), 0o600);
        self
    }

    /// Runs a command with the script in the folders where this build and earlier builds look for programs.
    fn run(&self, args: &[&str]) -> Output {
        let path = format!("{}:{}", self.bench.path("bin").display(), std::env::var("PATH").expect("a path"));
        let mut command = self.bench.command(args);
        command.env("PATH", path).env("PLATEAU_PROGRAMS", self.bench.path("bin"));
        command.output().expect("plateau starts")
    }

    fn commands(&self) -> String {
        fs::read_to_string(self.bench.path("bin/asked")).unwrap_or_default()
    }
}

#[test]
fn a_record_in_a_library_dismantles_no_array() {
    let member = Member::new();
    let library = member.bench.library();
    let member = member.noted_in(&library);
    let output = member.run(&SIMULATED);
    assert!(output.status.success(), "{}", texts(&output).1);
    assert_eq!(member.commands(), "");
    assert!(texts(&output).1.contains("restore records in a library are ignored"), "{output:?}");
}

#[test]
fn a_recorded_array_is_dismantled_when_each_member_is_named() {
    let member = Member::new();
    let state = member.bench.state.path().to_owned();
    let member = member.noted_in(&state);
    let output = member.run(&SIMULATED);
    let err = texts(&output).1;
    assert!(output.status.success(), "{err}");
    assert_eq!(member.commands(), "");
    assert!(err.contains(&format!("--erase '{}'", member.identity)), "it says what to type: {err}");
    let short = ["--profile", "pts-e-1.0", "--cell-seconds", "0.02", "--max-rounds", "5"];
    let named = ["run", "tp-128", &member.path, "--erase", &member.identity];
    let output = member.run(&[&named[..], &short[..]].concat());
    assert!(member.commands().contains(&format!("--zero-superblock {}", member.path)), "{output:?}");
    assert_eq!(member.bench.notes(), [""; 0]);
}

#[test]
fn a_record_that_others_can_write_dismantles_nothing() {
    let member = Member::new();
    let state = member.bench.state.path().to_owned();
    let member = member.noted_in(&state);
    permit(&state.join(".array-a-b-c-d.json"), 0o666);
    let named = ["run", "tp-128", &member.path, "--erase", &member.identity, "--cell-seconds", "0.02"];
    member.run(&named);
    assert_eq!(member.commands(), "");
    permit(&state.join(".array-a-b-c-d.json"), 0o600);
    permit(&state, 0o777);
    let output = member.run(&named);
    assert_eq!(member.commands(), "");
    assert!(texts(&output).1.contains("is writable by others"), "{output:?}");
}

#[test]
fn a_record_of_a_missing_member_does_not_prevent_other_tests() {
    for in_library in [true, false] {
        let member = Member::new();
        let folder = if in_library { member.bench.library() } else { member.bench.state.path().to_owned() };
        let member = member.noted_in(&folder);
        fs::remove_file(&member.path).expect("our own");
        let output = member.run(&[&SIMULATED[..], &["--json"]].concat());
        assert!(output.status.success(), "{}", texts(&output).1);
        assert!(texts(&output).1.contains("warning: "), "{output:?}");
    }
}

#[test]
fn root_runs_no_program_from_the_callers_path() {
    if !root_or_skip() {
        return;
    }
    let member = Member::new();
    let library = member.bench.library();
    let state = member.bench.state.path().to_owned();
    let member = member.noted_in(&library).noted_in(&state);
    // Other users can write to the folder that PLATEAU_PROGRAMS names, so it is also ignored.
    permit(&member.bench.path("bin"), 0o777);
    member.run(&["run", "tp-128", &member.path, "--erase", &member.identity, "--cell-seconds", "0.02"]);
    assert_eq!(member.commands(), "");
}

#[test]
fn a_run_written_by_another_user_confirms_no_target() {
    if !root_or_skip() {
        return;
    }
    let bench = Bench::new();
    let target = bench.path("target").to_str().expect("a path").to_owned();
    let args =
        ["run", "tp-128", &target, "--size", "16MiB", "--profile", "pts-e-1.0", "--cell-seconds", "0.3"];
    let mut child = bench.start(&args);
    bench.wait_for("a cell", |journal| finished(journal) > 1);
    child.kill().expect("it runs");
    child.wait().expect("it is gone");
    let run = bench.runs()[0].clone();
    let id = run.file_name().and_then(|name| name.to_str()).expect("an id").to_owned();
    let before = fs::read(&target).expect("a file");
    for path in [run.clone(), run.join("run.json"), run.join("journal")] {
        chown(&path, Some(NOBODY), None).expect("root");
        let message = bench.fails(3, &["resume", &id]);
        assert!(message.contains("belongs to user 65534") && message.contains("--erase"), "{message}");
        chown(&path, Some(0), None).expect("root");
    }
    permit(&run.join("run.json"), 0o666);
    assert!(bench.fails(3, &["resume", &id]).contains("is writable by others"));
    permit(&run.join("run.json"), 0o644);
    // A group with write permission counts as other users; an access control list looks like a group with write
    // permission.
    for (path, mode, usual) in [(&run, 0o2775, 0o755), (&run.join("journal"), 0o664, 0o644)] {
        permit(path, mode);
        assert!(bench.fails(3, &["resume", &id]).contains("is writable by others"), "{}", path.display());
        permit(path, usual);
    }
    assert!(fs::read(&target).expect("a file") == before, "not a byte was written");
}

/// Each attempt to open the target is delayed by a second, during which a link replaces the newly created file.
#[test]
fn a_link_that_replaces_a_new_file_is_not_followed() {
    if !is_there("strace") {
        return skips::without("strace");
    }
    let bench = Bench::on_build_disk();
    let [target, aside, victim] = ["target", "aside", "victim"].map(|name| bench.path(name));
    fs::write(&victim, vec![7; 16 << 20]).expect("a file with data");
    let path = target.to_str().expect("text");
    let short = ["--profile", "pts-e-1.0", "--cell-seconds", "0.02", "--max-rounds", "5"];
    let plateau = bench.command(&[&["run", "tp-128", path, "--size", "16MiB"], &short[..]].concat());
    let calls = "?open,openat";
    let (trace, inject) = (format!("trace={calls}"), format!("inject={calls}:delay_exit=1000000"));
    let slow = ["-f", "-qq", "-P", path, "-e", &trace, "-e", &inject];
    let mut strace = Command::new("strace");
    strace.args(slow).args(["-o", "/dev/null"]).arg(plateau.get_program()).args(plateau.get_args());
    strace.env("PLATEAU_LIBRARY", bench.library()).env("PLATEAU_STATE", bench.state.path());
    let child = strace.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("strace starts");
    let deadline = Instant::now() + Duration::from_secs(60);
    while fs::rename(&target, &aside).is_err() {
        if Instant::now() > deadline {
            let output = child.wait_with_output().expect("an end");
            panic!("nothing was created: {:?}", texts(&output));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    symlink(&victim, &target).expect("a link");
    let output = child.wait_with_output().expect("an end");
    assert_eq!(fs::read(&victim).expect("a file"), vec![7; 16 << 20], "{:?}", texts(&output));
    assert!(target.is_symlink(), "the planted link remains");
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}
