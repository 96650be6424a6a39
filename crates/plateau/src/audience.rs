//! Who is told what happens in a run.

use std::time::Duration;

use drive::Tick;
use record::{Event, Workload};

/// A step without ticks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step<'a> {
    /// The drive is purged.
    Purge,
    /// What the purge does now.
    PurgeStep(&'a str),
    /// The members of an array are brought to one content.
    Settle(&'a str),
    /// A simulated drive is brought to where this many records left it.
    Rebuild(usize),
    /// The drive is left alone.
    Idle {
        /// For so long, on a drive that is not scaled.
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
            Self::Idle { .. } => f.write_str("idle"),
        }
    }
}

/// Somebody who watches a run.
pub trait Audience {
    /// A step without ticks begins.
    fn step(&mut self, step: Step<'_>);
    /// A step without ticks goes on; 1 is all of it.
    fn share_done(&mut self, share: f64);
    /// A step without ticks is expected to take this long.
    fn expected(&mut self, length: Duration);
    /// A load begins: a measured one, or else preconditioning.
    fn begin(&mut self, workload: &Workload, measured: bool);
    /// A load goes on.
    fn tick(&mut self, tick: &Tick);
    /// Something is on disk, or is known again from there.
    fn event(&mut self, event: &Event);
    /// A line that stays.
    fn say(&mut self, line: &str);
    /// Nothing that is shown may be rewritten any more.
    fn clear(&mut self);
}

/// An audience that is not there.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

impl Audience for Nobody {
    fn step(&mut self, _: Step<'_>) {}
    fn share_done(&mut self, _: f64) {}
    fn expected(&mut self, _: Duration) {}
    fn begin(&mut self, _: &Workload, _: bool) {}
    fn tick(&mut self, _: &Tick) {}
    fn event(&mut self, _: &Event) {}
    fn say(&mut self, _: &str) {}
    fn clear(&mut self) {}
}
