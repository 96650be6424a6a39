//! A simulated drive does not outlive the process: its state is rebuilt by doing the finished steps again.
//!
//! The simulator is deterministic, so this gives the exact drive; every step is compared with what the
//! journal holds, and a difference stops the resumption.

use std::sync::atomic::{AtomicBool, Ordering};

use drive::{Armed, DriveError, Flow, Outcome as Driven};
use record::{Cut, Entry, Event, Gap, Purged, Segment};

use crate::failure::{Done, Exit, Failure};

/// Brings `armed` to where the journal ends, then lets it idle through the gap as a real drive would.
pub fn rebuild(armed: &mut Armed, entries: &[Entry], gap: Gap, interrupted: &AtomicBool) -> Done {
    for entry in entries {
        if interrupted.load(Ordering::Relaxed) {
            return Err(Failure::text(Exit::Interrupted, "stopped while rebuilding the simulated drive"));
        }
        match &entry.event {
            Event::Purged(purged) => purge_again(armed, purged, entry.seq)?,
            Event::Preconditioned(segment) | Event::Measured(segment) => repeat(armed, segment, entry.seq)?,
            Event::Cut(cut) => cut_again(armed, cut, entry.seq)?,
            Event::Idled { length_ns } => armed.idle(*length_ns)?,
            Event::Resumed { gap_ns } => armed.idle(*gap_ns)?,
            // What it was is part of it: runs of earlier builds turned it back behind a crash without a record.
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
    // How it was told has changed between builds, what it takes has not.
    let same = (again.start_ns, again.end_ns) == (purged.start_ns, purged.end_ns);
    if same { Ok(()) } else { Err(differs(seq, &format!("purge by {}", purged.method))) }
}

/// A loss of power: what was written until then, and what was lost of it, made the drive what it is.
fn cut_again(armed: &mut Armed, cut: &Cut, seq: u64) -> Done {
    let again = armed.run(&cut.workload, &mut |_| Flow::Continue);
    let same = matches!(&again, Err(DriveError::Device { cut: Some(again), .. }) if **again == *cut);
    if same { Ok(()) } else { Err(differs(seq, &format!("loss of power in {}", cut.workload))) }
}

fn repeat(armed: &mut Armed, segment: &Segment, seq: u64) -> Done {
    let driven = armed.run(&segment.workload, &mut |_| Flow::Continue)?;
    let Driven::Finished(again) = driven else {
        return Err(Failure::text(Exit::Internal, "the simulated drive stopped unexpectedly"));
    };
    let same = (again.start_ns, again.end_ns) == (segment.start_ns, segment.end_ns)
        && (&again.read, &again.write) == (&segment.read, &segment.write);
    if same { Ok(()) } else { Err(differs(seq, &segment.workload.to_string())) }
}

fn differs(seq: u64, what: &str) -> Failure {
    Failure::text(
        Exit::Run,
        format!(
            "cannot resume: the simulated drive behaves differently at record {seq} ({what}) than when the \
             run was recorded, so another version of the simulator wrote it; resume it with that version, or \
             start a new run"
        ),
    )
}
