//! Runs a program under ptrace and sends it a signal at one chosen system call.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use nix::errno::Errno;
use nix::libc;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

/// Frequent system calls made by loads, threads and memory management. All others are more relevant, because
/// they determine what a run leaves on disk.
const BUSY: &[libc::c_long] = &[
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_futex,
    libc::SYS_getrusage,
    libc::SYS_io_uring_enter,
    libc::SYS_madvise,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_munmap,
    libc::SYS_pread64,
    libc::SYS_preadv2,
    libc::SYS_pwrite64,
    libc::SYS_pwritev2,
    libc::SYS_rseq,
    libc::SYS_rt_sigprocmask,
    libc::SYS_sched_yield,
    libc::SYS_sigaltstack,
];

/// Library directory of a trial.
pub const LIBRARY: &str = "library";
/// File with the standard output of the most recent program.
pub const OUT: &str = "out";
/// File with the standard error of the most recent program.
pub const ERR: &str = "err";

/// Number of system calls that were entered.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    pub all: u64,
    /// System calls that are not in [`BUSY`].
    pub relevant: u64,
}

/// The point at which to send the signal.
#[derive(Debug, Clone, Copy)]
pub struct Point {
    /// Number of the system call, counted from 1.
    pub number: u64,
    /// Whether `number` counts only the relevant system calls.
    pub among_relevant: bool,
    /// Whether to send the signal when the system call returns rather than when it is entered.
    pub at_end: bool,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Code(i32),
    Signal(Signal),
}

/// Result of a traced program.
#[derive(Debug)]
pub struct Traced {
    pub end: End,
    pub counts: Counts,
    /// Number of the system call at which the signal was sent; `None` if the program ended first.
    pub hit: Option<u64>,
}

/// A program with its arguments, not yet started; library and output files are in `folder`.
pub struct Program<'a> {
    pub path: &'a Path,
    pub arguments: &'a [String],
    pub folder: &'a Path,
}

impl Program<'_> {
    /// Returns the command. The words `before` precede the program.
    pub fn command(&self, before: &[&str]) -> anyhow::Result<Command> {
        let all = before.iter().map(OsStr::new).chain([self.path.as_os_str()]);
        let mut words = all.chain(self.arguments.iter().map(OsStr::new));
        let mut command = Command::new(words.next().context("no program")?);
        command
            .args(words)
            .env("PLATEAU_LIBRARY", self.folder.join(LIBRARY))
            .stdin(Stdio::null())
            .stdout(std::fs::File::create(self.folder.join(OUT))?)
            .stderr(std::fs::File::create(self.folder.join(ERR))?);
        Ok(command)
    }

    /// Runs the program, and sends it the signal in `plan` at the chosen point.
    pub fn trace(&self, plan: Option<(Signal, Point)>) -> anyhow::Result<Traced> {
        // The shell stops itself and continues only when it is traced, so that no system call is missed.
        let child = self.command(&["sh", "-c", "kill -STOP $$; exec \"$@\"", "sh"])?.spawn()?;
        let leader = Pid::from_raw(i32::try_from(child.id())?);
        match waitpid(leader, Some(WaitPidFlag::WUNTRACED))? {
            WaitStatus::Stopped(..) => {}
            other => bail!("the shell did not stop: {other:?}"),
        }
        let options = Options::PTRACE_O_TRACESYSGOOD
            | Options::PTRACE_O_TRACECLONE
            | Options::PTRACE_O_TRACEEXEC
            | Options::PTRACE_O_EXITKILL;
        ptrace::seize(leader, options).context("ptrace is not allowed")?;
        kill(leader, Signal::SIGCONT)?;
        let mut tracer =
            Tracer { leader, plan, is_counting: false, counts: Counts::default(), hit: None, armed: None };
        let end = tracer.follow()?;
        Ok(Traced { end, counts: tracer.counts, hit: tracer.hit })
    }
}

struct Tracer {
    leader: Pid,
    plan: Option<(Signal, Point)>,
    /// Set when the program is executed.
    is_counting: bool,
    counts: Counts,
    hit: Option<u64>,
    /// The thread to signal at its next stop, with the number of its system call.
    armed: Option<(Pid, u64)>,
}

impl Tracer {
    fn follow(&mut self) -> anyhow::Result<End> {
        loop {
            let status = match waitpid(Pid::from_raw(-1), Some(WaitPidFlag::__WALL)) {
                Err(Errno::EINTR) => continue,
                other => other.context("the traced program is lost")?,
            };
            match status {
                WaitStatus::Exited(pid, code) if pid == self.leader => return Ok(End::Code(code)),
                WaitStatus::Signaled(pid, signal, _) if pid == self.leader => return Ok(End::Signal(signal)),
                WaitStatus::PtraceSyscall(pid) => {
                    self.at_system_call(pid)?;
                    self.continue_process(pid, None)?;
                }
                WaitStatus::PtraceEvent(pid, _, event) => {
                    self.is_counting |= event == libc::PTRACE_EVENT_EXEC;
                    self.continue_process(pid, None)?;
                }
                WaitStatus::Stopped(pid, signal) => self.continue_process(pid, Some(signal))?,
                _ => {}
            }
        }
    }

    fn continue_process(&self, pid: Pid, signal: Option<Signal>) -> anyhow::Result<()> {
        let done = self.hit.is_some();
        let result = if done { ptrace::cont(pid, signal) } else { ptrace::syscall(pid, signal) };
        match result {
            // The thread has since been killed.
            Err(Errno::ESRCH) => Ok(()),
            other => Ok(other?),
        }
    }

    fn at_system_call(&mut self, pid: Pid) -> anyhow::Result<()> {
        let Some((signal, point)) = self.plan.filter(|_| self.hit.is_none()) else {
            return self.count(pid).map(drop);
        };
        if let Some((_, number)) = self.armed.filter(|(armed, _)| *armed == pid) {
            return self.send(signal, number);
        }
        let Some(number) = self.count(pid)? else { return Ok(()) };
        let reached = if point.among_relevant { self.counts.relevant } else { self.counts.all };
        match reached >= point.number && self.armed.is_none() {
            true if point.at_end => self.armed = Some((pid, number)),
            true => return self.send(signal, number),
            false => {}
        }
        Ok(())
    }

    /// Counts a system call if this is its entry, and returns its number.
    fn count(&mut self, pid: Pid) -> anyhow::Result<Option<u64>> {
        let info = match ptrace::syscall_info(pid) {
            Err(Errno::ESRCH) => return Ok(None),
            other => other?,
        };
        if info.op != libc::PTRACE_SYSCALL_INFO_ENTRY || !self.is_counting {
            return Ok(None);
        }
        let Ok(registers) = ptrace::getregs(pid) else { return Ok(None) };
        #[cfg(target_arch = "x86_64")]
        let number = registers.orig_rax;
        #[cfg(target_arch = "aarch64")]
        let number = registers.regs[8];
        self.counts.all += 1;
        self.counts.relevant += u64::from(!BUSY.iter().any(|busy| busy.unsigned_abs() == number));
        Ok(Some(number))
    }

    fn send(&mut self, signal: Signal, number: u64) -> anyhow::Result<()> {
        self.hit = Some(number);
        match kill(self.leader, signal) {
            Err(Errno::ESRCH) => Ok(()),
            other => Ok(other?),
        }
    }
}
