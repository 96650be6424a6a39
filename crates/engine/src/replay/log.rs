//! Measurements of a running replay.

use stdx::Histogram;
use stdx::access::Access;
use stdx::units::SECOND_NS;

use super::terms::Replayed;
use crate::load::recorder::{Recorder, merge};

/// How an I/O of a replay started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Started {
    /// When it was due.
    pub due_ns: u64,
    /// When it started.
    pub at_ns: u64,
    /// Whether it was to start when it was due.
    pub is_open: bool,
    /// Whether it had to wait for a free slot.
    pub is_held_back: bool,
    /// Number of outstanding I/Os, including this one.
    pub outstanding: usize,
}

/// The measurements of a replay, on a real or a simulated drive.
pub struct ReplayLog {
    start_ns: u64,
    recorder: Recorder,
    lateness: Histogram,
    held_back: u64,
    most_outstanding: usize,
    /// When the last I/O was due, and when it started.
    last: (u64, u64),
}

impl ReplayLog {
    /// Starts the log at `start_ns`.
    #[must_use]
    pub fn new(start_ns: u64) -> Self {
        let mut recorder = Recorder::without_display(SECOND_NS, None);
        recorder.start(start_ns, 0);
        Self {
            start_ns,
            recorder,
            lateness: Histogram::default(),
            held_back: 0,
            most_outstanding: 0,
            last: (start_ns, start_ns),
        }
    }

    /// Returns the time at which the replay starts.
    #[must_use]
    pub fn start_ns(&self) -> u64 {
        self.start_ns
    }

    /// Records the start of an I/O.
    pub fn started(&mut self, start: Started) {
        let Started { due_ns, at_ns, is_open, is_held_back, outstanding } = start;
        if is_open {
            self.lateness.record(at_ns.saturating_sub(due_ns));
        }
        self.held_back += u64::from(is_held_back);
        self.most_outstanding = self.most_outstanding.max(outstanding);
        self.last = (due_ns, at_ns);
    }

    /// Records the completion of an I/O.
    pub fn completed(&mut self, access: Access, started_ns: u64, done_ns: u64) {
        self.recorder.record(access, started_ns, done_ns);
    }

    /// Returns the results.
    #[must_use]
    pub fn finish(self) -> Replayed {
        let notes = self.recorder.finish();
        let length_ns = notes.last_done_ns.saturating_sub(self.start_ns);
        let (read, write, series) = merge(&[notes], SECOND_NS, length_ns);
        Replayed {
            read,
            write,
            series,
            lateness: self.lateness,
            held_back: self.held_back,
            most_outstanding: self.most_outstanding as u16,
            last_due_ns: self.last.0.saturating_sub(self.start_ns),
            last_start_ns: self.last.1.saturating_sub(self.start_ns),
            length_ns,
            io_path: None,
        }
    }
}
