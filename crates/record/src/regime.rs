//! How a load's I/Os are generated: schedule, ramp, limit, verification, offsets, syncs and pauses.

use serde::{Deserialize, Serialize};

use crate::{Syncs, ThinkTime, Tolerated};

/// How the load is generated. The default follows the PTS: each completion triggers the next I/O, every I/O
/// counts, and data is not verified.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Regime {
    /// The schedule on which I/Os are issued, independent of completions (open loop).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// Ramp time under load before the measurement, in ns; not part of the duration.
    #[serde(skip_serializing_if = "is_zero")]
    pub ramp_ns: u64,
    /// Time limit in ns, counted from the end of the ramp; the workload ends there even if its amount is
    /// incomplete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_ns: Option<u64>,
    /// Whether blocks are stamped when written and verified when read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub verify: bool,
    /// How random offsets are chosen.
    #[serde(skip_serializing_if = "Offsets::is_independent")]
    pub offsets: Offsets,
    /// How written data is made durable.
    #[serde(skip_serializing_if = "Syncs::is_none")]
    pub syncs: Syncs,
    /// Pauses of a closed loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinktime: Option<ThinkTime>,
    /// Whether sequential I/O descends: each thread begins at the end of its section.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub descending: bool,
    /// Whether blocks are trimmed instead of written. Trims count as writes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub trims: bool,
    /// The errors of I/Os that do not end the load.
    #[serde(skip_serializing_if = "Tolerated::is_none")]
    pub tolerated: Tolerated,
}

/// How random offsets are chosen. Every choice except `Independent` requires random I/Os of one size and no zones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Offsets {
    /// Independent and uniform.
    #[default]
    Independent,
    /// Every block once per pass, in a random order.
    OncePerPass,
    /// Zipf, with theta in thousandths.
    ZipfMilli(u32),
    /// Pareto, with `h` in thousandths.
    ParetoMilli(u32),
    /// Normally distributed around the middle of the range, with the standard deviation in percent of the
    /// range.
    NormalPercent(u8),
    /// Writes that leave a drive as if it had been written at random for a long time.
    Regions(Regions),
}

/// The writes of each thread in regions of the physical capacity of a drive. New blocks are written in a random order, and
/// some blocks of the region before are written again, so that the regions have the shares of valid data of a steady
/// state; the writes end when each block has been written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Regions {
    /// Number of regions.
    pub count: u32,
    /// Over-provisioning: the spare capacity in thousandths of the range.
    pub spare_milli: u32,
    /// Whether blocks are written again at the end of the next region instead of its beginning.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deferred: bool,
}

impl From<Regions> for stdx::access::Regions {
    fn from(Regions { count, spare_milli, deferred }: Regions) -> Self {
        Self { count, spare_milli, deferred }
    }
}

impl Offsets {
    fn is_independent(&self) -> bool {
        *self == Self::Independent
    }
}

impl From<Offsets> for stdx::access::Offsets {
    fn from(offsets: Offsets) -> Self {
        match offsets {
            Offsets::Independent => Self::Independent,
            Offsets::OncePerPass => Self::OncePerPass,
            Offsets::ZipfMilli(theta_milli) => Self::Zipf { theta_milli },
            Offsets::ParetoMilli(h_milli) => Self::Pareto { h_milli },
            Offsets::NormalPercent(deviation_percent) => Self::Normal { deviation_percent },
            Offsets::Regions(regions) => Self::Regions(regions.into()),
        }
    }
}

/// A schedule on which I/Os are issued. Response times are measured from the scheduled time, so they include
/// the wait for a free slot in the queue. No arrival is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arrivals {
    /// I/Os per second across all threads, before it is divided by `divisor`.
    pub per_second: u32,
    /// Divides `per_second`, for rates that are not a whole number; otherwise 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub divisor: u32,
    /// Distribution of the intervals between arrivals.
    pub process: Process,
}

impl Arrivals {
    /// Returns the I/Os per second across all threads.
    #[must_use]
    pub fn rate(&self) -> f64 {
        f64::from(self.per_second) / f64::from(self.divisor)
    }
}

/// Distribution of the intervals between consecutive I/Os in a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Process {
    /// All equal.
    Constant,
    /// Exponential: arrivals are independent of each other.
    Poisson,
}

impl Regime {
    /// Blocks are stamped when written and verified when read.
    pub const VERIFIED: Self = Self {
        arrivals: None,
        ramp_ns: 0,
        limit_ns: None,
        verify: true,
        offsets: Offsets::Independent,
        syncs: Syncs::NONE,
        thinktime: None,
        descending: false,
        trims: false,
        tolerated: Tolerated::NONE,
    };

    /// Returns whether the load is generated in the way the PTS requires.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether syncs or pauses may follow an I/O.
    #[must_use]
    pub const fn is_stepped(&self) -> bool {
        self.syncs.are_periodic() || self.thinktime.is_some()
    }

    /// Returns why this combination is impossible; `None` if it is possible. `is_timed` says whether the load
    /// ends after a duration.
    pub(crate) fn problem(&self, is_timed: bool) -> Option<String> {
        if self.arrivals.is_some_and(|arrivals| arrivals.per_second == 0 || arrivals.divisor == 0) {
            return Some("a rate of zero I/Os per second, or one divided by zero".into());
        }
        if self.arrivals.is_some() && self.thinktime.is_some() {
            return Some("both a schedule and pauses; a schedule does not wait".into());
        }
        if let Some(problem) = self.thinktime.and_then(|thinktime| thinktime.problem()) {
            return Some(problem.into());
        }
        if self.trims && (self.verify || !self.syncs.is_none()) {
            return Some("trims with verification or syncs; both need written data".into());
        }
        match self.limit_ns {
            Some(0) => Some("a time limit of zero".into()),
            Some(_) if is_timed => Some("both a time limit and a duration".into()),
            _ => None,
        }
    }
}

const fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires a function that takes a reference")]
const fn is_one(value: &u32) -> bool {
    *value == 1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires a function that takes a reference")]
const fn is_zero(value: &u64) -> bool {
    *value == 0
}
