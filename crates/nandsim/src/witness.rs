//! Records the load that a drive receives, to verify the claims of a load engine.

use std::collections::BTreeMap;

use crate::ssd::Ssd;

/// Number of equal parts of the capacity in which accesses are counted.
pub const PARTS: usize = 64;
/// Maximum number of recorded block size changes.
const MOST_CHANGES: usize = 4096;

/// The load that a drive has received since recording began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadRecorder {
    /// Number of reads.
    pub reads: u64,
    /// Number of writes.
    pub writes: u64,
    /// Bytes of the reads.
    pub read_bytes: u64,
    /// Bytes of the writes.
    pub write_bytes: u64,
    /// Number of commands by length in bytes.
    pub sizes: BTreeMap<u32, u64>,
    /// The lengths in order of arrival, without consecutive duplicates; the first 4096.
    pub sizes_in_order: Vec<u32>,
    /// Number of commands that start in each 64th of the capacity.
    pub parts: [u64; PARTS],
    /// Number of commands by the log2 of the largest power of two that divides their offset; offset 0 counts as
    /// 2^63.
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
    fn new() -> Self {
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

    /// Number of commands.
    #[must_use]
    pub fn commands(&self) -> u64 {
        self.reads + self.writes
    }

    /// Percentage of reads; `None` before the first command.
    #[must_use]
    pub fn read_percent(&self) -> Option<f64> {
        (self.commands() > 0).then(|| 100.0 * self.reads as f64 / self.commands() as f64)
    }

    /// Largest power of two that divides every offset; `None` before the first command.
    #[must_use]
    pub fn alignment_bytes(&self) -> Option<u64> {
        self.alignments.iter().position(|&n| n > 0).map(|shift| 1 << shift)
    }
}

impl Ssd {
    /// Starts a new recording, or stops recording.
    pub fn watch(&mut self, on: bool) {
        self.witness = on.then(|| Box::new(LoadRecorder::new()));
        self.attend();
    }

    /// The load recorded since [`watch`](Self::watch).
    #[must_use]
    pub fn witness(&self) -> Option<&LoadRecorder> {
        self.witness.as_deref()
    }

    pub(crate) fn see(&mut self, read: bool, offset: u64, bytes: u32) {
        let Some(seen) = self.witness.as_deref_mut() else { return };
        let length = u64::from(bytes);
        if read {
            seen.reads += 1;
            seen.read_bytes += length;
        } else {
            seen.writes += 1;
            seen.write_bytes += length;
        }
        *seen.sizes.entry(bytes).or_default() += 1;
        if seen.sizes_in_order.last() != Some(&bytes) && seen.sizes_in_order.len() < MOST_CHANGES {
            seen.sizes_in_order.push(bytes);
        }
        let part = u128::from(offset) * PARTS as u128 / u128::from(self.plan.capacity_bytes);
        seen.parts[part as usize] += 1;
        seen.alignments[offset.trailing_zeros().min(63) as usize] += 1;
        seen.first_byte = seen.first_byte.min(offset);
        seen.end_byte = seen.end_byte.max(offset + length);
        seen.consecutive += u64::from(offset == seen.last_end);
        seen.last_end = offset + length;
        seen.most_outstanding = seen.most_outstanding.max(self.in_flight);
        seen.first_ns = seen.first_ns.min(self.now_ns);
        seen.last_ns = self.now_ns;
    }
}
