//! Runs planned, queued or started through this server.
//!
//! The server itself never accesses a drive. `plateau plan` estimates a plan, and a launcher starts a run as a separate
//! process. Queued runs are kept in a file, so they still start after the server is restarted.

mod entry;
mod means;
mod order;
mod queue;
mod stopped;
#[cfg(test)]
mod tests;
mod unchanged;
mod unplanned;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use launch::{LaunchError, Launcher, Plan, Request, Start, Target, TargetProblem, as_typed, words};
use record::{TargetFacts, TargetKind};
use serde_json::{Value, json};
use stdx::text::{panic_message, with_causes};

use crate::audit::Audit;
use crate::catalogue::{Catalogue, Usage};
use crate::error::ServeError;
pub use entry::{Entry, Stage};
use means::Means;
use order::{add, drive_of, new_name, place};
pub use queue::Queue;
use stopped::Stopped;
pub use unchanged::Unchanged;
pub use unplanned::Unplanned;

/// Interval at which a queued run checks whether its drive is free. Runs that this server started are also checked
/// when they end.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// All entries, oldest first, and the launcher that starts them.
pub struct Starts {
    catalogue: Arc<Catalogue>,
    launcher: Launcher,
    has_launcher: bool,
    means: Means,
    audit: Audit,
    queue: Queue,
    entries: Mutex<Vec<Entry>>,
    /// Signals that a run has ended or was given up, or that the server is shutting down.
    ended: Condvar,
    /// Runs that were sent the stop signal. A second signal would abort a run.
    stopped: Mutex<Vec<Stopped>>,
    stopping: AtomicBool,
}

impl Starts {
    /// Creates the list of entries, and requeues those that were queued when the server last stopped.
    ///
    /// # Errors
    /// Returns an error if the file with queued runs exists but cannot be read.
    pub fn of(
        catalogue: Arc<Catalogue>,
        program: PathBuf,
        queue: Queue,
        socket: Option<PathBuf>,
    ) -> Result<Arc<Self>, ServeError> {
        let folder = queue.folder().to_owned();
        let audit = Audit::at(&folder);
        let launcher = Launcher { program, library: catalogue.root().to_owned(), folder };
        let waiting = queue.read()?;
        let starts = Arc::new(Self {
            catalogue,
            has_launcher: socket.is_some(),
            means: Means::of(launcher.clone(), socket),
            launcher,
            audit,
            queue,
            entries: Mutex::new(waiting),
            ended: Condvar::new(),
            stopped: Mutex::default(),
            stopping: AtomicBool::new(false),
        });
        for entry in starts.all() {
            starts.follow(entry.name);
        }
        Ok(starts)
    }

    /// Returns the journal of changes.
    pub const fn audit(&self) -> &Audit {
        &self.audit
    }

    /// Stops all waiting threads. Runs are not affected.
    pub fn stop(&self) {
        // With the lock, so that no thread begins to wait after it has read the old value.
        let entries = self.entries();
        self.stopping.store(true, Ordering::Relaxed);
        self.ended.notify_all();
        drop(entries);
    }

    /// Returns all entries, newest first.
    pub fn all(&self) -> Vec<Entry> {
        self.entries().iter().rev().cloned().collect()
    }

    pub fn one(&self, name: &str) -> Option<Entry> {
        self.entries().iter().find(|entry| entry.name == name).cloned()
    }

    /// Returns the command line that is equivalent to an entry.
    pub fn command(&self, request: &Request, name: &str) -> String {
        match (words(request, &self.launcher.plan_file(name)), request) {
            (Some(words), _) => as_typed(&words),
            (None, request) => {
                format!("kill -INT (the process of run {})", request.run().unwrap_or_default())
            }
        }
    }

    /// Returns whether runs are started by a launcher, whose privileges differ from the server's.
    pub const fn has_launcher(&self) -> bool {
        self.has_launcher
    }

    /// Estimates a plan; returns the name of its entry.
    pub fn plan(&self, user: &str, plan: Plan, target: Target) -> Result<String, Unplanned> {
        let one = |why: String| Unplanned::Mistakes(vec![why]);
        let name = new_name().map_err(one)?;
        let estimate = self.launcher.estimate(&plan, &target, &name);
        let document = estimate.map_err(|error| one(with_causes(&error)))?;
        if let Some(problem) = TargetProblem::of(&document) {
            return Err(Unplanned::Target { path: target.path, problem });
        }
        if let Some(problem) = document["error"].as_str() {
            let file = self.launcher.plan_file(&name).display().to_string();
            // The path of this file is meaningless to the user who entered the plan.
            let lines = problem.lines().map(|line| line.replace(&file, "plan"));
            return Err(Unplanned::Mistakes(lines.collect()));
        }
        let facts: TargetFacts = serde_json::from_value(document["target"].clone())
            .map_err(|error| one(format!("the estimate cannot be read: {error}")))?;
        let has_checks = facts.kind != TargetKind::Simulated && std::path::Path::new(&target.path).exists();
        let words: [std::ffi::OsString; 2] = ["check".into(), (&target.path).into()];
        let failed = |error: LaunchError| json!({ "error": with_causes(&error) });
        let checks = if has_checks { self.launcher.ask(&words).unwrap_or_else(failed) } else { Value::Null };
        let request = Request::Start(Start { plan, target, identity: String::new() });
        let drive = drive_of(&facts);
        let entry = Entry {
            name: name.clone(),
            user: user.into(),
            at: record::wall_now(),
            request,
            document,
            checks,
            drive,
            stage: Stage::Planned,
            waits_for: None,
            warnings: Vec::new(),
        };
        add(&mut self.entries(), entry).map_err(one)?;
        Ok(name)
    }

    /// Starts a planned run. Repeating the call changes nothing. If the start cannot be stored, the run is still
    /// planned.
    pub fn confirm(self: &Arc<Self>, user: &str, name: &str, typed: &str) -> Result<(), Unchanged> {
        {
            let mut entries = self.entries();
            let position = entries.iter().position(|entry| entry.name == name);
            let position = position
                .ok_or_else(|| Unchanged::Unknown("this plan is no longer known; plan it again".into()))?;
            let planned = entries[position].clone();
            if planned.stage != Stage::Planned {
                return Ok(());
            }
            let Request::Start(mut start) = planned.request.clone() else { return Ok(()) };
            // When the run opens the drive, it checks the identity again, because the drive may have been
            // replaced since. A typo is reported here, so that the plan can be kept.
            if typed != planned.identity() {
                let why = mistyped(typed, planned.identity(), &start.target.path);
                return Err(Unchanged::Mistaken(why));
            }
            start.identity = typed.into();
            start.check().map_err(|error| Unchanged::Mistaken(error.to_string()))?;
            let request = Request::Start(start);
            let path = planned.document["target"]["path"].as_str().unwrap_or_default();
            let recorded = self.audit.record(user, "start", path, &self.command(&request, name));
            recorded.map_err(Unchanged::Unstored)?;
            // The order of the entries is the order of the queue.
            entries.remove(position);
            entries.push(Entry {
                request,
                user: user.into(),
                at: record::wall_now(),
                stage: Stage::Waiting,
                ..planned.clone()
            });
            let undo = |entries: &mut Vec<Entry>, _: &str| {
                entries.pop();
                entries.insert(position, planned);
            };
            self.store(&mut entries, undo).map_err(|why| {
                Unchanged::Unstored(format!(
                    "the run was not started, and the plan is kept: {why}; once the file can be written, start it again"
                ))
            })?;
        }
        self.follow(name.to_owned());
        Ok(())
    }

    /// Withdraws a waiting run. If the change cannot be stored, the run keeps waiting: it would otherwise start
    /// after a server restart.
    pub fn withdraw(&self, user: &str, name: &str) -> Result<(), Unchanged> {
        let mut entries = self.entries();
        let is_its = |entry: &Entry| entry.name == name && entry.stage == Stage::Waiting;
        let position = entries.iter().position(is_its);
        let position = position.ok_or_else(|| Unchanged::Late("this run is no longer waiting".into()))?;
        self.audit.record(user, "withdraw", name, "").map_err(Unchanged::Unstored)?;
        entries[position].stage = Stage::Failed(format!("withdrawn by {user}"));
        let stored = self.store(&mut entries, |entries, _| entries[position].stage = Stage::Waiting);
        stored.map_err(|why| {
            Unchanged::Unstored(format!("the run was not withdrawn and is still waiting: {why}"))
        })?;
        // The next run on the drive need not wait any longer.
        self.ended.notify_all();
        Ok(())
    }

    /// Resumes or restarts a run; returns the name of the entry. Repeating the call while the run is starting
    /// changes nothing.
    pub fn continue_run(self: &Arc<Self>, user: &str, request: Request) -> Result<String, Unchanged> {
        request.check().map_err(|error| Unchanged::Mistaken(error.to_string()))?;
        let run = request.run().and_then(|run| self.catalogue.run(run));
        let run = run.ok_or_else(|| Unchanged::Unknown("this library does not contain that run".into()))?;
        run.check_changeable().map_err(|error| Unchanged::Mistaken(error.to_string()))?;
        let name = new_name().map_err(Unchanged::Unstored)?;
        let what = if matches!(request, Request::Restart { .. }) { "restart" } else { "resume" };
        let command = self.command(&request, &name);
        {
            let mut entries = self.entries();
            let same = |entry: &&Entry| entry.request.run() == request.run() && entry.stage.is_active();
            if let Some(known) = entries.iter().find(same) {
                return Ok(known.name.clone());
            }
            add(
                &mut entries,
                Entry {
                    name: name.clone(),
                    user: user.into(),
                    at: record::wall_now(),
                    request,
                    document: Value::Null,
                    checks: Value::Null,
                    drive: drive_of(&run.file.target),
                    stage: Stage::Waiting,
                    waits_for: None,
                    warnings: Vec::new(),
                },
            )
            .map_err(Unchanged::Late)?;
            let recorded = self.audit.record(user, what, &run.file.id, &command);
            let forget = |entries: &mut Vec<Entry>| drop(entries.pop());
            recorded.inspect_err(|_| forget(&mut entries)).map_err(Unchanged::Unstored)?;
            self.store(&mut entries, |entries, _| forget(entries)).map_err(Unchanged::Unstored)?;
        }
        self.follow(name.clone());
        Ok(name)
    }

    /// Sends SIGINT to a run once, as Ctrl-C does.
    pub fn stop_run(&self, user: &str, run: &str, resumed: usize) -> Result<(), Unchanged> {
        let request = Request::Stop { run: run.into() };
        request.check().map_err(|error| Unchanged::Mistaken(error.to_string()))?;
        let mut stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        let journal = self.catalogue.run(run).map(|run| run.journal_path());
        let process = journal.and_then(|journal| (self.means.process)(&journal));
        let asked = Stopped { run: run.into(), process, resumed };
        if let Some(known) = stopped.iter_mut().find(|known| known.includes(&asked)) {
            known.resumed = resumed;
            return Ok(());
        }
        let recorded = self.audit.record(user, "stop", run, &self.command(&request, ""));
        recorded.map_err(Unchanged::Unstored)?;
        self.perform(&request, "stop").map_err(|error| Unchanged::Late(with_causes(&error)))?;
        stopped.retain(|known| known.run != run);
        stopped.push(asked);
        Ok(())
    }

    fn perform(&self, request: &Request, name: &str) -> Result<launch::Launched, LaunchError> {
        (self.means.perform)(request, name)
    }

    /// Starts a thread that starts an entry as soon as its drive is free.
    fn follow(self: &Arc<Self>, name: String) {
        let (starts, followed) = (Arc::clone(self), name.clone());
        let body = move || {
            let started = catch_unwind(AssertUnwindSafe(|| starts.start_when_free(&followed)));
            if let Err(panic) = started {
                let why = format!(
                    "the server failed while it was starting the run (internal error: {}); if the library does not \
                     contain the run, start it again",
                    panic_message(&*panic)
                );
                starts.fail(&followed, &why);
            }
        };
        if let Err(error) = (self.means.spawn)(Box::new(body)) {
            let why = format!("the server cannot start another thread: {error}; start the run again later");
            self.fail(&name, &why);
        }
    }

    /// Starts an entry as soon as its drive is free, and waits until its process ends.
    fn start_when_free(&self, name: &str) {
        while !self.take_if_free(name) {
            let entries = self.entries();
            if self.stopping.load(Ordering::Relaxed) {
                return;
            }
            drop(self.ended.wait_timeout(entries, LOOK_EVERY));
        }
        let Some(entry) = self.one(name).filter(|entry| entry.stage == Stage::Starting) else { return };
        match self.perform(&entry.request, name) {
            Ok(launched) => {
                self.set(name, Stage::Begun(launched.run));
                // A process that nobody waits for would remain as a zombie.
                drop(launched.child.map(|mut child| child.wait()));
            }
            Err(error) => self.set(name, Stage::Failed(with_causes(&error))),
        }
        self.ended.notify_all();
    }

    /// Gives up an entry that no thread will start. Otherwise, later runs on its drive would wait for it, and the
    /// next server would start it.
    fn fail(&self, name: &str, why: &str) {
        let mut entries = self.entries();
        let is_its = |entry: &Entry| entry.name == name && entry.stage.is_active();
        let Some(position) = entries.iter().position(is_its) else { return };
        entries[position].stage = Stage::Failed(why.into());
        if let Err(unstored) = self.queue.write(&entries) {
            let more = format!("{why}; {unstored}, so the run may start when the server is restarted");
            entries[position].stage = Stage::Failed(more);
        }
        self.ended.notify_all();
    }

    /// Marks the entry as starting if its drive is free. Returns whether the entry no longer needs to wait.
    fn take_if_free(&self, name: &str) -> bool {
        // The library is read without holding the lock on the entries, because reading can take a long time. Runs ahead
        // of this one are checked before and after reading the library, because a run may begin in the meantime.
        let before = place(&self.entries(), name);
        let Some((_, drive, before)) = before else { return true };
        let is_its = |target: &TargetFacts| drive_of(target) == drive;
        let used = match before {
            Some(why) => Usage::by(why),
            None if drive.is_some() => self.catalogue.usage(is_its),
            None => Usage::default(),
        };
        let mut entries = self.entries();
        let Some((position, _, ahead)) = place(&entries, name) else { return true };
        entries[position].waits_for = ahead.or(used.by);
        entries[position].warnings = used.warnings;
        if entries[position].waits_for.is_some() {
            return false;
        }
        entries[position].stage = Stage::Starting;
        // The entry is removed from the file first, because after a crash it is better not to start a run than to start
        // it twice.
        self.store(&mut entries, |entries, why| {
            entries[position].stage = Stage::Waiting;
            entries[position].waits_for = Some(why.into());
        })
        .is_ok()
    }

    /// Stores the waiting entries; if this fails, undoes the change to them.
    fn store(
        &self,
        entries: &mut Vec<Entry>,
        undo: impl FnOnce(&mut Vec<Entry>, &str),
    ) -> Result<(), String> {
        self.queue.write(entries).inspect_err(|why| {
            undo(entries, why);
            // The file may have been replaced before the failure. If it cannot be replaced now, it was most likely
            // not replaced before either.
            drop(self.queue.write(entries));
        })
    }

    fn set(&self, name: &str, stage: Stage) {
        if let Some(entry) = self.entries().iter_mut().find(|entry| entry.name == name) {
            entry.stage = stage;
        }
    }

    fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn mistyped(typed: &str, identity: &str, path: &str) -> String {
    let typed = match typed {
        "" => "No identity was entered".to_owned(),
        typed => format!("'{}' is not the identity of {path}", typed.escape_debug()),
    };
    let identity = identity.escape_debug();
    format!("{typed}. Nothing was started, and the plan is unchanged: type {identity} to start it.")
}
