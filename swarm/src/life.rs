//! One process: it finds a disk, runs the product's code on it, and leaves a log of events.

use std::collections::hash_map::DefaultHasher;
use std::fmt::Debug;
use std::hash::{Hash as _, Hasher as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use plateau::course::{self, Ended, Reopened, Resumption};
use record::storage::Storage;
use record::storage::simulated::{Disk, Logged, Simulated};
use record::{Library, RunFile};

use crate::check::{Broken, Promise};
use crate::script::{Clock, Life};
use crate::shown::Shown;
use crate::witness::{Attempt, Witness};

const ROOT: &str = "/var/lib/plateau/runs";

/// The product under test. Tests use a broken product instead, to prove that the checks detect it.
pub trait Product: Debug {
    /// Returns the disk that the product uses in place of `disk`.
    fn storage(&self, disk: &Simulated) -> Arc<dyn Storage>;
    /// Returns how the product resumes a run if the user requests `planned`.
    fn resumption(&self, planned: Resumption) -> Resumption;
}

/// The unmodified product.
#[derive(Debug, Clone, Copy, Default)]
pub struct WholeProduct;

impl Product for WholeProduct {
    fn storage(&self, disk: &Simulated) -> Arc<dyn Storage> {
        Arc::new(disk.clone())
    }

    fn resumption(&self, planned: Resumption) -> Resumption {
        planned
    }
}

/// A process that has not yet done anything.
#[derive(Debug)]
pub(crate) struct Process<'a> {
    product: &'a dyn Product,
    pub disk: Simulated,
    pub library: Library,
}

/// The state that a process found on its disk.
#[derive(Debug)]
pub(crate) struct Found {
    /// The run; `None` if it had not been created.
    pub run: Option<Reopened>,
    /// Hash of the disk after leftovers were removed.
    pub state: u64,
    /// The raw bytes of the journal.
    pub journal: Option<Vec<u8>>,
}

/// What a process leaves behind: its log, its disk, and everything that it displayed.
#[derive(Debug)]
pub(crate) struct Lived {
    pub log: Vec<Logged>,
    pub disk: Disk,
    pub shown: Vec<Shown>,
    pub ended: Result<(), Ended>,
    pub broken: Option<Broken>,
    pub calls: u64,
}

/// Returns the path of the journal that belongs to `file`.
pub(crate) fn journal_path(file: &RunFile) -> PathBuf {
    Path::new(ROOT).join(&file.id).join("journal")
}

impl<'a> Process<'a> {
    /// Creates the process at position `number` of a script, counted from 0.
    pub fn new(product: &'a dyn Product, disk: Disk, file: &RunFile, life: &Life, number: usize) -> Self {
        let disk = Simulated::on(disk, time(file.created, life.clock, number), life.faults.clone());
        let library = Library::on(product.storage(&disk), ROOT);
        Self { product, disk, library }
    }

    /// Looks for the run, as `plateau resume` does.
    pub fn find(&self, file: &RunFile) -> Result<Found, Broken> {
        let torn = |text: String| Broken { promise: Promise::NoTornRun, text };
        let (runs, unreadable) = self.library.list().map_err(|error| torn(error.to_string()))?;
        if let Some(error) = unreadable.first() {
            return Err(torn(error.to_string()));
        }
        let run = match runs.iter().any(|run| run.file.id == file.id) {
            true => Some(course::reopen(&self.library, &file.id).map_err(|ended| torn(ended.message))?),
            false => self.library.sweep().map(|()| None).map_err(|error| torn(error.to_string()))?,
        };
        let left = self.disk.list(Path::new(ROOT)).unwrap_or_default();
        if left.len() != usize::from(run.is_some()) {
            return Err(torn(format!("the library contains {left:?}")));
        }
        let disk = self.disk.disk();
        let mut hasher = DefaultHasher::new();
        disk.hash(&mut hasher);
        let journal = disk.read(&journal_path(file)).map(<[u8]>::to_vec);
        Ok(Found { run, state: hasher.finish(), journal })
    }

    /// Starts the run, or resumes the one that was found, and continues until the run completes or the process
    /// fails.
    pub fn live(self, file: &RunFile, life: &Life, found: Option<Reopened>, is_first: bool) -> Lived {
        let attempt = found.as_ref().map(|run| Attempt::of(&run.loaded, may_restart(file, life.how)));
        let mut witness = Witness::of(&self.disk, attempt.unwrap_or_default(), is_first);
        let ended = catch_unwind(AssertUnwindSafe(|| self.act(file, life, found, &mut witness)));
        let Witness { shown, mut broken, .. } = witness;
        let ended = ended.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "a panic".into());
            broken = Some(Broken { promise: Promise::NoPanic, text: text.clone() });
            Err(Ended { exit: 101, message: text, may_resume: false })
        });
        if let Err(ended) = &ended
            && !ended.may_resume
        {
            let text = format!("exit code {}: {}", ended.exit, ended.message);
            broken.get_or_insert(Broken { promise: Promise::Completes, text });
        }
        let (log, disk) = (self.disk.log(), self.disk.disk());
        Lived { log, disk, shown, ended, broken, calls: self.disk.calls() }
    }

    fn act(
        &self,
        file: &RunFile,
        life: &Life,
        found: Option<Reopened>,
        witness: &mut Witness,
    ) -> Result<(), Ended> {
        let interrupted = self.disk.interrupted();
        match found {
            None => {
                let mut armed = course::simulated_drive(file, false)?;
                course::start(&self.library, file.clone(), &mut armed, &interrupted, witness)?;
            }
            Some(run) if run.is_complete() => {}
            Some(run) => {
                let mut armed = course::simulated_drive(&run.stored.file, true)?;
                let how = self.product.resumption(life.how);
                run.complete(&mut armed, how, &interrupted, witness)?;
            }
        }
        Ok(())
    }
}

/// Returns whether a test may start again: if the user requests it, or if its result is a timeline.
fn may_restart(file: &RunFile, how: Resumption) -> bool {
    let has_timeline =
        file.tests.iter().any(|name| pts::Task::named(file, name).is_ok_and(|task| task.is_timeline()));
    how == Resumption::RestartTest || (how == Resumption::Plain && has_timeline)
}

fn time(created: Timestamp, clock: Clock, number: usize) -> Timestamp {
    let hours = match clock {
        Clock::Stands => 0,
        Clock::Goes => 24,
        Clock::Back => -1,
    };
    let passed = SignedDuration::from_hours(hours * i64::try_from(number).unwrap_or(0));
    created.saturating_add(passed).unwrap_or(created)
}
