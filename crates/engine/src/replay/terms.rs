//! The input, options and results of a replay.

use record::{Direction, IoPath, Series};
use stdx::Histogram;
use stdx::access::Access;

/// One I/O to replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// Start time relative to the start of the replay; never decreases.
    pub due_ns: u64,
    /// The access.
    pub access: Access,
}

/// When I/Os start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// When they are due.
    Open,
    /// As soon as an earlier I/O has completed.
    Closed,
}

/// Options for a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayOptions {
    /// When I/Os start.
    pub pace: Pace,
    /// Largest number of outstanding I/Os. If an open loop reaches it, I/Os start late.
    pub depth: u16,
    /// Length of the largest I/O.
    pub largest_bytes: u32,
    /// Seed for the random data that is written.
    pub seed: u64,
}

/// The result of a replay.
#[derive(Debug, Clone, PartialEq)]
pub struct Replayed {
    /// Reads, with response times from the start of each I/O.
    pub read: Direction,
    /// Writes, likewise.
    pub write: Direction,
    /// I/Os and response times second by second.
    pub series: Series,
    /// How late each I/O started; empty for a closed loop.
    pub lateness: Histogram,
    /// Number of I/Os that had to wait because the depth was reached.
    pub held_back: u64,
    /// Largest number of outstanding I/Os.
    pub most_outstanding: u16,
    /// Time from the start of the replay until its last I/O was due.
    pub last_due_ns: u64,
    /// Time from the start of the replay until its last I/O started.
    pub last_start_ns: u64,
    /// Time from the start of the replay to its last completion.
    pub length_ns: u64,
    /// The path of the I/Os into the kernel; `None` on a simulated drive.
    pub io_path: Option<IoPath>,
}

/// Number of I/Os in a batch.
pub const BATCH: usize = 4096;

/// Appends up to [`BATCH`] I/Os to the vector, or none if there are no more.
pub type Source<'a> = dyn FnMut(&mut Vec<Due>) + 'a;
