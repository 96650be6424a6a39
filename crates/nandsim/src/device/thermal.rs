//! Temperature: a first-order lag driven by the load, and the throttling that it may cause.

use crate::{Model, Scale};

/// Steps per time constant.
const STEPS: u64 = 64;
/// Hysteresis: the temperature drop after which throttling ends, in micro-degrees.
const RELEASE: i64 = 3_000_000;

/// A drive's temperature, and whether the drive throttles.
pub(super) struct Thermal {
    rest: i64,
    rise_per_gb_per_s: i64,
    step_ns: u64,
    throttle_at: Option<i64>,
    slow_ns_per_64k: u64,
    /// Temperature in micro-degrees.
    now: i64,
    /// Time of the last update.
    up_to_ns: u64,
    /// Number of bytes moved up to the last update.
    moved_bytes: u64,
    throttled: bool,
}

impl Thermal {
    pub(super) fn new(model: &Model, scale: Scale) -> Self {
        let thermal = &model.thermal;
        let micro = |degrees: f64| (degrees * 1e6).round() as i64;
        let step = thermal.time_constant_s * 1e9 / STEPS as f64;
        Self {
            rest: micro(thermal.rest_c),
            rise_per_gb_per_s: micro(thermal.rise_c_per_gb_per_s),
            step_ns: (step as u64 / u64::from(scale.divisor())).max(1),
            throttle_at: (thermal.throttle_c > 0.0).then(|| micro(thermal.throttle_c)),
            slow_ns_per_64k: (65_536_000.0 / thermal.throttle_mb_per_s).round() as u64,
            now: micro(thermal.rest_c),
            up_to_ns: 0,
            moved_bytes: 0,
            throttled: false,
        }
    }

    /// Returns whether the drive can throttle on its own.
    pub(super) fn may_throttle(&self) -> bool {
        self.throttle_at.is_some()
    }

    pub(super) fn is_throttled(&self) -> bool {
        self.throttled
    }

    /// Returns the controller time in ns per 64 KiB while throttled.
    pub(super) fn slow_ns_per_64k(&self) -> u64 {
        self.slow_ns_per_64k
    }

    pub(super) fn celsius(&self) -> i64 {
        (self.now + 500_000).div_euclid(1_000_000)
    }

    /// Advances to `now_ns` in whole steps; `moved_bytes` is the total since the drive was created.
    pub(super) fn advance(&mut self, now_ns: u64, moved_bytes: u64) {
        let steps = (now_ns - self.up_to_ns) / self.step_ns;
        if steps == 0 {
            return;
        }
        let passed_ns = steps * self.step_ns;
        let bytes = i128::from(moved_bytes - self.moved_bytes);
        // 1 byte/ns is 1 GB/s.
        let rise = i128::from(self.rise_per_gb_per_s) * bytes / i128::from(passed_ns);
        let target = self.rest + rise as i64;
        // After that many steps, the initial difference is negligible.
        for _ in 0..steps.min(32 * STEPS) {
            self.now += (target - self.now) / STEPS as i64;
        }
        self.up_to_ns += passed_ns;
        self.moved_bytes = moved_bytes;
        if let Some(limit) = self.throttle_at {
            self.throttled = self.now >= limit || (self.throttled && self.now >= limit - RELEASE);
        }
    }
}
