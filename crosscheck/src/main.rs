//! `cargo xtask crosscheck TARGET`: compares the IOPS test with fio on the same target, cell by cell.
//!
//! The real test (`pts`) runs on the real engine (`engine`), and before or after every cell, fio runs the same
//! workload. Both tools therefore see the drive in the same state and under the same disturbances, and the compared
//! figures are those that a report would contain.
#![forbid(unsafe_code)]

mod fio;
mod idleness;
mod latency;
mod pair;
mod rule;

use std::process::ExitCode;

use anyhow::bail;
use clap::Parser as _;
use device::{Armed, OpenOptions};
use engine::{Flow, LoadOutcome};
use idleness::idle_share_during;
use pair::Pair;
use pts::{Bench, Context, Profile, Stop, Test};
use record::{Note, Purged, Segment, Settings, Workload};
use rule::{CLOSE_IOPS, Tally, spread};
use stdx::units::{SECOND_NS, grouped, parse_size};

/// Number of rounds to compare.
const ROUNDS: u32 = 5;
/// Idle time before each cell. After idling, a drive (or a throttle with a burst allowance) is faster, so it
/// must idle for the same time before each tool. The actual time varies slightly, so the order of the tools
/// alternates between rounds.
const REST_NS: u64 = 250_000_000;

/// Compare the IOPS test with fio on one target, cell by cell; the target's content is lost
#[derive(clap::Parser)]
#[command(name = "crosscheck", bin_name = "cargo xtask crosscheck")]
struct Options {
    /// Device, file or simulated drive, as for `plateau run`
    target: String,
    /// Identity of the target, to confirm that its data may be lost
    #[arg(long, value_name = "IDENTITY")]
    erase: Option<String>,
    /// Use only this much of the target
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    size: Option<u64>,
    /// Length of a cell in seconds
    #[arg(long, value_name = "S", default_value_t = 1.0)]
    seconds: f64,
}

fn main() -> ExitCode {
    match compare(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Fails if a compared cell disagrees.
fn compare(options: &Options) -> anyhow::Result<()> {
    let open = OpenOptions { size_bytes: options.size, ..OpenOptions::default() };
    let mut armed = device::open(&options.target, &open)?.arm(options.erase.as_deref())?;
    let profile = Profile::named("pts-e-1.0").map_err(anyhow::Error::msg)?;
    let cell_ns = (options.seconds * SECOND_NS as f64) as u64;
    let settings = Settings { cell_ns, max_rounds: ROUNDS, ..profile.settings(1) };
    let target = armed.facts().clone();
    let context = Context { profile, settings: &settings, target: &target };
    let mut both = Both { armed: &mut armed, target: &options.target, pairs: Vec::new(), round: 0 };
    let outcome = (Test::named("iops").map_err(anyhow::Error::msg)?.run)(&context, &mut both);
    if let Some(stop) = outcome.stop {
        bail!("{stop}");
    }
    verdict(&both.pairs)
}

/// A bench that also runs fio for every cell.
struct Both<'a> {
    armed: &'a mut Armed,
    target: &'a str,
    pairs: Vec<Pair>,
    round: u32,
}

impl Both<'_> {
    fn fios(&mut self, workload: &Workload) -> Result<(fio::FioRun, f64), Stop> {
        self.idle(REST_NS)?;
        let failed = |error: anyhow::Error| Stop::Failed(format!("{error:#}"));
        let (seen, idle) = idle_share_during(|| fio::run(self.target, workload));
        Ok((seen.map_err(failed)?, idle.map_err(failed)?))
    }

    fn ours(&mut self, workload: &Workload) -> Result<(Segment, f64), Stop> {
        self.idle(REST_NS)?;
        let (segment, idle) = idle_share_during(|| self.drive(workload));
        Ok((segment?, idle.map_err(|error| Stop::Failed(format!("{error:#}")))?))
    }

    fn drive(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        match self.armed.run(workload, &mut |_| Flow::Continue) {
            Ok(LoadOutcome::Finished(segment)) => Ok(segment),
            Ok(LoadOutcome::Stopped) => Err(Stop::Interrupted("stopped".into())),
            Err(error) => Err(Stop::Failed(error.to_string())),
        }
    }
}

impl Bench for Both<'_> {
    fn purge(&mut self) -> Result<Purged, Stop> {
        self.armed.purge().map_err(|error| Stop::Failed(error.to_string()))
    }
    fn write(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        self.drive(workload)
    }
    fn run(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        let fio_first = self.round.is_multiple_of(2);
        let early = if fio_first { Some(self.fios(workload)?) } else { None };
        let (segment, our_idle) = self.ours(workload)?;
        let (fios, fios_idle) = early.map_or_else(|| self.fios(workload), Ok)?;
        let idle_share = our_idle.min(fios_idle);
        let (ours, percentiles) = (segment.iops(), latency::percentiles(&segment, &fios));
        let workload = workload.clone();
        self.pairs.push(Pair { workload, ours, fios: fios.iops, percentiles, idle_share });
        Ok(segment)
    }
    fn idle(&mut self, length_ns: u64) -> Result<(), Stop> {
        self.armed.idle(length_ns).map_err(|error| Stop::Failed(error.to_string()))
    }
    fn note(&mut self, note: Note) -> Result<(), Stop> {
        if let Note::RoundStarted { round, cells } = note {
            self.round = round;
            eprintln!("round {round} of {ROUNDS}, {cells} cells, each compared with fio");
        }
        Ok(())
    }
}

fn verdict(pairs: &[Pair]) -> anyhow::Result<()> {
    let cells: Vec<&Workload> =
        pairs.iter().take(pairs.len() / ROUNDS as usize).map(|p| &p.workload).collect();
    println!(
        "{:<20} {:>12} {:>7} {:>12} {:>7} {:>8} {:>6}",
        "cell", "plateau", "sd", "fio", "sd", "ratio", "idle"
    );
    let mut tally = Tally::of("cells", CLOSE_IOPS);
    for cell in &cells {
        let same = |p: &&Pair| {
            (p.workload.block_bytes, p.workload.read_percent) == (cell.block_bytes, cell.read_percent)
        };
        let of = |value: fn(&Pair) -> f64| spread(&pairs.iter().filter(same).map(value).collect::<Vec<_>>());
        let (ours, fios, idle) = (of(|p| p.ours), of(|p| p.fios), of(|p| p.idle_share));
        let ratio = ours.mean / fios.mean;
        let finding = tally.find(&ours, &fios, idle.mean);
        println!(
            "{:<20} {:>12} {:>6.1}% {:>12} {:>6.1}% {:>8.3} {:>5.0}%  {}",
            cell.to_string(),
            grouped(ours.mean, 1),
            ours.deviation_share * 100.0,
            grouped(fios.mean, 1),
            fios.deviation_share * 100.0,
            ratio,
            idle.mean * 100.0,
            finding
        );
    }
    println!("{tally}");
    let wrong = tally.wrong() + latency::verdict(pairs, &cells);
    if wrong > 0 {
        bail!("{wrong} figures disagree");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(ours: [f64; 5], fios: [f64; 5], idle_share: f64) -> Vec<Pair> {
        let with = pairs_with(vec![[(1e6, 1e6); 2]; 5]);
        let pair = |(pair, (ours, fios))| Pair { ours, fios, idle_share, ..pair };
        with.into_iter().zip(ours.into_iter().zip(fios)).map(pair).collect()
    }

    /// Returns one pair of results per element of `percentiles`, all for the same cell.
    pub(super) fn pairs_with(percentiles: Vec<[(f64, f64); 2]>) -> Vec<Pair> {
        let profile = Profile::named("pts-e-1.0").unwrap();
        let workload = Workload {
            access: record::Access::Random,
            read_percent: 0,
            block_bytes: 4096,
            kinds: Vec::new(),
            zones: Vec::new(),
            sequence: None,
            threads: profile.threads,
            queue_depth: profile.queue_depth,
            range: record::Range::first(1 << 30),
            from_block: 0,
            align_bytes: 0,
            data_pattern: record::DataPattern::Random,
            until: record::Until::DurationNs(1),
            seed: 1,
            regime: record::Regime::default(),
            commands: None,
        };
        let pair = |percentiles| Pair {
            workload: workload.clone(),
            ours: 1.0,
            fios: 1.0,
            percentiles,
            idle_share: 0.5,
        };
        percentiles.into_iter().map(pair).collect()
    }

    #[test]
    fn a_repeating_cell_must_agree() {
        assert!(verdict(&pairs([100.0; 5], [102.9; 5], 0.5)).is_ok());
        assert!(verdict(&pairs([100.0; 5], [103.2; 5], 0.5)).is_err());
    }

    #[test]
    fn a_cell_that_kept_the_host_busy_compares_the_tools() {
        assert!(verdict(&pairs([100.0; 5], [115.0; 5], 0.01)).is_ok());
    }

    #[test]
    fn a_cell_that_does_not_repeat_proves_nothing() {
        assert!(verdict(&pairs([100.0; 5], [50.0, 150.0, 90.0, 200.0, 120.0], 0.5)).is_ok());
    }
}
