//! The drive's volatile write cache: set as the profile requires, restored at the end and after a crash.

use std::path::Path;

use device::{Armed, DriveError};
use pts::{Profile, WriteCache};
use record::{CacheChoice, Event, Journal, RunFile, TargetKind};
use serde_json::{Value, json};

use crate::restore::Note;
use console::printer;
use failure::message::of_drive;
use failure::{Done, Exit, Failure};
use state::State;

const KIND: &str = "write-cache";

/// A drive with a configurable write cache.
pub trait Cached {
    /// Returns the identity of the drive.
    fn identity(&self) -> String;
    /// Returns whether the state of the cache outlives this process.
    fn outlives_the_process(&self) -> bool;
    /// Sets the cache; returns once the drive reports the new state.
    ///
    /// # Errors
    /// Returns an error if the drive refuses the command.
    fn switch(&mut self, on: bool) -> Result<(), DriveError>;
    /// Returns the state that the drive reports; `None` if it is unknown.
    fn is_on(&self) -> Option<bool> {
        None
    }
}

impl Cached for Armed {
    fn identity(&self) -> String {
        self.facts().identity.clone()
    }

    fn outlives_the_process(&self) -> bool {
        self.facts().kind != TargetKind::Simulated
    }

    fn switch(&mut self, on: bool) -> Result<(), DriveError> {
        self.set_write_cache(on).map(drop)
    }

    fn is_on(&self) -> Option<bool> {
        self.write_cache().ok().flatten()
    }
}

/// The original state of a drive's write cache.
pub struct Changed {
    was_on: bool,
    /// `None` for a simulated drive, which does not outlive the run, so that nothing has to be restored.
    note: Option<Note>,
}

/// Restores the setting that an earlier run changed, then sets the requested state; returns the setting to
/// restore, if any.
pub fn set(
    armed: &mut Armed,
    state: &Path,
    profile: &Profile,
    choice: CacheChoice,
    journal: &mut Journal,
) -> Done<Option<Changed>> {
    restore_left_over(armed, state)?;
    bring(armed, state, profile, choice, journal)
}

/// Sets the requested state, assuming that no earlier run left a setting to restore.
pub fn bring(
    armed: &mut Armed,
    state: &Path,
    profile: &Profile,
    choice: CacheChoice,
    journal: &mut Journal,
) -> Done<Option<Changed>> {
    let Some(was_on) = armed.write_cache()? else { return Ok(None) };
    let is_requested = requested(profile, choice, was_on);
    let changed = if is_requested == was_on { None } else { Some(change(armed, state, was_on)?) };
    journal.append(Event::WriteCache {
        was_on: Some(was_on),
        is_on: armed.write_cache()?,
        restored: false,
    })?;
    Ok(changed)
}

/// Sets a simulated drive's cache as a run of `file` would, without a record, because only an estimate uses the drive. Other
/// drives are not changed.
///
/// # Errors
/// Returns an error if this build lacks the profile.
pub fn rehearse(armed: &mut Armed, file: &RunFile) -> Done {
    let was_on = if armed.outlives_the_process() { None } else { armed.write_cache()? };
    if let Some(was_on) = was_on {
        let profile = Profile::named(&file.profile).map_err(|text| Failure::text(Exit::Usage, text))?;
        let choice = file.handling.write_cache.unwrap_or(CacheChoice::Profile);
        armed.set_write_cache(requested(profile, choice, was_on))?;
    }
    Ok(())
}

/// Returns whether the cache must be on.
fn requested(profile: &Profile, choice: CacheChoice, was_on: bool) -> bool {
    match choice {
        CacheChoice::Keep => was_on,
        CacheChoice::On => true,
        CacheChoice::Off => false,
        CacheChoice::Profile => profile.write_cache == WriteCache::Enabled,
    }
}

/// Inverts the state of the cache.
///
/// # Errors
/// Returns an error if the record cannot be written or if the drive refuses the command.
pub fn change(drive: &mut impl Cached, state: &(impl State + ?Sized), was_on: bool) -> Done<Changed> {
    let identity = drive.identity();
    let content = json!({ "identity": identity, "was_on": was_on });
    let note = drive.outlives_the_process().then(|| Note::write(state, KIND, &identity, &content));
    let note = note.transpose()?;
    match drive.switch(!was_on) {
        Ok(()) => Ok(Changed { was_on, note }),
        Err(error) => {
            // The drive may have applied the setting before it failed. The record is kept for the next start until the
            // original setting is confirmed.
            if drive.switch(was_on).is_ok() || drive.is_on() == Some(was_on) {
                note.into_iter().for_each(Note::done);
            }
            Err(error.into())
        }
    }
}

/// Restores the cache. If this fails, the failure is reported and the record is kept for the next start.
pub fn restore(armed: &mut Armed, changed: Changed, journal: &mut Journal) {
    let word = |on| if on { "on" } else { "off" };
    let was_on = changed.was_on;
    match put_back(armed, changed) {
        Ok(()) => {
            let event = Event::WriteCache { was_on: Some(!was_on), is_on: Some(was_on), restored: true };
            // The run is over, and a journal failure has already been reported.
            drop(journal.append(event));
        }
        Err(error) => printer::print_line(&format!(
            "the write cache was {} before and could not be restored: {}; the next run on this drive \
             will try again",
            word(was_on),
            of_drive(&error)
        )),
    }
}

/// Restores the cache without a journal.
///
/// # Errors
/// Returns an error if the drive refuses the command.
pub fn put_back(drive: &mut impl Cached, changed: Changed) -> Result<(), DriveError> {
    drive.switch(changed.was_on)?;
    changed.note.into_iter().for_each(Note::done);
    Ok(())
}

/// After a crash, restores a recorded state that had not been restored before.
///
/// # Errors
/// Returns an error if the drive refuses the command or a system call fails.
pub fn restore_left_over(drive: &mut impl Cached, state: &(impl State + ?Sized)) -> Done {
    let Some((note, content)) = Note::left_over(state, KIND, &drive.identity())? else {
        return Ok(());
    };
    if let Some(was_on) = noted(&content) {
        drive.switch(was_on)?;
        printer::print_line("restored the drive's write cache, which an earlier run had left changed");
    }
    note.done();
    Ok(())
}

/// Returns the original cache state in a restore record.
pub fn noted(content: &Value) -> Option<bool> {
    content["was_on"].as_bool()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A drive that applies a setting but fails all commands.
    struct Failing {
        is_on: bool,
        applies: bool,
    }

    impl Cached for Failing {
        fn identity(&self) -> String {
            "S1".into()
        }

        fn outlives_the_process(&self) -> bool {
            true
        }

        fn switch(&mut self, on: bool) -> Result<(), DriveError> {
            if std::mem::take(&mut self.applies) {
                self.is_on = on;
            }
            Err(DriveError::Usage(std::io::Error::other("no answer")))
        }

        fn is_on(&self) -> Option<bool> {
            Some(self.is_on)
        }
    }

    #[test]
    fn a_record_remains_if_the_cache_cannot_be_restored() {
        for applies in [true, false] {
            let dir = tempfile::tempdir().expect("a folder");
            let mut drive = Failing { is_on: true, applies };
            assert!(change(&mut drive, dir.path(), true).is_err());
            let left = Note::left_over(dir.path(), KIND, "S1").expect("a look");
            assert_eq!(left.map(|(_, content)| noted(&content)), applies.then_some(Some(true)));
        }
    }

    /// Runs on the same model do not share a drive: one run's record would be mistaken for a record left by
    /// another run.
    #[test]
    fn a_simulated_drive_leaves_no_record() {
        let dir = tempfile::tempdir().expect("a folder");
        let options = device::OpenOptions { scale: Some("1/1024".into()), ..device::OpenOptions::default() };
        let drive = device::open("sim:nvme-tlc-2018", &options).expect("a simulated drive");
        let mut armed = drive.arm(None).expect("an armed drive");
        let changed = change(&mut armed, dir.path(), true).expect("a change");
        assert!(changed.was_on && armed.write_cache().is_ok_and(|now| now == Some(false)));
        assert!(Note::left_over(dir.path(), KIND, &armed.facts().identity).expect("a look").is_none());
    }

    #[test]
    fn an_unreadable_record_is_removed_without_effect() {
        let dir = tempfile::tempdir().expect("a folder");
        let options = device::OpenOptions { scale: Some("1/1024".into()), ..device::OpenOptions::default() };
        let drive = device::open("sim:sas-slc-2011", &options).expect("a simulated drive");
        let mut armed = drive.arm(None).expect("an armed drive");
        drop(Note::write(dir.path(), KIND, &armed.facts().identity, &json!("{")).expect("a note"));
        restore_left_over(&mut armed, dir.path()).expect("no error");
        assert!(Note::left_over(dir.path(), KIND, &armed.facts().identity).expect("a look").is_none());
    }
}
