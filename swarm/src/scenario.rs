//! Scenarios: complete test cases, each drawn from one seed.

use plateau::course::{self, Resumption};
use record::RunFile;
use record::storage::simulated::{Fault, FaultKind};
use stdx::rng::Rng;

use crate::script::{Clock, Life};

/// Directory of models and plans, relative to the workspace root.
const DATA: &str = "swarm/data";
const CREATED: &str = "2026-11-22T12:00:00Z";
/// Number of runs with disk faults per scenario, in addition to the run without faults.
const TROUBLED_RUNS: usize = 2;
const MOST_FAULTS: u64 = 3;

/// A run that is crashed under several conditions.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Seed from which everything else is derived.
    pub seed: u64,
    /// Arguments of `plateau run`.
    pub words: Vec<String>,
    /// The conditions: a first process, and how the run is resumed after its crash.
    pub settings: Vec<Setting>,
}

/// The first process of a run, and how the run is resumed after it crashes.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The process that is crashed.
    pub first: Life,
    /// How each later process resumes the run.
    pub how: Resumption,
    /// The wall-clock time at which each later process starts.
    pub clock: Clock,
}

impl Scenario {
    /// Generates the scenario from `seed`. `calls` returns the number of disk calls that the run makes without
    /// faults.
    ///
    /// # Errors
    /// Returns an error if the run file cannot be created, or if `calls` fails.
    pub fn of(
        seed: u64,
        calls: impl FnOnce(&RunFile) -> Result<u64, String>,
    ) -> Result<(Self, RunFile), String> {
        let mut rng = Rng::from_seed_and_stream(seed, 1);
        let words = words(&mut rng);
        let file = run_file(&words)?;
        let calls = calls(&file)?;
        let mut settings = vec![setting(&mut rng, Vec::new())];
        for _ in 0..TROUBLED_RUNS {
            let faults = (0..=rng.below(MOST_FAULTS)).map(|_| fault(&mut rng, calls)).collect();
            settings.push(setting(&mut rng, faults));
        }
        Ok((Self { seed, words, settings }, file))
    }
}

/// Builds the run file for the arguments `words`.
pub(crate) fn run_file(words: &[String]) -> Result<RunFile, String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let created = CREATED.parse().map_err(|error| format!("{error}"))?;
    course::run_file(&words, "swarm0", created).map_err(|ended| ended.message)
}

fn one<'a>(rng: &mut Rng, choices: &[&'a str]) -> &'a str {
    choices[rng.below(choices.len() as u64) as usize]
}

fn words(rng: &mut Rng) -> Vec<String> {
    let tests = one(rng, &["own", "own", "tp-128", "tp-128", "lat", "wsat", "tp-128,own"]);
    let scale = if tests == "wsat" { "1/16" } else { one(rng, &["1", "1/16"]) };
    let profile = one(rng, &["pts-e-1.0", "pts-e-2.0"]);
    let seed = rng.below(1 << 32).to_string();
    let cell = one(rng, &["0.01", "0.02"]);
    let target = format!("sim:{DATA}/tiny.toml");
    let plan = format!("{DATA}/plan.toml");
    let typed = [
        tests,
        &target,
        "--plan",
        &plan,
        "--scale",
        scale,
        "--profile",
        profile,
        "--seed",
        &seed,
        "--cell-seconds",
        cell,
        "--max-rounds",
        "5",
        "--precondition",
        "1",
    ];
    // The minimum number of I/Os per cell grows with the number of outstanding I/Os, so a low TC x QD keeps
    // runs short. This does not apply to WSAT, whose length depends on its timeline.
    let load: &[&str] = if tests == "wsat" { &[] } else { &["--tc", "1", "--qd", "2"] };
    typed.iter().chain(load).map(|word| (*word).to_owned()).collect()
}

fn setting(rng: &mut Rng, faults: Vec<Fault>) -> Setting {
    let how = match rng.below(4) {
        0 => Resumption::RestartTest,
        1 => Resumption::ContinueTimeline,
        _ => Resumption::Plain,
    };
    let clock = match rng.below(5) {
        0 => Clock::Back,
        1 | 2 => Clock::Stands,
        _ => Clock::Goes,
    };
    Setting { first: Life { how, clock, faults, cut: None }, how, clock }
}

fn fault(rng: &mut Rng, calls: u64) -> Fault {
    let kind = match rng.below(8) {
        0 => FaultKind::NoSpace,
        1 => FaultKind::Quota,
        2 => FaultKind::ReadOnly,
        3 | 4 => FaultKind::Broken,
        5 => FaultKind::Dead,
        6 => FaultKind::Slow { ns: 1_000_000_000 * (1 + rng.below(100_000)) },
        _ => FaultKind::Interrupt,
    };
    Fault { call: rng.below(calls), kind }
}
