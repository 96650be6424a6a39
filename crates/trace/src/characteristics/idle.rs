//! Periods in which no I/O is outstanding.

use stdx::Histogram;

use crate::Io;

/// Periods without an outstanding I/O. If completions are unknown, I/Os are treated as taking no time.
#[derive(Debug, Default, PartialEq)]
pub struct Idle {
    /// Total idle time.
    pub total_ns: u64,
    /// Lengths of the idle periods.
    pub times: Histogram,
}

#[derive(Default)]
pub struct IdleTimes {
    idle: Idle,
    busy_until_ns: u64,
}

impl IdleTimes {
    pub fn add(&mut self, io: &Io) {
        if io.issue_ns > self.busy_until_ns {
            let idle_ns = io.issue_ns - self.busy_until_ns;
            self.idle.total_ns += idle_ns;
            self.idle.times.record(idle_ns);
        }
        self.busy_until_ns = self.busy_until_ns.max(io.issue_ns.saturating_add(io.response_ns.unwrap_or(0)));
    }

    pub fn finish(self) -> Idle {
        self.idle
    }
}
