//! A run's progress on a terminal, in a file, and for a program.

mod support;

use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::Value;
use support::{Bench, finished, texts};

const COLUMNS: usize = 80;
const ROWS: usize = 24;
const PATIENCE: Duration = Duration::from_secs(100);
const SIMULATED: [&str; 7] =
    ["run", "iops", "sim:sas-slc-2011", "--scale", "1/128", "--profile", "pts-e-1.0"];
/// Environment variables set by a terminal that displays progress in its tab.
const GHOSTTY: [(&str, &str); 2] = [("TERM_PROGRAM", "ghostty"), ("TERM_PROGRAM_VERSION", "1.2.0")];

/// A terminal in which a program runs. Dropping it kills the program.
struct Terminal {
    child: Child,
    bytes: mpsc::Receiver<Vec<u8>>,
    text: String,
}

impl Terminal {
    /// Starts the program and discards its results, so that only the display before them is tested.
    fn progress(bench: &Bench, args: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::start(bench, args, variables, false)
    }

    fn start(bench: &Bench, args: &[&str], variables: &[(&str, &str)], shows_results: bool) -> Self {
        let (master, slave) = pseudo_terminal();
        let side = || Stdio::from(slave.try_clone().expect("a descriptor"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_plateau"));
        command.args(args).env_clear().envs(variables.iter().copied());
        command.env("PLATEAU_LIBRARY", bench.library()).env("PLATEAU_STATE", bench.state.path());
        command.env("TERM", "xterm-256color").stdin(Stdio::null()).stderr(side());
        command.stdout(if shows_results { side() } else { Stdio::null() });
        let child = command.spawn().expect("plateau starts");
        drop((command, slave));
        let (send, bytes) = mpsc::channel();
        let mut reader = std::fs::File::from(master);
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // Once the last program has closed a terminal, reading from the terminal fails instead of reaching
            // an end.
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                if send.send(buffer[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self { child, bytes, text: String::new() }
    }

    /// Returns the whole output of the program and its exit code.
    fn finish(mut self) -> (String, Option<i32>) {
        let deadline = Instant::now() + PATIENCE;
        let mut all = Vec::new();
        loop {
            match self.bytes.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(bytes) => all.extend(bytes),
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    panic!("it does not end: {}", String::from_utf8_lossy(&all))
                }
            }
        }
        let code = self.child.wait().expect("a child").code();
        let text = String::from_utf8(all).expect("UTF-8");
        (std::mem::take(&mut self.text) + &text, code)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        drop(self.child.kill().and_then(|()| self.child.wait()));
    }
}

fn pseudo_terminal() -> (OwnedFd, OwnedFd) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a terminal");
    grantpt(&master).and_then(|()| unlockpt(&master)).expect("a terminal to use");
    let name = ptsname(&master, Vec::new()).expect("its name").into_string().expect("text");
    let slave = std::fs::File::options().read(true).write(true).open(name).expect("its slave end");
    let size = Winsize { ws_row: ROWS as u16, ws_col: COLUMNS as u16, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&slave, size).expect("a size");
    (master, slave.into())
}

/// The contents of a terminal, including lines that have scrolled off.
#[derive(Default)]
struct Picture {
    lines: Vec<String>,
    row: usize,
    /// A snapshot of the screen after each redraw of the bottom lines.
    moments: Vec<String>,
}

impl Picture {
    /// Interprets everything written to the terminal; supports only the sequences that these tests use.
    fn of(text: &str) -> Self {
        let mut picture = Self { lines: vec![String::new()], ..Self::default() };
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            match c {
                '\n' => {
                    picture.row += 1;
                    if picture.row == picture.lines.len() {
                        picture.lines.push(String::new());
                    }
                }
                // Rewritten lines were cleared when the cursor moved up.
                '\r' => {}
                '\x1b' => rest = picture.obey(rest),
                _ => picture.write(c),
            }
        }
        picture
    }

    fn write(&mut self, c: char) {
        let line = &mut self.lines[self.row];
        line.push(c);
        assert!(line.chars().count() <= COLUMNS, "a line wraps: {line}");
    }

    /// Executes a control sequence and returns the text that follows it.
    fn obey<'a>(&mut self, rest: &'a str) -> &'a str {
        if let Some(osc) = rest.strip_prefix(']') {
            return osc.split_once("\x1b\\").expect("an end").1;
        }
        let rest = rest.strip_prefix('[').expect("a control sequence");
        let end = rest.find(|c: char| c.is_ascii_alphabetic()).expect("an end");
        match &rest[end..=end] {
            "A" => {
                self.moments.push(self.lines.join("\n"));
                let up: usize = rest[..end].parse().expect("a number");
                assert!(up < ROWS, "{up} rows up is beyond the top");
                self.row = self.row.checked_sub(up).expect("not above the first line");
                // Each of these lines will be rewritten or erased.
                self.lines[self.row..].iter_mut().for_each(String::clear);
            }
            "J" => self.lines.truncate(self.row + 1),
            "K" | "m" => {}
            other => panic!("unknown control sequence {other}"),
        }
        &rest[end + 1..]
    }
}

/// Returns the states of the task bar in order.
fn taskbar(text: &str) -> Vec<&str> {
    text.split("\x1b]9;4;").skip(1).map(|part| part.split(';').next().expect("a state")).collect()
}

fn moment<'a>(picture: &'a Picture, parts: &[&str]) -> Option<&'a String> {
    picture.moments.iter().find(|moment| parts.iter().all(|part| moment.contains(part)))
}

#[test]
fn on_a_terminal_the_lines_of_a_run_fit_and_are_erased_at_the_end() {
    let bench = Bench::new();
    let (text, code) = Terminal::progress(&bench, &SIMULATED, &[("LANG", "C.UTF-8")]).finish();
    assert_eq!(code, Some(0), "{text}");
    let picture = Picture::of(&text);
    let cell = [
        "round ",
        "/25  cell ",
        "/56  RND ",
        "left ",
        " IOPS  ",
        " MB/s  ",
        " \u{b0}C",
        "\nwindow 1/5  RND 4KiB W",
    ];
    assert!(moment(&picture, &cell).is_some(), "{:#?}", picture.moments.last());
    assert!(moment(&picture, &["window 3/5  RND 4KiB W  range ", " (limit 20 %)"]).is_some());
    let last = picture.lines.join("\n");
    assert!(!last.contains("cell ") && !last.contains("left ") && !last.contains("window "), "{last}");
    let shown = bench.ok(&["show", "latest"]);
    let (_, matrix) = shown.split_once("\nIOPS\n").expect("a matrix");
    assert!(
        matrix.lines().all(|line| line.chars().count() <= COLUMNS) && matrix.lines().count() > 10,
        "{matrix}"
    );
    assert!(text.contains("\x1b[32m") && text.contains('\u{2588}'), "colour and blocks");
    assert_eq!(taskbar(&text), [""; 0], "an xterm does not show progress");
}

#[test]
fn several_runs_share_the_terminal() {
    let bench = Bench::new();
    let args = [
        "run",
        "iops",
        "sim:sas-slc-2011",
        "sim:nvme-tlc-2018",
        "--scale",
        "1/256",
        "--profile",
        "pts-e-1.0",
    ];
    let (text, code) = Terminal::progress(&bench, &args, &[("LANG", "C.UTF-8")]).finish();
    assert_eq!(code, Some(0), "{text}");
    let picture = Picture::of(&text);
    let two = |moment: &&String| {
        let lines: Vec<&str> = moment.lines().collect();
        let cells = lines.iter().filter(|line| line.contains("/25  cell ")).count();
        let details =
            lines.iter().filter(|line| line.contains("  left ") && line.contains("window ")).count();
        cells == 2 && details == 2
    };
    assert!(picture.moments.iter().any(|moment| two(&moment)), "{:#?}", picture.moments.last());
    let last = picture.lines.join("\n");
    assert!(!last.contains("cell ") && !last.contains("left "), "{last}");
}

#[test]
fn no_colour_and_no_utf_8_where_they_are_disabled() {
    let bench = Bench::new();
    let variables = [("LANG", "C.UTF-8"), ("LC_ALL", "C"), ("NO_COLOR", "1")];
    let (text, code) = Terminal::progress(&bench, &SIMULATED, &variables).finish();
    assert_eq!(code, Some(0), "{text}");
    assert!(text.is_ascii(), "{text}");
    let picture = Picture::of(&text);
    assert!(moment(&picture, &["left ", "[####"]).is_some(), "{:#?}", picture.moments.last());
    let sequences = text.split("\x1b[").skip(1);
    let mut ends = sequences.map(|rest| rest.chars().find(char::is_ascii_alphabetic));
    assert!(ends.all(|end| end != Some('m')), "{text:?}");
    // With Unicode, a plan's chart uses block elements.
    let args = ["plan", "iops", "sim:sas-slc-2011", "--scale", "1/64", "--profile", "pts-e-1.0"];
    let (text, code) = Terminal::start(&bench, &args, &[("LC_ALL", "C")], true).finish();
    assert_eq!(code, Some(0), "{text}");
    assert!(text.is_ascii() && text.contains("|### ###"), "{text}");
}

#[test]
fn the_task_bar_is_cleared_at_the_end_after_an_error_and_after_ctrl_c() {
    let bench = Bench::new();
    let (text, code) = Terminal::progress(&bench, &SIMULATED, &GHOSTTY).finish();
    assert_eq!(code, Some(0), "{text}");
    let states = taskbar(&text);
    assert!(states.contains(&"1") && states.last() == Some(&"0"), "{states:?}");

    let failing = [&SIMULATED[..], &["--sim-fault", "power:after=1min"]].concat();
    let (text, code) = Terminal::progress(&bench, &failing, &GHOSTTY).finish();
    assert_eq!(code, Some(5), "{text}");
    let states = taskbar(&text);
    assert!(states.len() > 1 && states.last() == Some(&"0"), "{states:?}");

    let bench = Bench::new();
    let slow = [&SIMULATED[..3], &["--scale", "1/4", "--profile", "pts-e-1.0"]].concat();
    let terminal = Terminal::progress(&bench, &slow, &GHOSTTY);
    bench.wait_for("a few cells", |journal| finished(journal) >= 3);
    let pid = terminal.child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().expect("kill is there").success());
    let (text, code) = terminal.finish();
    assert_eq!(code, Some(130), "{text}");
    let states = taskbar(&text);
    assert!(states.contains(&"1") && states.last() == Some(&"0"), "{states:?}");
    let picture = Picture::of(&text);
    assert!(!picture.lines.join("\n").contains("cell "), "{:?}", picture.lines);
}

#[test]
fn a_file_gets_plain_lines_without_control_sequences() {
    let bench = Bench::new();
    let output = bench.run(&SIMULATED);
    let (_, err) = texts(&output);
    assert!(output.status.success(), "{err}");
    assert!(!err.contains(|c: char| c.is_control() && c != '\n'), "{err:?}");
    assert!(err.contains("preconditioned: ") && !err.contains("cell "), "not a minute has passed: {err}");
    let (_, err) = texts(&bench.run(&[&SIMULATED[..], &["--progress", "none"]].concat()));
    assert_eq!(err, "");
}

#[test]
fn programs_read_progress_as_one_json_object_a_line() {
    let bench = Bench::new();
    let output = bench.run(&[&SIMULATED[..], &["--progress", "json", "--json"]].concat());
    let (out, err) = texts(&output);
    assert!(output.status.success(), "{err}");
    let document: Value = serde_json::from_str(&out).expect("one document");
    let records: Vec<Value> = err.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let of = |kind: &str| records.iter().filter(|record| record["type"] == kind).cloned().collect::<Vec<_>>();
    let (progress, messages) = (of("progress"), of("message"));
    assert_eq!(progress.len() + messages.len(), records.len());
    let purged = |record: &Value| record["text"].as_str().is_some_and(|text| text.starts_with("purged by "));
    assert!(messages.iter().any(purged), "{messages:?}");
    assert!(!progress.is_empty());
    let page = support::text(std::path::Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/reference/progress.md"
    )));
    for record in &progress {
        assert_eq!(record["run"], document["run"]);
        assert_eq!(record["target"], "sim:sas-slc-2011");
        let fields = record.as_object().expect("an object");
        for field in
            fields.keys().chain(record["window"].as_object().into_iter().flat_map(|window| window.keys()))
        {
            assert!(page.contains(&format!("| `{field}` |")), "{field} is not documented");
        }
        record["time"].as_str().expect("a time").parse::<jiff::Timestamp>().expect("a time");
        assert!(record["elapsed_seconds"].as_f64().is_some());
        let share = record["share_done"].as_f64();
        assert!(share.is_none_or(|share| (0.0..=1.0).contains(&share)), "{record}");
    }
    let phases: Vec<&str> = progress.iter().filter_map(|record| record["phase"].as_str()).collect();
    assert!(phases.contains(&"purge") && phases.contains(&"precondition"), "{phases:?}");
}

#[test]
fn loads_and_purges_report_progress() {
    let bench = Bench::on_build_disk();
    let file = bench.path("data.bin");
    std::fs::write(&file, vec![0u8; 16 << 20]).expect("a file");
    let target = file.to_str().expect("text");
    let load = ["load", "--rw=randread", "--bs=4k", "--runtime=3", "--time_based", "--filename", target];
    let (text, code) = Terminal::progress(&bench, &load, &[("LANG", "C.UTF-8")]).finish();
    assert_eq!(code, Some(0), "{text}");
    let picture = Picture::of(&text);
    assert!(moment(&picture, &["RND 4KiB R", " %  left ", " IOPS  ", "max "]).is_some(), "{text}");
    let output = bench.run(&[&load[..], &["--progress", "json"]].concat());
    let (_, err) = texts(&output);
    let records: Vec<Value> = err.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let with_iops = records.iter().filter(|record| record["phase"] == "load" && record["iops"].is_number());
    assert!(with_iops.count() >= 1, "{err}");
    let purge = ["purge", "sim:sas-slc-2011", "--scale", "1/64", "--progress", "json"];
    let (out, err) = texts(&bench.run(&purge));
    assert!(out.contains("purged by"), "{out}{err}");
    assert!(err.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{err}");
}
