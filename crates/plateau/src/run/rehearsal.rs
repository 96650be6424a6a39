//! A rehearsal: runs the tests on a simulated drive small enough for them to complete quickly, and scales the
//! times and amounts to the planned drive. The code of the tests is the same as in a run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use device::{Armed, OpenOptions};
use engine::{Flow, LoadOutcome};
use estimate::dry::IOS_PER_OUTSTANDING;
use host::write_cache;
use nandsim::Scale;
use prepare::models;
use pts::{Bench, Context, KeyFigure, Outcome, Stop, Task, Unit};
use record::{CustomFigure, Note, Purged, RunFile, Segment, SimulatedFacts, Until, Workload};

use crate::failure::message::of_drive;
use crate::failure::{Done, Exit, Failure};
use crate::output::printer;

/// Capacity of the simulated drive, if the model can be scaled down to it.
const CAPACITY_BYTES: u64 = 1_000_000_000;
/// Capacity difference between the model and the target above which a note is printed.
const OTHER_CAPACITY: f64 = 0.1;

/// A rehearsal's results and its model.
#[derive(Debug)]
pub struct Rehearsal {
    pub model: String,
    /// Model, version, scale and seed: the label for all simulated numbers.
    pub label: String,
    pub scale_divisor: u32,
    /// The model's capacity at full size.
    pub capacity_bytes: u64,
    /// The planned drive's capacity at full size.
    pub target_bytes: u64,
    /// Wall-clock time that a run on the target takes on this host; only for a simulated target.
    pub wall_seconds: Option<f64>,
    pub tests: Vec<Rehearsed>,
}

/// The results of one test on the simulated drive.
#[derive(Debug)]
pub struct Rehearsed {
    pub test: String,
    /// Time on the target, without the purge.
    pub duration_ns: u64,
    /// On the target.
    pub written_bytes: u64,
    pub rounds: u32,
    pub converged: Option<bool>,
    pub curve: Curve,
    pub figures: Vec<KeyFigure>,
}

/// The results of a test, by round or by time.
#[derive(Debug)]
pub struct Curve {
    /// The displayed variable, such as `RND 4KiB W`.
    pub name: String,
    pub unit: Unit,
    /// `round`, `minute` or `cell`.
    pub over: &'static str,
    pub points: Vec<(f64, f64)>,
}

/// Runs the tests of `file` on a simulated drive; `model` is a name or a TOML file.
pub fn rehearse(file: &RunFile, model: &str) -> Done<Rehearsal> {
    let usage = |text: String| Failure::text(Exit::Usage, text);
    let seed = Context::of(file).map_err(usage)?.settings.seed;
    let model = &*models::model("--rehearse ", model)?;
    let model_bytes = capacity_of(model)?;
    let divisor = divisor_for(model_bytes, file.scale_divisor());
    let open = OpenOptions { scale: Some(format!("1/{divisor}")), sim_seed: seed, ..OpenOptions::default() };
    let mut armed = device::open(&format!("sim:{model}"), &open)?.arm(None)?;
    write_cache::rehearse(&mut armed, file)?;
    let stage = RunFile { target: armed.facts().clone(), ..file.clone() };
    let context = Context::of(&stage).map_err(usage)?;
    let interrupted = crate::run::signals::watch()?;
    let divisor_of_target = file.scale_divisor();
    let target_bytes = file.target.capacity_bytes * u64::from(divisor_of_target);
    let label = stage.target.simulated.as_ref().map(SimulatedFacts::label).unwrap_or_default();
    let begun = Instant::now();
    let (mut done_ios, mut target_ios) = (0.0, 0.0);
    let mut tests = Vec::new();
    for name in &file.tests {
        printer::notice(&format!("rehearsing {name} on {label}"));
        let task = Task::named(&stage, name).map_err(usage)?;
        let fills = file.target.capacity_bytes as f64 / stage.target.capacity_bytes.max(1) as f64;
        let mut bench = Stage::of(&mut armed, &interrupted, fills, divisor_of_target);
        let outcome = task.run(&context, &mut bench);
        done_ios += bench.done_ios;
        target_ios += bench.target_ios;
        tests.push(bench.rehearsed(task, outcome)?);
    }
    Ok(Rehearsal {
        model: model.into(),
        label,
        scale_divisor: divisor,
        capacity_bytes: model_bytes,
        target_bytes,
        // The simulator's wall-clock time is proportional to its I/Os.
        wall_seconds: file
            .target
            .simulated
            .as_ref()
            .map(|_| begun.elapsed().as_secs_f64() * target_ios / f64::max(done_ios, 1.0)),
        tests,
    })
}

fn capacity_of(model: &str) -> Done<u64> {
    let found = device::model_of(model)
        .map_err(|error| Failure::text(Exit::Unusable, format!("--rehearse {model}: {error}")))?;
    Ok(found.geometry.capacity_bytes)
}

fn divisor_of(capacity_bytes: u64) -> u32 {
    let divisor = capacity_bytes.div_ceil(CAPACITY_BYTES).next_power_of_two();
    u32::try_from(divisor).unwrap_or(Scale::MAX).clamp(1, Scale::MAX)
}

/// If the target is itself scaled down about as far, uses its scale, so that the rehearsal matches the run: the
/// shorter the cells, the more of them end after a number of I/Os rather than a period of time.
fn divisor_for(capacity_bytes: u64, of_target: u32) -> u32 {
    let divisor = divisor_of(capacity_bytes);
    if of_target >= divisor / 2 { of_target } else { divisor }
}

impl Rehearsal {
    /// Returns a note if the model's capacity differs from the target's.
    pub fn note(&self) -> Option<String> {
        let (model, target) = (self.capacity_bytes as f64, self.target_bytes as f64);
        let text = format!(
            "the model has {:.1} times the capacity of the target; tests that end after an amount (WSAT) \
             take proportionally longer or shorter",
            model / target.max(1.0)
        );
        ((model / target.max(1.0) - 1.0).abs() > OTHER_CAPACITY).then_some(text)
    }
}

/// A bench on the simulated drive that computes what the tests would cost on the target.
struct Stage<'a> {
    armed: &'a mut Armed,
    interrupted: &'a AtomicBool,
    /// Ratio of the target's capacity to the simulated drive's.
    fills: f64,
    /// Divisor for the target's times.
    divisor: f64,
    /// Number of I/Os on the simulated drive, and the equivalent number on the target.
    done_ios: f64,
    target_ios: f64,
    duration_ns: f64,
    written_bytes: f64,
    /// Value of the first tracking variable in each round.
    judged: Vec<(f64, f64)>,
    variable: Option<String>,
    /// Time in minutes at the end of each cell, and the cell's IOPS.
    cells: Vec<(f64, f64)>,
    failure: Option<Failure>,
}

impl<'a> Stage<'a> {
    fn of(armed: &'a mut Armed, interrupted: &'a AtomicBool, fills: f64, divisor: u32) -> Self {
        Self {
            armed,
            interrupted,
            fills,
            divisor: f64::from(divisor),
            done_ios: 0.0,
            target_ios: 0.0,
            duration_ns: 0.0,
            written_bytes: 0.0,
            judged: Vec::new(),
            variable: None,
            cells: Vec::new(),
            failure: None,
        }
    }

    fn rehearsed(mut self, task: Task<'_>, outcome: Outcome) -> Done<Rehearsed> {
        if let Some(stop) = &outcome.stop {
            let exit = if matches!(stop, Stop::Interrupted(_)) { Exit::Interrupted } else { Exit::Usage };
            return Err(self.failure.take().unwrap_or_else(|| Failure::text(exit, stop.to_string())));
        }
        Ok(Rehearsed {
            test: task.name().into(),
            duration_ns: self.duration_ns as u64,
            written_bytes: self.written_bytes as u64,
            rounds: outcome.rounds,
            converged: outcome.converged,
            curve: self.curve(task),
            figures: outcome.key_figures,
        })
    }

    /// Returns values by round if steady state was evaluated, otherwise by time; a test whose timeline is the
    /// result always uses time.
    fn curve(self, task: Task<'_>) -> Curve {
        match self.variable {
            Some(name) if !task.is_timeline() => {
                Curve { name, unit: unit(task), over: "round", points: self.judged }
            }
            _ => Curve { name: task.title().into(), unit: Unit::Iops, over: "minute", points: self.cells },
        }
    }

    fn answer(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        let interrupted = self.interrupted;
        let driven = self.armed.run(workload, &mut |_| {
            if interrupted.load(Ordering::Relaxed) { Flow::Stop } else { Flow::Continue }
        });
        match driven {
            Ok(LoadOutcome::Finished(segment)) => {
                self.count(&segment);
                Ok(segment)
            }
            Ok(LoadOutcome::Stopped) => Err(Stop::Interrupted(format!("stopped during {workload}"))),
            Err(error) => {
                let failure = Failure::from(error);
                let stop = Stop::Failed(failure.message());
                self.failure = Some(failure);
                Err(stop)
            }
        }
    }

    /// Converts a segment to the target's clock. For a workload of fixed duration, the requested duration is
    /// used; for a fixed amount, the time that it would take at the measured rate, up to the limit.
    fn count(&mut self, segment: &Segment) {
        let (request, seconds) = (&segment.workload, segment.seconds().max(1e-9));
        let write_rate = segment.write.bytes as f64 / seconds;
        let regime = &request.regime;
        let length_ns = match request.until {
            Until::DurationNs(ns) => {
                let least_ios = f64::from(IOS_PER_OUTSTANDING * request.outstanding());
                let least_ns =
                    if self.divisor > 1.0 { least_ios / segment.iops().max(1.0) * 1e9 } else { 0.0 };
                (ns as f64 / self.divisor).max(least_ns) + regime.ramp_ns as f64 / self.divisor
            }
            Until::AmountBytes(bytes) => {
                let all_ns = bytes as f64 * self.fills / (write_rate.max(1.0)) * 1e9;
                regime.limit_ns.map_or(all_ns, |limit_ns| all_ns.min(limit_ns as f64 / self.divisor))
            }
        };
        self.duration_ns += length_ns;
        self.written_bytes += write_rate * length_ns / 1e9;
        self.done_ios += segment.iops() * seconds;
        self.target_ios += segment.iops() * length_ns / 1e9;
    }
}

fn unit(task: Task<'_>) -> Unit {
    match task {
        Task::Pts(test) if test.family == "tp" => Unit::MegabytesPerSecond,
        Task::Pts(test) if test.family == "lat" => Unit::Milliseconds,
        Task::Pts(_) => Unit::Iops,
        Task::Custom(test) => match test.figure {
            CustomFigure::Iops => Unit::Iops,
            CustomFigure::MegabytesPerSecond => Unit::MegabytesPerSecond,
            CustomFigure::MeanLatency => Unit::Milliseconds,
        },
    }
}

impl Bench for Stage<'_> {
    fn purge(&mut self) -> Result<Purged, Stop> {
        self.armed.purge().map_err(|error| Stop::Failed(of_drive(&error)))
    }

    fn write(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        self.answer(workload)
    }

    fn run(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        let segment = self.answer(workload)?;
        self.cells.push((self.duration_ns / 60e9, segment.iops()));
        Ok(segment)
    }

    fn idle(&mut self, length_ns: u64) -> Result<(), Stop> {
        self.duration_ns += length_ns as f64 / self.divisor;
        self.armed.idle(length_ns).map_err(|error| Stop::Failed(of_drive(&error)))
    }

    fn note(&mut self, note: Note) -> Result<(), Stop> {
        if let Note::Judged(judgement) = note
            && let Some(first) = judgement.variables.first()
        {
            self.judged.push((f64::from(judgement.round), first.value));
            self.variable = Some(first.name.clone());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simulated_drive_has_about_a_gigabyte() {
        for (capacity, divisor) in [(100_030_242_816, 128), (1_000_000_000, 1), (3_840_755_982_336, 1024)] {
            assert_eq!(divisor_of(capacity), divisor);
        }
        let of_target = [1, 32, 64, 100, 256].map(|divisor| divisor_for(100_030_242_816, divisor));
        assert_eq!(of_target, [128, 128, 64, 100, 256]);
    }

    #[test]
    fn a_model_of_another_size_is_reported() {
        let of = |capacity_bytes, target_bytes| Rehearsal {
            model: "m".into(),
            label: String::new(),
            scale_divisor: 1,
            capacity_bytes,
            target_bytes,
            wall_seconds: None,
            tests: Vec::new(),
        };
        assert_eq!(of(100, 95).note(), None);
        assert!(of(200, 100).note().unwrap().contains("2.0 times"));
    }
}
