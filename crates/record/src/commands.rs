//! What individual I/O commands carry beyond data, offset and length.

use serde::{Deserialize, Serialize};

use crate::{Regime, Tolerated, Zoned};

/// What individual I/O commands carry beyond data, offset and length.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Commands {
    /// The priority of the I/Os that have none of their own; `None` for the priority of the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<IoPriority>,
    /// Shares of the I/Os with a priority of their own. The shares of I/Os of one kind add up to at most 100.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub priority_shares: Vec<PriorityShare>,
    /// Whether the target writes each block completely or not at all, even if its power fails.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub atomic: bool,
    /// Whether other workloads of the same process may overwrite verified blocks: a block is intact if any of them wrote it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub shared_blocks: bool,
    /// The NVMe commands that take the place of writes; empty if all are writes. The shares add up to 100.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub write_modes: Vec<WriteModeShare>,
    /// Number of ranges of each trim, which is then an NVMe command; 0 for one, by any means.
    #[serde(skip_serializing_if = "is_zero")]
    pub trim_ranges: u16,
    /// Where the drive places written data; `None` if it decides itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_placement: Option<DataPlacement>,
    /// SCSI commands that differ from plain reads and writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scsi: Option<ScsiCommands>,
    /// How the zones of a zoned block device are used; `None` if the target has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zoned: Option<Zoned>,
}

/// A share of the writes that are another command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteModeShare {
    /// The command.
    pub mode: WriteMode,
    /// Percentage of the writes.
    pub share_percent: u8,
}

/// An NVMe command that takes the place of a write. All but `Write` transfer no data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteMode {
    /// Write.
    Write,
    /// Write Zeroes.
    Zeroes,
    /// Write Uncorrectable: reads of the blocks fail until they are written again.
    Uncorrectable,
    /// Verify: the drive checks that the blocks can be read.
    Verify,
}

impl WriteMode {
    /// Returns fio's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Zeroes => "zeroes",
            Self::Uncorrectable => "uncor",
            Self::Verify => "verify",
        }
    }
}

/// The SCSI commands of a load.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScsiCommands {
    /// The command that takes the place of writes.
    pub write: ScsiWrite,
    /// Whether reads bypass the drive's cache.
    pub read_fua: bool,
    /// Whether writes bypass the drive's cache.
    pub write_fua: bool,
}

/// A SCSI command that takes the place of a write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScsiWrite {
    /// WRITE.
    #[default]
    Write,
    /// WRITE AND VERIFY: the drive reads the data back.
    WriteAndVerify,
    /// WRITE SAME: the drive writes one block of data to all blocks.
    WriteSame,
    /// WRITE SAME without data: the drive writes zeros.
    WriteSameWithoutData,
    /// VERIFY without data: the drive checks that the blocks can be read.
    VerifyMedium,
    /// VERIFY: the drive compares all blocks with data.
    VerifyData,
    /// VERIFY: the drive compares each block with one block of data.
    VerifyOneBlock,
}

impl ScsiWrite {
    /// Returns fio's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::WriteAndVerify => "write_and_verify",
            Self::WriteSame => "write_same",
            Self::WriteSameWithoutData => "write_same_ndob",
            Self::VerifyMedium => "verify_bytchk_00",
            Self::VerifyData => "verify_bytchk_01",
            Self::VerifyOneBlock => "verify_bytchk_11",
        }
    }

    /// Returns whether the command compares or checks blocks instead of writing them.
    #[must_use]
    pub const fn only_verifies(self) -> bool {
        matches!(self, Self::VerifyMedium | Self::VerifyData | Self::VerifyOneBlock)
    }

    /// Returns whether each block receives its own data.
    #[must_use]
    pub const fn writes_data(self) -> bool {
        matches!(self, Self::Write | Self::WriteAndVerify)
    }
}

/// Flexible Data Placement of NVMe: which placement handles writes carry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DataPlacement {
    /// Indices into the list of the namespace's placement handles; empty for all of them.
    pub handles: Vec<u16>,
    /// Whether the handle of each write is drawn; if not, they take turns.
    pub random: bool,
}

/// A share of the I/Os of one kind that have a priority of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriorityShare {
    /// Whether the share is one of the reads, or of the writes.
    pub read: bool,
    /// The length of the I/Os; `None` for any length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_bytes: Option<u32>,
    /// Percentage of the I/Os of this kind.
    pub share_percent: u8,
    /// Their priority.
    pub priority: IoPriority,
}

impl PriorityShare {
    /// Returns whether the share is one of the I/Os of this direction and length.
    #[must_use]
    pub fn is_of(&self, read: bool, block_bytes: u32) -> bool {
        self.read == read && self.block_bytes.is_none_or(|bytes| bytes == block_bytes)
    }
}

/// An I/O priority of the kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IoPriority {
    /// 1: real time, 2: best effort, 3: idle.
    pub class: u8,
    /// 0 (highest) to 7.
    pub level: u8,
    /// A hint for the drive, such as the number of a command duration limit; 0 for none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hint: u16,
}

impl IoPriority {
    /// Greatest class.
    pub const MOST_CLASS: u8 = 3;
    /// Greatest level.
    pub const MOST_LEVEL: u8 = 7;
    /// Greatest hint.
    pub const MOST_HINT: u16 = 1023;

    /// Returns the number that the kernel uses (`linux/ioprio.h`).
    #[must_use]
    pub const fn number(self) -> u16 {
        (self.class as u16) << 13 | self.hint << 3 | self.level as u16
    }

    fn is_possible(self) -> bool {
        (1..=Self::MOST_CLASS).contains(&self.class)
            && self.level <= Self::MOST_LEVEL
            && self.hint <= Self::MOST_HINT
    }
}

impl std::fmt::Display for IoPriority {
    /// Formats the priority as fio does: class, level and hint.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}/{}", self.class, self.level, self.hint)
    }
}

impl Commands {
    /// Greatest number of ranges of a trim.
    pub const MOST_RANGES: u16 = 256;

    /// Returns all priorities that I/Os may have.
    pub fn priorities(&self) -> impl Iterator<Item = IoPriority> {
        self.priority.into_iter().chain(self.priority_shares.iter().map(|share| share.priority))
    }

    /// Returns whether any command is one that only NVMe drives have.
    #[must_use]
    pub fn needs_nvme(&self) -> bool {
        !self.write_modes.is_empty() || self.trim_ranges > 0 || self.data_placement.is_some()
    }

    /// Returns why the NVMe or SCSI commands are impossible; `None` if they are possible.
    fn command_problem(&self, regime: &Regime, block_bytes: u32) -> Option<String> {
        let shares: u32 = self.write_modes.iter().map(|share| u32::from(share.share_percent)).sum();
        if !self.write_modes.is_empty() && shares != 100 {
            return Some(format!("shares of write modes that add up to {shares} %"));
        }
        if self.write_modes.iter().any(|share| share.mode != WriteMode::Write) && regime.verify {
            return Some("write modes with verification".into());
        }
        if regime.trims && (!self.write_modes.is_empty() || self.data_placement.is_some()) {
            return Some("trims with write modes or data placement; only writes have them".into());
        }
        let writes_data = self.scsi.is_none_or(|scsi| scsi.write.writes_data());
        if (regime.verify && !writes_data) || (regime.trims && self.scsi.is_some()) {
            return Some("SCSI commands with verification or trims".into());
        }
        if self.trim_ranges > 0 && !regime.trims {
            return Some("ranges of trims without trims".into());
        }
        if self.trim_ranges > Self::MOST_RANGES {
            return Some(format!("more than {} ranges per trim", Self::MOST_RANGES));
        }
        let bytes = u64::from(block_bytes) * u64::from(self.trim_ranges);
        if bytes > i32::MAX as u64 {
            return Some("trims of more than 2 GiB".into());
        }
        self.problem_of_zones(regime).map(str::to_owned)
    }

    fn problem_of_zones(&self, regime: &Regime) -> Option<&'static str> {
        let zoned = self.zoned?;
        if *self != (Self { zoned: Some(zoned), ..Self::default() }) {
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
        let is_wrong = zoned.early_resets.is_some_and(|resets| !resets.is_possible());
        is_wrong.then_some("a share of zone resets above 1, or of zero")
    }

    /// Returns why these commands are impossible; `None` if they are possible. `block_bytes` is the largest I/O.
    pub(crate) fn problem(&self, regime: &Regime, block_bytes: u32) -> Option<String> {
        if let Some(problem) = self.command_problem(regime, block_bytes) {
            return Some(problem);
        }
        let trims = regime.trims;
        if let Some(priority) = self.priorities().find(|priority| !priority.is_possible()) {
            return Some(format!("{priority} is not an I/O priority"));
        }
        if trims && self.atomic {
            return Some("atomic trims; only writes are atomic".into());
        }
        if self.shared_blocks && !(self.atomic && regime.verify) {
            return Some(
                "blocks that other workloads may overwrite, without atomic writes that are verified".into(),
            );
        }
        if trims && !self.priority_shares.is_empty() {
            return Some("trims with priorities; only reads and writes have any".into());
        }
        let is_exceeded = |share: &PriorityShare| {
            let same = self.priority_shares.iter();
            let same =
                same.filter(|other| other.read == share.read && other.block_bytes == share.block_bytes);
            same.map(|share| u32::from(share.share_percent)).sum::<u32>() > 100
        };
        let exceeded = self.priority_shares.iter().any(is_exceeded);
        exceeded.then(|| "shares of priorities that add up to more than 100 %".into())
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires a function that takes a reference")]
const fn is_zero(value: &u16) -> bool {
    *value == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EarlyResets;

    #[test]
    fn numbers_are_those_of_the_kernel() {
        let number = |class, level, hint| IoPriority { class, level, hint }.number();
        assert_eq!((number(1, 0, 0), number(2, 7, 0), number(3, 2, 0)), (0x2000, 0x4007, 0x6002));
        assert_eq!((number(2, 0, 3), number(1, 7, 1023)), (0x4018, 0x3fff));
    }

    #[test]
    fn impossible_priorities_are_named() {
        let share = |class, share_percent| PriorityShare {
            read: true,
            block_bytes: None,
            share_percent,
            priority: IoPriority { class, level: 0, hint: 0 },
        };
        let problem = |shares: &[PriorityShare], trims| {
            let regime = Regime { trims, ..Regime::default() };
            Commands { priority_shares: shares.to_vec(), ..Commands::default() }.problem(&regime, 4096)
        };
        assert_eq!(problem(&[share(1, 40), share(2, 60)], false), None);
        assert!(problem(&[share(1, 41), share(2, 60)], false).is_some_and(|text| text.contains("100 %")));
        assert!(problem(&[share(0, 40)], false).is_some_and(|text| text.contains("0/0/0")));
        assert!(problem(&[share(1, 40)], true).is_some_and(|text| text.contains("trims")));
    }

    #[test]
    fn impossible_commands_are_named() {
        let trims = Regime { trims: true, ..Regime::default() };
        let ranges = |trim_ranges| Commands { trim_ranges, ..Commands::default() };
        let modes = |share_percent| {
            let write_modes = vec![WriteModeShare { mode: WriteMode::Zeroes, share_percent }];
            Commands { write_modes, ..Commands::default() }
        };
        let placed = || Commands { data_placement: Some(DataPlacement::default()), ..Commands::default() };
        let shared = |atomic| Commands { atomic, shared_blocks: true, ..Commands::default() };
        for (commands, regime, block_bytes, expected) in [
            (ranges(8), trims, 4096, None),
            (ranges(8), Regime::default(), 4096, Some("without trims")),
            (ranges(257), trims, 4096, Some("more than 256")),
            (ranges(256), trims, 8 << 20, Some("2 GiB")),
            (modes(100), Regime::default(), 4096, None),
            (modes(99), Regime::default(), 4096, Some("99 %")),
            (modes(100), Regime::VERIFIED, 4096, Some("verification")),
            (modes(100), trims, 4096, Some("only writes have them")),
            (placed(), trims, 4096, Some("only writes have them")),
            (placed(), Regime::VERIFIED, 4096, None),
            (shared(true), Regime::VERIFIED, 4096, None),
            (shared(false), Regime::VERIFIED, 4096, Some("without atomic writes")),
            (shared(true), Regime::default(), 4096, Some("without atomic writes")),
        ] {
            let problem = commands.problem(&regime, block_bytes);
            assert_eq!(problem.is_some(), expected.is_some(), "{problem:?}");
            assert!(
                expected.is_none_or(|part| problem.is_some_and(|text| text.contains(part))),
                "{expected:?}"
            );
        }
    }

    #[test]
    fn impossible_uses_of_zones_are_named() {
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
    fn the_default_use_of_zones_is_written_without_its_fields() {
        let commands = Commands { zoned: Some(Zoned::default()), ..Commands::default() };
        let text = serde_json::to_string(&commands).expect("JSON");
        assert_eq!(text, r#"{"zoned":{}}"#);
        assert_eq!(serde_json::from_str::<Commands>(&text).expect("commands"), commands);
    }
}
