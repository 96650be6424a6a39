//! The device under test: identify, arm, purge, load.
//!
//! [`open`] looks and never writes. [`Drive::arm`] refuses whatever anybody uses, asks for the
//! identity of what would be erased, opens it exclusively, and gives an [`Armed`]: the only value with
//! methods that write. [`Drive::open_to_read`] gives a [`Reader`], which cannot. The clock that results are measured with belongs to the target, because a
//! simulated drive has its own.
//!
//! This is the only crate of the project that contains `unsafe`, makes ioctls, or opens devices.

mod about;
mod admin;
mod array;
mod attached;
mod capability;
mod care;
mod ceiling;
mod checks;
mod clock;
mod error;
mod health;
mod host;
mod ioctl;
mod lba_format;
mod list;
mod load;
mod manner;
mod placement;
mod power;
mod program;
mod purge;
mod queue;
mod reader;
mod refusal;
mod signature;
mod sim;
mod target;
#[doc(hidden)]
pub mod untrusted;
mod usage;
mod wire;
mod write_cache;

// What tests of this crate share with those beside it names it so.
#[cfg(test)]
extern crate self as drive;

use std::path::PathBuf;
use std::time::Duration;

pub use record::Effort;
use record::{Placement, Segment, TargetFacts, Workload};

pub use about::{About, Fact, Value};
pub use array::dissolve_left_over;
use array::{Array, Assembly};
pub use attached::{Attached, Link, attached};
pub use ceiling::{Nowhere, Rehearsed, ceiling, quick_ceiling, rehearse, rehearse_by};
pub use checks::{HostLook, KnownSettings, Tuning};
use clock::Clock;
pub use error::{DriveError, ErrorKind};
pub use list::{Listed, list};
pub use load::findings::{Findings, Wrong, WrongPlace};
pub use load::together::Answer;
pub use manner::{Engine, Polling};
pub(crate) use manner::{Manner, manner};
pub use placement::shares;
pub use power::PowerMeter;
pub use program::has_more_rights_than_its_caller;
pub use purge::{PurgeMethod, PurgeOptions, Purging};
pub use reader::Reader;
pub use refusal::{Access, Refusal};
pub use signature::{Format, Signature};
use sim::Simulated;
pub use sim::model_of;
pub use target::FileState;
use target::{Held, Real};

/// How a target is opened.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// Size of a file; needed for one that does not exist yet.
    pub size_bytes: Option<u64>,
    /// Libraries of runs, whose files are refused as targets under any name.
    pub libraries: Vec<PathBuf>,
    /// Scale of a simulated drive, such as `1/16`; full size when none.
    pub scale: Option<String>,
    /// Seed of a simulated drive.
    pub sim_seed: u64,
    /// Faults laid over a simulated drive, in place of those of its model; none leaves the model's.
    pub sim_faults: Option<Vec<String>>,
    /// A simulated drive of a run that is resumed: what happens once has happened.
    pub sim_resumed: bool,
    /// A simulated drive says how a load goes on in each second of its own clock, not now and then on the clock of
    /// the host: the same load is stopped at the same place every time.
    pub sim_virtual_ticks: bool,
    /// How I/Os get into the kernel.
    pub engine: Engine,
    /// Where the threads of a load run; near the device and a processor each when none.
    pub placement: Option<Placement>,
    /// Who looks busily for what io_uring has to do.
    pub polling: Polling,
}

/// How a running workload is doing; what happened since the tick before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tick {
    /// Time since the start of the workload.
    pub elapsed_ns: u64,
    /// Time since the tick before; rates are the following sums divided by this.
    pub interval_ns: u64,
    /// Reads completed.
    pub read_ios: u64,
    /// Writes completed.
    pub write_ios: u64,
    /// Bytes of both.
    pub bytes: u64,
    /// Their mean response time, 0 without I/O.
    pub latency_mean_ns: u64,
    /// Their largest response time.
    pub latency_max_ns: u64,
    /// How much of this workload is done, 0 to 1.
    pub share_done: f64,
}

/// What a tick's receiver wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// End the workload as soon as the I/Os in flight are back.
    Stop,
}

/// How a workload ended.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "one value per workload")]
pub enum Outcome {
    /// It ran to its end.
    Finished(Segment),
    /// The receiver of the ticks stopped it; what was measured is incomplete and not kept.
    Stopped,
}

impl Outcome {
    /// What it cost the host; none for a simulated drive, and where it was stopped.
    fn effort(&self) -> Option<Effort> {
        match self {
            Self::Finished(segment) => segment.host.as_ref().map(|host| host.effort),
            Self::Stopped => None,
        }
    }
}

/// A target that was looked at and not touched.
#[derive(Debug)]
pub struct Drive {
    facts: TargetFacts,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Real(Box<Real>, Manner),
    Simulated(Box<Simulated>),
    Array(Box<Array>),
}

/// A target that may be written: held exclusively, and its owner has said that its content may go.
pub struct Armed {
    facts: TargetFacts,
    /// An array's own device, behind which its members are.
    inner: Inner,
    effort: Option<Effort>,
    /// Behind `inner`, which has to be closed before an array can be taken apart.
    array: Option<Box<Assembly>>,
}

enum Inner {
    Real { real: Box<Real>, held: Held, clock: Clock, manner: Manner },
    Simulated(Box<Simulated>),
}

impl std::fmt::Debug for Armed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Armed").field("facts", &self.facts).finish_non_exhaustive()
    }
}

/// Looks at a target: `/dev/…`, the path of a regular file, `sim:MODEL`, or `array:FILE.toml`. Creates and writes nothing.
///
/// # Errors
/// [`ErrorKind::Unusable`] when the target is nothing that can be tested, [`ErrorKind::Invalid`] when threads
/// cannot be placed as asked.
pub fn open(target: &str, options: &OpenOptions) -> Result<Drive, DriveError> {
    if let Some(model) = target.strip_prefix("sim:") {
        if options.placement.is_some() {
            return Err(DriveError::Invalid(format!("{target}: it has no threads that could be pinned")));
        }
        if options.polling != Polling::No {
            return Err(DriveError::Invalid(format!("{target}: it has nothing that could be polled")));
        }
        if options.engine == Engine::IoUringCmd {
            return Err(DriveError::Invalid(format!("{target}: io_uring_cmd requires an NVMe drive")));
        }
        let (simulated, facts) = Simulated::new(target, model, options)?;
        return Ok(Drive { facts, kind: Kind::Simulated(Box::new(simulated)) });
    }
    if let Some(file) = target.strip_prefix(array::PREFIX) {
        let (array, facts) = Array::open(target, file, options)?;
        return Ok(Drive { facts, kind: Kind::Array(Box::new(array)) });
    }
    open_real(target, options, host::Roots::default())
}

/// The same for what is real, on a host whose `/sys` and `/proc` are below `roots`.
fn open_real(target: &str, options: &OpenOptions, roots: host::Roots) -> Result<Drive, DriveError> {
    let real = Real::open(target, options, roots.clone())?;
    let manner = manner(target, &real, options, &roots)?;
    Ok(Drive { facts: real.facts().clone(), kind: Kind::Real(Box::new(real), manner) })
}

impl Drive {
    /// What is known about it.
    #[must_use]
    pub fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    /// Everything that forbids writing to it, looked up now.
    #[must_use]
    pub fn refusals(&self) -> Vec<Refusal> {
        match &self.kind {
            Kind::Real(real, _) => real.refusals(),
            Kind::Array(array) => array.refusals(),
            Kind::Simulated(_) => Vec::new(),
        }
    }

    /// Whether [`arm`](Self::arm) needs to be told its identity: block devices always, files that hold
    /// data, nothing else.
    #[must_use]
    pub fn needs_erase_confirmation(&self) -> bool {
        match &self.kind {
            Kind::Real(real, _) => real.needs_erase_confirmation(),
            Kind::Array(_) => true,
            Kind::Simulated(_) => false,
        }
    }

    /// How the file looks that it is; none for anything but an existing file.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`] when it cannot be read, or is no longer what was looked at.
    pub fn file_state(&self) -> Result<Option<FileState>, DriveError> {
        match &self.kind {
            Kind::Real(real, _) => real.file_state(),
            Kind::Array(_) | Kind::Simulated(_) => Ok(None),
        }
    }

    /// Takes it for reading only; needs no confirmation, and works on what is in use.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`] when it does not exist, cannot be read, or is no longer what was looked at.
    pub fn open_to_read(self) -> Result<Reader, DriveError> {
        match self.kind {
            Kind::Simulated(simulated) => Ok(Reader::of_simulated(self.facts, simulated)),
            Kind::Real(real, manner) => Reader::of_real(self.facts, &real, manner),
            Kind::Array(_) => Err(array::only_for_runs(&self.facts.path)),
        }
    }

    /// Takes it for writing. `erase` is the identity of what may be erased. Checks everything anew; a file
    /// that does not exist is made here.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] when it is in use, holds something known, or `erase` is not its identity.
    pub fn arm(self, erase: Option<&str>) -> Result<Armed, DriveError> {
        let Self { mut facts, kind } = self;
        let (real, manner) = match kind {
            Kind::Simulated(simulated) => {
                let inner = Inner::Simulated(simulated);
                return Ok(Armed { facts, inner, effort: None, array: None });
            }
            Kind::Real(real, manner) => (real, manner),
            Kind::Array(_) => return Err(array::only_for_runs(&facts.path)),
        };
        let given = erase.map(str::to_owned);
        let mut refusals = real.refusals();
        if refusals == [Refusal::Locked { tried: None }] && given.as_ref() == Some(&facts.identity) {
            real.unlock()?;
            refusals = real.refusals();
        }
        if !refusals.is_empty() {
            return Err(DriveError::Refused { target: facts.path, refusals });
        }
        // A wrong name is a mistake even where no name is needed: somebody meant another target.
        if (real.needs_erase_confirmation() || given.is_some()) && given.as_ref() != Some(&facts.identity) {
            return Err(DriveError::Unconfirmed { target: facts.path, identity: facts.identity, given });
        }
        log::info!("{}: no user and nothing known on it; opening it for writing", facts.path);
        let held = real.hold(manner.engine, given.is_some())?;
        if let Real::File(_) = *real {
            // Where a file was just made, this could not be known before.
            facts.logical_block_bytes = target::file::direct_block_bytes(&held.fd);
            facts.physical_block_bytes = facts.logical_block_bytes;
            facts.attachment = target::file::birth(&held.fd);
        }
        let inner = Inner::Real { real, held, clock: Clock::start(), manner };
        Ok(Armed { facts, inner, effort: None, array: None })
    }
}

impl Armed {
    /// What is known about it.
    #[must_use]
    pub fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    /// The target's clock: monotonic since it was armed, or the virtual time of a simulated drive.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        match &self.inner {
            Inner::Real { clock, .. } => clock.now_ns(),
            Inner::Simulated(sim) => sim.now_ns(),
        }
    }

    /// Runs a workload to its end, and tells `on_tick` about once per second how it goes.
    ///
    /// The first I/O that fails ends the run: a drive that loses I/Os has no performance to measure.
    /// Amounts are done in whole blocks; a rest below one block is not done.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] before anything was done, [`ErrorKind::Device`] when an I/O failed,
    /// [`ErrorKind::Disturbed`] when the host was suspended or lost its clock meanwhile,
    /// [`ErrorKind::Unusable`] when the host cannot offer that many threads or that much memory.
    pub fn run(
        &mut self,
        workload: &Workload,
        on_tick: &mut dyn FnMut(&Tick) -> Flow,
    ) -> Result<Outcome, DriveError> {
        self.effort = None;
        check(workload, &self.facts)?;
        load::together::unchecked(workload)?;
        self.check_array()?;
        let outcome = match &mut self.inner {
            Inner::Simulated(sim) => sim.run(workload, on_tick),
            Inner::Real { held, clock, manner, .. } => {
                let device = load::Device::of(&self.facts.path, held, *clock, manner);
                let (outcome, _) = load::run(&device, workload, on_tick)?;
                self.effort = outcome.effort();
                Ok(outcome)
            }
        }?;
        // What was measured while a member failed is no result.
        self.check_array()?;
        if let Outcome::Finished(segment) = &outcome {
            log::info!("load {workload} by {}: {:.3} s", segment.io_path, segment.seconds());
        }
        Ok(outcome)
    }

    /// Runs several workloads side by side, and tells `on_tick` about once per second how each goes. They begin
    /// as soon as each is set up. Of a workload with checks, what it wrote is read back at its end where
    /// `read_back` says so.
    ///
    /// # Errors
    /// As [`run`](Self::run); the first failure ends all of them.
    pub fn run_together(
        &mut self,
        workloads: &[Workload],
        read_back: &[bool],
        on_tick: &mut dyn FnMut(usize, &Tick) -> Flow,
    ) -> Result<Vec<Answer>, DriveError> {
        for workload in workloads {
            check(workload, &self.facts)?;
        }
        load::together::apart(workloads, &self.facts)?;
        self.check_array()?;
        match &mut self.inner {
            Inner::Simulated(sim) => sim.run_together(workloads, on_tick),
            Inner::Real { held, clock, manner, .. } => {
                let device = load::Device::of(&self.facts.path, held, *clock, manner);
                load::together::run(&device, workloads, read_back, on_tick)
            }
        }
    }

    /// What the last workload cost the host; none for a simulated drive.
    #[must_use]
    pub fn effort(&self) -> Option<Effort> {
        self.effort
    }

    /// A simulated drive begins to watch anew what it is asked for; a real one does nothing.
    pub fn watch(&mut self) {
        if let Inner::Simulated(sim) = &mut self.inner {
            sim.watch();
        }
    }

    /// What a simulated drive saw since [`watch`](Self::watch).
    #[must_use]
    pub fn witness(&self) -> Option<&nandsim::Witness> {
        match &self.inner {
            Inner::Simulated(sim) => sim.witness(),
            Inner::Real { .. } => None,
        }
    }

    /// Leaves it alone for this long (a scaled simulated drive: for that part of it).
    ///
    /// # Errors
    /// None at present; a device may come to fail this.
    pub fn idle(&mut self, ns: u64) -> Result<(), DriveError> {
        match &mut self.inner {
            Inner::Real { .. } => std::thread::sleep(Duration::from_nanos(ns)),
            Inner::Simulated(sim) => sim.idle(ns),
        }
        Ok(())
    }
}

/// Whether a target can do a workload at all; asks nothing of it.
///
/// # Errors
/// [`ErrorKind::Invalid`] with what is impossible and what would be possible.
pub fn check(workload: &Workload, facts: &TargetFacts) -> Result<(), DriveError> {
    workload
        .validate(facts.capacity_bytes, facts.logical_block_bytes)
        .map_err(|e| DriveError::Invalid(format!("{}: {e}", facts.path)))?;
    let unknown = (facts.kind == record::TargetKind::Simulated).then(|| sim::problem(workload)).flatten();
    if let Some(problem) = unknown.map(str::to_owned).or_else(|| load::content::problem(workload)) {
        return Err(DriveError::Invalid(format!("{}: workload {workload}: {problem}", facts.path)));
    }
    if facts.simulated.is_some() && workload.outstanding() > nandsim::MOST_IN_FLIGHT {
        return Err(DriveError::Invalid(format!(
            "workload {workload}: TC {} x QD {} exceeds the number of commands that a simulated drive \
             accepts; use a QD of up to {}",
            workload.threads,
            workload.queue_depth,
            nandsim::MOST_IN_FLIGHT / u32::from(workload.threads)
        )));
    }
    load::check_depth(workload)
}
