//! A program that prints watts, one value per line, for as long as it runs.
//!
//! It is started without a shell, in a fixed environment and in its own process group, so that Ctrl-C ends the run
//! before the meter. It is stopped when the run ends.

use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::error::PowerError;
use crate::lines::Lines;
use crate::source::{Kind, Opened, Pace, Sample, Source, Surroundings};

pub(super) const KIND: Kind = Kind {
    name: "command",
    argument: Some("PROGRAM [ARGUMENT]..."),
    about: "a program that prints watts, one value per line, until the run stops it",
    is_per_drive: false,
    needs_trust: true,
    open,
};

const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

struct Running {
    child: Child,
    lines: Lines,
}

impl Source for Running {
    fn pace(&self) -> Pace {
        Pace::AtAllTimes
    }

    fn read(&mut self) -> Result<Vec<Sample>, PowerError> {
        self.lines.read()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The process group includes all processes that a script started.
        let is_killed = kill_process_group(Pid::from_child(&self.child), Signal::KILL).is_ok();
        // A program that runs as another user, such as sudo, cannot be killed, and must not keep the run from
        // ending.
        drop(if is_killed { self.child.wait().map(Some) } else { self.child.try_wait() });
    }
}

fn open(argument: &str, _: Surroundings) -> Result<Opened, PowerError> {
    let what = format!("command:{argument}");
    let mut words = argument.split_whitespace();
    let program = words.next().unwrap_or_default();
    if program.contains('/') && !program.starts_with('/') {
        let why =
            format!("specify the absolute path of {program}: a run may be resumed in another directory");
        return Err(PowerError::absent(&what, why));
    }
    let mut child = Command::new(program)
        .args(words)
        .env_clear()
        .env("PATH", PATH)
        .env("LC_ALL", "C")
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| {
            let why = format!(
                "{program} cannot be started ({error}); it is run without a shell and looked up in {PATH}: \
                 specify the path of a program or script"
            );
            PowerError::absent(&what, why)
        })?;
    let Some(output) = child.stdout.take() else { return Err(PowerError::Ended { what }) };
    let fd = OwnedFd::from(output);
    let mut running = Running { child, lines: Lines::of_pipe(what.clone(), fd) };
    let set =
        fcntl_getfl(&running.lines).and_then(|flags| fcntl_setfl(&running.lines, flags | OFlags::NONBLOCK));
    set.map_err(|errno| PowerError::io(&what, errno))?;
    running.lines.wait_for_value()?;
    let facts = running.lines.stated.facts(format!("meter read by {program}"));
    Ok(Opened { facts, source: Box::new(running) })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    fn script(dir: &tempfile::TempDir, text: &str) -> String {
        let path = dir.path().join("meter");
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("a script");
        fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("ours");
        path.to_str().expect("a path").to_owned()
    }

    #[test]
    fn a_program_prints_watts_until_it_is_ended() {
        let dir = tempfile::tempdir().expect("a folder");
        let meter = script(&dir, "echo '# tolerance=2%'; echo $$ > $1; while echo $2; do sleep 0.01; done");
        let id = dir.path().join("id");
        let opened = open(&format!("{meter} {} 3.5", id.display()), Surroundings::default());
        let mut opened = opened.map_err(|error| error.to_string()).expect("a meter");
        assert_eq!(opened.facts.tolerance_ppm, Some(20_000));
        while opened.source.read().expect("watts").is_empty() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let process = fs::read_to_string(id).expect("a process");
        let process = std::path::Path::new("/proc").join(process.trim());
        assert!(process.exists());
        drop(opened);
        assert!(!process.exists(), "the run ends it");
    }

    #[test]
    fn processes_started_by_a_script_end_with_it() {
        let dir = tempfile::tempdir().expect("a directory");
        let meter = script(&dir, "sleep 600 & echo $! > $1; while echo 3; do sleep 0.01; done");
        let file = dir.path().join("pid");
        drop(open(&format!("{meter} {}", file.display()), Surroundings::default()).expect("a meter"));
        let pid = fs::read_to_string(file).expect("its process ID");
        let state = || fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        // The process that adopted it may not have reaped it yet.
        let has_ended = || state().is_empty() || state().contains(") Z ");
        assert!(
            (0..500).any(|_| has_ended() || {
                std::thread::sleep(Duration::from_millis(10));
                false
            }),
            "{}",
            state()
        );
    }

    #[test]
    fn a_relative_path_is_refused() {
        let refused = open("./meter", Surroundings::default()).map(|_| ()).expect_err("a relative path");
        assert!(refused.to_string().contains("absolute path"), "{refused}");
    }

    #[test]
    fn a_program_that_prints_no_watts_is_an_error() {
        let dir = tempfile::tempdir().expect("a folder");
        let message = |text: &str| {
            open(&script(&dir, text), Surroundings::default()).map(|_| ()).expect_err(text).to_string()
        };
        assert!(message("exit 3").contains("ended"));
        assert!(message("echo hello; sleep 60").contains("'hello'"));
        let absent = open("/no/such/meter", Surroundings::default()).map(|_| ()).expect_err("absent");
        assert!(absent.to_string().contains("No such file"), "{absent}");
    }
}
