//! Faults to inject: what fails, when the drive is slow, and for how long.

mod data;
mod text;

use std::ops::Range;

pub(crate) use data::DataWatch;
pub use data::{DataDefect, DataFault, FoundData, WrongData};
pub use text::{FAULT_GRAMMAR, FaultError};

use crate::Scale;

/// Faults to inject into a drive. All times are virtual.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Faults {
    /// Regions in which reads or writes fail.
    pub media: Vec<MediaFault>,
    /// Regions whose data differs from what was written.
    pub data: Vec<DataFault>,
    /// Commands that never complete.
    pub lost: Vec<LostCommands>,
    /// Periods during which the drive is slow.
    pub slow: Vec<Throttling>,
    /// Time at which the drive disappears; [`Ssd::power_cycle`](crate::Ssd::power_cycle) restores it.
    pub removed_at_ns: Option<u64>,
    /// Times at which the drive loses power; [`Ssd::power_cycle`](crate::Ssd::power_cycle) restores it.
    pub power_lost_at_ns: Vec<u64>,
}

impl Faults {
    /// Returns the faults for a scaled drive: start times and throttle durations are divided by the scale,
    /// because the drive completes a test in that fraction of the time. Retry times and timeouts are not.
    #[must_use]
    pub fn scaled(mut self, scale: Scale) -> Self {
        let divisor = u64::from(scale.divisor());
        for lost in &mut self.lost {
            lost.from_ns /= divisor;
        }
        for data in &mut self.data {
            data.from_ns /= divisor;
        }
        for slow in &mut self.slow {
            let (start_ns, end_ns) = (slow.times_ns.start, slow.times_ns.end);
            let from_ns = start_ns / divisor;
            slow.times_ns = from_ns..from_ns.saturating_add(end_ns.saturating_sub(start_ns) / divisor);
        }
        for at_ns in self.removed_at_ns.iter_mut().chain(&mut self.power_lost_at_ns) {
            *at_ns /= divisor;
        }
        self
    }

    /// Returns the faults without one-time events: a removed drive has been plugged in again, and commands that
    /// never completed are in the past. Power losses are kept, because they change the drive's contents and are
    /// needed to replay its history.
    #[must_use]
    pub fn lasting(self) -> Self {
        Self { removed_at_ns: None, lost: Vec::new(), ..self }
    }
}

/// A region in which reads or writes fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaFault {
    /// The affected bytes; any command that includes one of them fails.
    pub bytes: Range<u64>,
    /// Whether reads fail.
    pub reads: bool,
    /// Whether writes fail.
    pub writes: bool,
    /// Time in ns that the drive spends on retries before it reports an error.
    pub retry_ns: u64,
}

/// Commands that never complete, so that they time out on the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostCommands {
    /// Start time in ns.
    pub from_ns: u64,
    /// Number of commands.
    pub commands: u32,
    /// The host's timeout in ns.
    pub timeout_ns: u64,
}

/// A period during which the drive limits its throughput.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Throttling {
    /// Start and end in ns.
    pub times_ns: Range<u64>,
    /// Throughput limit in bytes per second, at least 1.
    pub bytes_per_second: u64,
}

/// Why a command failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The flash could not be read or written.
    Media,
    /// The command timed out.
    Timeout,
    /// The drive was removed.
    Removed,
    /// The drive has no power.
    Power,
}

/// A failed command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    /// Why the command failed.
    pub cause: Cause,
    /// True for a read, false for a write.
    pub read: bool,
    /// First byte of the command.
    pub offset_bytes: u64,
    /// Length of the command in bytes.
    pub length_bytes: u32,
    /// Time in ns at which the host learns of the failure.
    pub at_ns: u64,
}
