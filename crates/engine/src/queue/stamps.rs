//! Time stamps for the start and end of I/Os, taken in the same way by all engines.
//!
//! Reading the clock costs more than all the other work that the loop does per I/O. At QD 1, where the next I/O
//! follows immediately, the end of one I/O is therefore used as the start of the next.

use crate::clock::Clock;

/// Whether a step between two I/Os took time that must not count towards the response time of the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Took {
    /// The step took no longer than reading the clock.
    NoTime,
    Time,
}

impl Took {
    #[inline]
    pub(crate) fn and(self, other: Self) -> Self {
        if self == Self::NoTime { other } else { Self::Time }
    }
}

/// Source of a queue's time stamps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stamps {
    clock: Clock,
    /// Start of the next submission; 0 if the clock must be read.
    carried_ns: u64,
}

impl Stamps {
    pub(crate) fn of(clock: Clock) -> Self {
        Self { clock, carried_ns: 0 }
    }

    /// Sets the start of the next submission to the end of the previous I/O if no step in between took time.
    #[inline]
    pub(crate) fn carry(&mut self, ended_ns: u64) {
        self.carried_ns = ended_ns;
    }

    /// Returns the start time of the current submission.
    #[inline]
    pub(crate) fn start_ns(&mut self) -> u64 {
        match std::mem::take(&mut self.carried_ns) {
            0 => self.clock.now_ns(),
            carried_ns => carried_ns,
        }
    }

    /// Returns the current time, which is the end time of the I/Os that were found complete.
    #[inline]
    pub(crate) fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }
}
