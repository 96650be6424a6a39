//! The device under test: identify, arm, purge, load.
//!
//! [`open`] inspects a target and never writes. [`Drive::arm`] refuses a target that is in use, requires the
//! identity of what would be erased, opens the target exclusively, and returns an [`Armed`]: the only type
//! with methods that write. [`Drive::open_to_read`] returns a [`Reader`], which cannot write. The clock for
//! measurements belongs to the target, because a simulated drive has its own.
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

// Code shared by unit tests and integration tests refers to this crate as `drive`.
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
pub use usage::built_on_file;

/// Options for opening a target.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// Size of a file; required if the file does not exist yet.
    pub size_bytes: Option<u64>,
    /// Libraries of runs. Their files are refused as targets, whatever path they are given by.
    pub libraries: Vec<PathBuf>,
    /// Scale of a simulated drive, such as `1/16`; `None` means full size.
    pub scale: Option<String>,
    /// Seed of a simulated drive.
    pub sim_seed: u64,
    /// Faults of a simulated drive, instead of those of its model; `None` keeps the model's faults.
    pub sim_faults: Option<Vec<String>>,
    /// Whether this is a simulated drive of a resumed run: one-time faults have already occurred.
    pub sim_resumed: bool,
    /// Ticks of a simulated drive follow each second of its virtual clock instead of the host's clock, so
    /// that a load stops at the same point in every run.
    pub sim_virtual_ticks: bool,
    /// I/O engine.
    pub engine: Engine,
    /// CPUs for the threads of a load; `None` pins each thread to a CPU near the device.
    pub placement: Option<Placement>,
    /// io_uring polling mode.
    pub polling: Polling,
}

/// Progress of a running workload: what happened since the previous tick.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tick {
    /// Time since the start of the workload.
    pub elapsed_ns: u64,
    /// Time since the previous tick; divide the following sums by it to get rates.
    pub interval_ns: u64,
    /// Reads completed.
    pub read_ios: u64,
    /// Writes completed.
    pub write_ios: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// Mean response time of reads and writes, 0 without I/O.
    pub latency_mean_ns: u64,
    /// Longest response time.
    pub latency_max_ns: u64,
    /// Completed share of the workload, 0 to 1.
    pub share_done: f64,
}

/// Decision of the receiver of a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Continue the workload.
    Continue,
    /// End the workload as soon as the outstanding I/Os have completed.
    Stop,
}

/// How a workload ended.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "one value per workload")]
pub enum Outcome {
    /// It ran to its end.
    Finished(Segment),
    /// The receiver of the ticks stopped it. Its measurements are incomplete and discarded.
    Stopped,
}

impl Outcome {
    /// Returns the CPU cost. `None` for a simulated drive, or if the workload was stopped.
    fn effort(&self) -> Option<Effort> {
        match self {
            Self::Finished(segment) => segment.host.as_ref().map(|host| host.effort),
            Self::Stopped => None,
        }
    }
}

/// A target that was inspected but not touched.
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

/// A target that may be written: held exclusively, after its erasure was confirmed.
pub struct Armed {
    facts: TargetFacts,
    /// For an array, the array's own device, not one of its members.
    inner: Inner,
    effort: Option<Effort>,
    /// Declared after `inner`, which must be closed before the array can be dismantled.
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

/// Inspects a target: `/dev/…`, the path of a regular file, `sim:MODEL`, or `array:FILE.toml`. Creates and
/// writes nothing.
///
/// # Errors
/// [`ErrorKind::Unusable`] when the target cannot be tested, [`ErrorKind::Invalid`] when threads cannot be
/// placed as requested.
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

/// Opens a device or file, on a host whose `/sys` and `/proc` are below `roots`.
fn open_real(target: &str, options: &OpenOptions, roots: host::Roots) -> Result<Drive, DriveError> {
    let real = Real::open(target, options, roots.clone())?;
    let manner = manner(target, &real, options, &roots)?;
    Ok(Drive { facts: real.facts().clone(), kind: Kind::Real(Box::new(real), manner) })
}

impl Drive {
    /// Returns what is known about the target.
    #[must_use]
    pub fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    /// Returns everything that currently forbids writing to the target.
    #[must_use]
    pub fn refusals(&self) -> Vec<Refusal> {
        match &self.kind {
            Kind::Real(real, _) => real.refusals(),
            Kind::Array(array) => array.refusals(),
            Kind::Simulated(_) => Vec::new(),
        }
    }

    /// Whether [`arm`](Self::arm) requires the target's identity: always for block devices and arrays, for
    /// files only if they hold data, never for simulated drives.
    #[must_use]
    pub fn needs_erase_confirmation(&self) -> bool {
        match &self.kind {
            Kind::Real(real, _) => real.needs_erase_confirmation(),
            Kind::Array(_) => true,
            Kind::Simulated(_) => false,
        }
    }

    /// Returns the state of an existing file; `None` for any other target.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`] when the file cannot be read, or is no longer the one that was inspected.
    pub fn file_state(&self) -> Result<Option<FileState>, DriveError> {
        match &self.kind {
            Kind::Real(real, _) => real.file_state(),
            Kind::Array(_) | Kind::Simulated(_) => Ok(None),
        }
    }

    /// Opens the target for reading only. Requires no confirmation, and works on a target in use.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`] when it does not exist, cannot be read, or is no longer the one that was
    /// inspected.
    pub fn open_to_read(self) -> Result<Reader, DriveError> {
        match self.kind {
            Kind::Simulated(simulated) => Ok(Reader::of_simulated(self.facts, simulated)),
            Kind::Real(real, manner) => Reader::of_real(self.facts, &real, manner),
            Kind::Array(_) => Err(array::only_for_runs(&self.facts.path)),
        }
    }

    /// Opens the target for writing. `erase` is the identity of what may be erased. Repeats all checks, and
    /// creates a file that does not exist.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] when it is in use, holds a known format, or `erase` is not its identity.
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
        // A wrong identity is an error even where none is required: the caller means another target.
        if (real.needs_erase_confirmation() || given.is_some()) && given.as_ref() != Some(&facts.identity) {
            return Err(DriveError::Unconfirmed { target: facts.path, identity: facts.identity, given });
        }
        log::info!("{}: no user and nothing known on it; opening it for writing", facts.path);
        let held = real.hold(manner.engine, given.is_some())?;
        if let Real::File(_) = *real {
            // Unknown until now if the file was just created.
            facts.logical_block_bytes = target::file::direct_block_bytes(&held.fd);
            facts.physical_block_bytes = facts.logical_block_bytes;
            facts.attachment = target::file::birth(&held.fd);
        }
        let inner = Inner::Real { real, held, clock: Clock::start(), manner };
        Ok(Armed { facts, inner, effort: None, array: None })
    }
}

impl Armed {
    /// Returns what is known about the target.
    #[must_use]
    pub fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    /// Returns the target's clock: monotonic since it was armed, or the virtual time of a simulated drive.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        match &self.inner {
            Inner::Real { clock, .. } => clock.now_ns(),
            Inner::Simulated(sim) => sim.now_ns(),
        }
    }

    /// Runs a workload to its end, and reports progress to `on_tick` about once per second.
    ///
    /// The first failed I/O ends the run: a drive that loses I/Os has no performance to measure. Amounts are
    /// rounded down to whole blocks.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] before any I/O, [`ErrorKind::Device`] when an I/O failed,
    /// [`ErrorKind::Disturbed`] when the host was suspended or lost its clock during the run,
    /// [`ErrorKind::Unusable`] when the host lacks the threads or memory.
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
        // A measurement during which a member failed is void.
        self.check_array()?;
        if let Outcome::Finished(segment) = &outcome {
            log::info!("load {workload} by {}: {:.3} s", segment.io_path, segment.seconds());
        }
        Ok(outcome)
    }

    /// Runs several workloads concurrently, and reports the progress of each to `on_tick` about once per
    /// second. Each starts as soon as it is set up. If `read_back` is set for a workload with verification,
    /// the blocks that it wrote are read back at its end.
    ///
    /// # Errors
    /// As for [`run`](Self::run); the first failure ends all workloads.
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

    /// Returns the CPU cost of the last workload; `None` for a simulated drive.
    #[must_use]
    pub fn effort(&self) -> Option<Effort> {
        self.effort
    }

    /// Makes a simulated drive restart the recording of its requests; no effect on a real target.
    pub fn watch(&mut self) {
        if let Inner::Simulated(sim) = &mut self.inner {
            sim.watch();
        }
    }

    /// Returns what a simulated drive recorded since [`watch`](Self::watch).
    #[must_use]
    pub fn witness(&self) -> Option<&nandsim::LoadRecorder> {
        match &self.inner {
            Inner::Simulated(sim) => sim.witness(),
            Inner::Real { .. } => None,
        }
    }

    /// Leaves the target idle for this long; a simulated drive for its scaled part of it.
    ///
    /// # Errors
    /// Currently none; reserved for devices that can fail here.
    pub fn idle(&mut self, ns: u64) -> Result<(), DriveError> {
        match &mut self.inner {
            Inner::Real { .. } => std::thread::sleep(Duration::from_nanos(ns)),
            Inner::Simulated(sim) => sim.idle(ns),
        }
        Ok(())
    }
}

/// Checks whether a target supports a workload, without accessing the target.
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
