//! How the engine of a load was chosen, with the figures on which the choice is based.

use std::fmt;

use serde::{Deserialize, Serialize};
use stdx::units::grouped;

use crate::IoEngine;

/// How the engine of a load was chosen. Loads that name their engine, and runs, have no such choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum PathChoice {
    /// The engines were measured on the target before the load.
    Measured {
        /// In the fixed order: the first is the engine of a load for which nothing is measured.
        engines: Vec<MeasuredEngine>,
        /// Bytes that these measurements wrote to blocks of the load; absent if none.
        #[serde(default, skip_serializing_if = "is_zero")]
        written_bytes: u64,
    },
    /// The fixed order of engines applied, because nothing was measured, or not all of it.
    FixedOrder {
        /// Why nothing was measured.
        reason: NotMeasured,
        /// Bytes that measurements without a result wrote to blocks of the load; absent if none.
        #[serde(default, skip_serializing_if = "is_zero")]
        written_bytes: u64,
    },
}

/// The measurements of an engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredEngine {
    /// The engine.
    pub engine: IoEngine,
    /// One measurement per round. In each round, all engines were measured once.
    pub rounds: Vec<MeasuredRound>,
}

/// One short measurement of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredRound {
    /// Number of completed I/Os.
    pub ios: u64,
    /// I/Os per second.
    pub iops: u64,
    /// Average number of outstanding I/Os of all threads, in thousandths.
    pub outstanding_milli: u64,
    /// CPU time of the process per I/O, including the kernel's helper threads.
    pub cpu_ns_per_io: u64,
}

/// Why no engine was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotMeasured {
    /// At QD 1, a plain system call is the shortest path.
    DepthOne,
    /// The load is too short for a measurement that takes only a small part of it.
    Short,
    /// The target completes too few I/Os in a short time, or takes too long to set up.
    Slow,
    /// The load has a rate, which a measurement would exceed.
    Schedule,
    /// The load pauses.
    Pauses,
    /// The load makes writes durable.
    Syncs,
    /// The load verifies blocks; a measurement would replace their stamps.
    Verification,
    /// The load trims blocks.
    Trims,
    /// The load writes to the write pointers of zones, which a measurement would move.
    Zones,
    /// Polling requires io_uring.
    Polling,
    /// A measurement would fill the page cache with blocks of the load.
    Buffered,
    /// Fewer than two engines could be set up.
    OneEngine,
    /// An I/O failed, or the host disturbed the measurement.
    Failed,
}

impl NotMeasured {
    /// Returns the choice if nothing was written before this became known.
    #[must_use]
    pub const fn choice(self) -> PathChoice {
        PathChoice::FixedOrder { reason: self, written_bytes: 0 }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires a function that takes a reference")]
const fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}

impl MeasuredEngine {
    /// Returns the round with the median IOPS.
    #[must_use]
    pub fn middle(&self) -> Option<MeasuredRound> {
        let mut sorted = self.rounds.clone();
        sorted.sort_by_key(|round| round.iops);
        sorted.get(sorted.len() / 2).copied()
    }
}

impl fmt::Display for MeasuredEngine {
    /// Formats the median round, such as `libaio 301,220 IOPS, 31.8 outstanding, 3,120 ns of CPU time per I/O`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.engine.name())?;
        let Some(MeasuredRound { iops, outstanding_milli, cpu_ns_per_io, .. }) = self.middle() else {
            return Ok(());
        };
        let outstanding = outstanding_milli as f64 / 1000.0;
        let [iops, cpu_ns] = [iops, cpu_ns_per_io].map(|number| grouped(number as f64, 0));
        write!(f, " {iops} IOPS, {outstanding:.1} outstanding, {cpu_ns} ns of CPU time per I/O")
    }
}

impl fmt::Display for PathChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let written_bytes = match self {
            Self::FixedOrder { reason, written_bytes } => {
                write!(f, "engines in their fixed order: {reason}")?;
                *written_bytes
            }
            Self::Measured { engines, written_bytes } => {
                f.write_str("engines measured before the load: ")?;
                for (index, engine) in engines.iter().enumerate() {
                    write!(f, "{}{engine}", if index == 0 { "" } else { "; " })?;
                }
                *written_bytes
            }
        };
        match written_bytes {
            0 => Ok(()),
            bytes => write!(f, "; {bytes} B were written to blocks of the load"),
        }
    }
}

impl fmt::Display for NotMeasured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DepthOne => "at depth 1, a plain system call is the shortest path",
            Self::Short => "the load is too short to measure engines before it",
            Self::Slow => "the target completes too few I/Os in a short time to compare engines",
            Self::Schedule => "the load has a rate, which a measurement would exceed",
            Self::Pauses => "the load pauses",
            Self::Syncs => "the load syncs its writes",
            Self::Verification => "the load verifies blocks, whose stamps a measurement would replace",
            Self::Trims => "the load trims blocks",
            Self::Zones => "the load uses zones, whose write pointers a measurement would move",
            Self::Polling => "polling requires io_uring",
            Self::Buffered => "a measurement would fill the page cache with blocks of the load",
            Self::OneEngine => "fewer than two engines can be set up",
            Self::Failed => "a measurement failed",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(iops: u64) -> MeasuredRound {
        MeasuredRound { ios: iops / 10, iops, outstanding_milli: 31_800, cpu_ns_per_io: 3120 }
    }

    #[test]
    fn a_choice_keeps_its_figures_in_a_journal() {
        let aio = MeasuredEngine {
            engine: IoEngine::Libaio,
            rounds: vec![round(900), round(301_220), round(400_000)],
        };
        let choice = PathChoice::Measured { engines: vec![aio], written_bytes: 0 };
        let json = serde_json::to_string(&choice).unwrap();
        assert!(!json.contains("written_bytes"), "{json}");
        assert_eq!(serde_json::from_str::<PathChoice>(&json).unwrap(), choice);
        assert_eq!(
            choice.to_string(),
            "engines measured before the load: libaio 301,220 IOPS, 31.8 outstanding, 3,120 ns of CPU time per I/O"
        );
        let fixed = NotMeasured::Short.choice();
        assert_eq!(serde_json::to_string(&fixed).unwrap(), r#"{"fixed_order":{"reason":"short"}}"#);
    }
}
