//! An observer of a run's events.

use std::time::Duration;

use engine::Tick;
use record::{Event, Workload};
use stdx::units::span;

/// A step that has no ticks, unlike a load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step<'a> {
    /// The drive is being purged.
    Purge,
    /// Current step of the purge.
    PurgeStep(&'a str),
    /// The members of an array are being synchronized.
    Settle(&'a str),
    /// The state of a simulated drive is being rebuilt from this number of records.
    Rebuild(usize),
    /// The drive is idle.
    Idle {
        /// Length on an unscaled drive.
        length_ns: u64,
    },
}

impl std::fmt::Display for Step<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Purge => f.write_str("purging"),
            Self::PurgeStep(text) => f.write_str(text),
            Self::Settle(what) => write!(f, "waiting for the first {what} of the array"),
            Self::Rebuild(records) => write!(f, "rebuilding the simulated drive from {records} records"),
            Self::Idle { length_ns } => write!(f, "idle for {}", span(*length_ns)),
        }
    }
}

/// An observer of a run.
pub trait Audience {
    /// Reports the start of a step without ticks.
    fn step(&mut self, step: Step<'_>);
    /// Reports progress of a step without ticks; 1 is complete.
    fn share_done(&mut self, share: f64);
    /// Reports the expected length of a step without ticks.
    fn expected(&mut self, length: Duration);
    /// Reports the start of a load: a measurement, or preconditioning.
    fn begin(&mut self, workload: &Workload, measured: bool);
    /// Reports progress of a load.
    fn tick(&mut self, tick: &Tick);
    /// Reports an event that was written to the journal or read back from it.
    fn event(&mut self, event: &Event);
    /// Prints a line that is not rewritten later.
    fn print_line(&mut self, line: &str);
    /// Stops rewriting the displayed lines and leaves them on the screen.
    fn clear(&mut self);
}

/// An audience that ignores everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

impl Audience for Nobody {
    fn step(&mut self, _: Step<'_>) {}
    fn share_done(&mut self, _: f64) {}
    fn expected(&mut self, _: Duration) {}
    fn begin(&mut self, _: &Workload, _: bool) {}
    fn tick(&mut self, _: &Tick) {}
    fn event(&mut self, _: &Event) {}
    fn print_line(&mut self, _: &str) {}
    fn clear(&mut self) {}
}
