//! The clock of a real target: the processor's own counter where it can be trusted, else the kernel's clock.
//!
//! The counter (TSC) costs about half of a call into the vDSO, which is most of what the engine spends on
//! an I/O at depth 1. It is trusted when the processor says that it runs at one speed in every state
//! (`constant_tsc`, `nonstop_tsc`), the kernel has not fallen back to a slower source of time, and two
//! calibrations against `CLOCK_MONOTONIC_RAW` agree. Whoever runs without it loses nanoseconds, not truth.

use std::sync::OnceLock;
use std::time::Duration;

use record::ClockFacts;
use rustix::time::{ClockId, clock_gettime};
use stdx::units::{SECOND_NS, span};

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

    /// A clock that runs wrong by this factor.
    #[cfg(test)]
    pub(crate) fn wrong_by(factor: f64) -> Self {
        let mut clock = Self::start();
        assert!(clock.rate > 0, "only the CPU's counter can be scaled");
        clock.rate = (clock.rate as f64 * factor) as u64;
        clock
    }

    /// A clock that goes on by a nanosecond with each reading, so that no two are alike: those of a real one are as
    /// coarse as the processor's counter, which goes in steps of 20 ns on some.
    #[cfg(test)]
    pub(crate) fn of_readings() -> Self {
        let number = MADE_OF_READINGS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Self { rate: u64::MAX, base: number as u64 % READINGS.len() as u64 }
    }

    /// Whether the processor's counter is used.
    #[cfg(test)]
    pub(crate) fn is_counter(&self) -> bool {
        self.rate > 0
    }

    #[inline]
    pub(crate) fn now_ns(&self) -> u64 {
        if self.rate == 0 {
            return ns_of(ClockId::Monotonic).saturating_sub(self.base);
        }
        #[cfg(test)]
        if self.rate == u64::MAX {
            return READINGS[self.base as usize].fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
        // A guest that was moved to another host may see the counter jump; never below the start.
        let counts = counter().saturating_sub(self.base);
        ((u128::from(counts) * u128::from(self.rate)) >> SCALE_BITS) as u64
    }
}

/// Readings of each clock that goes by them, so that tests side by side do not turn each other's.
#[cfg(test)]
static READINGS: [std::sync::atomic::AtomicU64; 64] = [const { std::sync::atomic::AtomicU64::new(1) }; 64];
#[cfg(test)]
static MADE_OF_READINGS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

/// Looks whether the clock keeps pace with the kernel's, which know of suspended hosts and moved guests.
#[derive(Debug)]
pub(crate) struct Vigil {
    clock: Clock,
    start: Moment,
}

/// What several clocks say at one time, in ns.
#[derive(Debug, Clone, Copy, Default)]
struct Moment {
    ours: u64,
    /// Counts while the host is awake, and nobody adjusts it.
    raw: u64,
    /// The same, adjusted.
    awake: u64,
    /// Counts also while the host is suspended.
    always: u64,
}

/// Clocks are read one after the other, and the host may be busy meanwhile.
const PACE_GRACE_NS: u64 = 5_000_000;
/// Share by which our clock may differ from the kernel's; adjustments are up to 500 in a million.
const PACE_WITHIN: f64 = 1e-3;
/// A host that is suspended and woken up at once takes longer.
const SLEEP_GRACE_NS: u64 = 50_000_000;

impl Vigil {
    pub(crate) fn start(clock: Clock) -> Self {
        Self { clock, start: Moment::now(&clock) }
    }

    /// Why what was measured since the start is worth nothing, if it is.
    pub(crate) fn disturbance(&self) -> Option<String> {
        disturbance(&self.start, &Moment::now(&self.clock))
    }
}

impl Moment {
    /// The readings that were disturbed least.
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

fn disturbance(start: &Moment, now: &Moment) -> Option<String> {
    let asleep = |moment: &Moment| moment.always.saturating_sub(moment.awake);
    let slept_ns = asleep(now).saturating_sub(asleep(start));
    if slept_ns > SLEEP_GRACE_NS {
        return Some(format!("the host was suspended for {}", span(slept_ns)));
    }
    let (ours_ns, kernel_ns) = (now.ours.saturating_sub(start.ours), now.raw.saturating_sub(start.raw));
    let allowed_ns = PACE_GRACE_NS + (kernel_ns as f64 * PACE_WITHIN) as u64;
    (ours_ns.abs_diff(kernel_ns) > allowed_ns).then(|| {
        format!(
            "the CPU's counter is wrong: it counted {ours_ns} ns while the kernel counted {kernel_ns} ns; \
             was this guest migrated to another host?"
        )
    })
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
            return Err("the TSC rate is not constant".into());
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
        assert_eq!(after(SECOND_NS, SECOND_NS, 3 * SECOND_NS).unwrap(), "the host was suspended for 3 s");
        assert!(after(SECOND_NS, 2 * SECOND_NS, 0).unwrap().contains("counter is wrong"));
        assert!(after(2 * SECOND_NS, SECOND_NS, 0).unwrap().contains("counter is wrong"));
        assert!(after(0, SECOND_NS, 0).unwrap().contains("counted 0 ns"), "a counter that was reset");
    }

    #[test]
    fn its_cost_and_resolution_are_known() {
        let facts = facts();
        assert!(facts.cost_ns > 0.0 && facts.resolution_ns < 1_000_000, "{facts:?}");
    }
}
