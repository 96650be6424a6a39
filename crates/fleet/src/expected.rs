//! Expected time and writes of a job, and its time limit.

/// How long before its time limit a job is interrupted, so that it can shut down cleanly.
pub const SIGNAL_SECONDS: u32 = 120;

/// Expected time and writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Expected {
    /// If steady state is reached as early as possible.
    pub shortest_ns: u64,
    /// If steady state is not reached.
    pub longest_ns: u64,
    /// Minimum number of bytes written.
    pub least_bytes: u64,
    /// Maximum number of bytes written.
    pub most_bytes: u64,
    /// Purges, which the other times do not include.
    pub purge_ns: u64,
    /// The longest purge, workload or idle time.
    pub step_ns: u64,
}

/// Minimum time limit of a job in minutes.
pub const LEAST_MINUTES: u32 = 10;

const MINUTE_NS: u64 = 60_000_000_000;

impl Expected {
    /// Adds another job.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            shortest_ns: self.shortest_ns.saturating_add(other.shortest_ns),
            longest_ns: self.longest_ns.saturating_add(other.longest_ns),
            least_bytes: self.least_bytes.saturating_add(other.least_bytes),
            most_bytes: self.most_bytes.saturating_add(other.most_bytes),
            purge_ns: self.purge_ns.saturating_add(other.purge_ns),
            step_ns: if self.step_ns > other.step_ns { self.step_ns } else { other.step_ns },
        }
    }

    /// Returns the time limit of the job in minutes: `chosen` or, by default, twice the longest expected time. A purge or
    /// workload that the limit interrupts is repeated from its beginning, so the limit must not be shorter.
    ///
    /// # Errors
    /// Returns the minimum if `chosen` is too short.
    pub fn time_limit(&self, chosen: Option<u32>) -> Result<u32, u32> {
        let minutes = |ns: u64| u32::try_from(ns.div_ceil(MINUTE_NS)).unwrap_or(u32::MAX);
        let before_signal = minutes(self.step_ns);
        let least = before_signal.saturating_add(SIGNAL_SECONDS.div_ceil(60));
        let least = if before_signal == 0 { 0 } else { least };
        let twice = minutes(self.longest_ns.saturating_add(self.purge_ns).saturating_mul(2));
        match chosen {
            Some(chosen) if chosen < least => Err(least),
            Some(chosen) => Ok(chosen),
            None => Ok(twice.max(least).max(LEAST_MINUTES)),
        }
    }
}
