//! Measures the host's own throughput ceiling by running the engine's loop without a target.
//!
//! If a drive's results come close to these figures, the host limited them, not the drive.

use std::path::Path;

use record::{Access, Ceiling, CostPerIo, DataPattern, Effort, Range, Regime, Segment, Until, Workload};
use stdx::units::SECOND_NS;

use crate::choice::Choices;
use crate::clock::{self, Clock};
use crate::error::EngineError;
use crate::load::fill::Fill;
use crate::load::run;
use crate::load::target::{INTERVAL_NS, Target};
use crate::load::way::Way;
use crate::options::{Engine, LoadOptions, Polling};
use crate::outcome::LoadOutcome;
use crate::placement::{Places, SYS};

/// Queue depths at which the loop is measured.
const DEPTHS: [u16; 3] = [1, 32, 128];
const DATA_BLOCK_BYTES: usize = 4096;
/// As many buffers as at QD 32, so that the data exceeds the L1 cache.
const DATA_BUFFERS: usize = 32;

/// Number and length of the runs per measurement. The run with the lowest cost is used, because disturbances
/// can only add to the cost.
#[derive(Debug, Clone, Copy)]
struct Runs {
    count: usize,
    run_ns: u64,
}

const THOROUGH: Runs = Runs { count: 3, run_ns: 200_000_000 };
const QUICK: Runs = Runs { count: 1, run_ns: 30_000_000 };

/// The destination of I/Os that do not reach a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nowhere {
    /// Completed in user space, without a system call.
    Null,
    /// `IORING_OP_NOP` through io_uring.
    NoOpRing,
}

/// Result of a workload without a device: the cost that the engine adds to every measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Rehearsed {
    /// Measurements of the engine, recorded in the same way as for a drive.
    pub segment: Segment,
    /// CPU cost.
    pub effort: Effort,
}

impl Rehearsed {
    /// Returns the CPU time per I/O.
    #[must_use]
    pub fn cpu_ns_per_io(&self) -> f64 {
        let ios = self.segment.read.ios + self.segment.write.ios;
        self.effort.cpu_ns() as f64 / ios.max(1) as f64
    }
}

/// Runs a workload without a device, in the loop that is also used for devices.
///
/// # Errors
/// Returns an error if the workload is invalid, if the host lacks a required resource, or if the host was
/// suspended during the run.
pub fn rehearse(nowhere: Nowhere, workload: &Workload) -> Result<Rehearsed, EngineError> {
    rehearse_by(nowhere, workload, INTERVAL_NS)
}

/// Same as [`rehearse`], but with intervals other than one second. With short intervals, a day's worth of
/// intervals takes only seconds.
///
/// # Errors
/// As for [`rehearse`].
pub fn rehearse_by(
    nowhere: Nowhere,
    workload: &Workload,
    interval_ns: u64,
) -> Result<Rehearsed, EngineError> {
    if interval_ns == 0 {
        return Err(EngineError::NoInterval);
    }
    workload.validate(u64::MAX, 1)?;
    run::check_depth(workload)?;
    if workload.regime.verify && (nowhere != Nowhere::Null || workload.read_percent > 0) {
        return Err(EngineError::NothingToVerify);
    }
    let places = Places::of(Path::new(SYS), None, None)?;
    let options = LoadOptions {
        engine: Engine::Auto,
        places,
        polling: Polling::No,
        unpolled: None,
        choices: Choices::default(),
        expected_run: None,
        others: Vec::new(),
    };
    let target = Target::nowhere("nowhere", Clock::start(), &options, interval_ns);
    let way = match nowhere {
        Nowhere::Null => Way::Null,
        Nowhere::NoOpRing => Way::NoOpRing,
    };
    match run::rehearse(way, &target, workload)? {
        LoadOutcome::Finished(segment) => {
            let effort = segment.host.as_ref().map(|host| host.effort).unwrap_or_default();
            Ok(Rehearsed { segment, effort })
        }
        LoadOutcome::Stopped => unreachable!("a rehearsal cannot be stopped"),
    }
}

/// Measures the host's throughput ceiling. Takes about five seconds and loads one CPU.
///
/// # Errors
/// Returns an error if a thread cannot be started or memory cannot be allocated.
pub fn ceiling() -> Result<Ceiling, EngineError> {
    measured(THOROUGH)
}

/// Same as [`ceiling`], but takes less than half a second; used at the start of a run.
///
/// # Errors
/// As for [`ceiling`].
pub fn quick_ceiling() -> Result<Ceiling, EngineError> {
    measured(QUICK)
}

fn measured(runs: Runs) -> Result<Ceiling, EngineError> {
    let (no_op_ring, no_op_ring_missing) = match lightest(Nowhere::NoOpRing, runs) {
        Ok(costs) => (costs, None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    Ok(Ceiling {
        clock: clock::facts(),
        null: lightest(Nowhere::Null, runs)?,
        no_op_ring,
        no_op_ring_missing,
        data_bytes_per_second: data_bytes_per_second(runs),
    })
}

/// Returns 4 KiB random reads by one thread over 1 TiB.
pub(crate) fn workload(queue_depth: u16, length_ns: u64) -> Workload {
    Workload {
        access: Access::Random,
        read_percent: 100,
        block_bytes: 4096,
        kinds: Vec::new(),
        zones: Vec::new(),
        sequence: None,
        threads: 1,
        queue_depth,
        range: Range::first(1 << 40),
        from_block: 0,
        align_bytes: 0,
        data_pattern: DataPattern::Random,
        until: Until::DurationNs(length_ns),
        seed: 1,
        regime: Regime::default(),
        commands: None,
    }
}

fn lightest(nowhere: Nowhere, runs: Runs) -> Result<Vec<CostPerIo>, EngineError> {
    let mut costs = Vec::with_capacity(DEPTHS.len());
    for queue_depth in DEPTHS {
        let mut cpu_ns = f64::INFINITY;
        for _ in 0..runs.count {
            cpu_ns = cpu_ns.min(rehearse(nowhere, &workload(queue_depth, runs.run_ns))?.cpu_ns_per_io());
        }
        costs.push(CostPerIo { queue_depth, cpu_ns });
    }
    Ok(costs)
}

fn data_bytes_per_second(runs: Runs) -> f64 {
    let mut fill = Fill::new(DataPattern::Random, 1, 0);
    let mut buffers = vec![0; DATA_BUFFERS * DATA_BLOCK_BYTES];
    let (clock, mut best) = (Clock::start(), 0f64);
    for _ in 0..runs.count {
        let begin_ns = clock.now_ns();
        let (mut bytes, mut passed_ns) = (0, 0);
        while passed_ns < runs.run_ns {
            buffers.chunks_exact_mut(DATA_BLOCK_BYTES).for_each(|block| fill.fill(block));
            bytes += std::hint::black_box(&mut buffers).len();
            passed_ns = clock.now_ns() - begin_ns;
        }
        best = best.max(bytes as f64 / (passed_ns as f64 / SECOND_NS as f64));
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rehearsal_performs_the_requested_load() {
        for nowhere in [Nowhere::Null, Nowhere::NoOpRing] {
            for (threads, queue_depth) in [(1, 1), (1, 4), (2, 7), (1, 128)] {
                let until = Until::AmountBytes(10_000 * 4096);
                let request = Workload { threads, read_percent: 65, until, ..workload(queue_depth, 1) };
                let done = match rehearse(nowhere, &request) {
                    Err(error) if nowhere == Nowhere::NoOpRing => return skips::skip!("{error}"),
                    other => other.expect("a rehearsal").segment,
                };
                let ios = done.read.ios + done.write.ios;
                assert_eq!((ios, done.read.latency.count()), (10_000, done.read.ios));
                let share = done.read.ios as f64 / ios as f64;
                assert!((share - 0.65).abs() < 0.03, "{share}");
            }
        }
    }

    #[test]
    fn a_quick_measurement_yields_a_ceiling() {
        let ceiling = quick_ceiling().expect("a ceiling");
        let depths: Vec<u16> = ceiling.null.iter().map(|cost| cost.queue_depth).collect();
        assert_eq!(depths, DEPTHS);
        assert!(ceiling.no_op_ring.len() == DEPTHS.len() || ceiling.no_op_ring_missing.is_some());
        let costs = ceiling.null.iter().chain(&ceiling.no_op_ring).map(|cost| cost.cpu_ns);
        assert!(costs.clone().all(|ns| ns > 0.0 && ns < 1e6), "{:?}", costs.collect::<Vec<_>>());
        assert!(ceiling.data_bytes_per_second > 1e6);
    }

    #[test]
    fn a_clock_that_goes_wrong_ends_a_run_and_invalidates_it() {
        if !Clock::start().is_counter() {
            return skips::skip!("the processor's counter is not used here");
        }
        let places = Places::of(Path::new(SYS), None, None).expect("processors");
        let options = LoadOptions {
            engine: Engine::Auto,
            places,
            polling: Polling::No,
            unpolled: None,
            choices: Choices::default(),
            expected_run: None,
            others: Vec::new(),
        };
        for factor in [1e-3, 100.0] {
            let target = Target::nowhere("nowhere", Clock::wrong_by(factor), &options, INTERVAL_NS);
            let begin = std::time::Instant::now();
            // Because the clock is slowed down by a factor of 1000, the run would take most of a day if it
            // were not stopped.
            let request = Workload { until: Until::DurationNs(60 * SECOND_NS), ..workload(1, 1) };
            let error = run::rehearse(Way::Null, &target, &request).expect_err("no result");
            assert!(matches!(error, EngineError::Disturbed { .. }), "{error}");
            assert!(error.to_string().contains("counter is wrong"), "{error}");
            assert!(begin.elapsed().as_secs() < 50, "{factor}");
        }
    }

    #[test]
    fn impossible_rehearsals_are_refused() {
        let request = Workload { queue_depth: 5000, ..workload(1, 1) };
        assert!(rehearse(Nowhere::Null, &request).is_err());
    }
}
