//! The parameters and results of a run.

use crate::{Cause, Failure};
use stdx::Histogram;
use stdx::access::{Order, Pattern, Span};
use stdx::histogram::coarse::Columns;

/// The condition that ends a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// After this number of nanoseconds of virtual time.
    ForNs(u64),
    /// After this number of bytes, rounded down to whole blocks. If there are several block sizes, each
    /// thread stops after the block that completes its share.
    Bytes(u64),
}

/// A closed loop that always keeps `threads` x `queue_depth` commands in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// Order of the addresses.
    pub order: Order,
    /// Percentage of reads, 0 to 100.
    pub read_percent: u8,
    /// Length of each command in bytes, a multiple of the logical block.
    pub block_bytes: u32,
    /// Number of threads, each with its own access stream; at least 1.
    pub threads: u16,
    /// Number of commands that each thread keeps in flight; at least 1.
    pub queue_depth: u16,
    /// The part of the drive that may be accessed; it starts at a logical block.
    pub span: Span,
    /// When to end.
    pub until: Until,
    /// Seed for the access streams.
    pub seed: u64,
    /// Minimum number of completed commands; a timed run continues beyond its end until it is reached. With 0,
    /// a run takes exactly the requested time.
    pub min_completions: u64,
    /// Length of a tick in ns; 0 for no ticks.
    pub tick_ns: u64,
}

/// Length, in ticks, from which a run's ticks are never merged, because tests divide long runs into parts.
const LONG_TICKS: u64 = 300;
/// Maximum number of ticks of a shorter run, unless more were requested.
const MOST_TICKS: u64 = 64;

impl Load {
    /// Returns the access pattern.
    #[must_use]
    pub fn pattern(&self) -> Pattern {
        Pattern::plain(self.order, self.read_percent, self.block_bytes, self.span)
    }
}

/// The completed commands of one direction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Direction {
    /// Number of commands.
    pub ios: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// Latencies from submission to completion, in ns.
    pub latency: Histogram,
}

/// Commands completed in `start_ns < t <= end_ns`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tick {
    /// Start in virtual ns.
    pub start_ns: u64,
    /// End in virtual ns; only the last tick of a run may be shorter than requested.
    pub end_ns: u64,
    /// Reads completed.
    pub read_ios: u64,
    /// Writes completed.
    pub write_ios: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Sum of read and write latencies in ns.
    pub latency_sum_ns: u64,
    /// Largest latency in either direction in ns.
    pub latency_max_ns: u64,
}

impl Tick {
    /// Returns a single tick that covers this tick and `next`.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        Self {
            start_ns: self.start_ns,
            end_ns: next.end_ns,
            read_ios: self.read_ios + next.read_ios,
            write_ios: self.write_ios + next.write_ios,
            read_bytes: self.read_bytes + next.read_bytes,
            write_bytes: self.write_bytes + next.write_bytes,
            latency_sum_ns: self.latency_sum_ns + next.latency_sum_ns,
            latency_max_ns: self.latency_max_ns.max(next.latency_max_ns),
        }
    }

    /// Returns the mean latency of both directions in ns; 0 if there were no commands.
    #[must_use]
    pub fn latency_mean_ns(&self) -> u64 {
        self.latency_sum_ns.checked_div(self.read_ios + self.write_ios).unwrap_or(0)
    }
}

/// The results of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    /// Virtual time at the start in ns.
    pub start_ns: u64,
    /// Virtual time at the end in ns; all rates are over `end_ns - start_ns`.
    pub end_ns: u64,
    /// Reads.
    pub read: Direction,
    /// Writes.
    pub write: Direction,
    /// The ticks, contiguous and in order; empty if none were requested.
    pub ticks: Vec<Tick>,
    /// Latencies over time, both directions combined; in a long run, a column covers several ticks.
    pub times: Columns,
    /// Whether the tick callback ended the run.
    pub stopped: bool,
    /// The failures, if any command failed. After the first failure, no more commands were submitted, and the
    /// commands in flight completed.
    pub failed: Option<Failed>,
}

/// A run's failed commands, which are not included in any [`Direction`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failed {
    /// The first failure.
    pub first: Failure,
    /// Number of flash failures, including the first failure if it was a flash failure.
    pub media: u64,
    /// Commands that timed out.
    pub timeouts: u64,
    /// Number of commands that were in flight when the drive was removed, or submitted afterwards.
    pub removed: u64,
    /// Number of commands that were in flight when the drive lost power, or submitted afterwards.
    pub unpowered: u64,
}

impl Failed {
    pub(super) fn none(first: Failure) -> Self {
        Self { first, media: 0, timeouts: 0, removed: 0, unpowered: 0 }
    }

    /// Returns the summary of a single failed command.
    #[must_use]
    pub fn first(failure: Failure) -> Self {
        let mut failed = Self::none(failure);
        failed.count(failure.cause);
        failed
    }

    /// Counts another failure.
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
    /// If a short run was extended, merges its ticks until there are at most 64, or at most one more than were
    /// requested. Returns the new length of a tick; the last tick may be shorter.
    pub fn limit_ticks(&mut self, load: &Load) -> u64 {
        let requested = match load.until {
            Until::ForNs(ns) => ns.div_ceil(load.tick_ns.max(1)),
            Until::Bytes(_) => LONG_TICKS,
        };
        let most = MOST_TICKS.max(requested + 1);
        let mut merged = 1;
        while requested < LONG_TICKS && (self.ticks.len() as u64).div_ceil(merged) > most {
            merged *= 2;
        }
        self.ticks = self
            .ticks
            .chunks(merged as usize)
            .filter_map(|some| some.iter().copied().reduce(Tick::then))
            .collect();
        self.times.merge_intervals(merged);
        load.tick_ns * merged
    }

    /// Returns the length of the run in ns of virtual time.
    #[must_use]
    pub fn elapsed_ns(&self) -> u64 {
        self.end_ns - self.start_ns
    }

    /// Returns commands in both directions per second of virtual time; 0 for an empty run.
    #[must_use]
    pub fn iops(&self) -> f64 {
        per_second(self.read.ios + self.write.ios, self.elapsed_ns())
    }

    /// Returns bytes in both directions per second of virtual time; 0 for an empty run.
    #[must_use]
    pub fn bytes_per_second(&self) -> f64 {
        per_second(self.read.bytes + self.write.bytes, self.elapsed_ns())
    }
}

fn per_second(amount: u64, elapsed_ns: u64) -> f64 {
    if elapsed_ns == 0 { 0.0 } else { amount as f64 * 1e9 / elapsed_ns as f64 }
}
