//! The live bench: takes results from the journal until it ends, then from the drive.
//!
//! Only this module connects the method (`pts`) and the device (`device`). Each result from the drive is on disk before
//! the test or the audience receives it.

use std::sync::atomic::{AtomicBool, Ordering};

use console::{Audience, Step};
use device::{Armed, Counters, DriveError, ErrorKind, PurgeOptions, Purging};
use engine::{Flow, LoadOutcome};
use power::{HostMeters, PowerError, Sampler};
use pts::{Bench, Context, Replay, Stop, Task};
use record::{
    Ceiling, Entry, Event, Gap, Health, Journal, Note, OnFile, Power, Purged, RunFile, Segment, Workload,
};
use stdx::units::SECOND_NS;

use crate::failure::message::of_drive;
use crate::failure::{Done, Exit, Failure};

/// Minimum interval between health readings while a test measures; shorter on a scaled drive.
const HEALTH_EVERY_NS: u64 = 60 * SECOND_NS;

/// The point at which a session starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// A new run.
    Fresh,
    /// After the last result in the journal, following this interruption. A test whose timeline is the result
    /// restarts from its purge.
    Continue(Gap),
    /// Same as `Continue`, but timelines continue with a gap.
    ContinueTimeline(Gap),
    /// At the interrupted test's purge.
    RestartTest,
}

/// The state of a session.
pub struct Session<'a> {
    pub armed: &'a mut Armed,
    pub journal: &'a mut Journal,
    pub progress: &'a mut dyn Audience,
    pub interrupted: &'a AtomicBool,
    replay: Replay<'static>,
    purge: PurgeOptions,
    /// Time of the last health reading, on the drive's clock.
    health_read_ns: Option<u64>,
    /// The host's power meters, for health readings; `None` if the drive is simulated.
    meters: Option<HostMeters>,
    /// I/O on the devices underlying a target file; `None` if the target is not a file or its devices are
    /// unknown.
    counters: Option<Counters>,
    /// Samples power during loads.
    sampler: Option<Sampler>,
    /// Whether the user has been told that power cannot be measured.
    has_warned: bool,
    gap: Option<Gap>,
    ceiling: Option<Ceiling>,
    failure: Option<Failure>,
}

impl<'a> Session<'a> {
    pub fn new(
        armed: &'a mut Armed,
        journal: &'a mut Journal,
        progress: &'a mut dyn Audience,
        interrupted: &'a AtomicBool,
        purge: PurgeOptions,
    ) -> Self {
        let replay = Replay::of("", &[]);
        let meters = armed.facts().simulated.is_none().then(HostMeters::default);
        let counters = armed.file_system().and_then(|found| found.counters);
        let (health_read_ns, gap, ceiling, failure) = (None, None, None, None);
        Self {
            armed,
            journal,
            progress,
            interrupted,
            replay,
            purge,
            health_read_ns,
            meters,
            counters,
            sampler: None,
            has_warned: false,
            gap,
            ceiling,
            failure,
        }
    }

    /// Measures power during each load.
    #[must_use]
    pub fn with_power(self, sampler: Option<Sampler>) -> Self {
        Self { sampler, ..self }
    }

    /// Executes all tests of `run` that are not complete in `entries`.
    pub fn execute(&mut self, run: &RunFile, entries: &[Entry], begin: Begin) -> Done {
        let context = Context::of(run).map_err(|e| Failure::text(Exit::Run, e))?;
        self.ceiling.clone_from(&run.ceiling);
        for name in &run.tests {
            let ended = |e: &Entry| matches!(&e.event, Event::TestEnded { test, .. } if test == name);
            let started = |e: &Entry| matches!(&e.event, Event::TestStarted { test } if test == name);
            if entries.iter().any(ended) {
                continue;
            }
            let started = entries.iter().any(started);
            let test = Task::named(run, name).map_err(|e| Failure::text(Exit::Run, e))?;
            self.begin_test(test, started.then_some(entries), begin)?;
            self.run_test(&context, test)?;
        }
        self.keep(Event::Closed).map_err(|stop| self.failure_of(&stop))
    }

    fn begin_test(&mut self, test: Task<'_>, earlier: Option<&[Entry]>, begin: Begin) -> Done {
        let name = test.name().to_owned();
        let gap = match begin {
            Begin::Continue(gap) => (!test.is_timeline()).then_some(gap),
            Begin::ContinueTimeline(gap) => Some(gap),
            Begin::Fresh | Begin::RestartTest => None,
        };
        let (replay, event) = match (earlier, gap) {
            (Some(entries), Some(gap)) => {
                self.gap = Some(gap);
                (Replay::of(test.name(), entries).into_owned(), None)
            }
            (Some(_), None) => (Replay::of(test.name(), &[]), Some(Event::Restarted { test: name })),
            (None, _) => (Replay::of(test.name(), &[]), Some(Event::TestStarted { test: name })),
        };
        self.replay = replay;
        event.map_or(Ok(()), |event| self.keep(event)).map_err(|stop| self.failure_of(&stop))
    }

    fn run_test(&mut self, context: &Context<'_>, test: Task<'_>) -> Done {
        let outcome = test.run(context, self);
        match outcome.stop {
            None => {
                // The test's verdict also depends on the drive's state after the last cell.
                self.read_health().map_err(|stop| self.failure_of(&stop))?;
                let ended = Event::TestEnded { test: test.name().into(), converged: outcome.converged };
                self.keep(ended).map_err(|stop| self.failure_of(&stop))
            }
            Some(stop) => {
                // When the run is continued, this reading shows whether others have written to the drive. A
                // simulated drive does not outlive its process.
                if matches!(stop, Stop::Interrupted(_)) && self.armed.facts().simulated.is_none() {
                    drop(self.read_health());
                }
                // Errors are ignored: the journal itself may have failed, and the first failure must be
                // reported.
                // The event itself says that the run was interrupted.
                let reason = if let Stop::Interrupted(why) = &stop { why.clone() } else { stop.to_string() };
                drop(self.journal.append(Event::Interrupted { reason }));
                Err(self.failure_of(&stop))
            }
        }
    }

    fn failure_of(&mut self, stop: &Stop) -> Failure {
        self.failure.take().unwrap_or_else(|| {
            let exit = if matches!(stop, Stop::Interrupted(_)) { Exit::Interrupted } else { Exit::Run };
            Failure::text(exit, stop.to_string())
        })
    }

    fn keep(&mut self, event: Event) -> Result<(), Stop> {
        match self.journal.append(event) {
            Ok(entry) => {
                self.progress.event(&entry.event);
                Ok(())
            }
            Err(error) => Err(self.fail(error.into())),
        }
    }

    /// Reads the drive's health before a workload, when no I/O is outstanding, at most once a minute.
    fn read_health_if_due(&mut self) -> Result<(), Stop> {
        let now_ns = self.armed.now_ns();
        let scale =
            self.armed.facts().simulated.as_ref().map_or(1, |sim| u64::from(sim.scale_divisor.max(1)));
        let due = self
            .health_read_ns
            .is_none_or(|read_ns| now_ns.saturating_sub(read_ns) >= HEALTH_EVERY_NS / scale);
        if due { self.read_health() } else { Ok(()) }
    }

    fn read_health(&mut self) -> Result<(), Stop> {
        let at_ns = self.armed.now_ns();
        self.health_read_ns = Some(at_ns);
        let power_milliwatts = self.meters.as_mut().map(HostMeters::read).unwrap_or_default();
        let health = Health { power_milliwatts, ..self.armed.health() };
        // Empty readings are not recorded: files and many virtual devices report nothing.
        if health == Health::default() { Ok(()) } else { self.keep(Event::Health { at_ns, health }) }
    }

    fn fail(&mut self, failure: Failure) -> Stop {
        let stop = Stop::Failed(failure.message());
        self.failure = Some(failure);
        stop
    }

    fn device(&mut self, mut error: DriveError) -> Stop {
        if let Some(cut) = error.take_cut() {
            // If the journal also fails, report the device's failure, which came first.
            drop(self.keep(Event::Cut(*cut)));
        }
        self.fail(error.into())
    }

    fn drive_load(&mut self, workload: &Workload, measured: bool) -> Result<Segment, Stop> {
        let before = self.counters.as_ref().and_then(Counters::read);
        let metering = self.sampler.as_ref().map(Sampler::begin);
        let (progress, interrupted) = (&mut *self.progress, self.interrupted);
        progress.begin(workload, measured);
        let driven = self.armed.run(workload, &mut |tick| {
            progress.tick(tick);
            if interrupted.load(Ordering::Relaxed) { Flow::Stop } else { Flow::Continue }
        });
        let power = self.power(metering);
        let below = self.counters.as_ref().and_then(|counters| counters.since(before));
        let on_file = self.armed.on_file().map(|on_file| OnFile { below, ..on_file });
        match driven {
            Ok(LoadOutcome::Finished(segment)) => Ok(Segment { power, on_file, ..self.completed(segment) }),
            Ok(LoadOutcome::Stopped) => Err(Stop::Interrupted(format!("stopped during {workload}"))),
            Err(error) => Err(self.device(error)),
        }
    }

    /// Ends a power measurement. A meter failure does not fail the run.
    fn power(&mut self, begun: Option<Result<(), PowerError>>) -> Option<Power> {
        let sampler = self.sampler.as_ref()?;
        let measured = begun?.and_then(|()| sampler.end());
        measured.unwrap_or_else(|error| {
            log::warn!("power was not measured: {error}");
            if !std::mem::replace(&mut self.has_warned, true) {
                self.progress
                    .print_line(&format!("warning: power was not measured: {error}; the test continues"));
            }
            None
        })
    }

    /// Before anything is measured, waits until an array's members are synchronized.
    fn settle(&mut self, purged: &mut Purged) -> Result<(), Stop> {
        let (progress, interrupted) = (&mut *self.progress, self.interrupted);
        let mut is_shown = false;
        let settled = self.armed.settle(&mut |what, share| {
            if !std::mem::replace(&mut is_shown, true) {
                progress.step(Step::Settle(what));
            }
            progress.share_done(share);
            if interrupted.load(Ordering::Relaxed) { Flow::Stop } else { Flow::Continue }
        });
        if let Some(evidence) = settled.map_err(|e| self.device(e))? {
            purged.end_ns = self.armed.now_ns();
            purged.evidence.push(evidence);
        }
        self.check_interrupted()
    }

    /// Adds to a segment the facts that the `device` crate cannot know.
    fn completed(&mut self, mut segment: Segment) -> Segment {
        let share = self.ceiling.as_ref().and_then(|ceiling| ceiling.share_of(&segment));
        if let Some(host) = &mut segment.host {
            host.ceiling_share = share;
        }
        Segment { gap_before: self.gap.take(), ..segment }
    }

    fn check_interrupted(&self) -> Result<(), Stop> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(Stop::Interrupted("stopped between two steps".into()));
        }
        Ok(())
    }
}

impl Bench for Session<'_> {
    fn purge(&mut self) -> Result<Purged, Stop> {
        match self.replay.purge() {
            Err(Stop::EndOfJournal) => {}
            answered => return answered,
        }
        self.check_interrupted()?;
        self.progress.step(Step::Purge);
        // Interruptions before the purge do not affect the results.
        self.gap = None;
        self.read_health()?;
        let (progress, interrupted) = (&mut *self.progress, self.interrupted);
        let purged = self.armed.purge_with(&self.purge, &mut |purging| {
            match purging {
                Purging::Step(text) => progress.step(Step::PurgeStep(text)),
                Purging::ShareDone(share) => progress.share_done(share),
                Purging::Expected(length) => progress.expected(length),
                Purging::Waiting => {}
            }
            if interrupted.load(Ordering::Relaxed) { Flow::Stop } else { Flow::Continue }
        });
        let mut purged = purged.map_err(|error| match error {
            error if error.kind() == ErrorKind::Stopped => Stop::Interrupted(of_drive(&error)),
            error => self.device(error),
        })?;
        self.settle(&mut purged)?;
        self.keep(Event::Purged(purged.clone()))?;
        // Read the health again before the next workload, because writes from then on belong to the test.
        self.health_read_ns = None;
        Ok(purged)
    }

    fn write(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        match self.replay.write(workload) {
            Err(Stop::EndOfJournal) => {}
            answered => return answered,
        }
        self.check_interrupted()?;
        self.read_health_if_due()?;
        let segment = self.drive_load(workload, false)?;
        self.keep(Event::Preconditioned(segment.clone()))?;
        self.read_health()?;
        Ok(segment)
    }

    fn run(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        match self.replay.run(workload) {
            Err(Stop::EndOfJournal) => {}
            answered => return answered,
        }
        self.check_interrupted()?;
        self.read_health_if_due()?;
        let segment = self.drive_load(workload, true)?;
        self.keep(Event::Measured(segment.clone()))?;
        Ok(segment)
    }

    fn idle(&mut self, length_ns: u64) -> Result<(), Stop> {
        match self.replay.idle(length_ns) {
            Err(Stop::EndOfJournal) => {}
            answered => return answered,
        }
        self.check_interrupted()?;
        self.progress.step(Step::Idle { length_ns });
        let interrupted = self.interrupted;
        let mut is_over = || if interrupted.load(Ordering::Relaxed) { Flow::Stop } else { Flow::Continue };
        match self.armed.idle_until(length_ns, &mut is_over).map_err(|e| self.device(e))? {
            Flow::Continue | Flow::Finish => {}
            Flow::Stop => return Err(Stop::Interrupted("stopped during an idle time".into())),
        }
        self.keep(Event::Idled { length_ns })
    }

    fn note(&mut self, note: Note) -> Result<(), Stop> {
        if self.replay.had_noted(&note) {
            self.progress.event(&Event::Noted(note));
            return Ok(());
        }
        self.keep(Event::Noted(note))
    }
}
