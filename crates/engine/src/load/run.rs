//! Runs a workload with the best I/O engine that can be set up.

use std::{io, slice};

use record::errno::reason;
use record::{Fallback, IoEngine, IoPath, Workload};

use super::atomic::check_atomic;
use super::attempt::attempt_by;
use super::conclude::conclude;
use super::content::Checks;
use super::ledger::Ledger;
use super::nvme_support::check_nvme;
use super::priorities::check_priorities;
use super::target::Target;
use super::way::Way;
use super::zones::{check_zones, zones_of};
use crate::choice::Choice;
use crate::error::EngineError;
use crate::options::Engine;
use crate::outcome::LoadOutcome;
use crate::progress::{Flow, Tick};
use crate::queue::trim::Trim;

/// Largest depth within the kernel's limits on ring entries and registered buffers.
const MAX_QUEUE_DEPTH: u16 = 4096;

/// Checks that the queue depth per thread is within the limit.
///
/// # Errors
/// [`EngineError::TooDeep`].
pub fn check_depth(workload: &Workload) -> Result<(), EngineError> {
    if workload.queue_depth <= MAX_QUEUE_DEPTH {
        return Ok(());
    }
    Err(EngineError::TooDeep { workload: Box::new(workload.clone()), most: MAX_QUEUE_DEPTH })
}

/// Checks that a target supports what a workload needs beyond reads and writes. Changes nothing.
///
/// # Errors
/// [`EngineError::NoTrim`], [`EngineError::NotZoned`], [`EngineError::NotAtomic`], [`EngineError::NoCommands`] and
/// [`EngineError::Priority`].
pub fn check_support(target: &Target<'_>, workload: &Workload) -> Result<(), EngineError> {
    let by_command = workload.commands.as_ref().is_some_and(|commands| commands.needs_nvme());
    if workload.regime.trims && !by_command && workload.zoned().is_none() {
        check_trims(target)?;
    }
    check_zones(target, workload)?;
    check_atomic(target, workload)?;
    check_nvme(target, workload)?;
    check_priorities(workload)
}

fn check_trims(target: &Target<'_>) -> Result<(), EngineError> {
    let Some(file) = target.fd else { return Ok(()) };
    let unsupported = |source| EngineError::NoTrim { target: target.name.to_owned(), source };
    Trim::of(file).map(|_| ()).map_err(unsupported)
}

/// Runs a workload until it ends, reporting progress to `on_tick` about once per second. Verification results
/// are discarded.
///
/// # Errors
/// Returns an error if the workload cannot be set up, an I/O fails, or the host disturbs the measurement.
pub fn run(
    target: &Target<'_>,
    workload: &Workload,
    on_tick: &mut dyn FnMut(&Tick) -> Flow,
) -> Result<LoadOutcome, EngineError> {
    run_and_check(target, workload, on_tick).map(|(outcome, _)| outcome)
}

/// Runs a workload until it ends. For stamped blocks, the second value of the result contains what is needed to
/// verify them.
pub(super) fn run_and_check(
    target: &Target<'_>,
    workload: &Workload,
    on_tick: &mut dyn FnMut(&Tick) -> Flow,
) -> Result<(LoadOutcome, Option<Checks>), EngineError> {
    check_support(target, workload)?;
    let own = (workload.regime.verify && target.ledger.is_none())
        .then(|| Ledger::of(workload, target.options.expected_run));
    let own_zones = if target.zones.is_none() { zones_of(target, slice::from_ref(workload))? } else { None };
    let target = &Target {
        ledger: target.ledger.or(own.as_ref()),
        zones: target.zones.or(own_zones.as_ref()).filter(|_| workload.zoned().is_some()),
        ..*target
    };
    let mut failed: Vec<(Way, io::Error)> = Vec::new();
    let choice = target.options.choices.of(workload);
    for way in ways(target, workload, choice) {
        match attempt_by(way, target, workload, on_tick) {
            Err(error) => failed.push((way, error)),
            Ok(mut ran) => {
                let checks = ran.workers.iter_mut().filter_map(|worker| worker.checks.take());
                let checks = checks.reduce(Checks::joined);
                let engine = match (target.options.engine, way, workload.queue_depth) {
                    (Engine::Auto, Way::Threads, 1) if failed.is_empty() && !workload.regime.trims => {
                        IoEngine::Psync
                    }
                    _ => way.engine(),
                };
                let choice = choice.map(|choice| Box::new(choice.record.clone()));
                let path = IoPath { fallbacks: fallbacks(&failed), choice, ..engine.into() };
                return Ok((conclude(target, workload, path, ran)?, checks));
            }
        }
    }
    let &Workload { threads, queue_depth, block_bytes, .. } = workload;
    let (_, source) = failed.pop().expect("at least one engine was tried");
    Err(EngineError::Setup { threads, queue_depth, block_bytes, source })
}

/// Returns the engines to try, best first.
fn ways(target: &Target<'_>, workload: &Workload, choice: Option<&Choice>) -> Vec<Way> {
    let fixed = Way::of(target, workload.queue_depth);
    match choice.and_then(Choice::measured) {
        _ if workload.commands.as_ref().is_some_and(|commands| commands.needs_nvme()) => {
            vec![Way::UringCommands]
        }
        _ if workload.regime.trims => vec![Way::Threads],
        Some((chosen, measured)) => Way::ordered(fixed, chosen, &measured),
        None => fixed.to_vec(),
    }
}

/// Runs a workload without a target.
pub(crate) fn rehearse(
    way: Way,
    target: &Target<'_>,
    workload: &Workload,
) -> Result<LoadOutcome, EngineError> {
    let ran = attempt_by(way, target, workload, &mut |_| Flow::Continue)
        .map_err(|source| EngineError::SetupWithoutTarget { engine: way.engine(), source })?;
    conclude(target, workload, way.engine().into(), ran)
}

fn fallbacks(failed: &[(Way, io::Error)]) -> Vec<Fallback> {
    failed.iter().map(|(way, error)| Fallback { engine: way.engine(), cause: reason(error) }).collect()
}
