//! A complete description of a load.

use serde::{Deserialize, Serialize};
use stdx::access::{Kind, Order, Pattern, Span};
use stdx::units::{amount_base2, block_size};

use crate::{Commands, Reducible, Regime, Sequence, Zoned};

/// A load on a drive. The same workload and seed always produce the same offsets and the same mix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Order of the addresses. With several kinds of I/O, this is `Random` if any of them is random.
    pub access: Access,
    /// Percentage of reads, 0 to 100. If there are several kinds of I/O, this is the result of
    /// [`read_percent_of`].
    pub read_percent: u8,
    /// Bytes per I/O. If there are several kinds of I/O, this is the largest of their sizes.
    pub block_bytes: u32,
    /// The kinds of I/O if there are several, such as a distribution of block sizes or several streams. The
    /// kind of each I/O is drawn according to the shares.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<IoKind>,
    /// Parts of the range, each with its share of the random I/Os; empty if access is uniform.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub zones: Vec<Zone>,
    /// The order of the random I/Os; `None` if their offsets are drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<Sequence>,
    /// Threads (TC).
    pub threads: u16,
    /// Outstanding I/Os per thread (QD).
    pub queue_depth: u16,
    /// The range that I/Os may touch.
    pub range: Range,
    /// The block at which each thread begins sequential I/O, counted from 0 within the thread's section and
    /// modulo the number of blocks in the section. It has no effect on random I/O.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub from_block: u64,
    /// Alignment of random offsets, even for I/Os smaller than the alignment; 0 for the greatest common divisor
    /// of all block sizes.
    #[serde(default, skip_serializing_if = "is_no_alignment")]
    pub align_bytes: u32,
    /// Content of write buffers.
    pub data_pattern: DataPattern,
    /// The condition that ends the workload.
    pub until: Until,
    /// Seed for offsets, mix and data.
    pub seed: u64,
    /// How the load is generated; the default is as in the PTS.
    #[serde(default, skip_serializing_if = "Regime::is_plain")]
    pub regime: Regime,
    /// What individual commands carry beyond data, offset and length; `None` for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commands: Option<Box<Commands>>,
}

/// Order of the addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Uniform over the range, aligned to the block size.
    Random,
    /// Ascending; each thread has its own contiguous section of equal size (the PTS leaves this open).
    Sequential,
}

/// One of several kinds of I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IoKind {
    /// Share of the I/Os in percent; the shares of all kinds add up to 100.
    pub share_percent: u8,
    /// Order of the addresses. Each sequential kind is a separate stream.
    pub access: Access,
    /// Percentage of reads, 0 to 100.
    pub read_percent: u8,
    /// Bytes per I/O.
    pub block_bytes: u32,
}

/// A part of the range with its share of the random I/Os. I/Os do not cross zone boundaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// Percentage of the random I/Os.
    pub access_percent: u8,
    /// Percentage of the range. Zones are consecutive, starting at the beginning of the range.
    pub range_percent: u8,
}

/// Returns the percentage of reads over all kinds, rounded to the nearest integer, but 0 or 100 only if it is
/// exact.
#[must_use]
pub fn read_percent_of(kinds: &[IoKind]) -> u8 {
    let sum: u32 = kinds.iter().map(|k| u32::from(k.share_percent) * u32::from(k.read_percent)).sum();
    match sum {
        0 => 0,
        10_000.. => 100,
        _ => ((sum + 50) / 100).clamp(1, 99) as u8,
    }
}

/// The range that I/Os may touch: equally spaced segments of equal size; a contiguous range is a single
/// segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// First byte of the first segment.
    pub start_bytes: u64,
    /// Number of segments.
    pub segments: u32,
    /// Bytes per segment.
    pub segment_bytes: u64,
    /// Bytes from the start of one segment to the start of the next.
    pub stride_bytes: u64,
}

impl Range {
    /// Returns the contiguous range of `length_bytes` starting at byte 0.
    #[must_use]
    pub const fn first(length_bytes: u64) -> Self {
        Self { start_bytes: 0, segments: 1, segment_bytes: length_bytes, stride_bytes: length_bytes }
    }

    /// Converts the range for the access generator.
    #[must_use]
    pub const fn span(self) -> Span {
        Span {
            start_bytes: self.start_bytes,
            segments: self.segments,
            segment_bytes: self.segment_bytes,
            stride_bytes: self.stride_bytes,
        }
    }
}

/// Content of write buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DataPattern {
    /// Incompressible and without repetition, as required by the PTS (`RND`).
    Random,
    /// All zero. Drives may treat zeros specially, so they are never used for a PTS result.
    Zero,
    /// All bytes are the same.
    Byte(u8),
    /// Partly compressible or duplicate data, which a drive may reduce. Such data is never used for a PTS
    /// result.
    #[serde(untagged)]
    Reducible(Reducible),
}

/// The condition that ends a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// After this number of nanoseconds on the target's clock.
    DurationNs(u64),
    /// After this number of bytes, reads and writes combined.
    AmountBytes(u64),
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires a function that takes a reference")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires a function that takes a reference")]
const fn is_no_alignment(bytes: &u32) -> bool {
    *bytes == 0
}

/// Why a workload cannot run on a target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("workload {workload}: {problem}")]
pub struct WorkloadError {
    workload: String,
    problem: String,
}

impl From<Access> for Order {
    fn from(access: Access) -> Self {
        match access {
            Access::Random => Self::Random,
            Access::Sequential => Self::Sequential,
        }
    }
}

impl std::fmt::Display for Workload {
    /// Formats the workload in PTS notation: `RND 4KiB W`, `SEQ 128KiB R`, `RND 64KiB 65/35`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut size = block_size(u64::from(self.block_bytes));
        if let Some(smallest) = self.kinds.iter().map(|kind| kind.block_bytes).min()
            && smallest != self.block_bytes
        {
            size = format!("{} to {size}", block_size(smallest.into()));
        }
        if self.regime.trims {
            let order = if self.access == Access::Random { "RND" } else { "SEQ" };
            return write!(f, "{order} {size} trim");
        }
        f.write_str(&notation(self.access, &size, self.read_percent))
    }
}

/// Formats a workload in PTS notation.
#[must_use]
pub fn notation(access: Access, size: &str, read_percent: u8) -> String {
    let access = match access {
        Access::Random => "RND",
        Access::Sequential => "SEQ",
    };
    match read_percent {
        0 => format!("{access} {size} W"),
        100 => format!("{access} {size} R"),
        read => format!("{access} {size} {read}/{}", 100u8.saturating_sub(read)),
    }
}

impl Workload {
    /// Checks that the workload can run on a device with this capacity and logical block size.
    ///
    /// # Errors
    /// Returns an error if the workload cannot run on such a device; the error names the first violation and a
    /// valid value.
    pub fn validate(&self, capacity_bytes: u64, logical_block_bytes: u32) -> Result<(), WorkloadError> {
        self.problem(capacity_bytes, logical_block_bytes)
            .map_or(Ok(()), |problem| Err(WorkloadError { workload: self.to_string(), problem }))
    }

    fn problem(&self, capacity_bytes: u64, logical_block_bytes: u32) -> Option<String> {
        let (block, range) = (u64::from(self.block_bytes), self.range);
        let unaligned = |bytes: u64| !bytes.is_multiple_of(u64::from(logical_block_bytes));
        if self.threads == 0 || self.queue_depth == 0 {
            return Some("thread count and queue depth must be at least 1".into());
        }
        let sizes = self.kinds.iter().map(|kind| u64::from(kind.block_bytes)).chain([block]);
        for size in sizes {
            if size == 0 || unaligned(size) {
                let nearest = size.next_multiple_of(u64::from(logical_block_bytes).max(1)).max(1);
                return Some(format!(
                    "block size {size} B is not a multiple of the device's {logical_block_bytes} B sectors; \
                     the nearest is {nearest} B"
                ));
            }
        }
        if unaligned(self.align_bytes.into()) {
            return Some(format!(
                "an alignment of {} B is not a multiple of the device's {logical_block_bytes} B sectors",
                self.align_bytes
            ));
        }
        if let Some(problem) = self.summary_problem() {
            return Some(problem);
        }
        if range.segments == 0 || range.segment_bytes < block || range.stride_bytes < range.segment_bytes {
            return Some(match range.segments {
                0 | 1 => format!("a range of {} B cannot hold blocks of {block} B", range.segment_bytes),
                count => {
                    format!("{count} segments of {} B cannot hold blocks of {block} B", range.segment_bytes)
                }
            });
        }
        if unaligned(range.start_bytes) || (range.segments > 1 && unaligned(range.stride_bytes)) {
            return Some(format!("the range does not start on a {logical_block_bytes} B sector"));
        }
        if range.span().end_bytes() > capacity_bytes {
            return Some(format!(
                "the range ends at byte {}, but the device has only {} ({capacity_bytes} B)",
                range.span().end_bytes(),
                amount_base2(capacity_bytes)
            ));
        }
        if self.regime.trims && self.read_percent > 0 {
            return Some("a mix of reads and trims; use one workload for each".into());
        }
        let of_commands =
            self.commands.as_ref().and_then(|commands| commands.problem(&self.regime, self.block_bytes));
        let problem = of_commands.or_else(|| self.sharing_problem());
        let problem = problem.or_else(|| self.pattern().problem(self.threads));
        if let Some(problem) = problem.or_else(|| self.order_problem()) {
            return Some(problem);
        }
        if let DataPattern::Reducible(reducible) = self.data_pattern
            && let Some(problem) = reducible.problem()
        {
            return Some(problem);
        }
        match self.until {
            Until::DurationNs(0) => Some("a duration of zero".into()),
            Until::AmountBytes(amount) if amount < block => {
                Some(format!("an amount of {amount} B is less than one block"))
            }
            until => self.regime.problem(matches!(until, Until::DurationNs(_))),
        }
    }

    /// Checks that each write to blocks that other workloads may overwrite is one block: a torn block is noticed, but
    /// not intact blocks of different writes.
    fn sharing_problem(&self) -> Option<String> {
        let is_one_block = self.pattern().granule_bytes() == u64::from(self.block_bytes);
        (self.shares_blocks() && !is_one_block)
            .then(|| "several block sizes in blocks that other workloads may overwrite; use one size".into())
    }

    /// Checks that an order that ends with the range does not go on.
    fn order_problem(&self) -> Option<String> {
        let most = self.pattern().most_accesses()?;
        match self.until {
            _ if !matches!(self.read_percent, 0 | 100) => {
                Some("a strided sequence in a mix of reads and writes, whose lengths are unknown".into())
            }
            Until::AmountBytes(bytes)
                if (bytes / u64::from(self.block_bytes)).div_ceil(self.threads.into()) <= most =>
            {
                None
            }
            _ => Some(format!("an order that ends after {most} I/Os of each thread, with the range")),
        }
    }

    /// Checks that the summary fields (order, percentage of reads, block size) match the kinds of I/O.
    fn summary_problem(&self) -> Option<String> {
        let largest = self.kinds.iter().map(|kind| kind.block_bytes).max()?;
        let random = self.kinds.iter().any(|kind| kind.access == Access::Random);
        let summary = (self.block_bytes, self.read_percent, self.access == Access::Random);
        let (size, read, order) = (largest, read_percent_of(&self.kinds), if random { "RND" } else { "SEQ" });
        (summary != (size, read, random)).then(|| {
            format!(
                "its I/O kinds have blocks of up to {size} B, {read} % reads and {order} order, but its summary differs"
            )
        })
    }

    /// Replaces the kinds of I/O and updates the summary fields.
    #[must_use]
    pub fn of_kinds(self, kinds: Vec<IoKind>) -> Self {
        let random = kinds.iter().any(|kind| kind.access == Access::Random);
        Self {
            access: if random { Access::Random } else { Access::Sequential },
            read_percent: read_percent_of(&kinds),
            block_bytes: kinds.iter().map(|kind| kind.block_bytes).max().unwrap_or(self.block_bytes),
            kinds,
            ..self
        }
    }

    /// Converts the workload into a pattern for the access generator.
    #[must_use]
    pub fn pattern(&self) -> Pattern {
        let zone = |zone: &Zone| stdx::access::Zone {
            access_percent: zone.access_percent,
            span_percent: zone.range_percent,
        };
        let kind = |kind: &IoKind| Kind {
            share_percent: kind.share_percent,
            order: kind.access.into(),
            read_percent: kind.read_percent,
            block_bytes: kind.block_bytes,
        };
        let plain =
            Pattern::plain(self.access.into(), self.read_percent, self.block_bytes, self.range.span());
        Pattern {
            kinds: if self.kinds.is_empty() { plain.kinds } else { self.kinds.iter().map(kind).collect() },
            zones: self.zones.iter().map(zone).collect(),
            span: plain.span,
            from_block: self.from_block,
            descending: self.regime.descending,
            align_bytes: self.align_bytes,
            offsets: self.regime.offsets.into(),
            sequence: self.sequence.clone().map(Into::into),
        }
    }

    /// Returns the mean number of bytes per I/O over all kinds.
    #[must_use]
    pub fn mean_block_bytes(&self) -> f64 {
        if self.kinds.is_empty() {
            return f64::from(self.block_bytes);
        }
        let bytes = |kind: &IoKind| f64::from(kind.share_percent) * f64::from(kind.block_bytes);
        self.kinds.iter().map(bytes).sum::<f64>() / 100.0
    }

    /// Returns whether any I/O is a write.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.read_percent < 100
    }

    /// Returns whether consecutive I/Os of a thread may be adjacent on the target, other than by chance.
    #[must_use]
    pub fn has_adjacent_ios(&self) -> bool {
        let is_sequential = |access: Access| access == Access::Sequential;
        let has_streams = self.kinds.iter().any(|kind| is_sequential(kind.access));
        is_sequential(self.access) || has_streams || self.sequence.is_some()
    }

    /// Returns whether other workloads may overwrite the blocks that this one verifies.
    #[must_use]
    pub fn shares_blocks(&self) -> bool {
        self.commands.as_ref().is_some_and(|commands| commands.shared_blocks)
    }

    /// Returns how the workload uses the zones of its target; `None` if the target has none.
    #[must_use]
    pub fn zoned(&self) -> Option<Zoned> {
        self.commands.as_ref().and_then(|commands| commands.zoned)
    }

    /// Returns the number of outstanding I/Os over all threads (OIO).
    #[must_use]
    pub fn outstanding(&self) -> u32 {
        u32::from(self.threads) * u32::from(self.queue_depth)
    }
}

#[cfg(test)]
mod tests;
