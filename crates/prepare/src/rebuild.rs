//! Rebuilds the state of a simulated drive, which does not outlive the process, by repeating the completed steps.
//!
//! The simulator is deterministic, so this restores the exact state. Each step is compared with the journal; if any
//! step differs, the run is not resumed.

use std::sync::atomic::{AtomicBool, Ordering};

use console::{Audience, Step};
use device::{Armed, DriveError, NO_POWER};
use engine::{Flow, LoadOutcome, Tick};
use record::{Cut, Entry, Event, Gap, Purged, Segment};

use failure::{Done, Exit, Failure};

/// The progress of the rebuild, and the audience that it is reported to.
struct Waiting<'a> {
    audience: &'a mut dyn Audience,
    interrupted: &'a AtomicBool,
    /// Total length of all segments, and of the segments already repeated, on the drive's clock.
    total_ns: u64,
    done_ns: u64,
}

impl Waiting<'_> {
    /// Reports that this fraction of a segment with this length is done.
    fn share_done(&mut self, segment_ns: u64, share: f64) -> Flow {
        let done_ns = self.done_ns as f64 + segment_ns as f64 * share;
        self.audience.share_done(done_ns / self.total_ns.max(1) as f64);
        if self.interrupted.load(Ordering::Relaxed) { Flow::Stop } else { Flow::Continue }
    }
}

fn stopped() -> Failure {
    Failure::text(Exit::Interrupted, "stopped while rebuilding the simulated drive")
}

fn length_ns(segment: &Segment) -> u64 {
    segment.end_ns.saturating_sub(segment.start_ns)
}

fn segments(entries: &[Entry]) -> impl Iterator<Item = &Segment> {
    entries.iter().filter_map(|entry| match &entry.event {
        Event::Preconditioned(segment) | Event::Measured(segment) => Some(segment),
        _ => None,
    })
}

/// Restores the state of `armed` at the end of the journal, then leaves it idle for the length of the gap, as a
/// real drive would have been.
///
/// # Errors
/// Returns an error if a step differs from the journal, or if the rebuild is interrupted.
pub fn rebuild(
    armed: &mut Armed,
    entries: &[Entry],
    gap: Gap,
    interrupted: &AtomicBool,
    audience: &mut dyn Audience,
) -> Done {
    let total_ns = segments(entries).map(length_ns).fold(0, u64::saturating_add);
    audience.step(Step::Rebuild(entries.len()));
    let mut waiting = Waiting { audience, interrupted, total_ns, done_ns: 0 };
    for entry in entries {
        if interrupted.load(Ordering::Relaxed) {
            return Err(stopped());
        }
        match &entry.event {
            Event::Purged(purged) => purge_again(armed, purged, entry.seq)?,
            Event::Preconditioned(segment) | Event::Measured(segment) => {
                repeat(armed, segment, entry.seq, &mut waiting)?;
                waiting.done_ns = waiting.done_ns.saturating_add(length_ns(segment));
            }
            // After the other faults, the drive continues in its state before the workload: they change nothing that
            // it stores, and a removed drive or lost commands do not fail again.
            Event::Cut(cut) if is_power_loss(cut) => cut_again(armed, cut, entry.seq)?,
            Event::Idled { length_ns } => armed.idle(*length_ns)?,
            Event::Resumed { gap_ns } => armed.idle(*gap_ns)?,
            // Also apply `was_on`: after a crash, earlier builds restored the cache without a record.
            Event::WriteCache { was_on, is_on, .. } => {
                for on in [was_on, is_on].into_iter().flatten() {
                    armed.set_write_cache(*on)?;
                }
            }
            _ => {}
        }
    }
    Ok(armed.idle(gap.length_ns)?)
}

fn purge_again(armed: &mut Armed, purged: &Purged, seq: u64) -> Done {
    let again = armed.purge_again(purged)?;
    // The description of the purge has changed between builds, but its duration has not.
    let same = (again.start_ns, again.end_ns) == (purged.start_ns, purged.end_ns);
    if same { Ok(()) } else { Err(differs(seq, &format!("purge by {}", purged.method))) }
}

fn is_power_loss(cut: &Cut) -> bool {
    cut.errors.iter().any(|error| error.kind == NO_POWER)
}

/// Repeats a power loss, because the drive's state depends on the data that was written before the loss and on the
/// data that was lost.
fn cut_again(armed: &mut Armed, cut: &Cut, seq: u64) -> Done {
    let again = armed.run(&cut.workload, &mut |_| Flow::Continue);
    let same = matches!(&again, Err(DriveError::Simulated(failure)) if failure.cut.as_deref() == Some(cut));
    if same { Ok(()) } else { Err(differs(seq, &format!("loss of power in {}", cut.workload))) }
}

fn repeat(armed: &mut Armed, segment: &Segment, seq: u64, waiting: &mut Waiting<'_>) -> Done {
    let length_ns = length_ns(segment);
    let mut on_tick = |tick: &Tick| waiting.share_done(length_ns, tick.share_done);
    let LoadOutcome::Finished(again) = armed.run(&segment.workload, &mut on_tick)? else {
        return Err(stopped());
    };
    let same = (again.start_ns, again.end_ns) == (segment.start_ns, segment.end_ns)
        && (&again.read, &again.write) == (&segment.read, &segment.write);
    if same { Ok(()) } else { Err(differs(seq, &segment.workload.to_string())) }
}

fn differs(seq: u64, what: &str) -> Failure {
    Failure::text(
        Exit::Run,
        format!(
            "cannot resume: the simulated drive behaves differently at record {seq} ({what}) than when the run was \
             recorded, so the run was recorded by another version of the simulator; resume it with that version, or \
             start a new run"
        ),
    )
}
