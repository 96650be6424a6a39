//! Carries out requests on this host, with the privileges of this process.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use record::{Library, Run};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde_json::Value;
use stdx::files::OwnedFolder;

use crate::command::{plan_words, words};
use crate::error::{LaunchError, at};
use crate::holder::{held_by, holder};
use crate::request::{Invalid, Plan, Request, Target};

/// Interval at which a started process is polled.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Polling interval after the first minute.
const LOOK_LATER: Duration = Duration::from_secs(1);
/// Number of polls in the first minute.
const LOOKS: u32 = 3000;
/// Maximum size of a response.
const MOST_ANSWER_BYTES: u64 = 8 << 20;
/// Limit on how much of a process's output is stored.
const MOST_OUTPUT_BYTES: u64 = 8 << 10;

/// Starts processes of `plateau`.
#[derive(Debug, Clone)]
pub struct Launcher {
    /// The program.
    pub program: PathBuf,
    /// Library that contains the runs.
    pub library: PathBuf,
    /// Folder for plan texts and for the output of processes; only this user can write to it.
    pub folder: PathBuf,
}

/// Outcome of a request.
#[derive(Debug)]
pub struct Launched {
    /// The run.
    pub run: String,
    /// The process, if the current process is its parent and must reap it.
    pub child: Option<Child>,
}

impl Launcher {
    /// Carries out a request. Returns once the run has begun, has continued, or has received the signal to stop.
    /// `name` distinguishes this request's files from others.
    ///
    /// # Errors
    /// Returns an error if the request is not valid or the process ended before the run began. In either case, no
    /// run was started.
    pub fn perform(&self, request: &Request, name: &str) -> Result<Launched, LaunchError> {
        request.check()?;
        let plan = self.plan_file(name);
        if let Request::Start(start) = request
            && let Plan::Text(text) = &start.plan
        {
            self.keep(&format!("{name}.toml"), text)?;
        }
        match (request.run(), words(request, &plan)) {
            (Some(run), None) => self.stop(run),
            (run, Some(words)) => self.begin(&words, name, run),
            (None, None) => Err(Invalid::Missing("the run").into()),
        }
    }

    /// Returns the file with the text of a request's plan.
    #[must_use]
    pub fn plan_file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.toml"))
    }

    /// Returns the estimate of a plan on a target, as printed by `plateau --json plan`, or a description of the
    /// problem if the plan cannot be run.
    ///
    /// # Errors
    /// Returns an error if the plan or target is not valid, or if the process cannot be started.
    pub fn estimate(&self, plan: &Plan, target: &Target, name: &str) -> Result<Value, LaunchError> {
        plan.check()?;
        target.check()?;
        if let Plan::Text(text) = plan {
            self.keep(&format!("{name}.toml"), text)?;
        }
        self.ask(&plan_words(plan, target, &self.plan_file(name)))
    }

    /// Returns the document that `plateau --json WORDS` prints. If the command fails, the document describes the
    /// problem.
    ///
    /// # Errors
    /// Returns an error if the process cannot be started, does not respond in time, or prints no document.
    pub fn ask(&self, words: &[OsString]) -> Result<Value, LaunchError> {
        let failed = || at(&self.program);
        let mut command = self.command();
        command.arg("--json").args(words).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(failed())?;
        let Some(stdout) = child.stdout.take() else { return Err(failed()(broken("no output"))) };
        // The output is read while waiting, because a full pipe would block the process.
        let reader = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = stdout.take(MOST_ANSWER_BYTES).read_to_end(&mut bytes);
            read.map(|_| bytes)
        });
        let mut looks = 0..LOOKS;
        while child.try_wait().map_err(failed())?.is_none() {
            if looks.next().is_none() {
                drop(child.kill());
                drop(child.wait());
                return Err(failed()(broken("it did not respond within a minute")));
            }
            pause(&child, LOOK_EVERY).map_err(failed())?;
        }
        let bytes = reader.join().map_err(|_| failed()(broken("no output")))?.map_err(failed())?;
        serde_json::from_slice(&bytes).map_err(|error| failed()(error.into()))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("--library").arg(&self.library).stdin(Stdio::null()).current_dir("/");
        // A separate process group, so that Ctrl-C in the parent's terminal does not reach the run.
        command.process_group(0);
        command
    }

    fn keep(&self, name: &str, text: &str) -> Result<(), LaunchError> {
        let folder = OwnedFolder::make(&self.folder).map_err(|error| at(&self.folder)(error.into()))?;
        let path = || at(self.folder.join(name));
        let mut file = folder.make_file(name).map_err(|error| path()(error.into()))?;
        file.set_len(0).and_then(|()| file.write_all(text.as_bytes())).map_err(path())
    }

    fn log(&self, name: &str) -> Result<File, LaunchError> {
        let folder = OwnedFolder::make(&self.folder).map_err(|error| at(&self.folder)(error.into()))?;
        let name = format!("{name}.log");
        let path = || at(self.folder.join(&name));
        let file = folder.make_file(&name).map_err(|error| path()(error.into()))?;
        file.set_len(0).map_err(path())?;
        Ok(file)
    }

    /// Starts a process and waits until it has begun a run or continued `run`.
    fn begin(&self, words: &[OsString], name: &str, run: Option<&str>) -> Result<Launched, LaunchError> {
        let before = run.map(|run| self.resumable(run)).transpose()?;
        let length = |journal: &Path| std::fs::metadata(journal).map_or(0, |found| found.len());
        let was = before.as_deref().map_or(0, length);
        let log = self.log(name)?;
        let (out, err) =
            (log.try_clone().map_err(at(&self.folder))?, log.try_clone().map_err(at(&self.folder))?);
        let mut command = self.command();
        command.arg("--quiet").args(words).stdout(out).stderr(err);
        let since = record::wall_now();
        let mut child = command.spawn().map_err(at(&self.program))?;
        // There is no limit on the time: until the run begins, the process may be formatting the drive, and killing it
        // would leave the drive half formatted. A hung process is waiting for a device, so no signal would end it.
        let mut looks = 0..LOOKS;
        loop {
            let ended = child.try_wait().map_err(at(&self.program))?;
            let begun = match (run, &before) {
                // A resumed run's journal grows when the run continues.
                (Some(run), Some(journal)) => (length(journal) > was).then(|| run.to_owned()),
                _ => held_by(child.id(), &self.library),
            };
            match (begun, ended) {
                (Some(run), _) => return Ok(Launched { run, child: Some(child) }),
                (None, Some(status)) => {
                    let found = run.map(ToOwned::to_owned).filter(|_| status.success());
                    let found = found.or_else(|| self.created_since(since, words));
                    let ended = |text| LaunchError::Ended { code: status.code(), text };
                    return match found {
                        Some(run) => Ok(Launched { run, child: None }),
                        None => Err(printed(log).map_or_else(at(&self.folder), ended)),
                    };
                }
                (None, None) => {
                    let every = if looks.next().is_some() { LOOK_EVERY } else { LOOK_LATER };
                    pause(&child, every).map_err(at(&self.program))?;
                }
            }
        }
    }

    /// Returns the newest run that was created after `since` with this command line. A short simulated run may
    /// begin and end between two polls.
    fn created_since(&self, since: jiff::Timestamp, words: &[OsString]) -> Option<String> {
        let names = std::fs::read_dir(&self.library).ok()?.flatten().map(|entry| entry.path());
        let runs = names.filter_map(|dir| Run::open(&dir).ok()).filter(|run| {
            let typed = run.file.command.iter().rev().map(OsString::from);
            run.file.created >= since && typed.take(words.len()).eq(words.iter().rev().cloned())
        });
        runs.max_by_key(|run| run.file.created).map(|run| run.file.id)
    }

    /// Returns the journal of a run that no process is working on. In case of doubt, a process is assumed to be
    /// working on the run.
    fn resumable(&self, run: &str) -> Result<PathBuf, LaunchError> {
        let opened = self.open(run)?;
        match opened.is_in_progress() {
            Ok(false) => Ok(opened.journal_path()),
            Ok(true) => Err(LaunchError::Running { run: run.into() }),
            Err(source) => Err(LaunchError::Unclear { run: run.into(), source }),
        }
    }

    /// Sends SIGINT to the run, as Ctrl-C does.
    fn stop(&self, run: &str) -> Result<Launched, LaunchError> {
        let journal = self.open(run)?.journal_path();
        let not_running = || LaunchError::NotRunning { run: run.into() };
        let pid = holder(&journal).ok_or_else(not_running)?;
        let process = Pid::from_raw(pid).ok_or_else(not_running)?;
        let failed = |errno: rustix::io::Errno| at(format!("process {pid}"))(errno.into());
        let descriptor = pidfd_open(process, PidfdFlags::empty()).map_err(failed)?;
        // The PID may have been reused before the process was opened, but cannot be reused afterwards.
        if holder(&journal) != Some(pid) {
            return Err(not_running());
        }
        pidfd_send_signal(&descriptor, Signal::INT).map_err(failed)?;
        Ok(Launched { run: run.into(), child: None })
    }

    fn open(&self, run: &str) -> Result<Run, LaunchError> {
        let opened = Library::at(&self.library).open(run).ok().filter(|opened| opened.file.id == run);
        opened.ok_or_else(|| LaunchError::NoSuchRun { run: run.into() })
    }
}

/// Waits until the next poll, or until the child has ended.
fn pause(child: &Child, every: Duration) -> std::io::Result<()> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let process = pidfd_open(pid.ok_or_else(|| broken("no process"))?, PidfdFlags::empty())?;
    let timeout = Timespec::try_from(every).map_err(|_| broken("no time"))?;
    match poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&timeout)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// Returns a process's output.
fn printed(mut log: File) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    log.seek(SeekFrom::Start(0))?;
    log.take(MOST_OUTPUT_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
}

fn broken(text: &str) -> std::io::Error {
    std::io::Error::other(text)
}
