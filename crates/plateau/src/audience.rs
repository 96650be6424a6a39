//! Who is told what happens in a run.

use drive::Tick;
use record::{Event, Workload};

/// Somebody who watches a run.
pub trait Audience {
    /// A step without ticks begins.
    fn phase(&mut self, what: &str);
    /// A step without ticks goes on; 1 is all of it.
    fn share_done(&mut self, share: f64);
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
