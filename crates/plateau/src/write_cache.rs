//! The drive's volatile write cache: set as the profile wants it, restored at the end.
//!
//! What it was before is on disk before it is changed, so that the next start on the same drive restores it
//! even after a crash.

use std::path::{Path, PathBuf};

use drive::Armed;
use pts::{Profile, WriteCache};
use record::{Event, Journal};
use serde_json::json;

use crate::cli::WriteCacheChoice;
use crate::failure::{Done, Exit, Failure};
use crate::printer;

/// What a drive's write cache was before Plateau changed it.
pub struct Changed {
    was_on: bool,
    note: PathBuf,
}

/// Brings it to what is wanted; what has to be undone, if anything.
pub fn set(
    armed: &mut Armed,
    library: &Path,
    profile: &Profile,
    choice: WriteCacheChoice,
    journal: &mut Journal,
) -> Done<Option<Changed>> {
    restore_left_over(armed, library)?;
    let Some(was_on) = armed.write_cache()? else { return Ok(None) };
    let want_on = match choice {
        WriteCacheChoice::Keep => was_on,
        WriteCacheChoice::On => true,
        WriteCacheChoice::Off => false,
        WriteCacheChoice::Profile => profile.write_cache == WriteCache::Enabled,
    };
    let changed = if want_on == was_on { None } else { Some(change(armed, library, was_on)?) };
    journal.append(Event::WriteCache {
        was_on: Some(was_on),
        is_on: armed.write_cache()?,
        restored: false,
    })?;
    Ok(changed)
}

fn change(armed: &mut Armed, library: &Path, was_on: bool) -> Done<Changed> {
    let note = note_of(armed, library);
    let text = json!({ "identity": armed.facts().identity, "was_on": was_on }).to_string();
    write(&note, &text)
        .map_err(|e| Failure::text(Exit::Run, format!("cannot write {}: {e}", note.display())))?;
    match armed.set_write_cache(!was_on) {
        Ok(_) => Ok(Changed { was_on, note }),
        Err(error) => {
            // Nothing is left to undo; the failure of the drive is the one to tell.
            drop(armed.set_write_cache(was_on));
            drop(std::fs::remove_file(&note));
            Err(error.into())
        }
    }
}

fn write(note: &Path, text: &str) -> std::io::Result<()> {
    let mut file = std::fs::File::create(note)?;
    std::io::Write::write_all(&mut file, text.as_bytes())?;
    file.sync_all()
}

/// Puts it back; a drive that does not do that is told of, and the note of it stays for the next start.
pub fn restore(armed: &mut Armed, changed: Changed, journal: &mut Journal) {
    let word = |on| if on { "on" } else { "off" };
    match armed.set_write_cache(changed.was_on) {
        Ok(_) => {
            drop(std::fs::remove_file(&changed.note));
            let event = Event::WriteCache {
                was_on: Some(!changed.was_on),
                is_on: Some(changed.was_on),
                restored: true,
            };
            // The run is over; a journal that cannot be written has been told of before.
            drop(journal.append(event));
        }
        Err(error) => printer::tell_line(&format!(
            "the write cache was {} before and could not be turned back: {error}; the next run on this drive tries \
             again",
            word(changed.was_on)
        )),
    }
}

/// After a crash: what was noted and never undone.
pub fn restore_left_over(armed: &mut Armed, library: &Path) -> Done {
    let note = note_of(armed, library);
    let Ok(text) = std::fs::read_to_string(&note) else { return Ok(()) };
    let was_on =
        serde_json::from_str::<serde_json::Value>(&text).ok().and_then(|note| note["was_on"].as_bool());
    if let Some(was_on) = was_on {
        armed.set_write_cache(was_on)?;
        printer::tell_line("restored the drive's write cache, which an earlier run had left changed");
    }
    Ok(std::fs::remove_file(&note)?)
}

fn note_of(armed: &Armed, library: &Path) -> PathBuf {
    library.join(note_name(&armed.facts().identity))
}

fn note_name(identity: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    format!(".write-cache-{}.json", identity.chars().map(plain).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_has_a_plain_name() {
        assert_eq!(note_name("../S1:n2"), ".write-cache----S1-n2.json");
    }

    #[test]
    fn a_note_without_sense_is_taken_away_and_harms_nothing() {
        let dir = tempfile::tempdir().expect("a folder");
        let options = drive::OpenOptions { scale: Some("1/1024".into()), ..drive::OpenOptions::default() };
        let drive = drive::open("sim:sas-slc-2011", &options).expect("a simulated drive");
        let mut armed = drive.arm(None).expect("an armed drive");
        let note = note_of(&armed, dir.path());
        std::fs::write(&note, "{").expect("a note");
        restore_left_over(&mut armed, dir.path()).expect("no error");
        assert!(!note.exists());
    }
}
