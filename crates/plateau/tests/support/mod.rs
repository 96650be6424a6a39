//! Runs the real binary, with a separate library for each test.
#![allow(dead_code, clippy::allow_attributes, reason = "each test file uses a different part of it")]

pub mod loop_device;
#[path = "../../../device/tests/support/storage_daemon.rs"]
pub mod storage_daemon;
#[path = "../../../device/tests/support/zram.rs"]
pub mod zram;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use record::{Event, Loaded, Note, read_journal};
use serde_json::Value;

pub fn is_root() -> bool {
    let own = std::fs::metadata("/proc/self").expect("/proc");
    std::os::unix::fs::MetadataExt::uid(&own) == 0
}

/// A library in a temporary folder.
pub struct Bench {
    pub dir: tempfile::TempDir,
    /// Folder for the restore records. This is not next to the build, because other users may be able to write
    /// to folders there.
    pub state: tempfile::TempDir,
    /// Folder for the library, in the same place for the same reason.
    runs: tempfile::TempDir,
}

impl Bench {
    pub fn new() -> Self {
        Self::within(tempfile::tempdir().expect("a folder for the test"))
    }

    /// Creates the bench in a folder next to the build, for targets that need O_DIRECT: this folder is not on
    /// tmpfs.
    pub fn on_build_disk() -> Self {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder for the test");
        Self::within(dir)
    }

    pub fn within(dir: tempfile::TempDir) -> Self {
        let folder = || tempfile::tempdir().expect("a folder for the test");
        Self { dir, state: folder(), runs: folder() }
    }

    /// Returns the names of the restore records, without locks and a run's other files.
    pub fn notes(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.state.path()).expect("a folder");
        let names = entries.map(|entry| entry.expect("a note").file_name().to_string_lossy().into_owned());
        names.filter(|name| name.ends_with(".json")).collect()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn library(&self) -> PathBuf {
        self.runs.path().join("runs")
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plateau"));
        command.args(args).env("PLATEAU_LIBRARY", self.library()).env("NO_COLOR", "1").stdin(Stdio::null());
        command.env("PLATEAU_STATE", self.state.path());
        command
    }

    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("plateau starts")
    }

    /// Runs a command, which must succeed; returns its standard output.
    pub fn ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let (out, err) = texts(&output);
        assert!(output.status.success(), "plateau {args:?} failed with {:?}:\n{out}\n{err}", output.status);
        out
    }

    /// Runs a command with `--json`, which must succeed; returns the JSON document.
    pub fn json(&self, args: &[&str]) -> Value {
        let out = self.ok(&[args, &["--json"]].concat());
        serde_json::from_str(&out)
            .unwrap_or_else(|e| panic!("plateau {args:?} printed no JSON ({e}):\n{out}"))
    }

    /// Runs a command, which must exit with `code`; returns its standard error.
    pub fn fails(&self, code: i32, args: &[&str]) -> String {
        let output = self.run(args);
        let (out, err) = texts(&output);
        assert_eq!(output.status.code(), Some(code), "plateau {args:?}:\n{out}\n{err}");
        err
    }

    pub fn start(&self, args: &[&str]) -> Child {
        self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("plateau starts")
    }

    /// Returns the runs in the library, including what is left of runs that never began. The folder with the locks
    /// of `plateau job` is not a run.
    pub fn runs(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.library()) else { return Vec::new() };
        let paths = entries.map(|entry| entry.expect("a folder entry").path());
        paths.filter(|path| path.is_dir() && !path.ends_with(".jobs")).collect()
    }

    /// Returns the only run's journal, once it exists.
    pub fn journal(&self) -> Option<Loaded> {
        match self.runs().as_slice() {
            [] => None,
            [run] => read_journal(&run.join("journal")).ok(),
            several => panic!("one run expected, found {several:?}"),
        }
    }

    /// Waits until `is_reached` accepts the journal.
    pub fn wait_for(&self, what: &str, is_reached: impl Fn(&Loaded) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(120);
        while !self.journal().is_some_and(|journal| is_reached(&journal)) {
            assert!(Instant::now() < deadline, "waited two minutes for {what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Sends a signal, such as `INT`.
pub fn send_signal(process: u32, name: &str) {
    let status = Command::new("kill").args([&format!("-{name}"), &process.to_string()]).status();
    assert!(status.expect("kill starts").success(), "process {process} cannot receive {name}");
}

/// A suspended process, which continues when this is dropped.
pub struct Held(pub u32);

impl Drop for Held {
    fn drop(&mut self) {
        // The process may have been killed in the meantime.
        drop(Command::new("kill").args(["-CONT", &self.0.to_string()]).stderr(Stdio::null()).status());
    }
}

/// Suspends a process and returns once none of its threads is running. The process keeps its locks and cannot finish
/// while the test examines it.
#[must_use]
pub fn hold(process: u32) -> Held {
    send_signal(process, "STOP");
    let held = Held(process);
    let is_stopped = |task: std::io::Result<std::fs::DirEntry>| {
        let stat = std::fs::read_to_string(task.expect("a thread").path().join("stat"));
        // The state follows the name in parentheses. A thread that has just ended has no file.
        stat.ok().is_none_or(|stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T')))
    };
    let deadline = Instant::now() + Duration::from_secs(120);
    while !std::fs::read_dir(format!("/proc/{process}/task")).expect("a process").all(is_stopped) {
        assert!(Instant::now() < deadline, "process {process} does not stop; did it end?");
        std::thread::sleep(Duration::from_millis(5));
    }
    held
}

/// Returns the number of completed steps.
pub fn finished(journal: &Loaded) -> usize {
    let step = |e: &Event| matches!(e, Event::Purged(_) | Event::Preconditioned(_) | Event::Measured(_));
    journal.entries.iter().filter(|entry| step(&entry.event)).count()
}

/// Returns the current round.
pub fn round(journal: &Loaded) -> u32 {
    let rounds = journal.entries.iter().rev().find_map(|entry| match entry.event {
        Event::Noted(Note::RoundStarted { round, .. }) => Some(round),
        _ => None,
    });
    rounds.unwrap_or(0)
}

pub fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// Returns the IOPS table of the first test as `[block size][mix]`, beginning with mix 0/100.
pub fn table(document: &Value) -> Vec<Vec<Option<f64>>> {
    let rows = document["tests"][0]["tables"][0]["rows"].as_array().expect("a table");
    let values = |row: &Value| row["values"].as_array().expect("values").iter().map(Value::as_f64).collect();
    rows.iter().map(values).collect()
}

pub fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}
