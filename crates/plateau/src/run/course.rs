//! Executes a run independently of the command line: on any storage, for any audience, at any time.
//!
//! `run` and `resume` are built from the same functions. All inputs are passed in: the disk with its wall clock,
//! the run's id, the host, the audience and the Ctrl-C flag. A simulated drive has no other inputs, so the same
//! inputs yield the same journal.

use std::sync::atomic::AtomicBool;

use clap::Parser as _;
use console::Nobody;
pub use console::{Audience, Step};
use device::{Armed, OpenOptions, SimFaults};
use pts::Profile;
use record::{CacheChoice, Event, Gap, HostFacts, Journal, Library, Loaded, Run as StoredRun, RunFile};

use crate::cli::{Cli, Command};
use crate::failure::{Exit, Failure};
use crate::run::lifecycle::{self, Being, Work};
use crate::run::request::RunRequest;
use crate::run::session::Begin;
use host::write_cache;
use prepare::rebuild;

/// The reason why a run ended early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The program's exit code.
    pub exit: u8,
    /// The error message.
    pub message: String,
    /// Whether the cause is Ctrl-C, a failed device or storage, or an internal error. Unless faults were
    /// injected into the drive, any other cause is a bug in Plateau.
    pub may_resume: bool,
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Self {
        let may_resume =
            matches!(failure.exit, Exit::Interrupted | Exit::Run | Exit::Device | Exit::Internal);
        Self { exit: failure.exit.code(), message: failure.message(), may_resume }
    }
}

impl From<record::LibraryError> for Ended {
    fn from(error: record::LibraryError) -> Self {
        Failure::from(error).into()
    }
}

/// How a user resumes a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Resumption {
    /// Without an option: continue after the last result.
    Plain,
    /// `--restart-test`.
    RestartTest,
    /// `--continue-timeline`.
    ContinueTimeline,
}

/// A run that is being resumed, on a simulated drive.
#[derive(Debug)]
pub struct Reopened {
    /// The run.
    pub stored: StoredRun,
    /// The run's journal, open for appending.
    pub journal: Journal,
    /// The records in the journal.
    pub loaded: Loaded,
}

/// Returns the run requested by `words`, which are arguments of `plateau run`, without facts about this host.
///
/// # Errors
/// Returns an error if the command line is invalid, or the target is not a simulated drive.
pub fn run_file(words: &[&str], prefix: &str, created: jiff::Timestamp) -> Result<RunFile, Ended> {
    let usage = |text: String| Ended::from(Failure::text(Exit::Usage, text));
    let typed = ["plateau", "run"].iter().chain(words);
    let cli = Cli::try_parse_from(typed.clone()).map_err(|error| usage(error.to_string()))?;
    let Command::Run(options) = cli.command else { return Err(usage("not a run".into())) };
    let request = RunRequest::of(&options.request, &options.handling)?;
    let being = Being {
        prefix: prefix.into(),
        created,
        command: typed.map(ToString::to_string).collect(),
        host: |_| HostFacts::default(),
    };
    let (file, _) = lifecycle::prepare(request, being)?;
    match file.target.simulated {
        Some(_) => Ok(file),
        None => Err(usage(format!("{} is not a simulated drive", file.target.path))),
    }
}

/// Returns the simulated drive of `file` in its initial state.
///
/// # Errors
/// Returns an error if the model does not exist.
pub fn simulated_drive(file: &RunFile, resumed: bool) -> Result<Armed, Ended> {
    let sim = file.target.simulated.as_ref();
    let open = OpenOptions {
        scale: sim.map(|sim| format!("1/{}", sim.scale_divisor)),
        sim_seed: sim.map_or(0, |sim| sim.seed),
        sim_faults: sim.map(|sim| SimFaults::Recorded(sim.faults.clone())),
        sim_resumed: resumed,
        sim_virtual_ticks: true,
        ..OpenOptions::default()
    };
    let armed = device::open(&file.target.path, &open).and_then(|drive| drive.arm(None));
    armed.map_err(|error| Failure::from(error).into())
}

/// Starts a run and executes its tests.
///
/// # Errors
/// Returns an error if the run does not complete.
pub fn start(
    library: &Library,
    file: RunFile,
    armed: &mut Armed,
    interrupted: &AtomicBool,
    audience: &mut dyn Audience,
) -> Result<StoredRun, Ended> {
    let (run, mut journal) = lifecycle::begin(library, file, None)?;
    audience.print_line(&lifecycle::announcement(&run.file));
    perform(&run, armed, &mut journal, interrupted, audience, (&[], Begin::Fresh))?;
    Ok(run)
}

/// Removes what dead processes left behind, then opens run `id` to continue it.
///
/// # Errors
/// Returns an error if the run does not exist or is damaged.
pub fn reopen(library: &Library, id: &str) -> Result<Reopened, Ended> {
    library.sweep()?;
    let stored = library.find(id)?;
    let (journal, loaded) = stored.reopen()?;
    Ok(Reopened { stored, journal, loaded })
}

impl Reopened {
    /// Returns whether every test is complete.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        lifecycle::is_complete(&self.loaded)
    }

    /// Continues the run to its end on a drive in its initial state.
    ///
    /// # Errors
    /// Returns an error if the run does not complete.
    pub fn complete(
        mut self,
        armed: &mut Armed,
        how: Resumption,
        interrupted: &AtomicBool,
        audience: &mut dyn Audience,
    ) -> Result<StoredRun, Ended> {
        let gap = lifecycle::gap_since(&self.loaded, self.journal.now());
        rebuild::rebuild(armed, &self.loaded.entries, gap, interrupted, audience)?;
        self.journal.append(Event::Resumed { gap_ns: gap.length_ns }).map_err(Failure::from)?;
        let begin = how.begin(lifecycle::gap_before_answer(&self.loaded, gap));
        let left = (&self.loaded.entries[..], begin);
        perform(&self.stored, armed, &mut self.journal, interrupted, audience, left)?;
        Ok(self.stored)
    }
}

impl Resumption {
    pub(crate) const fn begin(self, gap: Gap) -> Begin {
        match self {
            Self::Plain => Begin::Continue(gap),
            Self::RestartTest => Begin::RestartTest,
            Self::ContinueTimeline => Begin::ContinueTimeline(gap),
        }
    }
}

/// Repeats everything in the journal on a drive in its initial state and compares the results.
///
/// # Errors
/// Returns an error that names the first record with a different result.
pub fn repeats(file: &RunFile, loaded: &Loaded) -> Result<(), Ended> {
    let mut armed = simulated_drive(file, true)?;
    let (gap, interrupted) = (Gap { length_ns: 0 }, AtomicBool::new(false));
    Ok(rebuild::rebuild(&mut armed, &loaded.entries, gap, &interrupted, &mut Nobody)?)
}

/// Sets the write cache, executes the tests, and restores the cache. No restore record is written, because the
/// simulated drive does not outlive the process.
fn perform(
    run: &StoredRun,
    armed: &mut Armed,
    journal: &mut Journal,
    interrupted: &AtomicBool,
    audience: &mut dyn Audience,
    (entries, begin): (&[record::Entry], Begin),
) -> Result<(), Ended> {
    let handling = &run.file.handling;
    let profile = Profile::named(&run.file.profile).map_err(|text| Failure::text(Exit::Run, text))?;
    let choice = handling.write_cache.unwrap_or(CacheChoice::Profile);
    let library = run.dir.parent().unwrap_or(&run.dir);
    let cache = write_cache::bring(armed, library, profile, choice, journal)?;
    let work = Work { run, armed, journal, interrupted, handling, progress: audience, metering: None };
    let result = lifecycle::tests(work, entries, begin);
    if let Some(changed) = cache {
        write_cache::restore(armed, changed, journal);
    }
    Ok(result?)
}
