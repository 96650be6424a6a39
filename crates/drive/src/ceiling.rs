//! What this host can do at most, measured by the engine's own loop on nothing: no target is opened.
//!
//! A drive that is measured near these figures was not the limit; the host was.

use record::{Access, DataPattern, Range, Regime, Segment, Until, Workload};
use stdx::units::SECOND_NS;

use crate::clock::{self, Clock, ClockFacts};
use crate::error::DriveError;
use crate::load::effort::Effort;
use crate::load::fill::Fill;
use crate::load::{self, Device, Way};
use crate::{Engine, Outcome};

/// Depths at which the loop is measured.
const DEPTHS: [u16; 3] = [1, 32, 128];
const RUN_NS: u64 = 200_000_000;
/// Of some runs the lightest counts: what disturbs a host only ever makes it slower.
const RUNS: usize = 3;
const DATA_BLOCK_BYTES: usize = 4096;
/// As many buffers as are in use at depth 32: what is written does not stay in the nearest cache.
const DATA_BUFFERS: usize = 32;

/// Where I/Os go that shall reach no device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nowhere {
    /// Not even into the kernel.
    Null,
    /// Through the kernel's ring as requests without an operation.
    NoOpRing,
}

/// A workload that reached nothing: the engine's own share of every measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Rehearsed {
    /// What the engine noted, like for a drive.
    pub segment: Segment,
    /// What it cost.
    pub effort: Effort,
}

/// What one thread of this host can do at most.
#[derive(Debug, Clone, PartialEq)]
pub struct Ceiling {
    /// The clock that stamps every I/O.
    pub clock: ClockFacts,
    /// Queue depth and processor time per I/O in ns: loop, clock and histogram, without the kernel.
    pub null_ns: Vec<(u16, f64)>,
    /// The same with the kernel's ring; none, with the reason, where io_uring cannot be used.
    pub no_op_ring_ns: Result<Vec<(u16, f64)>, String>,
    /// Bytes per second of fresh, incompressible data.
    pub data_bytes_per_second: f64,
}

impl Rehearsed {
    /// Processor time per I/O.
    #[must_use]
    pub fn cpu_ns_per_io(&self) -> f64 {
        let ios = self.segment.read.ios + self.segment.write.ios;
        self.effort.cpu_ns() as f64 / ios.max(1) as f64
    }
}

/// Runs a workload that reaches no device, with the very loop that drives one.
///
/// # Errors
/// [`crate::ErrorKind::Invalid`] for a workload that no device could do, [`crate::ErrorKind::Unusable`] when
/// the host does not offer what it needs.
pub fn rehearse(nowhere: Nowhere, workload: &Workload) -> Result<Rehearsed, DriveError> {
    workload.validate(u64::MAX, 1).map_err(|e| DriveError::Invalid(e.to_string()))?;
    load::check_depth(workload)?;
    let device =
        Device { name: "nowhere", fd: -1, buffered: None, clock: Clock::start(), engine: Engine::Auto };
    let way = match nowhere {
        Nowhere::Null => Way::Null,
        Nowhere::NoOpRing => Way::NoOpRing,
    };
    match load::rehearse(way, &device, workload)? {
        (Outcome::Finished(segment), effort) => Ok(Rehearsed { segment, effort }),
        (Outcome::Stopped, _) => unreachable!("nobody stops a rehearsal"),
    }
}

/// Measures what this host can do at most; takes about five seconds and loads one processor.
///
/// # Errors
/// [`crate::ErrorKind::Unusable`] when the host does not offer a thread and some memory.
pub fn ceiling() -> Result<Ceiling, DriveError> {
    Ok(Ceiling {
        clock: clock::facts(),
        null_ns: lightest(Nowhere::Null)?,
        no_op_ring_ns: lightest(Nowhere::NoOpRing).map_err(|e| e.to_string()),
        data_bytes_per_second: data_bytes_per_second(),
    })
}

/// Random reads of 4 KiB by one thread over 1 TiB.
fn workload(queue_depth: u16) -> Workload {
    Workload {
        access: Access::Random,
        read_percent: 100,
        block_bytes: 4096,
        kinds: Vec::new(),
        zones: Vec::new(),
        threads: 1,
        queue_depth,
        range: Range::first(1 << 40),
        data_pattern: DataPattern::Random,
        until: Until::DurationNs(RUN_NS),
        seed: 1,
        regime: Regime::default(),
    }
}

fn lightest(nowhere: Nowhere) -> Result<Vec<(u16, f64)>, DriveError> {
    let mut rows = Vec::with_capacity(DEPTHS.len());
    for depth in DEPTHS {
        let mut best = f64::INFINITY;
        for _ in 0..RUNS {
            best = best.min(rehearse(nowhere, &workload(depth))?.cpu_ns_per_io());
        }
        rows.push((depth, best));
    }
    Ok(rows)
}

fn data_bytes_per_second() -> f64 {
    let mut fill = Fill::new(DataPattern::Random, 1, 0);
    let mut buffers = vec![0; DATA_BUFFERS * DATA_BLOCK_BYTES];
    let (clock, mut best) = (Clock::start(), 0f64);
    for _ in 0..RUNS {
        let begin_ns = clock.now_ns();
        let (mut bytes, mut passed_ns) = (0, 0);
        while passed_ns < RUN_NS {
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
    fn a_rehearsal_does_what_was_asked() {
        for nowhere in [Nowhere::Null, Nowhere::NoOpRing] {
            for (threads, queue_depth) in [(1, 1), (1, 4), (2, 7), (1, 128)] {
                let until = Until::AmountBytes(10_000 * 4096);
                let asked = Workload { threads, read_percent: 65, until, ..workload(queue_depth) };
                let done = match rehearse(nowhere, &asked) {
                    Err(error) if nowhere == Nowhere::NoOpRing => return eprintln!("skipped: {error}"),
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
    fn impossible_rehearsals_are_refused() {
        let asked = Workload { queue_depth: 5000, ..workload(1) };
        assert!(rehearse(Nowhere::Null, &asked).is_err());
    }
}
