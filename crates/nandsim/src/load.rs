//! What a run is asked to do and what it reports.

use crate::{Cause, Failure};
use stdx::Histogram;
use stdx::access::{Order, Pattern, Span};
use stdx::histogram::coarse::Columns;

/// When a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// After so many nanoseconds of virtual time.
    ForNs(u64),
    /// After so many bytes, in whole blocks (a rest below one block is not done). With several block sizes
    /// each thread ends with the block that reaches its share.
    Bytes(u64),
}

/// A closed loop of commands: `threads` x `queue_depth` are in flight at any time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// Order of the addresses.
    pub order: Order,
    /// Share of reads in percent, 0 to 100.
    pub read_percent: u8,
    /// Length of each command in bytes, a multiple of the logical block.
    pub block_bytes: u32,
    /// Threads, each with its own stream of accesses; at least 1.
    pub threads: u16,
    /// Commands that each thread keeps in flight; at least 1.
    pub queue_depth: u16,
    /// Bytes of the drive that may be touched, starting on a logical block.
    pub span: Span,
    /// When to end.
    pub until: Until,
    /// Seed of the streams of accesses.
    pub seed: u64,
    /// A timed run goes on after its time until so many commands completed; 0 is the exact time.
    pub min_completions: u64,
    /// Length of a tick in ns; 0 is no ticks.
    pub tick_ns: u64,
}

impl Load {
    /// What is touched and how.
    #[must_use]
    pub fn pattern(&self) -> Pattern {
        Pattern::plain(self.order, self.read_percent, self.block_bytes, self.span)
    }
}

/// What completed in one direction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Direction {
    /// Commands completed.
    pub ios: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// Time from submission to completion of each in ns.
    pub latency: Histogram,
}

/// What completed in `start_ns < t <= end_ns`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tick {
    /// Start in ns of the virtual clock.
    pub start_ns: u64,
    /// End in ns of the virtual clock; only the last tick of a run may be shorter than asked.
    pub end_ns: u64,
    /// Reads completed.
    pub read_ios: u64,
    /// Writes completed.
    pub write_ios: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Sum of the latencies of both directions in ns.
    pub latency_sum_ns: u64,
    /// Largest latency of both directions in ns.
    pub latency_max_ns: u64,
}

/// What a run did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    /// Virtual time at the start in ns.
    pub start_ns: u64,
    /// Virtual time at the end in ns; `end_ns - start_ns` is the divisor of every rate.
    pub end_ns: u64,
    /// Reads.
    pub read: Direction,
    /// Writes.
    pub write: Direction,
    /// The ticks, without a gap, in order; empty when none were asked for.
    pub ticks: Vec<Tick>,
    /// Response times of the ticks, both directions together; a column for several ticks where they are many.
    pub times: Columns,
    /// Whether the tick callback ended the run.
    pub stopped: bool,
    /// Set when a command failed: nothing was submitted after it, and what was in flight ended.
    pub failed: Option<Failed>,
}

/// The commands of a run that failed; they count in no [`Direction`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failed {
    /// The first one.
    pub first: Failure,
    /// Those that failed because of the flash, the first included.
    pub media: u64,
    /// Those without an answer.
    pub timeouts: u64,
    /// Those that were in flight, or tried, when the drive was gone.
    pub removed: u64,
    /// The same, when the drive had lost its power.
    pub unpowered: u64,
}

impl Failed {
    pub(crate) fn none(first: Failure) -> Self {
        Self { first, media: 0, timeouts: 0, removed: 0, unpowered: 0 }
    }

    /// One failed command.
    #[must_use]
    pub fn first(failure: Failure) -> Self {
        let mut failed = Self::none(failure);
        failed.count(failure.cause);
        failed
    }

    /// Counts one more.
    pub fn count(&mut self, cause: Cause) {
        *match cause {
            Cause::Media => &mut self.media,
            Cause::Timeout => &mut self.timeouts,
            Cause::Removed => &mut self.removed,
            Cause::Power => &mut self.unpowered,
        } += 1;
    }
}

impl Tally {
    /// Length of the run in ns of virtual time.
    #[must_use]
    pub fn elapsed_ns(&self) -> u64 {
        self.end_ns - self.start_ns
    }

    /// Commands of both directions per second of virtual time; 0 for an empty run.
    #[must_use]
    pub fn iops(&self) -> f64 {
        per_second(self.read.ios + self.write.ios, self.elapsed_ns())
    }

    /// Bytes of both directions per second of virtual time; 0 for an empty run.
    #[must_use]
    pub fn bytes_per_second(&self) -> f64 {
        per_second(self.read.bytes + self.write.bytes, self.elapsed_ns())
    }
}

fn per_second(amount: u64, elapsed_ns: u64) -> f64 {
    if elapsed_ns == 0 { 0.0 } else { amount as f64 * 1e9 / elapsed_ns as f64 }
}
