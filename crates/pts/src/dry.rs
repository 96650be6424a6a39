//! A test without a drive: how long it takes and how much it writes, by the code of the test itself on a drive
//! that is assumed.
//!
//! The assumption is one number, the sequential write speed. Random I/O of a block size B moves data at
//! B / (B + 16 KiB) of it, and one I/O takes at least 0.1 ms and its transfer. Reads are as fast as writes.

use record::{Access, Direction, Note, Purged, Segment, Series, Until, Workload};
use stdx::Histogram;
use stdx::histogram::slot_of;
use stdx::units::{KIB, SECOND_NS};

use crate::{Bench, Context, Outcome, Stop, Test};

/// What a random I/O costs besides its own bytes, as bytes of sequential writes.
const RANDOM_OVERHEAD_BYTES: f64 = 16.0 * KIB as f64;
/// What one I/O takes at least, besides its transfer.
const RESPONSE_SECONDS: f64 = 100e-6;
/// I/Os per outstanding one that a scaled simulated drive completes at least, so that its cells do not end
/// before they have begun.
const IOS_PER_OUTSTANDING: u32 = 20;
/// Rounds that are faster and slower by this in turn are never steady.
const SWING: f64 = 0.15;

/// What is assumed of the drive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Assumed {
    /// Sequential writes in bytes per second.
    pub write_bytes_per_second: f64,
}

/// What a test costs a drive. The purge takes a time that nobody knows before, so it is left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Purges, loads and idle times.
    pub steps: u32,
    /// Rounds, those of preconditioning included.
    pub rounds: u32,
    /// Time on the drive's clock.
    pub duration_ns: u64,
    /// Written by loads of a given amount, which is the preconditioning: exact.
    pub precondition_bytes: u64,
    /// Written by loads of a given length: estimated.
    pub cell_bytes: u64,
}

/// What a test costs at least and at most.
#[derive(Debug, Clone)]
pub struct Estimate {
    /// The test.
    pub test: &'static Test,
    /// Steady as early as possible.
    pub shortest: Cost,
    /// Never steady.
    pub longest: Cost,
    /// What a run without incidents says of itself.
    pub outcome: Outcome,
}

/// Runs `test` twice on an assumed drive: once it is always steady, once it never is.
///
/// # Errors
/// When a workload of the test is impossible on the target.
pub fn estimate(context: &Context<'_>, test: &'static Test, assumed: Assumed) -> Result<Estimate, String> {
    let cost = |swing: f64| {
        let mut dry = Dry::of(context, assumed, swing);
        let outcome = (test.run)(context, &mut dry);
        match &outcome.stop {
            Some(stop) => Err(stop.to_string()),
            None => Ok((dry.cost, outcome)),
        }
    };
    let (shortest, outcome) = cost(0.0)?;
    let (longest, _) = cost(SWING)?;
    Ok(Estimate { test, shortest, longest, outcome })
}

impl Cost {
    /// Everything that is written.
    #[must_use]
    pub const fn written_bytes(&self) -> u64 {
        self.precondition_bytes + self.cell_bytes
    }

    /// This and another one behind it.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            steps: self.steps + other.steps,
            rounds: self.rounds + other.rounds,
            duration_ns: self.duration_ns + other.duration_ns,
            precondition_bytes: self.precondition_bytes + other.precondition_bytes,
            cell_bytes: self.cell_bytes + other.cell_bytes,
        }
    }
}

impl Assumed {
    /// Bytes per second of a workload, reads and writes together.
    #[must_use]
    pub fn bytes_per_second(&self, workload: &Workload) -> f64 {
        let block = workload.mean_block_bytes();
        match workload.access {
            Access::Sequential => self.write_bytes_per_second,
            Access::Random => {
                let busy = self.write_bytes_per_second * block / (block + RANDOM_OVERHEAD_BYTES);
                let response_seconds = RESPONSE_SECONDS + block / self.write_bytes_per_second;
                busy.min(f64::from(workload.outstanding()) * block / response_seconds)
            }
        }
    }
}

struct Dry<'a> {
    context: &'a Context<'a>,
    assumed: Assumed,
    swing: f64,
    /// Loads that the current round still has, and how fast they are.
    left_in_round: u32,
    pace: f64,
    cost: Cost,
}

impl<'a> Dry<'a> {
    fn of(context: &'a Context<'a>, assumed: Assumed, swing: f64) -> Self {
        Self { context, assumed, swing, left_in_round: 0, pace: 1.0, cost: Cost::default() }
    }

    /// A scaled simulated drive divides all times.
    fn on_the_clock(&self, length_ns: u64) -> u64 {
        length_ns / u64::from(self.context.scale_divisor())
    }

    /// Length of a load that is to take `length_ns`.
    fn load_ns(&self, workload: &Workload, rate: f64, length_ns: u64) -> u64 {
        let length_ns = self.on_the_clock(length_ns);
        if self.context.scale_divisor() == 1 {
            return length_ns;
        }
        let least_bytes =
            f64::from(IOS_PER_OUTSTANDING * workload.outstanding()) * workload.mean_block_bytes();
        length_ns.max((least_bytes / rate * SECOND_NS as f64) as u64)
    }

    fn answer(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        let target = self.context.target;
        let checked = workload.validate(target.capacity_bytes, target.logical_block_bytes);
        checked.map_err(|error| Stop::Failed(error.to_string()))?;
        let pace = if self.left_in_round > 0 { self.pace } else { 1.0 };
        let rate = self.assumed.bytes_per_second(workload) * pace;
        let (bytes, length_ns) = match workload.until {
            Until::AmountBytes(bytes) => (bytes, (bytes as f64 / rate * SECOND_NS as f64) as u64),
            Until::DurationNs(length_ns) => {
                let length_ns = self.load_ns(workload, rate, length_ns);
                ((rate * length_ns as f64 / SECOND_NS as f64) as u64, length_ns)
            }
        };
        let written = bytes / 100 * u64::from(100 - workload.read_percent.min(100));
        match workload.until {
            Until::AmountBytes(bytes) => self.cost.precondition_bytes += bytes,
            Until::DurationNs(_) => self.cost.cell_bytes += written,
        }
        let start_ns = self.cost.duration_ns;
        self.cost.duration_ns += length_ns;
        self.cost.steps += 1;
        let response_ns = f64::from(workload.outstanding()) * workload.mean_block_bytes() / rate * 1e9;
        Ok(Segment {
            workload: workload.clone(),
            start_ns,
            end_ns: self.cost.duration_ns.max(start_ns + 1),
            read: direction(bytes.saturating_sub(written), workload, response_ns),
            write: direction(written, workload, response_ns),
            series: Series::default(),
            errors: Vec::new(),
            engine: String::new(),
            gap_before: None,
            host: None,
        })
    }
}

fn direction(bytes: u64, workload: &Workload, response_ns: f64) -> Direction {
    if bytes == 0 {
        return Direction::default();
    }
    let ios = ((bytes as f64 / workload.mean_block_bytes()) as u64).max(1);
    let ns = response_ns as u64;
    let latency = Histogram::from_parts(&[(slot_of(ns), ios)], u128::from(ns) * u128::from(ios), ns, ns);
    Direction { ios, bytes, latency: latency.expect("one value, so often") }
}

impl Bench for Dry<'_> {
    fn purge(&mut self) -> Result<Purged, Stop> {
        self.cost.steps += 1;
        let now_ns = self.cost.duration_ns;
        Ok(Purged {
            method: "not done".into(),
            pts_purge: true,
            start_ns: now_ns,
            end_ns: now_ns,
            evidence: Vec::new(),
        })
    }

    fn write(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        self.answer(workload)
    }

    fn run(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        let segment = self.answer(workload);
        self.left_in_round = self.left_in_round.saturating_sub(1);
        segment
    }

    fn idle(&mut self, length_ns: u64) -> Result<(), Stop> {
        self.cost.steps += 1;
        self.cost.duration_ns += self.on_the_clock(length_ns);
        Ok(())
    }

    fn note(&mut self, note: Note) -> Result<(), Stop> {
        if let Note::RoundStarted { round, cells } = note {
            self.cost.rounds += 1;
            self.left_in_round = cells;
            self.pace = if round.is_multiple_of(2) { 1.0 + self.swing } else { 1.0 - self.swing };
        }
        Ok(())
    }
}
