//! Processes of a demo that are still there at its end. Each process of a demo, and each of its jobs, inherits an environment
//! variable, so that no process of the user is mistaken for one of them.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Time within which processes end by themselves: the steps of cancelled jobs end after the daemons.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The variable, whose value is the folder of the demo.
pub const MARK: &str = "PLATEAU_LAB_DEMO";

/// Waits until no process of the demo is left. Kills those that remain; returns their command lines.
pub fn end_all(folder: &Path) -> Vec<String> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let left = of_demo(folder);
        if left.is_empty() {
            return Vec::new();
        }
        if Instant::now() > deadline {
            for (process, _) in &left {
                kill(*process, Signal::SIGKILL).ok();
            }
            return left.into_iter().map(|(_, line)| line).collect();
        }
        sleep(LOOK_EVERY);
    }
}

/// Returns every process with the mark of the demo in this folder.
fn of_demo(folder: &Path) -> Vec<(Pid, String)> {
    let mark = format!("{MARK}={}", folder.display());
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    processes
        .filter_map(|process| {
            let read = |file: &str| std::fs::read(format!("/proc/{process}/{file}")).unwrap_or_default();
            let is_marked = read("environ").split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes());
            let line = || String::from_utf8_lossy(&read("cmdline")).replace('\0', " ").trim().to_owned();
            is_marked.then(|| (Pid::from_raw(process), line()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn only_processes_with_the_mark_of_the_folder_are_found() {
        let folder = Path::new("/nowhere/plateau-lab-demo-test");
        let shell = |mark: &str| {
            // The shell waits for its input, so it exists as long as the pipe.
            let mut command = Command::new("sh");
            command.args(["-c", "read line", "sh"]).arg(folder).env(MARK, mark).stdin(Stdio::piped());
            command.spawn().expect("a shell")
        };
        let mut shells = [shell("/nowhere/plateau-lab-demo-test"), shell("/nowhere/plateau-lab-demo-test2")];
        let found: Vec<i32> = of_demo(folder).into_iter().map(|(process, _)| process.as_raw()).collect();
        assert_eq!(found, [shells[0].id().cast_signed()]);
        for shell in &mut shells {
            drop(shell.stdin.take());
            shell.wait().expect("ended");
        }
        assert!(of_demo(folder).is_empty());
    }
}
