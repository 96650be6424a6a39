//! Replays a trace on a target.

mod text;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use device::OpenOptions;
use engine::{BATCH, Due, Flow, Pace, ReplayOptions, Replayed};
use stdx::units::{SECOND_NS, grouped, parse_size, span};
use trace::{Characteristics, Mapping, ReplayPlan};

use crate::answer::Answer;
use crate::args::{Offsets, Replay};
use crate::error::WorkloadError;
use crate::files;

/// Maximum number of outstanding I/Os in an open loop, if memory permits.
const MOST_OUTSTANDING: u64 = 1024;
/// Memory for the data of outstanding I/Os.
const BUFFER_BYTES: u64 = 256 << 20;

/// A completed replay, with its options and its trace.
struct Played<'a> {
    options: &'a Replay,
    trace: &'a Characteristics,
    replayed: Replayed,
    /// Trims, flushes and empty I/Os, which are not replayed.
    left_out: u64,
}

/// Replays a trace on a target, which is armed if the trace writes. Targets in one of `libraries` are refused.
///
/// # Errors
/// Returns an error if the trace cannot be read, or if the target refuses the replay or fails.
pub fn replay(
    options: &Replay,
    target: &str,
    libraries: Vec<PathBuf>,
    stop: &AtomicBool,
) -> Result<Answer, WorkloadError> {
    let characteristics = files::characterised(&options.trace)?;
    let size_bytes = options.size.as_deref().map(parse_size).transpose().map_err(WorkloadError::Size)?;
    let open = OpenOptions {
        size_bytes,
        scale: options.scale.clone(),
        sim_seed: options.seed,
        libraries,
        ..OpenOptions::default()
    };
    let drive = device::open(target, &open)?;
    let facts = drive.facts();
    let mapping = match options.offsets {
        Offsets::Refuse => Mapping::Refuse,
        Offsets::Wrap => Mapping::Wrap,
        Offsets::Scale => Mapping::Scale,
    };
    let summary = characteristics.summary;
    let (capacity, sector) = (facts.capacity_bytes, facts.logical_block_bytes);
    let plan = ReplayPlan::new(&summary, mapping, capacity, sector, options.speed);
    let plan = plan.map_err(|source| WorkloadError::NoReplay {
        path: options.trace.clone(),
        target: options.target.clone(),
        source,
    })?;
    let how = manner(options, plan.largest_bytes, facts.simulated.is_some());
    let mut reader = files::open(&options.trace)?;
    let (mut damage, mut left_out) = (None, 0);
    let mut source = |batch: &mut Vec<Due>| {
        while batch.len() < BATCH && damage.is_none() {
            match reader.next_io() {
                Ok(Some(io)) => match plan.due(&io) {
                    Some((due_ns, access)) => batch.push(Due { due_ns, access }),
                    None => left_out += 1,
                },
                Ok(None) => break,
                Err(error) => damage = Some(error),
            }
        }
    };
    let on_progress = &mut |_| if stop.load(Ordering::Relaxed) { Flow::Stop } else { Flow::Continue };
    let replayed = if summary.written_bytes > 0 {
        drive.arm(options.erase.as_deref())?.replay(&how, &mut source, on_progress)?
    } else {
        drive.open_to_read()?.replay(&how, &mut source, on_progress)?
    };
    if let Some(error) = damage {
        return Err(files::of_trace(&options.trace, error));
    }
    let replayed = replayed.ok_or(WorkloadError::Interrupted)?;
    let played = Played { options, trace: &characteristics, replayed, left_out };
    Ok(Answer { text: played.text(), document: played.document(), ..Answer::default() })
}

fn manner(options: &Replay, largest_bytes: u32, is_simulated: bool) -> ReplayOptions {
    let open_depth = (BUFFER_BYTES / u64::from(largest_bytes)).clamp(1, MOST_OUTSTANDING) as u16;
    let most = if is_simulated { nandsim::MOST_IN_FLIGHT.min(u16::MAX.into()) as u16 } else { u16::MAX };
    ReplayOptions {
        pace: if options.closed.is_some() { Pace::Closed } else { Pace::Open },
        depth: options.closed.unwrap_or(open_depth).min(most),
        largest_bytes,
        seed: options.seed,
    }
}
