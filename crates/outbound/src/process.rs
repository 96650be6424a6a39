//! Runs another program with a time limit and bounded input and output, and leaves no process behind.

use std::io::{self, Read, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};

/// Maximum time between two checks of the process.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Time to wait for a killed process, which may be blocked in the kernel, before it is abandoned.
const PATIENCE_AFTER_KILL: Duration = Duration::from_secs(1);
/// Number of bytes that are read at a time.
const CHUNK_BYTES: usize = 4096;
/// Number of chunks that are read after a program has ended; a pipe holds less (by default, at most 1 MiB).
const MOST_LAST_CHUNKS: usize = (1 << 20) / CHUNK_BYTES + 1;
/// Usual limit on the part of each output that is kept; the rest is read and dropped.
pub const MOST_KEPT_BYTES: usize = 8 << 10;

/// How a program ended.
#[derive(Debug)]
pub struct Ended {
    /// How it ended.
    pub status: ExitStatus,
    /// The beginning of its standard output.
    pub out: Vec<u8>,
    /// The beginning of its standard error.
    pub err: Vec<u8>,
}

/// Why the program did not end by itself.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The program cannot be started or monitored.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The program took too long, and was killed.
    #[error("no end within {0:?}; it was killed")]
    TooLong(Duration),
    /// This process was asked to end, so the program was killed.
    #[error("stopped")]
    Stopped,
}

/// Runs `command` in a separate process group with `input` as its standard input, until it ends, `limit` has passed or
/// `stop` is set. If it has not ended by itself, the whole group is killed.
///
/// # Errors
/// Returns an error if the program cannot be started or was killed.
pub fn run(
    command: &mut Command,
    input: &[u8],
    limit: Duration,
    stop: &AtomicBool,
) -> Result<Ended, ProcessError> {
    run_keeping(MOST_KEPT_BYTES, command, input, limit, stop)
}

/// Same as [`run`], but keeps up to `most_kept_bytes` of each output.
///
/// # Errors
/// Same as [`run`].
pub fn run_keeping(
    most_kept_bytes: usize,
    command: &mut Command,
    input: &[u8],
    limit: Duration,
    stop: &AtomicBool,
) -> Result<Ended, ProcessError> {
    let deadline = Instant::now() + limit;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn()?;
    let pipes = Pipes::of(&mut child, input, most_kept_bytes);
    let followed = pipes.and_then(|pipes| follow(&mut child, pipes, deadline, stop));
    match followed {
        Ok(Some(ended)) => Ok(ended),
        Ok(None) => {
            kill(&mut child);
            Err(if stop.load(Ordering::Relaxed) {
                ProcessError::Stopped
            } else {
                ProcessError::TooLong(limit)
            })
        }
        Err(error) => {
            kill(&mut child);
            Err(error.into())
        }
    }
}

/// Returns how the process ended; `None` if it must be killed.
fn follow(
    child: &mut Child,
    mut pipes: Pipes<'_>,
    deadline: Instant,
    stop: &AtomicBool,
) -> io::Result<Option<Ended>> {
    loop {
        let ended = child.try_wait()?;
        let mut has_read = pipes.turn()?;
        if let Some(status) = ended {
            // The pipes may still hold the last output. If a child of the program prints endlessly, its output
            // is not read to the end.
            for _ in 0..MOST_LAST_CHUNKS {
                if !has_read {
                    break;
                }
                has_read = pipes.turn()?;
            }
            let Pipes { kept_out: out, kept_err: err, .. } = pipes;
            // Other processes may still have the pipes open; this process does not wait for them.
            return Ok(Some(Ended { status, out, err }));
        }
        if Instant::now() >= deadline || stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        pipes.wait(LOOK_EVERY)?;
    }
}

/// The pipes to a process, all of which are non-blocking.
struct Pipes<'a> {
    input: &'a [u8],
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    kept_out: Vec<u8>,
    kept_err: Vec<u8>,
    most_kept_bytes: usize,
}

impl<'a> Pipes<'a> {
    fn of(child: &mut Child, input: &'a [u8], most_kept_bytes: usize) -> io::Result<Self> {
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let all = [
            stdin.as_ref().map(AsFd::as_fd),
            stdout.as_ref().map(AsFd::as_fd),
            stderr.as_ref().map(AsFd::as_fd),
        ];
        for fd in all.into_iter().flatten() {
            fcntl_setfl(fd, fcntl_getfl(fd)? | OFlags::NONBLOCK)?;
        }
        let (kept_out, kept_err) = (Vec::new(), Vec::new());
        Ok(Self { input, stdin, stdout, stderr, kept_out, kept_err, most_kept_bytes })
    }

    /// Writes as much as possible and reads a chunk of each output without waiting. Returns whether anything was read.
    fn turn(&mut self) -> io::Result<bool> {
        if let Some(stdin) = &mut self.stdin {
            match stdin.write(self.input) {
                Ok(written) => self.input = &self.input[written..],
                Err(error) if is_later(&error) => {}
                // The program does not read its input, or has ended.
                Err(_) => self.input = &[],
            }
            if self.input.is_empty() {
                self.stdin = None;
            }
        }
        let out = take(&mut self.stdout, &mut self.kept_out, self.most_kept_bytes)?;
        let err = take(&mut self.stderr, &mut self.kept_err, self.most_kept_bytes)?;
        Ok(out || err)
    }

    fn wait(&self, at_most: Duration) -> io::Result<()> {
        let mut fds: Vec<PollFd<'_>> = [
            poll_fd(self.stdin.as_ref().map(AsFd::as_fd), PollFlags::OUT),
            poll_fd(self.stdout.as_ref().map(AsFd::as_fd), PollFlags::IN),
            poll_fd(self.stderr.as_ref().map(AsFd::as_fd), PollFlags::IN),
        ]
        .into_iter()
        .flatten()
        .collect();
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(at_most.subsec_nanos()) };
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }
}

fn poll_fd(fd: Option<BorrowedFd<'_>>, flags: PollFlags) -> Option<PollFd<'_>> {
    fd.map(|fd| PollFd::from_borrowed_fd(fd, flags))
}

/// Reads a chunk from a pipe, and closes the pipe at its end. Returns whether anything was read.
fn take(pipe: &mut Option<impl Read>, kept: &mut Vec<u8>, most_kept_bytes: usize) -> io::Result<bool> {
    let mut chunk = [0; CHUNK_BYTES];
    // One chunk per pass: a program that prints endlessly must not keep this loop from meeting its deadline.
    match pipe.as_mut().map(|pipe| pipe.read(&mut chunk)) {
        None => Ok(false),
        Some(Ok(0)) => {
            *pipe = None;
            Ok(false)
        }
        Some(Ok(length)) => {
            let room = most_kept_bytes.saturating_sub(kept.len()).min(length);
            kept.extend_from_slice(&chunk[..room]);
            Ok(true)
        }
        Some(Err(error)) if is_later(&error) => Ok(false),
        Some(Err(error)) => Err(error),
    }
}

fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn kill(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // The child may already have ended, but this process has not waited for it yet, so its PID cannot have
        // been reused.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let deadline = Instant::now() + PATIENCE_AFTER_KILL;
    while child.try_wait().is_ok_and(|status| status.is_none()) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        command
    }

    fn go() -> AtomicBool {
        AtomicBool::new(false)
    }

    #[test]
    fn input_and_output_are_transferred() {
        let input = vec![b'x'; 300_000];
        let ended = run(&mut shell("wc -c; echo e >&2; exit 3"), &input, LONG, &go()).expect("an end");
        assert_eq!(ended.status.code(), Some(3));
        assert_eq!((ended.out.trim_ascii(), &ended.err[..]), (&b"300000"[..], &b"e\n"[..]));
        let unread = run(&mut shell("exec true"), &input, LONG, &go()).expect("an end");
        assert!(unread.status.success(), "a program need not read its input");
    }

    #[test]
    fn output_is_bounded() {
        let ended = run(&mut shell("head -c 200000 /dev/zero"), b"", LONG, &go()).expect("an end");
        assert!(ended.status.success() && ended.out.len() <= MOST_KEPT_BYTES);
    }

    #[test]
    fn what_a_program_prints_last_is_read() {
        // The whole output is in the pipe when the program ends.
        for _ in 0..20 {
            let script = "head -c 60000 /dev/zero; printf end";
            let ended = run_keeping(1 << 20, &mut shell(script), b"", LONG, &go()).expect("an end");
            assert!(ended.out.len() == 60_003 && ended.out.ends_with(b"end"), "{} B", ended.out.len());
        }
    }

    #[test]
    fn a_program_that_takes_too_long_is_killed_with_its_children() {
        let dir = tempfile::tempdir().expect("a folder");
        let pids = dir.path().join("pids");
        let script = format!("sleep 600 & echo $! >{0}; sleep 600 & echo $! >>{0}; wait", pids.display());
        let limit = Duration::from_millis(700);
        let begun = Instant::now();
        let error = run(&mut shell(&script), b"", limit, &go()).expect_err("too long");
        assert!(matches!(error, ProcessError::TooLong(_)) && begun.elapsed() < LONG / 2);
        for pid in std::fs::read_to_string(&pids).expect("the program began").lines() {
            let is_running = || {
                let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
                stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
            };
            while is_running() {
                assert!(begun.elapsed() < LONG, "process {pid} is alive");
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }

    #[test]
    fn a_process_that_keeps_the_pipes_open_is_not_waited_for() {
        let begun = Instant::now();
        let ended = run(&mut shell("setsid sleep 5 & echo done"), b"", LONG, &go()).expect("an end");
        assert!(ended.status.success() && begun.elapsed() < Duration::from_secs(4));
    }

    #[test]
    fn a_stop_ends_the_program() {
        let stop = AtomicBool::new(true);
        let error = run(&mut shell("sleep 600"), b"", LONG, &stop).expect_err("stopped");
        assert!(matches!(error, ProcessError::Stopped));
        assert!(run(&mut Command::new("/no/such/program"), b"", LONG, &go()).is_err());
    }
}
