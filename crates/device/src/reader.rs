//! A target that is only read: opened without write permission, so no confirmation is required.

use engine::{
    Answer, Bounds, Choosing, Clock, Fitting, Flow, LoadOptions, LoadOutcome, ReplayOptions, ReplaySource,
    Replayed, StreamOptions, Tick,
};
use record::{Effort, TargetFacts, Workload};

use crate::check::{check, stored, unverified};
use crate::choosing::choose;
use crate::error::DriveError;
use crate::error::target::TargetError;
use crate::sim::Simulated;
use crate::target::{Held, Real};

/// A target that may be read. Rejects all workloads with writes before any I/O. The kernel would also refuse
/// writes to a real target, as would the engine's queue for NVMe commands.
pub struct Reader {
    facts: TargetFacts,
    inner: Inner,
    effort: Option<Effort>,
}

#[expect(clippy::large_enum_variant, reason = "one value per target")]
enum Inner {
    Real { held: Held, clock: Clock, options: LoadOptions },
    Simulated(Box<Simulated>),
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("facts", &self.facts).finish_non_exhaustive()
    }
}

impl Reader {
    pub(crate) fn of_real(facts: TargetFacts, real: &Real, options: LoadOptions) -> Result<Self, DriveError> {
        let inner = Inner::Real {
            held: real.hold_to_read(options.sends_commands())?,
            clock: Clock::start(),
            options,
        };
        Ok(Self { facts, inner, effort: None })
    }

    pub(crate) fn of_simulated(facts: TargetFacts, simulated: Box<Simulated>) -> Self {
        Self { facts, inner: Inner::Simulated(simulated), effort: None }
    }

    /// Returns the properties of the target.
    #[must_use]
    pub fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    /// Returns the time on the target's clock, like [`crate::Armed::now_ns`].
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        match &self.inner {
            Inner::Real { clock, .. } => clock.now_ns(),
            Inner::Simulated(sim) => sim.now_ns(),
        }
    }

    /// Runs a workload of reads, like [`crate::Armed::run`].
    ///
    /// # Errors
    /// Returns the errors of [`crate::Armed::run`], and [`crate::ErrorKind::Invalid`] for a workload that writes.
    pub fn run(
        &mut self,
        workload: &Workload,
        on_tick: &mut dyn FnMut(&Tick) -> Flow,
    ) -> Result<LoadOutcome, DriveError> {
        self.effort = None;
        self.refuse_writes(workload)?;
        unverified(workload)?;
        check(workload, &self.facts)?;
        match &mut self.inner {
            Inner::Simulated(sim) => sim.run(workload, on_tick),
            Inner::Real { held, clock, options } => {
                let target = held.to_load(&self.facts.path, *clock, options);
                let outcome = engine::run(&target, workload, on_tick)?;
                self.effort = outcome.effort();
                Ok(outcome)
            }
        }
    }

    /// Checks that the target supports what a workload needs beyond reads, such as zones. Changes nothing.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Invalid`] if it does not.
    pub fn check_support(&self, workload: &Workload) -> Result<(), DriveError> {
        match &self.inner {
            Inner::Simulated(_) => Ok(()),
            Inner::Real { held, clock, options } => {
                Ok(engine::check_support(&held.to_load(&self.facts.path, *clock, options), workload)?)
            }
        }
    }

    /// Chooses an engine for each workload, like [`crate::Armed::choose_engines`].
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    pub fn choose_engines(
        &mut self,
        workloads: &[Workload],
        manners: &[usize],
        by: &Choosing<'_>,
    ) -> Result<(), DriveError> {
        for workload in workloads {
            self.refuse_writes(workload)?;
            check(workload, &self.facts)?;
        }
        if let Inner::Real { held, clock, options } = &mut self.inner {
            choose(held, &self.facts.path, *clock, options, (workloads, manners), by);
        }
        Ok(())
    }

    /// Runs several read workloads concurrently, like [`crate::Armed::run_concurrently`].
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    pub fn run_concurrently(
        &mut self,
        workloads: &[Workload],
        streams: &[StreamOptions<'_>],
        on_tick: &mut dyn FnMut(usize, &Tick) -> Flow,
    ) -> Result<Vec<Answer>, DriveError> {
        for workload in workloads {
            self.refuse_writes(workload)?;
            check(workload, &self.facts)?;
            stored(workload, &self.facts)?;
        }
        match &mut self.inner {
            Inner::Simulated(sim) => sim.run_concurrently(workloads, on_tick),
            Inner::Real { held, clock, options } => {
                let target = held.to_load(&self.facts.path, *clock, options);
                let streams = streams.iter().map(|stream| StreamOptions { read_back: false, ..*stream });
                Ok(engine::run_concurrently(&target, workloads, &streams.collect::<Vec<_>>(), on_tick)?)
            }
        }
    }

    /// Replays individual reads, like [`crate::Armed::replay`].
    ///
    /// # Errors
    /// Returns the errors of [`crate::Armed::replay`]; a write is also an error.
    pub fn replay(
        &mut self,
        options: &ReplayOptions,
        source: &mut ReplaySource<'_>,
        on_progress: &mut dyn FnMut(u64) -> Flow,
    ) -> Result<Option<Replayed>, DriveError> {
        let (capacity_bytes, sector_bytes) = (self.facts.capacity_bytes, self.facts.logical_block_bytes);
        let bounds = Bounds { capacity_bytes, sector_bytes, writes: false };
        let mut checked = Fitting::new(source, options, bounds);
        let replayed = match &mut self.inner {
            Inner::Simulated(sim) => sim.replay(options, &mut |batch| checked.next(batch), on_progress)?,
            Inner::Real { held, clock, options: load } => {
                let target = held.to_load(&self.facts.path, *clock, load);
                engine::replay(&target, options, &mut |batch| checked.next(batch), on_progress)?
            }
        };
        checked.outcome(&self.facts.path)?;
        Ok(replayed)
    }

    fn refuse_writes(&self, workload: &Workload) -> Result<(), DriveError> {
        if !workload.writes() {
            return Ok(());
        }
        let problem = TargetError::ReadOnly(Box::new(workload.clone()));
        Err(DriveError::target(&self.facts.path, problem))
    }

    /// Returns the CPU cost of the last workload, like [`crate::Armed::effort`].
    #[must_use]
    pub fn effort(&self) -> Option<Effort> {
        self.effort
    }
}
