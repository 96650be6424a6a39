//! The clock of a real target: the processor's own counter where it can be trusted, else the kernel's clock.
//!
//! The counter (TSC) costs about half of a call into the vDSO, which is most of what the engine spends on
//! an I/O at depth 1. It is trusted when the processor says that it runs at one speed in every state
//! (`constant_tsc`, `nonstop_tsc`), the kernel has not fallen back to a slower source of time, and two
//! calibrations against `CLOCK_MONOTONIC_RAW` agree. Whoever runs without it loses nanoseconds, not truth.

use std::sync::OnceLock;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use stdx::units::SECOND_NS;

/// Length of one calibration. Both ends are known to some 30 ns, so the rate is to a few in a million.
const CALIBRATION: Duration = Duration::from_millis(25);
/// Two calibrations may differ by this much, or the counter is not trusted.
const STABLE_WITHIN: f64 = 30e-6;
/// The counter is scaled by this power of two to nanoseconds.
const SCALE_BITS: u32 = 32;
/// Readings of which the best is taken.
const BRACKETS: u32 = 16;
/// Readings that measure what a reading costs.
const COST_READINGS: u32 = 100_000;

/// What the engine's clock is and what it costs.
#[derive(Debug, Clone, PartialEq)]
pub struct ClockFacts {
    /// `TSC`, or `CLOCK_MONOTONIC` and why.
    pub source: String,
    /// What one reading takes.
    pub cost_ns: f64,
    /// The smallest step between two readings that differ.
    pub resolution_ns: u64,
}

/// Nanoseconds since the clock was made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    /// Nanoseconds per count times 2^32; 0 for the kernel's clock.
    rate: u64,
    base: u64,
}

impl Clock {
    pub(crate) fn start() -> Self {
        let rate = *calibrated().as_ref().unwrap_or(&0);
        Self { rate, base: if rate == 0 { ns_of(ClockId::Monotonic) } else { counter() } }
    }

    #[inline]
    pub(crate) fn now_ns(&self) -> u64 {
        if self.rate == 0 {
            return ns_of(ClockId::Monotonic).saturating_sub(self.base);
        }
        // A guest that was moved to another host may see the counter jump; never below the start.
        let counts = counter().saturating_sub(self.base);
        ((u128::from(counts) * u128::from(self.rate)) >> SCALE_BITS) as u64
    }
}

/// Measures the clock; takes some milliseconds.
pub(crate) fn facts() -> ClockFacts {
    let source = match calibrated() {
        Ok(_) => "TSC".to_owned(),
        Err(why) => format!("CLOCK_MONOTONIC ({why})"),
    };
    let clock = Clock::start();
    let (begin_ns, mut last_ns, mut resolution_ns) = (clock.now_ns(), 0, u64::MAX);
    for _ in 0..COST_READINGS {
        let now_ns = clock.now_ns();
        if now_ns > last_ns {
            resolution_ns = resolution_ns.min(now_ns - last_ns);
        }
        last_ns = now_ns;
    }
    let cost_ns = last_ns.saturating_sub(begin_ns) as f64 / f64::from(COST_READINGS);
    ClockFacts { source, cost_ns, resolution_ns }
}

/// The rate of the counter, or why it is not used; found out once per process.
fn calibrated() -> &'static Result<u64, String> {
    static RATE: OnceLock<Result<u64, String>> = OnceLock::new();
    RATE.get_or_init(|| {
        trusted()?;
        let (first, second) = (ns_per_count()?, ns_per_count()?);
        if (first / second - 1.0).abs() > STABLE_WITHIN {
            return Err("the TSC does not keep its rate".into());
        }
        Ok(((first + second) / 2.0 * 2f64.powi(SCALE_BITS.cast_signed())).round() as u64)
    })
}

/// Whether processor and kernel vouch for the counter.
fn trusted() -> Result<(), String> {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let processor = read("/proc/cpuinfo");
    let flags = processor.lines().find(|l| l.starts_with("flags")).unwrap_or_default();
    for wanted in ["constant_tsc", "nonstop_tsc"] {
        if !flags.split_whitespace().any(|flag| flag == wanted) {
            return Err(format!("no {wanted}"));
        }
    }
    let source = read("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    match source.trim() {
        slow @ ("hpet" | "acpi_pm" | "jiffies") => Err(format!("the kernel uses {slow}")),
        _ => Ok(()),
    }
}

/// One calibration.
fn ns_per_count() -> Result<f64, String> {
    let (begin_ns, begin) = bracket();
    std::thread::sleep(CALIBRATION);
    let (end_ns, end) = bracket();
    match (end_ns.checked_sub(begin_ns), end.checked_sub(begin)) {
        (Some(ns), Some(counts)) if ns > 0 && counts > 0 => Ok(ns as f64 / counts as f64),
        _ => Err("the TSC runs backwards".into()),
    }
}

/// Kernel time and counter of one moment, from the reading that was disturbed least.
fn bracket() -> (u64, u64) {
    let readings = (0..BRACKETS).map(|_| {
        let (before, ns, after) = (counter(), ns_of(ClockId::MonotonicRaw), counter());
        (after.saturating_sub(before), ns, before + after.saturating_sub(before) / 2)
    });
    readings.min_by_key(|r| r.0).map_or((0, 0), |(_, ns, count)| (ns, count))
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn counter() -> u64 {
    // SAFETY: every x86-64 processor has the instruction; it reads a register and touches no memory.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Never used: without the flags in `/proc/cpuinfo` the counter is not trusted.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn counter() -> u64 {
    0
}

#[inline]
fn ns_of(id: ClockId) -> u64 {
    let now = clock_gettime(id);
    // These clocks count from boot: both parts are positive and fit for 584 years.
    now.tv_sec.cast_unsigned() * SECOND_NS + now.tv_nsec.cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_pace_with_the_kernel() {
        let (clock, begin_ns) = (Clock::start(), ns_of(ClockId::MonotonicRaw));
        std::thread::sleep(Duration::from_millis(50));
        let (ours, kernels) = (clock.now_ns(), ns_of(ClockId::MonotonicRaw) - begin_ns);
        let difference = ours.abs_diff(kernels);
        // A pause between the two readings shows here as well, so this is generous.
        assert!(difference < 5_000_000, "{ours} ns against {kernels} ns");
    }

    #[test]
    fn it_never_runs_backwards() {
        let clock = Clock::start();
        let mut last_ns = 0;
        for _ in 0..100_000 {
            let now_ns = clock.now_ns();
            assert!(now_ns >= last_ns);
            last_ns = now_ns;
        }
    }

    #[test]
    fn its_cost_and_resolution_are_known() {
        let facts = facts();
        assert!(facts.cost_ns > 0.0 && facts.resolution_ns < 1_000_000, "{facts:?}");
    }
}
