//! How a workload uses the zones of a zoned block device.

use serde::{Deserialize, Serialize};

use crate::{Commands, Regime, Tolerated};

/// How a workload uses the zones of a zoned block device: writes go to the write pointer of a zone, reads stay below it, and
/// trims are zone resets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Zoned {
    /// The size that the zones must have, in bytes; 0 for any.
    #[serde(skip_serializing_if = "is_zero")]
    pub zone_bytes: u64,
    /// Most zones that are partly written at a time, by all workloads of the target; 0 for the limit of the device.
    #[serde(skip_serializing_if = "is_none")]
    pub max_open_zones: u32,
    /// Most of these zones that each thread may open; 0 for no such limit.
    #[serde(skip_serializing_if = "is_none")]
    pub thread_max_open_zones: u32,
    /// Zones are also reset before they are full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub early_resets: Option<EarlyResets>,
    /// Whether reads may go beyond the write pointer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reads_beyond: bool,
}

/// Resets of zones that are not full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EarlyResets {
    /// They take place while at least this share of the range is written, in thousandths.
    pub threshold_milli: u16,
    /// Resets per thousand writes, 1 to 1000.
    pub per_thousand_writes: u16,
}

impl EarlyResets {
    /// Returns the number of writes from one reset to the next.
    #[must_use]
    pub fn writes_per_reset(&self) -> u32 {
        1000 / u32::from(self.per_thousand_writes).max(1)
    }
}

impl Zoned {
    /// Returns why these zones are impossible with other commands or this regime; `None` if they are possible.
    pub(crate) fn problem(&self, commands: &Commands, regime: &Regime) -> Option<&'static str> {
        let plain = Commands { zoned: commands.zoned, ..Commands::default() };
        if *commands != plain {
            return Some("zones of a zoned device with priorities, atomic writes, or NVMe or SCSI commands");
        }
        if regime.verify || regime.arrivals.is_some() || regime.descending {
            return Some("zones of a zoned device with verification, a schedule, or descending offsets");
        }
        if regime.tolerated != Tolerated::NONE {
            return Some(
                "zones of a zoned device with tolerated errors, after which a write pointer is unknown",
            );
        }
        let is_wrong = |resets: EarlyResets| {
            resets.threshold_milli > 1000 || !(1..=1000).contains(&resets.per_thousand_writes)
        };
        self.early_resets.is_some_and(is_wrong).then_some("a share of zone resets above 1, or of zero")
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires a function that takes a reference")]
const fn is_zero(value: &u64) -> bool {
    *value == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires a function that takes a reference")]
const fn is_none(value: &u32) -> bool {
    *value == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_combinations_are_named() {
        let resets = |threshold_milli, per_thousand_writes| Zoned {
            early_resets: Some(EarlyResets { threshold_milli, per_thousand_writes }),
            ..Zoned::default()
        };
        let of = |zoned| Commands { zoned: Some(zoned), ..Commands::default() };
        let plain = of(Zoned::default());
        let atomic = Commands { atomic: true, ..plain.clone() };
        let trims = Regime { trims: true, ..Regime::default() };
        for (commands, regime, expected) in [
            (&plain, Regime::default(), None),
            (&plain, trims, None),
            (&plain, Regime::VERIFIED, Some("verification")),
            (&atomic, Regime::default(), Some("atomic")),
            (&of(resets(700, 125)), Regime::default(), None),
            (&of(resets(1001, 125)), Regime::default(), Some("above 1")),
            (&of(resets(700, 0)), Regime::default(), Some("of zero")),
        ] {
            let problem = commands.problem(&regime, 4096);
            assert_eq!(problem.is_some(), expected.is_some(), "{problem:?}");
            assert!(
                expected.is_none_or(|part| problem.is_some_and(|text| text.contains(part))),
                "{expected:?}"
            );
        }
        let writes = |per| EarlyResets { threshold_milli: 0, per_thousand_writes: per }.writes_per_reset();
        assert_eq!([writes(125), writes(1000), writes(1)], [8, 1, 1000]);
    }

    #[test]
    fn the_default_is_written_without_its_fields() {
        let commands = Commands { zoned: Some(Zoned::default()), ..Commands::default() };
        let text = serde_json::to_string(&commands).expect("JSON");
        assert_eq!(text, r#"{"zoned":{}}"#);
        assert_eq!(serde_json::from_str::<Commands>(&text).expect("commands"), commands);
    }
}
