//! The clock of a real target: the CPU's time stamp counter if it is trustworthy, otherwise the kernel's
//! clock.
//!
//! Clock readings account for most of the engine's cost per I/O at QD 1. Reading the counter (TSC) costs about half as
//! much as a vDSO call. The counter is trusted if the CPU declares it constant in every power state (`constant_tsc`,
//! `nonstop_tsc`), the kernel has not fallen back to a slower clock source, and two calibrations against
//! `CLOCK_MONOTONIC_RAW` agree. If the counter is not available, results lose a few nanoseconds of precision but
//! remain correct.

use std::sync::OnceLock;
use std::time::Duration;

use record::ClockFacts;
use rustix::time::{ClockId, clock_gettime};
use stdx::units::SECOND_NS;

use crate::disturbance::Disturbance;

/// Length of one calibration. Both ends are known to within about 30 ns, so the rate is accurate to a few
/// ppm.
const CALIBRATION: Duration = Duration::from_millis(25);
/// Largest relative difference between two calibrations of a trusted counter.
const STABLE_WITHIN: f64 = 30e-6;
/// Number of fractional bits of the rate, a fixed-point number in nanoseconds per count.
const SCALE_BITS: u32 = 32;
/// Number of readings from which the best is chosen.
const BRACKETS: u32 = 16;
/// Number of readings over which the cost of one reading is averaged.
const COST_READINGS: u32 = 100_000;

/// Clock in nanoseconds since its creation.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// Nanoseconds per count times 2^32; 0 selects the kernel's clock.
    rate: u64,
    base: u64,
}

impl Clock {
    /// Starts a clock at 0.
    #[must_use]
    pub fn start() -> Self {
        let rate = *calibrated().as_ref().unwrap_or(&0);
        Self { rate, base: if rate == 0 { ns_of(ClockId::Monotonic) } else { counter() } }
    }

    /// Returns a clock whose rate is wrong by this factor.
    #[cfg(test)]
    pub(crate) fn wrong_by(factor: f64) -> Self {
        let mut clock = Self::start();
        assert!(clock.rate > 0, "only the CPU's counter can be scaled");
        clock.rate = (clock.rate as f64 * factor) as u64;
        clock
    }

    /// Returns a clock that advances by 1 ns per reading, so that every reading is unique. A real clock has
    /// the resolution of the CPU's counter, which advances in steps of 20 ns on some CPUs.
    #[cfg(test)]
    pub(crate) fn of_readings() -> Self {
        let number = MADE_OF_READINGS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Self { rate: u64::MAX, base: number as u64 % READINGS.len() as u64 }
    }

    /// Returns whether the CPU's counter is used.
    #[cfg(test)]
    pub(crate) fn is_counter(&self) -> bool {
        self.rate > 0
    }

    /// Returns the time since the clock was started.
    #[inline]
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        if self.rate == 0 {
            return ns_of(ClockId::Monotonic).saturating_sub(self.base);
        }
        #[cfg(test)]
        if self.rate == u64::MAX {
            return READINGS[self.base as usize].fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
        // The counter may jump back when a guest migrates to another host; the result is clamped to the
        // start.
        let counts = counter().saturating_sub(self.base);
        ((u128::from(counts) * u128::from(self.rate)) >> SCALE_BITS) as u64
    }
}

/// One counter per clock of `Clock::of_readings`, so that concurrent tests do not advance each other's clock.
#[cfg(test)]
static READINGS: [std::sync::atomic::AtomicU64; 64] = [const { std::sync::atomic::AtomicU64::new(1) }; 64];
#[cfg(test)]
static MADE_OF_READINGS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

/// Compares our clock with the kernel's clocks, which account for suspended hosts and migrated guests.
#[derive(Debug)]
pub(crate) struct Vigil {
    clock: Clock,
    start: Moment,
}

/// Simultaneous readings of several clocks, in ns.
#[derive(Debug, Clone, Copy, Default)]
struct Moment {
    ours: u64,
    /// `CLOCK_MONOTONIC_RAW`, which excludes suspend and is never adjusted.
    raw: u64,
    /// `CLOCK_MONOTONIC`, which excludes suspend and is adjusted.
    awake: u64,
    /// `CLOCK_BOOTTIME`: includes suspend.
    always: u64,
}

/// Absolute tolerance, because the clocks are read one after another and the host may be busy in between.
const PACE_GRACE_NS: u64 = 5_000_000;
/// Relative tolerance between our clock and the kernel's, whose adjustments reach 500 ppm.
const PACE_WITHIN: f64 = 1e-3;
/// Even an immediate suspend and resume takes longer than this.
const SLEEP_GRACE_NS: u64 = 50_000_000;

impl Vigil {
    pub(crate) fn start(clock: Clock) -> Self {
        Self { clock, start: Moment::now(&clock) }
    }

    /// Returns why measurements since the start are invalid, or `None` if they are valid.
    pub(crate) fn disturbance(&self) -> Option<Disturbance> {
        disturbance(&self.start, &Moment::now(&self.clock))
    }
}

impl Moment {
    /// Returns the set of readings with the shortest delay between them.
    fn now(clock: &Clock) -> Self {
        let readings = (0..BRACKETS).map(|_| {
            let raw = ns_of(ClockId::MonotonicRaw);
            let moment = Self {
                ours: clock.now_ns(),
                raw,
                awake: ns_of(ClockId::Monotonic),
                always: ns_of(ClockId::Boottime),
            };
            (ns_of(ClockId::MonotonicRaw) - raw, moment)
        });
        readings.min_by_key(|(took_ns, _)| *took_ns).map_or(Self::default(), |(_, moment)| moment)
    }
}

fn disturbance(start: &Moment, now: &Moment) -> Option<Disturbance> {
    let asleep = |moment: &Moment| moment.always.saturating_sub(moment.awake);
    let slept_ns = asleep(now).saturating_sub(asleep(start));
    if slept_ns > SLEEP_GRACE_NS {
        return Some(Disturbance::Suspended { length_ns: slept_ns });
    }
    let (ours_ns, kernel_ns) = (now.ours.saturating_sub(start.ours), now.raw.saturating_sub(start.raw));
    let allowed_ns = PACE_GRACE_NS + (kernel_ns as f64 * PACE_WITHIN) as u64;
    let wrong = Disturbance::WrongCounter { counted_ns: ours_ns, kernel_ns };
    (ours_ns.abs_diff(kernel_ns) > allowed_ns).then_some(wrong)
}

/// Measures the clock. Takes a few milliseconds.
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

/// Returns the counter's rate, or the reason why it is not used. The rate is determined once per process.
fn calibrated() -> &'static Result<u64, String> {
    static RATE: OnceLock<Result<u64, String>> = OnceLock::new();
    RATE.get_or_init(|| {
        trusted()?;
        let (first, second) = (ns_per_count()?, ns_per_count()?);
        if (first / second - 1.0).abs() > STABLE_WITHIN {
            return Err("the TSC rate is not constant".into());
        }
        Ok(((first + second) / 2.0 * 2f64.powi(SCALE_BITS.cast_signed())).round() as u64)
    })
}

/// Checks that both the CPU and the kernel declare the counter reliable.
fn trusted() -> Result<(), String> {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let processor = read("/proc/cpuinfo");
    let flags = processor.lines().find(|l| l.starts_with("flags")).unwrap_or_default();
    for required in ["constant_tsc", "nonstop_tsc"] {
        if !flags.split_whitespace().any(|flag| flag == required) {
            return Err(format!("no {required}"));
        }
    }
    let source = read("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    match source.trim() {
        slow @ ("hpet" | "acpi_pm" | "jiffies") => Err(format!("the kernel uses {slow}")),
        _ => Ok(()),
    }
}

/// Runs one calibration and returns nanoseconds per count.
fn ns_per_count() -> Result<f64, String> {
    let (begin_ns, begin) = bracket();
    std::thread::sleep(CALIBRATION);
    let (end_ns, end) = bracket();
    match (end_ns.checked_sub(begin_ns), end.checked_sub(begin)) {
        (Some(ns), Some(counts)) if ns > 0 && counts > 0 => Ok(ns as f64 / counts as f64),
        _ => Err("the TSC runs backwards".into()),
    }
}

/// Returns the kernel time and the counter value at the same instant, from the reading with the shortest delay.
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
    // SAFETY: every x86-64 CPU has this instruction; it reads a register and does not access memory.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// The counter is never used on other architectures: without the flags in `/proc/cpuinfo`, it is not trusted.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn counter() -> u64 {
    0
}

#[inline]
fn ns_of(id: ClockId) -> u64 {
    let now = clock_gettime(id);
    // These clocks count from boot: both parts are positive, and their sum in ns fits in 64 bits for 584 years.
    now.tv_sec.cast_unsigned() * SECOND_NS + now.tv_nsec.cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_keeps_pace_with_the_kernel() {
        let (clock, begin_ns) = (Clock::start(), ns_of(ClockId::MonotonicRaw));
        std::thread::sleep(Duration::from_millis(50));
        let (ours, kernels) = (clock.now_ns(), ns_of(ClockId::MonotonicRaw) - begin_ns);
        let difference = ours.abs_diff(kernels);
        // The difference includes any pause between the two readings, hence the generous limit.
        assert!(difference < 5_000_000, "{ours} ns against {kernels} ns");
    }

    #[test]
    fn the_clock_never_runs_backwards() {
        let clock = Clock::start();
        let mut last_ns = 0;
        for _ in 0..100_000 {
            let now_ns = clock.now_ns();
            assert!(now_ns >= last_ns);
            last_ns = now_ns;
        }
    }

    #[test]
    fn a_clock_that_keeps_pace_is_undisturbed() {
        let vigil = Vigil::start(Clock::start());
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(vigil.disturbance(), None);
    }

    #[test]
    fn suspension_and_a_wrong_rate_are_noticed() {
        let start = Moment { ours: 5, raw: 1_000, awake: 900, always: 7_000 };
        let after = |ours: u64, kernel: u64, asleep: u64| {
            let now = Moment {
                ours: 5 + ours,
                raw: 1_000 + kernel,
                awake: 900 + kernel,
                always: 7_000 + kernel + asleep,
            };
            disturbance(&start, &now)
        };
        assert_eq!(after(SECOND_NS, SECOND_NS + 4_000_000, 10_000_000), None);
        let slept = Some(Disturbance::Suspended { length_ns: 3 * SECOND_NS });
        assert_eq!(after(SECOND_NS, SECOND_NS, 3 * SECOND_NS), slept);
        // The last of these clocks simulates a counter that was reset.
        for (counted_ns, kernel_ns) in
            [(SECOND_NS, 2 * SECOND_NS), (2 * SECOND_NS, SECOND_NS), (0, SECOND_NS)]
        {
            let wrong = Some(Disturbance::WrongCounter { counted_ns, kernel_ns });
            assert_eq!(after(counted_ns, kernel_ns, 0), wrong);
        }
    }

    #[test]
    fn the_cost_and_resolution_of_the_clock_are_known() {
        let facts = facts();
        assert!(facts.cost_ns > 0.0 && facts.resolution_ns < 1_000_000, "{facts:?}");
    }
}
