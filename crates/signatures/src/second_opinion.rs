//! A second opinion on a target: the formats recognized by libblkid, whose table is actively maintained.
//!
//! The `blkid` program is used because a static binary cannot load the library. The program is searched for in
//! a fixed list of folders and runs without the caller's environment. It receives the open device as its
//! standard input, so that a changed path cannot lead it to another device. Time and output are bounded.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Folders that only root can write to.
const FOLDERS: &[&str] = &["/usr/sbin", "/sbin", "/usr/bin", "/bin"];

const TIME_LIMIT: Duration = Duration::from_secs(10);
/// Time to wait for a killed program, which may be blocked on the device in the kernel, before it is abandoned.
const PATIENCE_AFTER_KILL: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(1);
const OUTPUT_LIMIT: usize = 64 << 10;
const NAME_LIMIT: usize = 40;

/// Conclusion of `blkid -p`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Opinion {
    /// Nothing recognized.
    Nothing,
    /// A file system, volume manager or partition table, with libblkid's names.
    Content(Vec<String>),
    /// Several formats that exclude each other.
    Ambivalent,
    /// No opinion: the program is missing, may not be executed, or is a different program with this name.
    None,
    /// `blkid` could not decide; contains the reason.
    Undecided(String),
}

/// Runs `blkid` on the device.
pub(super) fn ask(device: &File) -> Opinion {
    ask_in(FOLDERS, device)
}

fn ask_in(folders: &[&str], device: &File) -> Opinion {
    let programs = folders.iter().map(|folder| Path::new(folder).join("blkid"));
    let Some(program) = programs.into_iter().find(|program| program.is_file()) else { return Opinion::None };
    let deadline = Instant::now() + TIME_LIMIT;
    let undecided = |error: io::Error| Opinion::Undecided(format!("{}: {error}", program.display()));
    let mut child = match device.try_clone().and_then(|stdin| start(&program, stdin)) {
        Ok(child) => child,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Opinion::None,
        Err(error) => return undecided(error),
    };
    let output = child.stdout.take().map_or_else(|| Ok(Vec::new()), |stdout| read_all(stdout, deadline));
    match output.and_then(|output| Ok((output, wait(&mut child, deadline)?))) {
        Ok((output, status)) => {
            log::info!("{} -p: {status}", program.display());
            judge(&String::from_utf8_lossy(&output), status)
        }
        Err(error) => {
            stop(&mut child);
            undecided(error)
        }
    }
}

fn start(program: &Path, stdin: File) -> io::Result<Child> {
    Command::new(program)
        .args(["-p", "-o", "export", "/proc/self/fd/0"])
        .env_clear()
        .env("LC_ALL", "C")
        .current_dir("/")
        .stdin(Stdio::from(stdin))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
}

fn read_all(mut stdout: ChildStdout, deadline: Instant) -> io::Result<Vec<u8>> {
    let (mut all, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
        match poll(&mut [PollFd::new(&stdout, PollFlags::IN)], Some(&timeout)) {
            Ok(0) => return Err(too_slow()),
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(errno) => return Err(errno.into()),
        }
        match stdout.read(&mut chunk)? {
            0 => return Ok(all),
            length if all.len() + length > OUTPUT_LIMIT => {
                return Err(io::Error::other(format!("it printed more than {OUTPUT_LIMIT} B")));
            }
            length => all.extend(&chunk[..length]),
        }
    }
}

fn too_slow() -> io::Error {
    io::Error::other(format!("no response within {} s", TIME_LIMIT.as_secs()))
}

fn wait(child: &mut Child, deadline: Instant) -> io::Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() >= deadline {
            return Err(too_slow());
        }
        std::thread::sleep(PAUSE);
    }
}

fn stop(child: &mut Child) {
    if child.kill().is_ok() {
        // A child stuck in the kernel is abandoned, because only the refusal matters.
        drop(wait(child, Instant::now() + PATIENCE_AFTER_KILL));
    }
}

/// `blkid(8)` exits with 0 if it recognized something, 2 if not, and 8 for an ambivalent result. Any other
/// status means that it is not util-linux's `blkid` or does not support these options.
fn judge(output: &str, status: ExitStatus) -> Opinion {
    match status.code() {
        Some(0) => match content(output) {
            types if types.is_empty() => Opinion::Nothing,
            types => Opinion::Content(types),
        },
        Some(2) => Opinion::Nothing,
        Some(8) => Opinion::Ambivalent,
        Some(_) => Opinion::None,
        None => Opinion::Undecided(format!("blkid ended with {status}")),
    }
}

/// Returns the values of `TYPE=` and `PTTYPE=`, keeping only characters that occur in such names.
fn content(output: &str) -> Vec<String> {
    let values = output.lines().filter_map(|line| line.split_once('='));
    let types = values.filter(|(key, _)| matches!(*key, "TYPE" | "PTTYPE")).map(|(_, value)| {
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || "_-.+".contains(*c);
        value.chars().filter(is_plain).take(NAME_LIMIT).collect::<String>()
    });
    types.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    /// Returns the opinion obtained with this script in place of `blkid`.
    fn opinion_of(script: &str) -> Opinion {
        let dir = tempfile::tempdir().expect("a directory");
        let program = dir.path().join("blkid");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("a script");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("permissions");
        let device = tempfile::tempfile().expect("a file");
        let folders = ["/no/such/folder", dir.path().to_str().expect("a path")];
        loop {
            // A process just forked by another test may still have the script open for writing.
            match ask_in(&folders, &device) {
                Opinion::Undecided(why) if why.contains("Text file busy") => std::thread::sleep(PAUSE),
                opinion => return opinion,
            }
        }
    }

    #[test]
    fn exit_codes_and_names_are_understood() {
        let types = |names: &[&str]| Opinion::Content(names.iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(
            opinion_of("echo DEVNAME=/dev/x; echo TYPE=ext4; echo PTTYPE=dos"),
            types(&["ext4", "dos"])
        );
        assert_eq!(opinion_of("printf 'TYPE=e\\033[2Jvil\\n'"), types(&["e2Jvil"]));
        assert_eq!(opinion_of("echo PART_ENTRY_SIZE=1"), Opinion::Nothing);
        assert_eq!(opinion_of("exit 2"), Opinion::Nothing);
        assert_eq!(opinion_of("exit 8"), Opinion::Ambivalent);
        assert_eq!(opinion_of("exit 4"), Opinion::None);
        assert!(matches!(opinion_of("kill -9 $$"), Opinion::Undecided(_)));
        assert_eq!(ask_in(&["/no/such/folder"], &tempfile::tempfile().expect("a file")), Opinion::None);
    }

    #[test]
    fn the_callers_environment_is_not_passed_on_and_output_is_bounded() {
        assert_eq!(
            opinion_of("env | grep -v -e ^LC_ALL=C$ -e ^PWD= -e ^_= -e ^SHLVL= && exit 8; exit 2"),
            Opinion::Nothing
        );
        let Opinion::Undecided(why) = opinion_of("while :; do echo TYPE=x; done") else { panic!("an end") };
        assert!(why.contains("printed more than"), "{why}");
    }
}
