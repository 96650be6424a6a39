//! A simulated drive as a target: workloads in, segments out, all in virtual time.
//!
//! Requests refer to the full-size drive. On a drive scaled to 1/n, this module divides the durations of
//! workloads and idle phases by n, and each interval in the time series lasts one scaled second. The start and
//! the end of a segment are actual virtual times, so rates need no conversion. Amounts are not divided: callers
//! derive them from the capacity, which is already scaled.

mod about;
mod concurrent;
mod faults;
mod health;
mod memory;
mod purge;
mod replay;
mod verified;

use std::path::Path;
use std::time::{Duration, Instant};

use engine::{Flow, LoadOutcome, Tick};
use nandsim::{Failed, Load, LoadRecorder, Model, Scale, Ssd, Tally};
use record::{
    Cut, Direction, ErrorCount, InjectedFault, Segment, Series, SimulatedFacts, TargetFacts, TargetKind,
    Until, Workload,
};
use stdx::files::Links;
use stdx::histogram::coarse::Columns;
use stdx::units::SECOND_NS;

use crate::error::DriveError;
use crate::error::simulated::{NO_POWER, SimulatedFailure};
use crate::error::target::{DataProblem, ModelProblem, TargetError};
use crate::open_options::OpenOptions;

/// Minimum number of completions per outstanding I/O in a timed workload. The workload is extended if its
/// scaled time is too short for these completions.
const COMPLETIONS_PER_OUTSTANDING: u64 = 20;
/// Wall-clock time between two ticks, during which thousands of scaled seconds may pass.
const TICK_EVERY: Duration = Duration::from_millis(100);
/// Size limit of a model file, which is written by users.
const MOST_MODEL_BYTES: u64 = 1 << 20;

/// A simulated drive and its virtual clock.
pub(crate) struct Simulated {
    ssd: Ssd,
    model: Model,
    divisor: u64,
    seed: u64,
    faults: Vec<InjectedFault>,
    last_tick: Instant,
    virtual_ticks: bool,
}

/// Returns a built-in model or the model from a TOML file.
///
/// # Errors
/// Returns an error if no model has this name, or if the file cannot be read or is invalid.
pub fn model_of(name: &str) -> Result<Model, ModelProblem> {
    if !name.ends_with(".toml") {
        return Ok(Model::named(name)?);
    }
    let text = stdx::files::read_text(Path::new(name), Links::Followed, MOST_MODEL_BYTES)?;
    Ok(Model::from_toml(&text)?)
}

impl std::fmt::Debug for Simulated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulated").field("divisor", &self.divisor).finish_non_exhaustive()
    }
}

impl Simulated {
    /// Creates a drive in its fresh state from the model `name` (or the TOML file at that path) and returns it
    /// with its properties.
    pub(crate) fn new(
        target: &str,
        name: &str,
        options: &OpenOptions,
    ) -> Result<(Self, TargetFacts), DriveError> {
        if options.size_bytes.is_some() {
            return Err(DriveError::target(target, TargetError::SizeOfSimulated));
        }
        let model = model_of(name).map_err(|problem| DriveError::target(target, problem))?;
        let scale = options.scale.as_deref().map_or(Ok(Scale::FULL), str::parse);
        let scale = scale.map_err(|problem| DriveError::target(target, problem))?;
        let mut ssd = Ssd::new_in(&model, scale, options.sim_seed, memory::MEMORY);
        let whole = faults::chosen(options.sim_faults.as_ref(), &model.faults, ssd.capacity_bytes());
        let whole = whole.map_err(|problem| DriveError::target(target, problem))?;
        let recorded = faults::recorded(&whole);
        let scaled = whole.scaled(scale);
        ssd.inject_faults(if options.sim_resumed { scaled.lasting() } else { scaled });
        let mut facts = facts(target, &model, scale, options.sim_seed, &ssd);
        facts.simulated.iter_mut().for_each(|simulated| simulated.faults.clone_from(&recorded));
        let simulated = Self {
            ssd,
            divisor: u64::from(scale.divisor()),
            seed: options.sim_seed,
            faults: recorded,
            model,
            last_tick: Instant::now(),
            virtual_ticks: options.sim_virtual_ticks,
        };
        Ok((simulated, facts))
    }

    pub(crate) fn now_ns(&self) -> u64 {
        self.ssd.now_ns()
    }

    pub(crate) fn idle(&mut self, ns: u64) {
        self.ssd.idle(ns / self.divisor);
    }

    pub(crate) fn write_cache(&self) -> Option<bool> {
        self.ssd.write_cache()
    }

    pub(crate) fn set_write_cache(&mut self, on: bool) -> bool {
        self.ssd.set_write_cache(on)
    }

    pub(crate) fn watch(&mut self) {
        self.ssd.record_load(true);
    }

    pub(crate) fn witness(&self) -> Option<&LoadRecorder> {
        self.ssd.load_recorder()
    }

    pub(crate) fn health(&self) -> record::Health {
        health::of_simulated(&self.ssd.smart())
    }

    /// Runs a validated workload. After a power loss, the drive is powered on again before the error is returned.
    pub(crate) fn run(
        &mut self,
        workload: &Workload,
        on_tick: &mut dyn FnMut(&Tick) -> Flow,
    ) -> Result<LoadOutcome, DriveError> {
        if workload.regime.verify {
            return self.run_verified(workload, on_tick);
        }
        let start_ns = self.ssd.now_ns();
        let mut ticks = Vec::new();
        let mut outcome = if workload.regime.is_plain() {
            self.run_plain(workload, &mut ticks, on_tick)
        } else {
            let answers = self.run_queued(std::slice::from_ref(workload), &mut |_, tick| on_tick(tick));
            answers.map(|mut answers| answers.remove(0).outcome)
        };
        if let Err(DriveError::Simulated(failure)) = &mut outcome {
            self.restore_power();
            let interval_ns = SECOND_NS / self.divisor;
            ticks.retain(|tick: &nandsim::Tick| tick.end_ns - tick.start_ns == interval_ns);
            let (workload, series) = (workload.clone(), series(interval_ns, &ticks, None));
            failure.cut = Some(Box::new(Cut { workload, start_ns, series, errors: failure.errors.clone() }));
        }
        outcome
    }

    /// Powers the drive on again after a power loss.
    fn restore_power(&mut self) {
        if self.ssd.has_lost_power() {
            self.ssd.power_cycle();
        }
    }

    /// Runs a workload that is a single closed loop. If the drive failed, `ticks` contains the I/Os before the failure.
    fn run_plain(
        &mut self,
        workload: &Workload,
        ticks: &mut Vec<nandsim::Tick>,
        on_tick: &mut dyn FnMut(&Tick) -> Flow,
    ) -> Result<LoadOutcome, DriveError> {
        let load = self.load(workload);
        let mut progress = Progress::new(&load, self.ssd.now_ns());
        let (last_tick, virtual_ticks) = (&mut self.last_tick, self.virtual_ticks);
        let mut tally = self.ssd.run_pattern(&load, &workload.pattern(), &mut |tick| {
            progress.add(tick);
            // The host's clock affects only the display.
            if !virtual_ticks && last_tick.elapsed() < TICK_EVERY {
                return true;
            }
            *last_tick = Instant::now();
            on_tick(&progress.take(tick.end_ns)) == Flow::Continue
        });
        if let Some(failed) = &tally.failed {
            *ticks = tally.ticks;
            return Err(device_error(failed));
        }
        if tally.stopped {
            return Ok(LoadOutcome::Stopped);
        }
        Ok(LoadOutcome::Finished(segment(workload, tally.limit_ticks(&load), tally)))
    }

    fn load(&self, workload: &Workload) -> Load {
        let (until, min_completions) = match workload.until {
            Until::DurationNs(ns) => (
                nandsim::Until::ForNs((ns / self.divisor).max(1)),
                COMPLETIONS_PER_OUTSTANDING * u64::from(workload.outstanding()),
            ),
            Until::AmountBytes(bytes) => (nandsim::Until::Bytes(bytes), 0),
        };
        Load {
            order: workload.access.into(),
            read_percent: workload.read_percent,
            block_bytes: workload.block_bytes,
            threads: workload.threads,
            queue_depth: workload.queue_depth,
            span: workload.range.span(),
            until,
            seed: workload.seed,
            min_completions,
            tick_ns: SECOND_NS / self.divisor,
        }
    }
}

/// Results since the last displayed tick.
struct Progress {
    until: nandsim::Until,
    start_ns: u64,
    shown_ns: u64,
    done_bytes: u64,
    shown_bytes: u64,
    not_shown: nandsim::Tick,
}

impl Progress {
    fn new(load: &Load, start_ns: u64) -> Self {
        Self {
            until: load.until,
            start_ns,
            shown_ns: start_ns,
            done_bytes: 0,
            shown_bytes: 0,
            not_shown: nandsim::Tick::default(),
        }
    }

    fn add(&mut self, tick: &nandsim::Tick) {
        self.done_bytes += tick.read_bytes + tick.write_bytes;
        self.not_shown = self.not_shown.then(*tick);
    }

    fn take(&mut self, now_ns: u64) -> Tick {
        let shown = std::mem::take(&mut self.not_shown);
        let (done, all) = match self.until {
            nandsim::Until::ForNs(ns) => (now_ns - self.start_ns, ns),
            nandsim::Until::Bytes(bytes) => (self.done_bytes, bytes),
        };
        let tick = Tick {
            elapsed_ns: now_ns - self.start_ns,
            interval_ns: now_ns - self.shown_ns,
            read_ios: shown.read_ios,
            write_ios: shown.write_ios,
            syncs: 0,
            bytes: self.done_bytes - self.shown_bytes,
            latency_mean_ns: shown.latency_mean_ns(),
            latency_max_ns: shown.latency_max_ns,
            share_done: (done as f64 / all as f64).min(1.0),
        };
        (self.shown_ns, self.shown_bytes) = (now_ns, self.done_bytes);
        tick
    }
}

/// Returns why a simulated drive does not support a workload.
pub(crate) fn problem(workload: &Workload) -> Option<DataProblem> {
    let regime = &workload.regime;
    if matches!(workload.data_pattern, record::DataPattern::Reducible(_)) {
        Some(DataProblem::NothingReduced)
    } else if regime.verify && (workload.threads != 1 || workload.range.segments != 1) {
        Some(DataProblem::SimulatedThreads)
    } else if !regime.syncs.is_none() {
        Some(DataProblem::NothingSynced)
    } else {
        let pauses = regime.thinktime.is_some().then_some(DataProblem::NoPauses);
        let tolerates = regime.tolerated != record::Tolerated::NONE;
        let trims = regime.trims.then_some(DataProblem::NoTrims);
        let commands = workload.commands.is_some().then_some(DataProblem::NoCommands);
        pauses.or(trims).or(tolerates.then_some(DataProblem::NoTolerance)).or(commands)
    }
}

/// Describes the first failed command and counts all failed commands.
fn device_error(failed: &Failed) -> DriveError {
    let first = &failed.first;
    let counts = [
        ("ENODATA", failed.media),
        ("ETIMEDOUT", failed.timeouts),
        ("ENODEV", failed.removed),
        (NO_POWER, failed.unpowered),
    ];
    let known = counts.into_iter().filter(|&(_, count)| count > 0);
    DriveError::Simulated(Box::new(SimulatedFailure {
        read: first.read,
        length_bytes: first.length_bytes,
        offset_bytes: first.offset_bytes,
        cause: first.cause,
        errors: known.map(|(kind, count)| ErrorCount { kind: kind.to_owned(), count }).collect(),
        cut: None,
    }))
}

fn series(interval_ns: u64, ticks: &[nandsim::Tick], times: Option<Columns>) -> Series {
    Series {
        interval_ns,
        read_ios: ticks.iter().map(|t| t.read_ios).collect(),
        write_ios: ticks.iter().map(|t| t.write_ios).collect(),
        latency_mean_ns: ticks.iter().map(nandsim::Tick::latency_mean_ns).collect(),
        latency_max_ns: ticks.iter().map(|t| t.latency_max_ns).collect(),
        times: times.map(Into::into),
    }
}

fn segment(workload: &Workload, interval_ns: u64, tally: Tally) -> Segment {
    let series = series(interval_ns, &tally.ticks, Some(tally.times));
    let direction = |d: nandsim::Direction| Direction { ios: d.ios, bytes: d.bytes, latency: d.latency };
    let directions = (direction(tally.read), direction(tally.write));
    Segment::simulated(workload.clone(), (tally.start_ns, tally.end_ns), directions, series)
}

fn facts(target: &str, model: &Model, scale: Scale, seed: u64, ssd: &Ssd) -> TargetFacts {
    TargetFacts {
        kind: TargetKind::Simulated,
        path: target.to_owned(),
        identity: format!("sim:{}", model.name),
        attachment: None,
        vendor: Some("SIMULATED".into()),
        model: Some(model.name.clone()),
        serial: None,
        firmware: None,
        interface: Some(model.interface.to_string()),
        nand: Some(model.nand.clone()),
        capacity_bytes: ssd.capacity_bytes(),
        logical_block_bytes: ssd.logical_block_bytes(),
        physical_block_bytes: model.geometry.map_unit_bytes.max(ssd.logical_block_bytes()),
        rotational: None,
        array: None,
        simulated: Some(SimulatedFacts {
            model: model.name.clone(),
            model_version: model.version,
            scale_divisor: scale.divisor(),
            seed,
            faults: Vec::new(),
        }),
    }
}
