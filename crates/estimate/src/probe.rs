//! Probes a simulated drive before planning: runs short workloads of every kind that the tests request, in the
//! drive states that occur in the tests. `assumed::Observed` collects the results.

use record::{Until, Workload};
use stdx::units::KIB;

use pts::Composite;
use pts::profile::{Cell, Demand};
use pts::{Bench, Context, Stop, Test};

/// Block sizes in descending order, as in a round of the IOPS test.
const BLOCKS_KIB: [u64; 4] = [1024, 128, 32, 4];
const MIXES: [u8; 3] = [100, 50, 0];
/// Limits for the random writes, in capacities and minutes: enough to saturate the drive.
const FILLS: u64 = 6;
const MOST_MINUTES: u32 = 3_000;
/// Number of 5 s bursts, each preceded by one of the idle times below.
const BURSTS: u32 = 24;
const BURST_SECONDS: u32 = 5;
const REST_SECONDS: [u32; 3] = [5, 10, 15];
/// Number of passes over the cells; the first pass starts with the drive in a different state.
const PASSES: u32 = 2;
/// A round number that no test uses, so that seeds are distinct.
const ROUND: u32 = u32::MAX - 1;
const DEEP: Demand = Demand { threads: 32, queue_depth: 32 };
const BUSY: Demand = Demand { threads: 1, queue_depth: 32 };
const ALONE: Demand = Demand { threads: 1, queue_depth: 1 };

/// Tests that start on a fresh drive, without preconditioning of a fixed amount, and a test whose zones are so small that
/// random writes run at the rate of a fresh drive.
const SATURATING: [&str; 7] = ["wsat", "hir", "xsr", "ecw", "cbw", "dirth", "hdd-iops"];

/// Runs the workloads that determine the speeds required by `tests`.
///
/// # Errors
/// Returns an error if the bench fails.
pub fn run(context: &Context<'_>, tests: &[&Test], bench: &mut dyn Bench) -> Result<(), Stop> {
    let any = |names: &[&str]| tests.iter().any(|test| names.contains(&test.family));
    let mut probe = Probe { context, bench, step: 0 };
    probe.preconditioned()?;
    if any(&SATURATING) {
        probe.saturated()?;
    }
    if any(&["ecw", "cbw"]) && Composite::of(context).check(context).is_ok() {
        probe.composite()?;
    }
    Ok(())
}

struct Probe<'a> {
    context: &'a Context<'a>,
    bench: &'a mut dyn Bench,
    step: u32,
}

impl Probe<'_> {
    /// Puts the drive in the state that it has in IOPS, Throughput and Latency: filled by sequential writes,
    /// then by random writes.
    fn preconditioned(&mut self) -> Result<(), Stop> {
        self.bench.purge()?;
        self.bench.write(&self.context.precondition())?;
        for read_percent in [100, 0] {
            let large =
                Workload { access: record::Access::Sequential, ..self.cell(BUSY, read_percent, 1024) };
            self.bench.run(&large)?;
        }
        let demand = self.busy();
        for _ in 0..PASSES {
            for read_percent in MIXES {
                for block in BLOCKS_KIB {
                    let cell = self.cell(demand, read_percent, block);
                    self.bench.run(&cell)?;
                }
            }
        }
        for read_percent in [100, 0] {
            let cell = self.cell(ALONE, read_percent, 4);
            self.bench.run(&cell)?;
        }
        Ok(())
    }

    /// Puts the drive in the state that it has in timeline tests: fresh, then filled by random writes.
    fn saturated(&mut self) -> Result<(), Stop> {
        self.bench.purge()?;
        let demand = self.busy();
        let enough_bytes = FILLS * self.context.target.capacity_bytes;
        let (mut written, mut minutes) = (0, 0);
        while written < enough_bytes && minutes < MOST_MINUTES {
            let minute = self.writes(demand, self.context.minutes_ns(1));
            written += self.bench.run(&minute)?.write.bytes;
            minutes += 1;
        }
        for rest in REST_SECONDS {
            for _ in 0..BURSTS / REST_SECONDS.len() as u32 {
                self.bench.idle(self.context.seconds_ns(rest))?;
                let burst = self.writes(demand, self.context.seconds_ns(BURST_SECONDS));
                self.bench.run(&burst)?;
            }
        }
        Ok(())
    }

    fn composite(&mut self) -> Result<(), Stop> {
        let minutes = self.context.minutes_ns(5);
        for (demand, read_percent) in [(DEEP, 0), (DEEP, 0), (DEEP, 40), (ALONE, 0), (ALONE, 40)] {
            let plain = self.cell(demand, read_percent, 4);
            let whole = Workload { range: self.context.whole_test_range(), ..plain };
            let load = Composite::of(self.context).apply(whole);
            self.bench.run(&Workload { until: Until::DurationNs(minutes), ..load })?;
        }
        Ok(())
    }

    /// Returns the run's demand, or `BUSY` if that is too low to keep a drive busy.
    fn busy(&self) -> Demand {
        let demand = self.context.demand(None);
        let outstanding = u32::from(demand.threads) * u32::from(demand.queue_depth);
        if outstanding < u32::from(BUSY.queue_depth) { BUSY } else { demand }
    }

    fn writes(&mut self, demand: Demand, length_ns: u64) -> Workload {
        let (range, until) = (self.context.whole_test_range(), Until::DurationNs(length_ns));
        Workload { range, until, ..self.cell(demand, 0, 4) }
    }

    fn cell(&mut self, demand: Demand, read_percent: u8, block_kib: u64) -> Workload {
        self.step += 1;
        let cell = Cell { block_bytes: (block_kib * KIB) as u32, read_percent };
        self.context.cell_at(demand, ROUND, self.step, cell)
    }
}
