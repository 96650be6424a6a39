//! Where response times begin and end, for all ways alike.
//!
//! A reading of the clock costs more than everything else that the loop does for an I/O. So at depth 1, where one I/O
//! follows the other at once, the end of one is the start of the next: both readings would be of the same moment.

use crate::clock::Clock;

/// Whether a step between two I/Os took time that the response time of the second must not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Took {
    /// Not more than a reading of the clock takes.
    NoTime,
    Time,
}

impl Took {
    #[inline]
    pub(crate) fn and(self, other: Self) -> Self {
        if self == Self::NoTime { other } else { Self::Time }
    }
}

/// The stamps of one queue.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stamps {
    clock: Clock,
    /// Start of the next submission; 0 where the clock has to say it.
    carried_ns: u64,
}

impl Stamps {
    pub(crate) fn of(clock: Clock) -> Self {
        Self { clock, carried_ns: 0 }
    }

    /// What is submitted next starts at this time: that of an end, since when nothing was done that takes time.
    #[inline]
    pub(crate) fn carry(&mut self, ended_ns: u64) {
        self.carried_ns = ended_ns;
    }

    /// Start of what is submitted now.
    #[inline]
    pub(crate) fn start_ns(&mut self) -> u64 {
        match std::mem::take(&mut self.carried_ns) {
            0 => self.clock.now_ns(),
            carried_ns => carried_ns,
        }
    }

    /// Now: the end of what is found finished.
    #[inline]
    pub(crate) fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }
}
