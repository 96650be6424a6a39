//! Records the load that a drive receives, as a check on the figures that a load engine reports.

use std::collections::BTreeMap;

/// Number of equal parts of the capacity in which accesses are counted.
pub const PARTS: usize = 64;
/// Maximum number of recorded block size changes.
const MOST_CHANGES: usize = 4096;

/// The load that a drive has received since the recording started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadRecorder {
    /// Number of reads.
    pub reads: u64,
    /// Number of writes.
    pub writes: u64,
    /// Number of bytes requested by reads.
    pub read_bytes: u64,
    /// Number of bytes requested by writes.
    pub write_bytes: u64,
    /// Number of commands by length in bytes.
    pub sizes: BTreeMap<u32, u64>,
    /// The first 4096 command lengths in order of arrival, without consecutive duplicates.
    pub sizes_in_order: Vec<u32>,
    /// Number of commands that start in each 64th of the capacity.
    pub parts: [u64; PARTS],
    /// Number of commands by the binary logarithm of the largest power of two that divides their offset; offset
    /// 0 counts as 2^63.
    pub alignments: [u64; 64],
    /// Lowest offset accessed.
    pub first_byte: u64,
    /// End of the highest byte accessed, exclusive.
    pub end_byte: u64,
    /// Number of commands that start where the previous one ended.
    pub consecutive: u64,
    /// Maximum number of commands in flight.
    pub most_outstanding: u32,
    /// Time of the first command in ns.
    pub first_ns: u64,
    /// Time of the last command in ns.
    pub last_ns: u64,
    last_end: u64,
}

impl LoadRecorder {
    pub(super) fn new() -> Self {
        Self {
            reads: 0,
            writes: 0,
            read_bytes: 0,
            write_bytes: 0,
            sizes: BTreeMap::new(),
            sizes_in_order: Vec::new(),
            parts: [0; PARTS],
            alignments: [0; 64],
            first_byte: u64::MAX,
            end_byte: 0,
            consecutive: 0,
            most_outstanding: 0,
            first_ns: u64::MAX,
            last_ns: 0,
            last_end: u64::MAX,
        }
    }

    /// Returns the number of commands.
    #[must_use]
    pub fn commands(&self) -> u64 {
        self.reads + self.writes
    }

    /// Returns the percentage of reads; `None` before the first command.
    #[must_use]
    pub fn read_percent(&self) -> Option<f64> {
        (self.commands() > 0).then(|| 100.0 * self.reads as f64 / self.commands() as f64)
    }

    /// Returns the largest power of two that divides all offsets; `None` before the first command.
    #[must_use]
    pub fn alignment_bytes(&self) -> Option<u64> {
        self.alignments.iter().position(|&n| n > 0).map(|shift| 1 << shift)
    }

    /// Records a command that arrives at `now_ns` on a drive of `capacity_bytes`, when `in_flight` commands,
    /// including this one, are in flight.
    pub(super) fn record(
        &mut self,
        (read, offset, bytes): (bool, u64, u32),
        capacity_bytes: u64,
        (in_flight, now_ns): (u32, u64),
    ) {
        let length = u64::from(bytes);
        if read {
            self.reads += 1;
            self.read_bytes += length;
        } else {
            self.writes += 1;
            self.write_bytes += length;
        }
        *self.sizes.entry(bytes).or_default() += 1;
        if self.sizes_in_order.last() != Some(&bytes) && self.sizes_in_order.len() < MOST_CHANGES {
            self.sizes_in_order.push(bytes);
        }
        let part = u128::from(offset) * PARTS as u128 / u128::from(capacity_bytes);
        self.parts[part as usize] += 1;
        self.alignments[offset.trailing_zeros().min(63) as usize] += 1;
        self.first_byte = self.first_byte.min(offset);
        self.end_byte = self.end_byte.max(offset + length);
        self.consecutive += u64::from(offset == self.last_end);
        self.last_end = offset + length;
        self.most_outstanding = self.most_outstanding.max(in_flight);
        self.first_ns = self.first_ns.min(now_ns);
        self.last_ns = now_ns;
    }
}
