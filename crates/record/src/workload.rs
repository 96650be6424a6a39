//! What is asked of a drive: one stimulus, completely described.

use serde::{Deserialize, Serialize};
use stdx::access::{Order, Span};
use stdx::units::{amount_base2, block_size};

/// One stimulus. Same workload and seed: same offsets and same mix, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Order of the addresses.
    pub access: Access,
    /// Share of reads, 0 to 100.
    pub read_percent: u8,
    /// Bytes per I/O.
    pub block_bytes: u32,
    /// Threads (TC).
    pub threads: u16,
    /// Outstanding I/Os per thread (QD).
    pub queue_depth: u16,
    /// Where I/Os may go.
    pub range: Range,
    /// Content of write buffers.
    pub data_pattern: DataPattern,
    /// When it ends.
    pub until: Until,
    /// Seed of offsets, mix and data.
    pub seed: u64,
}

/// Order of the addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Uniform over the range, aligned to the block size.
    Random,
    /// Rising; each thread has its own equal, contiguous section (PTS leaves this open).
    Sequential,
}

/// Where I/Os may go: equal segments at equal distance; one segment for a plain range.
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
    /// The plain range of `length_bytes` from byte 0.
    #[must_use]
    pub const fn first(length_bytes: u64) -> Self {
        Self { start_bytes: 0, segments: 1, segment_bytes: length_bytes, stride_bytes: length_bytes }
    }

    /// The same as the access generator has it.
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
    /// Incompressible and not repeating; what the PTS requires (`RND`).
    Random,
    /// All zero; a drive may treat it specially, so never for a PTS result.
    Zero,
}

/// When a workload ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// After so many nanoseconds of the target's clock.
    DurationNs(u64),
    /// After so many bytes, reads and writes together.
    AmountBytes(u64),
}

/// Why a workload cannot be run on a target.
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
    /// The notation of the PTS: `RND 4KiB W`, `SEQ 128KiB R`, `RND 64KiB 65/35`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let access = match self.access {
            Access::Random => "RND",
            Access::Sequential => "SEQ",
        };
        let size = block_size(u64::from(self.block_bytes));
        match self.read_percent {
            0 => write!(f, "{access} {size} W"),
            100 => write!(f, "{access} {size} R"),
            read => write!(f, "{access} {size} {read}/{}", 100u8.saturating_sub(read)),
        }
    }
}

impl Workload {
    /// Checks that this can run on a device of `capacity_bytes` with blocks of `logical_block_bytes`.
    ///
    /// # Errors
    /// Names the first thing that is impossible and what would be possible.
    pub fn validate(&self, capacity_bytes: u64, logical_block_bytes: u32) -> Result<(), WorkloadError> {
        self.problem(capacity_bytes, logical_block_bytes)
            .map_or(Ok(()), |problem| Err(WorkloadError { workload: self.to_string(), problem }))
    }

    fn problem(&self, capacity_bytes: u64, logical_block_bytes: u32) -> Option<String> {
        let (block, range) = (u64::from(self.block_bytes), self.range);
        let unaligned = |bytes: u64| !bytes.is_multiple_of(u64::from(logical_block_bytes));
        if self.read_percent > 100 {
            return Some(format!("a read share of {} %; 0 to 100 is possible", self.read_percent));
        }
        if self.threads == 0 || self.queue_depth == 0 {
            return Some("thread count and queue depth must be at least 1".into());
        }
        if block == 0 || unaligned(block) {
            return Some(format!(
                "block size {block} B is not a multiple of the device's {logical_block_bytes} B sectors"
            ));
        }
        if range.segments == 0 || range.segment_bytes < block || range.stride_bytes < range.segment_bytes {
            return Some(format!(
                "a range of {} segments of {} B cannot hold {block} B blocks",
                range.segments, range.segment_bytes
            ));
        }
        if unaligned(range.start_bytes) || (range.segments > 1 && unaligned(range.stride_bytes)) {
            return Some(format!("the range does not start on a {logical_block_bytes} B sector"));
        }
        if range.span().end_bytes() > capacity_bytes {
            return Some(format!(
                "the range ends at byte {} but the device has {} ({capacity_bytes} B)",
                range.span().end_bytes(),
                amount_base2(capacity_bytes)
            ));
        }
        if range.span().blocks(self.block_bytes) < u64::from(self.threads) {
            return Some(format!("{} threads need at least one block each in the range", self.threads));
        }
        match self.until {
            Until::DurationNs(0) => Some("a duration of zero".into()),
            Until::AmountBytes(amount) if amount < block => {
                Some(format!("an amount of {amount} B is less than one block"))
            }
            _ => None,
        }
    }

    /// The same workload of which the I/Os are reads only or writes only.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.read_percent < 100
    }

    /// Outstanding I/Os over all threads (OIO).
    #[must_use]
    pub fn outstanding(&self) -> u32 {
        u32::from(self.threads) * u32::from(self.queue_depth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain() -> Workload {
        Workload {
            access: Access::Random,
            read_percent: 65,
            block_bytes: 4096,
            threads: 2,
            queue_depth: 16,
            range: Range::first(1 << 30),
            data_pattern: DataPattern::Random,
            until: Until::DurationNs(1),
            seed: 1,
        }
    }

    #[test]
    fn is_written_in_pts_notation() {
        assert_eq!(plain().to_string(), "RND 4KiB 65/35");
        assert_eq!(Workload { read_percent: 0, block_bytes: 512, ..plain() }.to_string(), "RND 0.5KiB W");
        assert_eq!(
            Workload { read_percent: 100, access: Access::Sequential, ..plain() }.to_string(),
            "SEQ 4KiB R"
        );
    }

    #[test]
    fn impossible_workloads_say_why() {
        let cases = [
            (Workload { read_percent: 101, ..plain() }, "read share"),
            (Workload { threads: 0, ..plain() }, "thread count"),
            (Workload { block_bytes: 512, ..plain() }, "multiple of the device's 4096 B sectors"),
            (Workload { range: Range::first(2 << 30), ..plain() }, "the device has 1 GiB"),
            (Workload { range: Range::first(1024), ..plain() }, "cannot hold"),
            (Workload { range: Range { start_bytes: 512, ..Range::first(4096 * 8) }, ..plain() }, "start"),
            (Workload { threads: 9, range: Range::first(4096 * 8), ..plain() }, "9 threads"),
            (Workload { until: Until::AmountBytes(1), ..plain() }, "less than one block"),
            (Workload { until: Until::DurationNs(0), ..plain() }, "duration of zero"),
        ];
        for (workload, expected) in cases {
            let error = workload.validate(1 << 30, 4096).expect_err(expected).to_string();
            assert!(error.contains(expected), "{error}");
        }
        assert_eq!(plain().validate(1 << 30, 4096), Ok(()));
    }
}
