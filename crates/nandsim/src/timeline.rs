//! Virtual time: the clock and the pending events.

use crate::events::Events;

/// Converts from microseconds, the unit used in models.
pub(crate) fn ns(us: f64) -> u64 {
    (us * 1000.0).round() as u64
}

/// A drive's clock and pending events.
pub(crate) struct Timeline {
    pub(crate) now_ns: u64,
    pub(crate) events: Events,
}

impl Timeline {
    pub(crate) fn new(dies: u32) -> Self {
        Self { now_ns: 0, events: Events::new(dies as usize, 0) }
    }

    /// Discards all events and makes room for the events of `commands` commands.
    pub(crate) fn renew(&mut self, dies: u32, commands: usize) {
        self.events = Events::new(dies as usize, commands);
    }
}
