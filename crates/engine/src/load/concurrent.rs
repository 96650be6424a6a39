//! Concurrent workloads on one target, each with its own threads and its own result.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;

use record::Workload;

use super::read_back::read_back;
use super::run::run_and_check;
use super::target::Target;
use super::verify_report::VerifyReport;
use crate::error::EngineError;
use crate::outcome::LoadOutcome;
use crate::progress::{Flow, Tick};

/// Number of ticks queued for the caller. If the caller falls behind, ticks are dropped, but no results are
/// lost.
const WAITING_TICKS: usize = 64;

/// Result of one of several workloads.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// How the workload ended.
    pub outcome: LoadOutcome,
    /// Verification result; `None` if nothing was verified.
    pub verified: Option<VerifyReport>,
}

/// Checks that no workload writes to a range that another workload verifies.
///
/// # Errors
/// [`EngineError::VerifiedRangeShared`].
pub fn check_ranges(target: &str, workloads: &[Workload]) -> Result<(), EngineError> {
    for (index, checked) in workloads.iter().enumerate().filter(|(_, workload)| workload.regime.verify) {
        for (other_index, other) in workloads.iter().enumerate() {
            let (a, b) = (checked.range.span(), other.range.span());
            let overlap = a.start_bytes < b.end_bytes() && b.start_bytes < a.end_bytes();
            if index != other_index && overlap && (other.writes() || checked.writes() && other.regime.verify)
            {
                return Err(EngineError::VerifiedRangeShared {
                    target: target.to_owned(),
                    writer: Box::new(other.clone()),
                    verifier: Box::new(checked.clone()),
                });
            }
        }
    }
    Ok(())
}

/// Stops the other workloads when one of them panics.
struct StopAll<'a>(&'a AtomicBool);

impl Drop for StopAll<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs several workloads concurrently until all of them have ended, reporting the progress of each to
/// `on_tick` about once per second. If `read_back` is set, the blocks written by a workload with verification
/// are read back at its end.
///
/// # Errors
/// Returns the same errors as a single workload; the first failure ends all workloads.
pub fn run(
    target: &Target<'_>,
    workloads: &[Workload],
    read_back: &[bool],
    on_tick: &mut dyn FnMut(usize, &Tick) -> Flow,
) -> Result<Vec<Answer>, EngineError> {
    if let [only] = workloads {
        return answer(target, only, read_back[0], &mut |tick| on_tick(0, tick)).map(|answer| vec![answer]);
    }
    let stop = AtomicBool::new(false);
    let finish: Vec<AtomicBool> = workloads.iter().map(|_| AtomicBool::new(false)).collect();
    let all: u16 = workloads.iter().fold(0, |sum: u16, workload| sum.saturating_add(workload.threads));
    std::thread::scope(|scope| {
        let _stop_all = StopAll(&stop);
        let (sender, ticks) = sync_channel(WAITING_TICKS);
        let (mut handles, mut first) = (Vec::with_capacity(workloads.len()), 0);
        for (index, workload) in workloads.iter().enumerate() {
            let target = Target { concurrent_threads: (first, all - workload.threads), ..*target };
            let (sender, stop, finish, read_back) = (sender.clone(), &stop, &finish[index], read_back[index]);
            first += workload.threads;
            let task = move || {
                let mut pass_on = |tick: &Tick| {
                    // If the caller falls behind, it only misses a display update.
                    let _ = sender.try_send((index, *tick));
                    match (stop.load(Ordering::Relaxed), finish.load(Ordering::Relaxed)) {
                        (true, _) => Flow::Stop,
                        (false, true) => Flow::Finish,
                        (false, false) => Flow::Continue,
                    }
                };
                let ended = answer(&target, workload, read_back, &mut pass_on);
                if ended.is_err() {
                    stop.store(true, Ordering::Relaxed);
                }
                ended
            };
            let spawned =
                std::thread::Builder::new().name(format!("workload-{index}")).spawn_scoped(scope, task);
            handles.push(spawned.map_err(EngineError::WorkloadThread)?);
        }
        drop(sender);
        while let Ok((index, tick)) = ticks.recv() {
            match on_tick(index, &tick) {
                Flow::Stop => stop.store(true, Ordering::Relaxed),
                Flow::Finish => finish[index].store(true, Ordering::Relaxed),
                Flow::Continue => {}
            }
        }
        handles
            .into_iter()
            .map(|h| h.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

fn answer(
    target: &Target<'_>,
    workload: &Workload,
    is_read_back: bool,
    on_tick: &mut dyn FnMut(&Tick) -> Flow,
) -> Result<Answer, EngineError> {
    let (outcome, checks) = run_and_check(target, workload, on_tick)?;
    let Some(mut checks) = checks else { return Ok(Answer { outcome, verified: None }) };
    // The findings so far are reported even if reading back was stopped.
    if outcome == LoadOutcome::Stopped {
        return Ok(Answer { outcome, verified: Some(checks.report.settled()) });
    }
    let finished = !is_read_back || read_back(target, &mut checks, on_tick)?;
    let outcome = if finished { outcome } else { LoadOutcome::Stopped };
    Ok(Answer { outcome, verified: Some(checks.report.settled()) })
}
