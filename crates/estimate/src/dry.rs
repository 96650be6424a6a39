//! Runs a test without a drive to estimate its duration and the amount it writes. The real test code runs; only the
//! drive is replaced ([`Assumed`]).

use record::{Direction, Note, Purged, Segment, Series, Until, Workload};
use stdx::Histogram;
use stdx::histogram::slot_of;
use stdx::units::SECOND_NS;

use crate::assumed::{Assumed, State};
use pts::{Bench, Context, Outcome, Stop, Task};

/// Minimum number of I/Os in a cell per outstanding I/O, so that the shortened cells of a scaled simulated
/// drive do not end too early.
pub const IOS_PER_OUTSTANDING: u32 = 20;
/// Until a drive is preconditioned, ranges of up to this fraction of its capacity are rewritten at the fresh rate: even
/// client drives have at least twice as much spare flash, so that garbage collection finds blocks without valid data.
const SPARED_RANGE: f64 = 0.03;
/// If the speed of rounds alternates by this fraction, steady state is never reached.
const SWING: f64 = 0.15;

/// Cost of a test. The purge is excluded, because its duration is not known in advance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Number of purges, workloads and idle periods.
    pub steps: u32,
    /// Number of rounds, including those of preconditioning.
    pub rounds: u32,
    /// Time on the drive's clock.
    pub duration_ns: u64,
    /// The longest workload or idle period, which is repeated as a whole if it is interrupted.
    pub longest_step_ns: u64,
    /// Exact number of bytes written by workloads of a fixed amount, such as preconditioning.
    pub precondition_bytes: u64,
    /// Estimated number of bytes written by workloads of a fixed length.
    pub cell_bytes: u64,
}

/// Minimum and maximum cost of a test.
#[derive(Debug, Clone)]
pub struct Estimate {
    /// Name of the test.
    pub test: String,
    /// Cost if steady state is reached as early as possible.
    pub shortest: Cost,
    /// Cost if steady state is never reached.
    pub longest: Cost,
    /// The outcome of a run without interruptions or errors.
    pub outcome: Outcome,
}

/// Runs `test` twice on an assumed drive: once with steady state as early as possible, and once without
/// steady state.
///
/// # Errors
/// Returns an error if the target cannot run one of the test's workloads.
pub fn estimate<'a>(
    context: &Context<'_>,
    test: impl Into<Task<'a>>,
    assumed: &Assumed,
) -> Result<Estimate, String> {
    estimate_after(context, test.into(), assumed, &mut Conditions::default())
}

/// Estimates consecutive tests: a test without a purge starts with the drive in the state in which the previous
/// test left it.
///
/// # Errors
/// Returns an error if the target cannot run one of the workloads.
pub fn estimates<'a>(
    context: &Context<'_>,
    tests: impl IntoIterator<Item = Task<'a>>,
    assumed: &Assumed,
) -> Result<Vec<Estimate>, String> {
    let mut conditions = Conditions::default();
    tests.into_iter().map(|task| estimate_after(context, task, assumed, &mut conditions)).collect()
}

fn estimate_after(
    context: &Context<'_>,
    task: Task<'_>,
    assumed: &Assumed,
    conditions: &mut Conditions,
) -> Result<Estimate, String> {
    let cost = |swing: f64, condition: &mut Condition| {
        let mut dry = Dry::of(context, assumed, swing, *condition);
        let outcome = task.run(context, &mut dry);
        *condition = dry.condition;
        match &outcome.stop {
            Some(stop) => Err(stop.to_string()),
            None => Ok((dry.cost, outcome)),
        }
    };
    let (shortest, outcome) = cost(0.0, &mut conditions.shortest)?;
    let (longest, _) = cost(SWING, &mut conditions.longest)?;
    Ok(Estimate { test: task.name().into(), shortest, longest, outcome })
}

impl Cost {
    /// Returns the total bytes written.
    #[must_use]
    pub const fn written_bytes(&self) -> u64 {
        self.precondition_bytes + self.cell_bytes
    }

    /// Returns the sum of this cost and `other`.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            steps: self.steps + other.steps,
            rounds: self.rounds + other.rounds,
            duration_ns: self.duration_ns + other.duration_ns,
            longest_step_ns: if self.longest_step_ns > other.longest_step_ns {
                self.longest_step_ns
            } else {
                other.longest_step_ns
            },
            precondition_bytes: self.precondition_bytes + other.precondition_bytes,
            cell_bytes: self.cell_bytes + other.cell_bytes,
        }
    }
}

/// Condition of the drive after the tests so far, for both costs.
#[derive(Debug, Default)]
struct Conditions {
    shortest: Condition,
    longest: Condition,
}

/// How the writes since the last purge have affected the drive.
#[derive(Debug, Clone, Copy, Default)]
struct Condition {
    /// Filled by sequential writes before the random writes.
    preconditioned: bool,
    /// Number of bytes that the drive still accepts at the fresh rate.
    fresh_bytes: f64,
}

struct Dry<'a> {
    context: &'a Context<'a>,
    assumed: &'a Assumed,
    swing: f64,
    /// Number of workloads left in the current round, and their relative speed.
    left_in_round: u32,
    pace: f64,
    cost: Cost,
    condition: Condition,
}

/// Rates during a workload: one for the first `first_bytes`, and another after that.
struct Course {
    first: f64,
    first_bytes: f64,
    then: f64,
}

impl Course {
    fn seconds(&self, bytes: f64) -> f64 {
        bytes.min(self.first_bytes) / self.first + (bytes - self.first_bytes).max(0.0) / self.then
    }

    fn bytes(&self, seconds: f64) -> f64 {
        let turn = self.first_bytes / self.first;
        seconds.min(turn) * self.first + (seconds - turn).max(0.0) * self.then
    }
}

impl<'a> Dry<'a> {
    fn of(context: &'a Context<'a>, assumed: &'a Assumed, swing: f64, condition: Condition) -> Self {
        Self { context, assumed, swing, left_in_round: 0, pace: 1.0, cost: Cost::default(), condition }
    }

    /// Converts a duration to the drive's clock, because a scaled simulated drive divides all times.
    fn on_the_clock(&self, length_ns: u64) -> u64 {
        length_ns / u64::from(self.context.scale_divisor())
    }

    fn course(&self, workload: &Workload) -> Course {
        let Condition { preconditioned, fresh_bytes } = self.condition;
        let full = if preconditioned { State::Preconditioned } else { State::Saturated };
        let rate = |state| self.assumed.bytes_per_second(workload, state);
        let writes = 1.0 - f64::from(workload.read_percent.min(100)) / 100.0;
        let is_spared =
            length_of(workload) as f64 <= SPARED_RANGE * self.context.target.capacity_bytes as f64;
        let first_bytes = match () {
            () if preconditioned => 0.0,
            () if is_spared => f64::INFINITY,
            () if fresh_bytes <= 0.0 => 0.0,
            () if writes <= 0.0 => f64::INFINITY,
            () => fresh_bytes / writes,
        };
        Course { first: rate(State::Fresh), first_bytes, then: rate(full) }
    }

    /// Returns the number of bytes that a workload transfers, and its duration in ns.
    fn extent(&self, workload: &Workload) -> (u64, u64) {
        let course = self.course(workload);
        let ns = |seconds: f64| (seconds * SECOND_NS as f64) as u64;
        match workload.until {
            Until::AmountBytes(bytes) => {
                let length_ns = ns(course.seconds(bytes as f64));
                match workload.regime.limit_ns.map(|limit_ns| self.on_the_clock(limit_ns)) {
                    Some(limit_ns) if limit_ns < length_ns => {
                        (course.bytes(limit_ns as f64 / SECOND_NS as f64) as u64, limit_ns)
                    }
                    _ => (bytes, length_ns),
                }
            }
            Until::DurationNs(length_ns) => {
                let requested_ns = self.on_the_clock(length_ns);
                let least_ios = f64::from(IOS_PER_OUTSTANDING * workload.outstanding());
                let least_ns = match self.context.scale_divisor() {
                    1 => 0,
                    _ => ns(course.seconds(least_ios * workload.mean_block_bytes())),
                };
                let length_ns = requested_ns.max(least_ns);
                (course.bytes(length_ns as f64 / SECOND_NS as f64) as u64, length_ns)
            }
        }
    }

    fn answer(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        let target = self.context.target;
        let checked = workload.validate(target.capacity_bytes, target.logical_block_bytes);
        checked.map_err(|error| Stop::Failed(error.to_string()))?;
        let (bytes, length_ns) = self.extent(workload);
        let ramp_ns = self.on_the_clock(workload.regime.ramp_ns);
        let ramp_bytes = self.course(workload).bytes(ramp_ns as f64 / SECOND_NS as f64) as u64;
        let write_percent = u64::from(100 - workload.read_percent.min(100));
        let written = bytes / 100 * write_percent;
        let before = ramp_bytes / 100 * write_percent;
        self.condition.fresh_bytes = (self.condition.fresh_bytes - (written + before) as f64).max(0.0);
        match workload.until {
            Until::AmountBytes(_) => {
                self.cost.precondition_bytes += bytes;
                // A time limit may end preconditioning before the range is full.
                self.condition.preconditioned |=
                    bytes + u64::from(workload.block_bytes) > length_of(workload);
            }
            Until::DurationNs(_) => self.cost.cell_bytes += written + before,
        }
        self.cost.longest_step_ns = self.cost.longest_step_ns.max(ramp_ns + length_ns);
        self.cost.duration_ns += ramp_ns;
        let start_ns = self.cost.duration_ns;
        self.cost.duration_ns += length_ns;
        self.cost.steps += 1;
        // Alternating speeds keep rounds from being steady. They affect only the reported results, not the
        // cost.
        let pace = if self.left_in_round > 0 { self.pace } else { 1.0 };
        let (bytes, written) = ((bytes as f64 * pace) as u64, (written as f64 * pace) as u64);
        let ios = (bytes as f64 / workload.mean_block_bytes()).max(1.0);
        let response_ns = f64::from(workload.outstanding()) * length_ns as f64 / ios;
        Ok(Segment {
            workload: workload.clone(),
            start_ns,
            end_ns: self.cost.duration_ns.max(start_ns + 1),
            read: direction(bytes.saturating_sub(written), workload, response_ns),
            write: direction(written, workload, response_ns),
            series: Series::default(),
            errors: Vec::new(),
            io_path: record::IoEngine::Simulated.into(),
            gap_before: None,
            on_file: None,
            power: None,
            verified: None,
            synced: None,
            host: None,
            detail: None,
        })
    }
}

/// Returns the length of a workload's range.
fn length_of(workload: &Workload) -> u64 {
    workload.range.segment_bytes * u64::from(workload.range.segments)
}

fn direction(bytes: u64, workload: &Workload, response_ns: f64) -> Direction {
    if bytes == 0 {
        return Direction::default();
    }
    let ios = ((bytes as f64 / workload.mean_block_bytes()) as u64).max(1);
    let ns = response_ns as u64;
    let latency = Histogram::from_parts(&[(slot_of(ns), ios)], u128::from(ns) * u128::from(ios), ns, ns);
    Direction { ios, bytes, latency: latency.expect("a single filled slot") }
}

impl Bench for Dry<'_> {
    fn purge(&mut self) -> Result<Purged, Stop> {
        self.cost.steps += 1;
        let fresh_bytes = self.assumed.saturation.fills * self.context.target.capacity_bytes as f64;
        self.condition = Condition { preconditioned: false, fresh_bytes };
        let now_ns = self.cost.duration_ns;
        Ok(Purged {
            method: "not done".into(),
            name: None,
            pts_purge: true,
            start_ns: now_ns,
            end_ns: now_ns,
            evidence: Vec::new(),
            samples_read: false,
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
        let length_ns = self.on_the_clock(length_ns);
        self.cost.longest_step_ns = self.cost.longest_step_ns.max(length_ns);
        self.cost.duration_ns += length_ns;
        let won = self.assumed.saturation.idle_gain_bytes_per_second * length_ns as f64 / SECOND_NS as f64;
        self.condition.fresh_bytes += won;
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
