//! Watching a run: its `live` file, and `plateau watch` in a real terminal (tmux).

mod support;

use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use live::{Live, LivePhase};
use record::Run;
use support::{Bench, round, texts};

/// Cells last longer than any test, so that the run stays in its first cell.
const LONG: [&str; 6] = ["--profile", "pts-e-1.0", "--cell-seconds", "600", "--size", "16MiB"];

fn wait<T>(what: &str, found: impl Fn() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited two minutes for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn send(name: &str, process: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), process]).status();
    assert!(sent.expect("kill is there").success(), "SIG{name}");
}

/// Starts a run on a file; returns as soon as the run measures its first cell.
fn started(bench: &Bench) -> (Child, Run) {
    let target = bench.path("target");
    let child = bench.start(&[&["run", "iops", target.to_str().expect("text")], &LONG[..]].concat());
    bench.wait_for("the first cell", |journal| round(journal) == 1);
    (child, Run::open(&bench.runs()[0]).expect("a run"))
}

#[test]
fn a_run_reports_its_activity_until_it_ends() {
    let bench = Bench::on_build_disk();
    let (child, run) = started(&bench);
    let live = wait("a second of the cell", || {
        let live = Live::of(&run).ok().flatten()?;
        (live.phase == Some(LivePhase::Cell) && !live.seconds.is_empty() && live.share_done.is_some())
            .then_some(live)
    });
    assert_eq!((live.test.as_deref(), live.round, live.cell), (Some("iops"), Some(1), Some(1)));
    assert!(live.seconds.iter().any(|second| second.iops > 0.0), "{live:?}");
    let text = bench.ok(&["watch", "--once"]);
    assert!(text.contains("round 1 of up to 25, cell 1 of ") && text.contains("IOPS"), "{text}");
    send("INT", &child.id().to_string());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{:?}", texts(&output));
    assert!(!run.dir.join(live::LIVE).exists(), "the file is removed");
    assert!(bench.fails(6, &["watch"]).contains("no run is in progress"));
    assert!(bench.ok(&["watch", "--all", "--once"]).contains("no run is in progress"));
    assert!(bench.ok(&["watch", "latest", "--once"]).contains("not complete"));
}

#[test]
fn a_script_that_asks_for_json_is_sent_to_the_command_that_prints_it() {
    let output = Bench::new().run(&["watch", "--all", "--json"]);
    let text = String::from_utf8(output.stdout).expect("text");
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("plateau status --json"), "{text}");
}

#[test]
fn the_live_file_of_a_killed_run_is_ignored() {
    let bench = Bench::on_build_disk();
    let (mut child, run) = started(&bench);
    wait("the file", || Live::of(&run).ok().flatten());
    child.kill().and_then(|()| child.wait()).expect("killed");
    assert!(Live::of(&run).expect("it remains").is_some());
    assert!(bench.ok(&["watch", "latest", "--once"]).contains("not complete"));
    bench.ok(&["rm", "--yes", "latest"]);
    assert!(bench.runs().is_empty());
}

/// A tmux session that is killed when the test ends.
struct Tmux {
    socket: String,
}

impl Tmux {
    fn run(&self, arguments: &[&str]) -> String {
        let output =
            Command::new("tmux").args(["-L", &self.socket, "-f", "/dev/null"]).args(arguments).output();
        String::from_utf8_lossy(&output.expect("tmux starts").stdout).into_owned()
    }

    fn wait_for(&self, text: &str) -> String {
        wait(text, || {
            Some(self.run(&["capture-pane", "-p", "-t", "0"])).filter(|screen| screen.contains(text))
        })
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
    }
}

#[test]
fn a_screen_follows_a_run_and_restores_the_terminal() {
    if Command::new("tmux").arg("-V").output().is_err() {
        return skips::without("tmux");
    }
    let bench = Bench::on_build_disk();
    let (child, run) = started(&bench);
    let tmux = Tmux { socket: format!("plateau-watched-{}", std::process::id()) };
    let shell = format!(
        "echo before; PLATEAU_LIBRARY='{}' LC_ALL=C.UTF-8 '{}' watch; echo left with $?; exec cat",
        bench.library().display(),
        env!("CARGO_BIN_EXE_plateau")
    );
    tmux.run(&["new-session", "-d", "-x", "80", "-y", "24", "sh", "-c", &shell]);
    tmux.wait_for("seconds");
    let screen = tmux.wait_for("q: quit");
    assert!(screen.contains(&run.file.id) && screen.contains("round 1 of up to 25"), "{screen}");
    assert!(!screen.contains("before"), "the screen is its own: {screen}");
    tmux.run(&["resize-window", "-t", "0", "-x", "200", "-y", "60"]);
    wait("the larger screen", || {
        let screen = tmux.run(&["capture-pane", "-p", "-t", "0"]);
        screen
            .trim_end()
            .lines()
            .last()
            .filter(|last| last.contains("q: quit"))
            .and(Some(()))
            .filter(|()| screen.lines().count() == 60)
    });
    tmux.run(&["send-keys", "-t", "0", "q"]);
    let screen = tmux.wait_for("left with 0");
    assert!(screen.contains("before") && !screen.contains("q: quit"), "{screen}");
    assert!(run.is_in_progress().expect("known"), "the run continues");
    send("INT", &child.id().to_string());
    drop(child.wait_with_output());
}

#[test]
fn a_screen_ends_with_its_terminal() {
    if Command::new("tmux").arg("-V").output().is_err() {
        return skips::without("tmux");
    }
    let bench = Bench::on_build_disk();
    let (child, _) = started(&bench);
    let tmux = Tmux { socket: format!("plateau-closed-{}", std::process::id()) };
    let place = bench.path("process");
    let shell = format!(
        "trap '' HUP; echo $$ > '{}'; PLATEAU_LIBRARY='{}' LC_ALL=C.UTF-8 exec '{}' watch",
        place.display(),
        bench.library().display(),
        env!("CARGO_BIN_EXE_plateau")
    );
    tmux.run(&["new-session", "-d", "-x", "80", "-y", "24", "sh", "-c", &shell]);
    tmux.wait_for("q: quit");
    let process = std::fs::read_to_string(place).expect("the process");
    let program = Path::new("/proc").join(process.trim()).join("exe");
    assert!(program.read_link().is_ok(), "the screen is being shown");
    tmux.run(&["kill-session"]);
    wait("the end of the screen", || program.read_link().is_err().then_some(()));
    send("INT", &child.id().to_string());
    drop(child.wait_with_output());
}
