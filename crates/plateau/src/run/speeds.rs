//! The speeds assumed by an estimate, and their source: typical values, measurements of the same drive or its model,
//! and specified values, in ascending order of precedence.

use std::time::Duration;

use device::{Armed, OpenOptions, SimFaults};
use engine::{Flow, LoadOutcome};
use estimate::assumed::{Assumed, Observed};
use estimate::dry::Estimate;
use host::write_cache;
use nandsim::Model;
use pts::{Bench, Context, Stop, Task, Test};
use record::{Event, Library, Note, Purged, Run, RunFile, Segment, TargetFacts, Workload};
use stdx::units::parse_size;

use crate::cli::Assumptions;
use crate::failure::message::of_drive;
use crate::failure::{Done, Exit, Failure};

/// Approximate capacity of the drive used for a probe; the probe takes a second or two.
const PROBE_BYTES: u64 = 1_000_000_000;
/// Number of a drive's recent runs to use.
const EARLIER_RUNS: usize = 5;

/// Assumed speeds and their source.
pub struct Known {
    pub assumed: Assumed,
    pub source: String,
}

/// Returns the speeds of the target described by `file`.
///
/// # Errors
/// Returns an error if a specified value is impossible or a probe failed.
pub fn of(file: &RunFile, typed: &Assumptions, library: &Library) -> Done<Known> {
    let usage = |text: String| Failure::text(Exit::Usage, text);
    let write = typed.assume_write.as_deref().map(|text| rate("--assume-write", text)).transpose();
    let read = typed.assume_read.as_deref().map(|text| rate("--assume-read", text)).transpose();
    let (write, read) = (write.map_err(usage)?, read.map_err(usage)?);
    let (mut known, sequential) = usual(file, write, read);
    if let Some(seen) = measured(file, library)? {
        known = Known { assumed: seen.0.applied_to(known.assumed), source: seen.1 };
    }
    let Known { mut assumed, source } = known;
    // Specified values take precedence over measured values.
    assumed.sequential.write = write.unwrap_or(assumed.sequential.write);
    assumed.sequential.read = read.unwrap_or(assumed.sequential.read);
    let mut assumed = assumed.with_random_iops(typed.assume_random_write, typed.assume_random_read);
    if let Some(ms) = typed.assume_latency {
        (assumed.alone.write_seconds, assumed.alone.read_seconds) = (ms / 1e3, ms / 1e3);
    }
    let source = match *typed == Assumptions::default() {
        true => source,
        false if sequential => "as given".to_owned(),
        false => format!("as specified; the rest {source}"),
    };
    Ok(Known { assumed, source })
}

/// Estimates the tests of `file` at these speeds.
///
/// # Errors
/// Returns an error if a workload is impossible on the target.
pub fn estimates(file: &RunFile, assumed: &Assumed) -> Result<Vec<Estimate>, String> {
    let context = Context::of(file)?;
    let tasks: Vec<Task<'_>> =
        file.tests.iter().map(|name| Task::named(file, name)).collect::<Result<_, _>>()?;
    estimate::dry::estimates(&context, tasks, assumed)
}

/// Returns typical speeds, and whether they are derived from a specified sequential speed.
fn usual(file: &RunFile, write: Option<f64>, read: Option<f64>) -> (Known, bool) {
    if let Some(speed) = write.or(read) {
        let assumed = Assumed::usual(write.unwrap_or(speed), read.unwrap_or(speed));
        return (Known { assumed, source: "typical at this speed".into() }, true);
    }
    if let Some(speed) = modelled(&file.target) {
        let source = "limits of the model's flash and link".to_owned();
        return (Known { assumed: Assumed::usual(speed, speed), source }, false);
    }
    let (assumed, interface) = Assumed::usual_for(file.target.interface.as_deref());
    (
        Known {
            assumed,
            source: format!(
                "typical for {interface}; specify better ones with --assume-write and the other --assume options"
            ),
        },
        false,
    )
}

/// Returns earlier measurements of a real drive, or probes a simulated drive's model.
fn measured(file: &RunFile, library: &Library) -> Done<Option<(Observed, String)>> {
    if file.target.simulated.is_some() {
        return probe(file).map(Some);
    }
    Ok(earlier(file, library))
}

/// Returns the results of other runs on the same drive, from the oldest to the newest.
fn earlier(file: &RunFile, library: &Library) -> Option<(Observed, String)> {
    // The run being estimated may already exist.
    let same = |run: &&Run| run.file.id != file.id && is_same_drive(&run.file, file);
    let (runs, _) = library.list().ok()?;
    let mut latest: Vec<(String, Vec<Event>)> = Vec::new();
    for run in runs.iter().filter(same).take(EARLIER_RUNS) {
        let Ok(loaded) = run.load() else { continue };
        let events: Vec<Event> = loaded.entries.into_iter().map(|entry| entry.event).collect();
        if !Observed::of(&file.target, &events).is_empty() {
            latest.push((run.file.id.clone(), events));
        }
    }
    let observed = Observed::of(&file.target, latest.iter().rev().flat_map(|(_, events)| events));
    let ids: Vec<&str> = latest.iter().map(|(id, _)| id.as_str()).collect();
    (!ids.is_empty()).then(|| (observed, format!("as measured in {}", ids.join(", "))))
}

/// Returns the duration of the same drive's latest purge with the same requested method.
pub fn usual_purge(file: &RunFile, library: &Library) -> Option<Duration> {
    let (runs, _) = library.list().ok()?;
    let alike = |run: &&Run| {
        is_same_drive(&run.file, file) && run.file.handling.purge_method == file.handling.purge_method
    };
    let took = |run: &Run| {
        let entries = run.load().ok()?.entries;
        entries.into_iter().rev().find_map(|entry| match entry.event {
            Event::Purged(purged) => {
                Some(Duration::from_nanos(purged.end_ns.saturating_sub(purged.start_ns)))
            }
            _ => None,
        })
    };
    runs.iter().filter(alike).take(EARLIER_RUNS).find_map(took)
}

fn is_same_drive(one: &RunFile, other: &RunFile) -> bool {
    let (was, is) = (&one.target, &other.target);
    (was.kind, &was.identity, was.capacity_bytes) == (is.kind, &is.identity, is.capacity_bytes)
        && (was.serial.is_some() || was.path == is.path)
}

/// Parses bytes per second, such as `500MB/s`.
fn rate(option: &str, text: &str) -> Result<f64, String> {
    let amount = text.trim().strip_suffix("/s").unwrap_or(text);
    let bytes = parse_size(amount).map_err(|problem| format!("{option}: {problem}"))?;
    match bytes {
        1_000_000.. => Ok(bytes as f64),
        _ => Err(format!("{option} {text}: it must be at least 1MB/s, such as 500MB/s")),
    }
}

/// Returns the limit set by the slowest of a simulated drive's flash cells, channels, link and controller,
/// regardless of caches and temperature.
fn modelled(target: &TargetFacts) -> Option<f64> {
    let model = Model::named(&target.simulated.as_ref()?.model).ok()?;
    let (geometry, timing) = (&model.geometry, &model.timing);
    let unit_bytes = f64::from(geometry.program_unit_bytes);
    let held_us = if timing.die_held_through_transfer { unit_bytes / timing.channel_mb_per_s } else { 0.0 };
    let channels = f64::from(geometry.channels);
    let dies = channels * f64::from(geometry.dies_per_channel);
    // Bytes per microsecond equal MB/s.
    let limits = [
        dies * unit_bytes / (timing.program_us + held_us),
        channels * timing.channel_mb_per_s,
        timing.link_mb_per_s,
        f64::from(geometry.map_unit_bytes) / timing.map_unit_us.max(1e-3),
    ];
    limits.into_iter().min_by(f64::total_cmp).map(|megabytes| megabytes * 1e6)
}

/// Runs a short load of every kind that the tests of `file` need, on a small drive of the same model.
fn probe(file: &RunFile) -> Done<(Observed, String)> {
    let usage = |text: String| Failure::text(Exit::Usage, text);
    let sim = file.target.simulated.as_ref().ok_or_else(|| usage("only models can be probed".into()))?;
    let whole_bytes = file.target.capacity_bytes * u64::from(sim.scale_divisor);
    let divisor = (whole_bytes / PROBE_BYTES).clamp(1, u64::from(nandsim::Scale::MAX)) as u32;
    let open = OpenOptions {
        scale: Some(format!("1/{}", divisor.max(sim.scale_divisor))),
        sim_seed: sim.seed,
        sim_faults: Some(SimFaults::Recorded(Vec::new())),
        ..OpenOptions::default()
    };
    let mut bench = Probing { armed: device::open(&file.target.path, &open)?.arm(None)?, events: Vec::new() };
    write_cache::rehearse(&mut bench.armed, file)?;
    let target = bench.armed.facts().clone();
    let small = RunFile { target: target.clone(), ..file.clone() };
    let context = Context::of(&small).map_err(usage)?;
    // A plan's custom tests need no additional kinds of load.
    let tests: Vec<&Test> = file.tests.iter().filter_map(|name| Test::named(name).ok()).collect();
    estimate::probe::run(&context, &tests, &mut bench).map_err(|stop| usage(stop.to_string()))?;
    let observed = Observed::of(&target, &bench.events);
    Ok((
        observed,
        format!("a probe of the model at scale 1/{}", target.simulated.map_or(1, |sim| sim.scale_divisor)),
    ))
}

/// A simulated drive that records a probe's results.
struct Probing {
    armed: Armed,
    events: Vec<Event>,
}

impl Probing {
    fn answer(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        let failed = |error: device::DriveError| Stop::Failed(of_drive(&error));
        match self.armed.run(workload, &mut |_| Flow::Continue).map_err(failed)? {
            LoadOutcome::Finished(segment) => {
                self.events.push(Event::Measured(segment.clone()));
                Ok(segment)
            }
            LoadOutcome::Stopped => Err(Stop::Failed("the probe stopped unexpectedly".into())),
        }
    }
}

impl Bench for Probing {
    fn purge(&mut self) -> Result<Purged, Stop> {
        let purged = self.armed.purge().map_err(|error| Stop::Failed(of_drive(&error)))?;
        self.events.push(Event::Purged(purged.clone()));
        Ok(purged)
    }

    fn write(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        self.answer(workload)
    }

    fn run(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        self.answer(workload)
    }

    fn idle(&mut self, length_ns: u64) -> Result<(), Stop> {
        self.armed.idle(length_ns).map_err(|error| Stop::Failed(of_drive(&error)))?;
        self.events.push(Event::Idled { length_ns });
        Ok(())
    }

    fn note(&mut self, _: Note) -> Result<(), Stop> {
        Ok(())
    }
}
