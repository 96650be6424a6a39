//! The drive's volatile write cache: set as the profile wants it, restored at the end and after a crash.

use std::path::Path;

use drive::{Armed, DriveError};
use pts::{Profile, WriteCache};
use record::{CacheChoice, Event, Journal, TargetKind};
use serde_json::{Value, json};

use crate::failure::Done;
use crate::printer;
use crate::state::State;
use crate::undo::Note;

const KIND: &str = "write-cache";

/// A drive whose write cache can be switched.
pub trait Cached {
    /// What tells it from others.
    fn identity(&self) -> String;
    /// Its setting is still there when this process is gone.
    fn outlives_the_process(&self) -> bool;
    /// Switches it; returns once the drive reports that.
    ///
    /// # Errors
    /// When the drive does not do that.
    fn switch(&mut self, on: bool) -> Result<(), DriveError>;
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
}

/// What a drive's write cache was before Plateau changed it.
pub struct Changed {
    was_on: bool,
    /// None of a simulated drive: it does not outlive the run, so nothing is left to undo.
    note: Option<Note>,
}

/// Brings it to what is wanted; what has to be undone, if anything.
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

/// The same where no earlier run has left anything.
pub fn bring(
    armed: &mut Armed,
    state: &Path,
    profile: &Profile,
    choice: CacheChoice,
    journal: &mut Journal,
) -> Done<Option<Changed>> {
    let Some(was_on) = armed.write_cache()? else { return Ok(None) };
    let want_on = match choice {
        CacheChoice::Keep => was_on,
        CacheChoice::On => true,
        CacheChoice::Off => false,
        CacheChoice::Profile => profile.write_cache == WriteCache::Enabled,
    };
    let changed = if want_on == was_on { None } else { Some(change(armed, state, was_on)?) };
    journal.append(Event::WriteCache {
        was_on: Some(was_on),
        is_on: armed.write_cache()?,
        restored: false,
    })?;
    Ok(changed)
}

/// Switches it to what it was not.
///
/// # Errors
/// When the record of it cannot be written, or the drive does not do that.
pub fn change(drive: &mut impl Cached, state: &(impl State + ?Sized), was_on: bool) -> Done<Changed> {
    let identity = drive.identity();
    let content = json!({ "identity": identity, "was_on": was_on });
    let note = drive.outlives_the_process().then(|| Note::write(state, KIND, &identity, &content));
    let note = note.transpose()?;
    match drive.switch(!was_on) {
        Ok(()) => Ok(Changed { was_on, note }),
        Err(error) => {
            // Nothing is left to undo; the failure of the drive is the one to tell.
            drop(drive.switch(was_on));
            note.into_iter().for_each(Note::done);
            Err(error.into())
        }
    }
}

/// Puts it back; a drive that does not do that is told of, and the note of it stays for the next start.
pub fn restore(armed: &mut Armed, changed: Changed, journal: &mut Journal) {
    let word = |on| if on { "on" } else { "off" };
    let was_on = changed.was_on;
    match put_back(armed, changed) {
        Ok(()) => {
            let event = Event::WriteCache { was_on: Some(!was_on), is_on: Some(was_on), restored: true };
            // The run is over; a journal that cannot be written has been told of before.
            drop(journal.append(event));
        }
        Err(error) => printer::tell_line(&format!(
            "the write cache was {} before and could not be restored: {error}; the next run on this drive \
             will try again",
            word(was_on)
        )),
    }
}

/// The same without a journal.
///
/// # Errors
/// When the drive does not do that.
pub fn put_back(drive: &mut impl Cached, changed: Changed) -> Result<(), DriveError> {
    drive.switch(changed.was_on)?;
    changed.note.into_iter().for_each(Note::done);
    Ok(())
}

/// After a crash: what was noted and never undone.
///
/// # Errors
/// When the drive does not do that, or the system refuses.
pub fn restore_left_over(drive: &mut impl Cached, state: &(impl State + ?Sized)) -> Done {
    let Some((note, content)) = Note::left_over(state, KIND, &drive.identity())? else {
        return Ok(());
    };
    if let Some(was_on) = noted(&content) {
        drive.switch(was_on)?;
        printer::tell_line("restored the drive's write cache, which an earlier run had left changed");
    }
    note.done();
    Ok(())
}

/// What a note says that the cache was.
pub fn noted(content: &Value) -> Option<bool> {
    content["was_on"].as_bool()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs on the same model are not the same drive: a note of one would be taken for a left-over of the other.
    #[test]
    fn a_simulated_drive_leaves_no_note() {
        let dir = tempfile::tempdir().expect("a folder");
        let options = drive::OpenOptions { scale: Some("1/1024".into()), ..drive::OpenOptions::default() };
        let drive = drive::open("sim:nvme-tlc-2018", &options).expect("a simulated drive");
        let mut armed = drive.arm(None).expect("an armed drive");
        let changed = change(&mut armed, dir.path(), true).expect("a change");
        assert!(changed.was_on && armed.write_cache() == Ok(Some(false)));
        assert!(Note::left_over(dir.path(), KIND, &armed.facts().identity).expect("a look").is_none());
    }

    #[test]
    fn a_note_without_sense_is_taken_away_and_harms_nothing() {
        let dir = tempfile::tempdir().expect("a folder");
        let options = drive::OpenOptions { scale: Some("1/1024".into()), ..drive::OpenOptions::default() };
        let drive = drive::open("sim:sas-slc-2011", &options).expect("a simulated drive");
        let mut armed = drive.arm(None).expect("an armed drive");
        drop(Note::write(dir.path(), KIND, &armed.facts().identity, &json!("{")).expect("a note"));
        restore_left_over(&mut armed, dir.path()).expect("no error");
        assert!(Note::left_over(dir.path(), KIND, &armed.facts().identity).expect("a look").is_none());
    }
}
