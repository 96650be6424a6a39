//! The common start and end of all workers of a load.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Condvar, Mutex, PoisonError};

use super::message::Message;
use crate::placement::Seating;

/// Sends [`Message::Gone`] on every exit path of a worker.
pub(super) struct Farewell(pub(super) SyncSender<Message>);

impl Drop for Farewell {
    fn drop(&mut self) {
        // Sending fails only if the watcher has exited, in which case the message is not needed.
        let _ = self.0.send(Message::Gone);
    }
}

/// Barrier at which the workers wait for the common start.
#[derive(Default)]
pub(super) struct Gate {
    start: Mutex<Option<Option<u64>>>,
    changed: Condvar,
}

impl Gate {
    /// Releases the workers, which then start at the given time, or exit if it is `None`.
    pub(super) fn open(&self, start_ns: Option<u64>) {
        *self.start.lock().unwrap_or_else(PoisonError::into_inner) = Some(start_ns);
        self.changed.notify_all();
    }

    pub(super) fn pass(&self) -> Option<u64> {
        let mut start = self.start.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match *start {
                Some(answer) => return answer,
                None => start = self.changed.wait(start).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

/// State shared by the workers and the watcher.
pub(super) struct Control {
    pub(super) gate: Gate,
    pub(super) stop: AtomicBool,
    pub(super) seating: Seating,
    /// Number of the workload's first thread, counted across all concurrent workloads.
    pub(super) first_seat: u16,
}

/// Opens the gate and stops the workers when the watcher returns or when the caller's tick panics.
pub(super) struct Release<'a>(pub(super) &'a Control);

impl Drop for Release<'_> {
    fn drop(&mut self) {
        self.0.stop.store(true, Ordering::Relaxed);
        let closed = self.0.gate.start.lock().unwrap_or_else(PoisonError::into_inner).is_none();
        if closed {
            self.0.gate.open(None);
        }
    }
}
