//! Concurrent workloads on one target, each with its own threads and its own result.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;

use record::Workload;

use super::exits::Exits;
use super::ledger::{self, ledgers};
use super::portion::Portion;
use super::read_back::read_back;
use super::run::run_and_check;
use super::target::Target;
use super::verify_report::VerifyReport;
use super::zones::{check_together, zones_of};
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

/// Checks that no workload writes to a range that another workload verifies, unless both verify what they write, and that
/// no workload ignores the zones that another one respects.
///
/// # Errors
/// [`EngineError::VerifiedRangeShared`], or [`EngineError::Unverifiable`] if the blocks of such workloads have no size in
/// common, or [`EngineError::NotZoned`].
pub fn check_ranges(target: &str, workloads: &[Workload]) -> Result<(), EngineError> {
    for (index, checked) in workloads.iter().enumerate().filter(|(_, workload)| workload.regime.verify) {
        for (other_index, other) in workloads.iter().enumerate() {
            // Workloads that verify what they write keep one ledger.
            let is_shared = other.regime.verify && ledger::both_write(checked, other);
            let writes = other.writes() || checked.writes() && other.regime.verify;
            if index != other_index && writes && !is_shared && ledger::overlap(checked, other) {
                return Err(EngineError::VerifiedRangeShared {
                    target: target.to_owned(),
                    writer: Box::new(other.clone()),
                    verifier: Box::new(checked.clone()),
                });
            }
        }
    }
    let unverifiable = |why| EngineError::Unverifiable { target: target.to_owned(), why };
    ledger::check(workloads).map_err(unverifiable)?;
    check_together(target, workloads)
}

/// Stops the other workloads when one of them panics.
struct StopAll<'a>(&'a AtomicBool);

impl Drop for StopAll<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// How one of several concurrent workloads is run.
#[derive(Debug, Clone, Copy, Default)]
pub struct StreamOptions<'a> {
    /// Whether the blocks that a workload with verification wrote are read back at its end.
    pub read_back: bool,
    /// How the workload is driven; see [`LoadOptions::of_manner`](crate::LoadOptions::of_manner).
    pub manner: usize,
    /// Ends the workload with others, and others with it; with the workload's position there.
    pub exits: Option<(&'a Exits, usize)>,
    /// The portion of the I/Os of several workloads that the workload issues; not for schedules.
    pub portion: Option<Portion<'a>>,
}

impl StreamOptions<'_> {
    /// Returns the options of workloads that only differ in whether their blocks are read back.
    #[must_use]
    pub fn reading_back(read_back: bool) -> Self {
        Self { read_back, ..Self::default() }
    }

    fn ended(&self, answer: &Result<Answer, EngineError>) {
        if let (Some((exits, position)), Ok(_)) = (self.exits, answer) {
            exits.ended(position);
        }
    }
}

/// Runs several workloads concurrently until all of them have ended, reporting the progress of each to
/// `on_tick` about once per second.
///
/// # Errors
/// Returns the same errors as a single workload; the first failure ends all workloads.
pub fn run(
    target: &Target<'_>,
    workloads: &[Workload],
    streams: &[StreamOptions<'_>],
    on_tick: &mut dyn FnMut(usize, &Tick) -> Flow,
) -> Result<Vec<Answer>, EngineError> {
    let ledgers = ledgers(workloads, target.options.expected_run);
    let zones = zones_of(target, workloads)?;
    if let ([only], [stream]) = (workloads, streams) {
        let target = Target {
            options: target.options.of_manner(stream.manner),
            finish: stream.exits.map(|(exits, position)| exits.flag(position)),
            portion: stream.portion,
            ledger: ledgers[0].as_ref(),
            zones: zones.as_ref(),
            ..*target
        };
        let ended = answer(&target, only, stream.read_back, &mut |tick| on_tick(0, tick));
        stream.ended(&ended);
        return ended.map(|answer| vec![answer]);
    }
    let stop = AtomicBool::new(false);
    let finish: Vec<AtomicBool> = workloads.iter().map(|_| AtomicBool::new(false)).collect();
    std::thread::scope(|scope| {
        let _stop_all = StopAll(&stop);
        let (sender, ticks) = sync_channel(WAITING_TICKS);
        let mut handles = Vec::with_capacity(workloads.len());
        for (index, workload) in workloads.iter().enumerate() {
            let stream = streams[index];
            let finish = stream.exits.map_or(&finish[index], |(exits, position)| exits.flag(position));
            let target = Target {
                options: target.options.of_manner(stream.manner),
                concurrent_threads: threads_besides(workloads, streams, index),
                finish: Some(finish),
                portion: stream.portion,
                ledger: ledgers[index].as_ref(),
                zones: zones.as_ref(),
                ..*target
            };
            let (sender, stop) = (sender.clone(), &stop);
            let task = move || {
                let mut pass_on = |tick: &Tick| {
                    // If the caller falls behind, it only misses a display update.
                    let _ = sender.try_send((index, *tick));
                    if stop.load(Ordering::Relaxed) { Flow::Stop } else { Flow::Continue }
                };
                let ended = answer(&target, workload, stream.read_back, &mut pass_on);
                stream.ended(&ended);
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
                Flow::Finish => {
                    let of_exits = streams[index].exits.map(|(exits, position)| exits.flag(position));
                    of_exits.unwrap_or(&finish[index]).store(true, Ordering::Relaxed);
                }
                Flow::Continue => {}
            }
        }
        handles
            .into_iter()
            .map(|h| h.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// Returns the number of threads of all preceding workloads that are driven in the same manner, and the number of
/// threads of all other such workloads, because they share their CPUs.
fn threads_besides(workloads: &[Workload], streams: &[StreamOptions<'_>], index: usize) -> (u16, u16) {
    let (mut before, mut besides) = (0u16, 0u16);
    for (other, (workload, stream)) in workloads.iter().zip(streams).enumerate() {
        if stream.manner == streams[index].manner && other != index {
            besides = besides.saturating_add(workload.threads);
            before = before.saturating_add(if other < index { workload.threads } else { 0 });
        }
    }
    (before, besides)
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
    // The other workloads that write to the same blocks must have ended.
    let is_last = checks.ledger.ended();
    let finished = !is_read_back || !is_last || read_back(target, &mut checks, on_tick)?;
    let outcome = if finished { outcome } else { LoadOutcome::Stopped };
    Ok(Answer { outcome, verified: Some(checks.report.settled()) })
}
