//! Checks the host, applies host settings, the write cache setting and the LBA format for a run, and restores
//! them afterwards.

use std::path::Path;

use device::Armed;
use pts::Profile;
use record::{CacheChoice, Event, Handling, HostVerdict, Journal};

use crate::checks;
use crate::lba_format;
use crate::tuning::{self, Tuned, Tuner};
use crate::write_cache::{self, Changed};
use console::printer;
use failure::Done;

/// Settings to restore.
pub struct HostSetup {
    cache: Option<Changed>,
    tuned: Option<Tuned>,
    format: Option<lba_format::Changed>,
}

/// Restores settings left changed by a crash, checks the host, and applies the run's settings.
pub fn begin(
    armed: &mut Armed,
    state: &Path,
    profile: &Profile,
    handling: &Handling,
    journal: &mut Journal,
) -> Done<HostSetup> {
    tuning::restore_left_over(armed.facts(), state)?;
    let format = lba_format::begin(armed, state, journal)?;
    let tuned = look(armed, state, handling.tune, journal)?;
    let choice = handling.write_cache.unwrap_or(CacheChoice::Profile);
    match write_cache::set(armed, state, profile, choice, journal) {
        Ok(cache) => Ok(HostSetup { cache, tuned, format }),
        Err(failure) => {
            restore_tuned(tuned, journal);
            Err(failure)
        }
    }
}

/// Restores all settings, but the LBA format only after a complete run; reports settings that cannot be
/// restored.
pub fn end(host_setup: HostSetup, armed: &mut Armed, journal: &mut Journal, is_complete: bool) {
    if let Some(changed) = host_setup.cache {
        write_cache::restore(armed, changed, journal);
    }
    restore_tuned(host_setup.tuned, journal);
    if let Some(changed) = host_setup.format.filter(|_| is_complete) {
        lba_format::restore(armed, changed, journal);
    }
}

fn restore_tuned(tuned: Option<Tuned>, journal: &mut Journal) {
    // The run is over, and a journal failure has already been reported.
    tuned.into_iter().flat_map(Tuned::restore).for_each(|event| drop(journal.append(event)));
}

/// Checks the host in its state during the run, that is, after tuning.
fn look(armed: &Armed, state: &Path, tune: bool, journal: &mut Journal) -> Done<Option<Tuned>> {
    let tuner = tune.then(|| Tuner::begin(state)).transpose()?;
    let mut looked = armed.host_look();
    let mut tuned = None;
    if let Some(tuner) = tuner {
        let tunings = std::mem::take(&mut looked.tunings);
        let is_changed = !tunings.is_empty();
        tuned = Some(tuner.set(armed.facts(), state, tunings)?);
        if is_changed {
            looked = armed.host_look();
        }
    }
    for event in tuned.iter().flat_map(Tuned::events) {
        journal.append(event)?;
    }
    if looked.checks.is_empty() {
        return Ok(tuned);
    }
    for check in looked.checks.iter().filter(|check| check.verdict == HostVerdict::WouldInvalidate) {
        printer::print_line(&checks::line(check));
    }
    journal.append(Event::HostChecked { checks: looked.checks })?;
    Ok(tuned)
}
