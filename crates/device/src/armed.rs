//! A target that may be written to, and the loads that run on it.

use std::time::{Duration, Instant};

use engine::{
    Answer, Bounds, Choosing, Fitting, Flow, LoadOutcome, ReplayOptions, ReplaySource, Replayed,
    StreamOptions, Tick, check_ranges,
};
use record::{Effort, TargetFacts, Workload};

use crate::array::Assembly;
use crate::check::{check, stored};
use crate::choosing::choose;
use crate::error::DriveError;
use crate::exclusive::Inner;

/// Time between two checks whether an idle time is to end early.
const IDLE_STEP: Duration = Duration::from_millis(100);

/// A target that may be written to: held exclusively after the user confirmed its erasure.
pub struct Armed {
    pub(crate) facts: TargetFacts,
    /// For an array, the array's own device, not one of its members.
    pub(crate) inner: Inner,
    pub(crate) effort: Option<Effort>,
    /// Declared after `inner`, because fields are dropped in order and `inner` must be closed before the
    /// array can be dismantled.
    pub(crate) array: Option<Box<Assembly>>,
}

impl std::fmt::Debug for Armed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Armed").field("facts", &self.facts).finish_non_exhaustive()
    }
}

impl Armed {
    /// Returns what is known about the target.
    #[must_use]
    pub fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    /// Returns the time on the target's clock: monotonic time since it was armed, or the virtual time of a
    /// simulated drive.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        match &self.inner {
            Inner::Real { clock, .. } => clock.now_ns(),
            Inner::Simulated(sim) => sim.now_ns(),
        }
    }

    /// Runs a workload to completion, reporting progress to `on_tick` about once per second.
    ///
    /// The first failed I/O ends the run: a drive that loses I/Os has no performance to measure. Amounts are
    /// rounded down to whole blocks. At the end of a workload with verification, the blocks that the workload
    /// wrote are read back; the segment contains the findings and any failed I/O.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Invalid`] if the workload is rejected before any I/O, [`crate::ErrorKind::Device`] if an I/O
    /// fails, a loop device is remapped or another device is built on the target, [`crate::ErrorKind::Disturbed`] if
    /// the host is suspended or loses its clock during the run, and [`crate::ErrorKind::Unusable`] if the host lacks
    /// threads or memory.
    pub fn run(
        &mut self,
        workload: &Workload,
        on_tick: &mut dyn FnMut(&Tick) -> Flow,
    ) -> Result<LoadOutcome, DriveError> {
        self.effort = None;
        check(workload, &self.facts)?;
        self.check_in_between()?;
        let outcome = match &mut self.inner {
            Inner::Simulated(sim) => sim.run(workload, on_tick),
            Inner::Real { held, clock, options, .. } if workload.regime.verify => {
                Ok(engine::run_verified(&held.to_load(&self.facts.path, *clock, options), workload, on_tick)?)
            }
            Inner::Real { held, clock, options, .. } => {
                let outcome =
                    engine::run(&held.to_load(&self.facts.path, *clock, options), workload, on_tick)?;
                self.effort = outcome.effort();
                Ok(outcome)
            }
        }?;
        // The measurement is invalid if a member failed or the device was remapped during the load.
        self.check_in_between()?;
        if let LoadOutcome::Finished(segment) = &outcome {
            log::info!("load {workload} through {}: {:.3} s", segment.io_path, segment.seconds());
        }
        Ok(outcome)
    }

    /// Checks that the target supports what a workload needs beyond reads and writes, such as trims. Changes nothing.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Invalid`] if it does not.
    pub fn check_support(&self, workload: &Workload) -> Result<(), DriveError> {
        match &self.inner {
            Inner::Simulated(_) => Ok(()),
            Inner::Real { held, clock, options, .. } => {
                Ok(engine::check_support(&held.to_load(&self.facts.path, *clock, options), workload)?)
            }
        }
    }

    /// Measures the engines on the target, and chooses one for each workload, unless the engine was requested. From then
    /// on, exactly these workloads use the chosen engines. Writes only what they write. `manners` contains the manner of
    /// each workload, as in [`StreamOptions`].
    ///
    /// # Errors
    /// As for [`run`](Self::run), but a failed I/O is not an error: nothing is then chosen.
    pub fn choose_engines(
        &mut self,
        workloads: &[Workload],
        manners: &[usize],
        by: &Choosing<'_>,
    ) -> Result<(), DriveError> {
        workloads.iter().try_for_each(|workload| check(workload, &self.facts))?;
        self.check_in_between()?;
        if let Inner::Real { held, clock, options, .. } = &mut self.inner {
            choose(held, &self.facts.path, *clock, options, (workloads, manners), by);
        }
        self.check_in_between()
    }

    /// Runs several workloads concurrently, reporting the progress of each to `on_tick` about once per second.
    /// Each workload starts as soon as it is set up. A simulated drive has no manners, reads nothing back and ends no
    /// workload with another.
    ///
    /// # Errors
    /// Returns the errors of [`run`](Self::run); the first failure ends all workloads.
    pub fn run_concurrently(
        &mut self,
        workloads: &[Workload],
        streams: &[StreamOptions<'_>],
        on_tick: &mut dyn FnMut(usize, &Tick) -> Flow,
    ) -> Result<Vec<Answer>, DriveError> {
        for workload in workloads {
            check(workload, &self.facts)?;
            stored(workload, &self.facts)?;
        }
        check_ranges(&self.facts.path, workloads)?;
        self.check_in_between()?;
        let answers = match &mut self.inner {
            Inner::Simulated(sim) => sim.run_concurrently(workloads, on_tick),
            Inner::Real { held, clock, options, .. } => {
                let target = held.to_load(&self.facts.path, *clock, options);
                Ok(engine::run_concurrently(&target, workloads, streams, on_tick)?)
            }
        }?;
        self.check_in_between()?;
        Ok(answers)
    }

    /// Replays individual I/Os, each of which is checked before it is issued. `on_progress` receives the number of
    /// completed I/Os. Returns `None` if `on_progress` stopped the replay.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Invalid`] at the first I/O that does not fit the target; otherwise as for [`run`](Self::run).
    pub fn replay(
        &mut self,
        options: &ReplayOptions,
        source: &mut ReplaySource<'_>,
        on_progress: &mut dyn FnMut(u64) -> Flow,
    ) -> Result<Option<Replayed>, DriveError> {
        self.check_in_between()?;
        let (capacity_bytes, sector_bytes) = (self.facts.capacity_bytes, self.facts.logical_block_bytes);
        let bounds = Bounds { capacity_bytes, sector_bytes, writes: true };
        let mut checked = Fitting::new(source, options, bounds);
        let replayed = match &mut self.inner {
            Inner::Simulated(sim) => sim.replay(options, &mut |batch| checked.next(batch), on_progress)?,
            Inner::Real { held, clock, options: load, .. } => {
                let target = held.to_load(&self.facts.path, *clock, load);
                engine::replay(&target, options, &mut |batch| checked.next(batch), on_progress)?
            }
        };
        checked.outcome(&self.facts.path)?;
        self.check_in_between()?;
        Ok(replayed)
    }

    /// Returns the CPU cost of the last workload; `None` for a simulated drive.
    #[must_use]
    pub fn effort(&self) -> Option<Effort> {
        self.effort
    }

    /// Restarts recording the requests to a simulated drive; does nothing on a real target.
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

    /// Leaves the target idle for `ns`; on a simulated drive, this time is divided by the scale.
    ///
    /// # Errors
    /// None at present; reserved for devices that can fail while idle.
    pub fn idle(&mut self, ns: u64) -> Result<(), DriveError> {
        self.idle_until(ns, &mut || Flow::Continue).map(|_| ())
    }

    /// Same as [`idle`](Self::idle), but ends early if `is_over`, which is called several times a second, returns
    /// [`Flow::Stop`]; returns whether it did.
    ///
    /// # Errors
    /// As for [`idle`](Self::idle).
    pub fn idle_until(&mut self, ns: u64, is_over: &mut dyn FnMut() -> Flow) -> Result<Flow, DriveError> {
        Ok(match &mut self.inner {
            Inner::Real { .. } => sleep_until(Duration::from_nanos(ns), is_over),
            Inner::Simulated(sim) => {
                sim.idle(ns);
                Flow::Continue
            }
        })
    }

    fn check_in_between(&mut self) -> Result<(), DriveError> {
        self.inner.check_in_between()?;
        self.check_array()
    }

    pub(crate) fn check_array(&mut self) -> Result<(), DriveError> {
        self.array.as_mut().map_or(Ok(()), |array| array.check())
    }
}

/// Sleeps for this time, unless `is_over` ends it early.
fn sleep_until(length: Duration, is_over: &mut dyn FnMut() -> Flow) -> Flow {
    let begun = Instant::now();
    loop {
        match length.saturating_sub(begun.elapsed()) {
            Duration::ZERO => return Flow::Continue,
            _ if is_over() == Flow::Stop => return Flow::Stop,
            left => std::thread::sleep(left.min(IDLE_STEP)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_time_ends_when_the_run_is_interrupted() {
        let mut asked = 0;
        let slept = sleep_until(Duration::from_secs(3600), &mut || {
            asked += 1;
            if asked < 3 { Flow::Continue } else { Flow::Stop }
        });
        assert_eq!((slept, asked), (Flow::Stop, 3));
        assert_eq!(sleep_until(Duration::ZERO, &mut || Flow::Stop), Flow::Continue, "it was complete");
    }
}
