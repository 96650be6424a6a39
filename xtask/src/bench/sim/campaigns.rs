//! Complete PTS tests on simulated drives, through the real device layer.

use std::path::Path;

use device::{Armed, OpenOptions};
use engine::{Flow, LoadOutcome};
use pts::{Bench, Context, Profile, Stop, Test};
use record::{Note, Purged, Segment, Workload};

use crate::bench::host::thread_seconds;
use crate::bench::results::Row;

const ROUNDS: u32 = 25;
/// Scale of the IOPS test, and the test's time limit in seconds.
const IOPS_LIMITS: [(u32, f64); 2] = [(16, 20.0), (1, 360.0)];
/// Models with a capacity of 256 GB.
const IOPS_MODELS: [&str; 2] = ["sata-mlc-2011", "nvme-tlc-2018"];
/// A profile with all eight tests; the next version replaces ECW with CBW.
const EDITION: &str = "pts-e-1.1";
const ALL: [&str; 8] = ["iops", "tp-1024", "lat", "wsat", "hir", "xsr", "ecw", "dirth"];
const ALL_LIMIT_SECONDS: f64 = 10.0;

/// Returns a row for each IOPS test and one for all tests.
pub fn rows(_: &Path) -> anyhow::Result<Vec<Row>> {
    let mut rows = vec![all("sas-slc-2011", 64)?];
    for (divisor, limit) in IOPS_LIMITS {
        for model in IOPS_MODELS {
            let seconds = test("iops", "pts-e-1.0", model, divisor, true)?;
            let what = format!("PTS IOPS test, {model} (256 GB), {ROUNDS} rounds, scale {}", scale(divisor));
            rows.push(row(what, seconds, limit));
        }
    }
    Ok(rows)
}

fn row(what: String, seconds: f64, limit: f64) -> Row {
    println!("{what}: {seconds:.1} s");
    Row {
        what,
        target: format!("<= {limit} s"),
        measured: format!("{seconds:.1} s"),
        value: seconds,
        limit: Some(limit),
        best_quarter: None,
    }
}

fn scale(divisor: u32) -> String {
    if divisor == 1 { "1".into() } else { format!("1/{divisor}") }
}

fn all(model: &str, divisor: u32) -> anyhow::Result<Row> {
    let mut seconds = 0.0;
    for name in ALL {
        let taken = test(name, EDITION, model, divisor, false)?;
        println!("{name}: {taken:.1} s");
        seconds += taken;
    }
    Ok(row(
        format!("all {} tests of {EDITION}, {model}, scale {}", ALL.len(), scale(divisor)),
        seconds,
        ALL_LIMIT_SECONDS,
    ))
}

/// Returns the CPU time of one test from purge to verdict, in seconds.
fn test(name: &str, profile: &str, model: &str, divisor: u32, unsteady: bool) -> anyhow::Result<f64> {
    let begin = thread_seconds();
    let options = OpenOptions { scale: Some(scale(divisor)), sim_seed: 1, ..OpenOptions::default() };
    let mut armed = device::open(&format!("sim:{model}"), &options)?.arm(None)?;
    let profile = Profile::named(profile).map_err(anyhow::Error::msg)?;
    let settings = record::Settings { max_rounds: ROUNDS, ..profile.settings(1) };
    let target = armed.facts().clone();
    let context = Context { profile, settings: &settings, target: &target };
    let mut driven = Driven { armed: &mut armed, unsteady, round: 0 };
    let outcome = (Test::named(name).map_err(anyhow::Error::msg)?.run)(&context, &mut driven);
    anyhow::ensure!(outcome.stop.is_none(), "{name} on {model}: {:?}", outcome.stop);
    anyhow::ensure!(!unsteady || driven.round == ROUNDS, "the test ended in round {}", driven.round);
    Ok(thread_seconds() - begin)
}

/// A simulated drive as the bench of a test.
struct Driven<'a> {
    armed: &'a mut Armed,
    /// Whether to double the reported length of every other round, so that the test runs all of its rounds.
    unsteady: bool,
    round: u32,
}

impl Bench for Driven<'_> {
    fn purge(&mut self) -> Result<Purged, Stop> {
        self.armed.purge().map_err(failed)
    }
    fn write(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        match self.armed.run(workload, &mut |_| Flow::Continue).map_err(failed)? {
            LoadOutcome::Finished(segment) => Ok(segment),
            LoadOutcome::Stopped => Err(Stop::Interrupted("stopped".into())),
        }
    }
    fn run(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        let mut segment = self.write(workload)?;
        if self.unsteady && self.round.is_multiple_of(2) {
            segment.end_ns += segment.end_ns - segment.start_ns;
        }
        Ok(segment)
    }
    fn idle(&mut self, length_ns: u64) -> Result<(), Stop> {
        self.armed.idle(length_ns).map_err(failed)
    }
    fn note(&mut self, note: Note) -> Result<(), Stop> {
        if let Note::RoundStarted { round, .. } = note {
            self.round = round;
        }
        Ok(())
    }
}

fn failed(error: impl ToString) -> Stop {
    Stop::Failed(error.to_string())
}
