//! Measurements of a running replay.

use stdx::Histogram;
use stdx::access::Access;
use stdx::units::SECOND_NS;

use super::terms::Replayed;
use crate::load::recorder::{Recorder, merge};

/// The measurements of a replay, on a real or a simulated drive.
pub struct ReplayLog {
    start_ns: u64,
    recorder: Recorder,
    lateness: Histogram,
    held_back: u64,
    most_outstanding: usize,
}

impl ReplayLog {
    /// Starts the log at `start_ns`.
    #[must_use]
    pub fn new(start_ns: u64) -> Self {
        let mut recorder = Recorder::without_display(SECOND_NS, None);
        recorder.start(start_ns, 0);
        Self { start_ns, recorder, lateness: Histogram::default(), held_back: 0, most_outstanding: 0 }
    }

    /// Returns the time at which the replay starts.
    #[must_use]
    pub fn start_ns(&self) -> u64 {
        self.start_ns
    }

    /// Records the start of an I/O: how late it is, unless the loop is closed, and whether it waited for a free slot.
    pub fn started(&mut self, late_ns: Option<u64>, is_held_back: bool, outstanding: usize) {
        late_ns.iter().for_each(|late_ns| self.lateness.record(*late_ns));
        self.held_back += u64::from(is_held_back);
        self.most_outstanding = self.most_outstanding.max(outstanding);
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
            length_ns,
            io_path: None,
        }
    }
}
