//! Concurrent workloads on one target, each with its own threads and its own result.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;

use record::{TargetFacts, Workload};

use super::findings::Findings;
use super::read_back::read_back;
use super::{Device, run as run_one};
use crate::error::DriveError;
use crate::{Flow, Outcome, Tick};

/// Ticks queued for the caller. If the caller lags, ticks are dropped, but no data is lost.
const WAITING_TICKS: usize = 64;

/// Result of one of several workloads.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// How the workload ended.
    pub outcome: Outcome,
    /// What verification found; `None` if nothing was verified.
    pub findings: Option<Findings>,
}

/// Rejects workloads with verification, for callers that ignore its findings.
pub(crate) fn unchecked(workload: &Workload) -> Result<(), DriveError> {
    if workload.regime.verify {
        return Err(DriveError::Invalid(format!(
            "workload {workload}: verify works only with `plateau load`"
        )));
    }
    Ok(())
}

/// Checks that no other workload writes to a range that is verified.
pub(crate) fn apart(workloads: &[Workload], facts: &TargetFacts) -> Result<(), DriveError> {
    for (index, checked) in workloads.iter().enumerate().filter(|(_, workload)| workload.regime.verify) {
        for (other_index, other) in workloads.iter().enumerate() {
            let (a, b) = (checked.range.span(), other.range.span());
            let overlap = a.start_bytes < b.end_bytes() && b.start_bytes < a.end_bytes();
            if index != other_index && overlap && (other.writes() || checked.writes() && other.regime.verify)
            {
                return Err(DriveError::Invalid(format!(
                    "{}: {other} writes to the range that {checked} verifies; give each its own range, or \
                     run them one after another",
                    facts.path
                )));
            }
        }
    }
    Ok(())
}

/// Stops the other workloads when a run panics.
struct StopAll<'a>(&'a AtomicBool);

impl Drop for StopAll<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs all workloads to their ends.
pub(crate) fn run(
    device: &Device<'_>,
    workloads: &[Workload],
    read_back: &[bool],
    on_tick: &mut dyn FnMut(usize, &Tick) -> Flow,
) -> Result<Vec<Answer>, DriveError> {
    if let [only] = workloads {
        return answer(device, only, read_back[0], &mut |tick| on_tick(0, tick)).map(|answer| vec![answer]);
    }
    let stop = AtomicBool::new(false);
    let all: u16 = workloads.iter().fold(0, |sum: u16, workload| sum.saturating_add(workload.threads));
    std::thread::scope(|scope| {
        let _stop_all = StopAll(&stop);
        let (sender, ticks) = sync_channel(WAITING_TICKS);
        let (mut handles, mut first) = (Vec::with_capacity(workloads.len()), 0);
        for (index, workload) in workloads.iter().enumerate() {
            let device = Device { beside: (first, all - workload.threads), ..*device };
            let (sender, stop, read_back) = (sender.clone(), &stop, read_back[index]);
            first += workload.threads;
            let task = move || {
                let mut told = |tick: &Tick| {
                    // If the caller lags, it misses only a display update.
                    let _ = sender.try_send((index, *tick));
                    if stop.load(Ordering::Relaxed) { Flow::Stop } else { Flow::Continue }
                };
                let ended = answer(&device, workload, read_back, &mut told);
                if ended.is_err() {
                    stop.store(true, Ordering::Relaxed);
                }
                ended
            };
            let spawned =
                std::thread::Builder::new().name(format!("workload-{index}")).spawn_scoped(scope, task);
            handles
                .push(spawned.map_err(|e| DriveError::Unusable(format!("no thread for a workload: {e}")))?);
        }
        drop(sender);
        while let Ok((index, tick)) = ticks.recv() {
            if on_tick(index, &tick) == Flow::Stop {
                stop.store(true, Ordering::Relaxed);
            }
        }
        handles
            .into_iter()
            .map(|h| h.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

fn answer(
    device: &Device<'_>,
    workload: &Workload,
    wants_read_back: bool,
    on_tick: &mut dyn FnMut(&Tick) -> Flow,
) -> Result<Answer, DriveError> {
    let (outcome, checks) = run_one(device, workload, on_tick)?;
    let Some(mut checks) = checks.filter(|_| outcome != Outcome::Stopped) else {
        return Ok(Answer { outcome, findings: None });
    };
    let finished = !wants_read_back || read_back(device, &mut checks, on_tick)?;
    let outcome = if finished { outcome } else { Outcome::Stopped };
    Ok(Answer { outcome, findings: Some(checks.findings) })
}
