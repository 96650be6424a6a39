//! Sets the LBA format of an NVMe namespace for a run and restores it at the end.
//!
//! Formatting erases the drive, so the format is restored only when all tests are complete: until then, `resume`
//! needs the data. If the format was not restored, the next run on the drive restores it.

use std::path::Path;

use device::Armed;
use record::{Event, Journal};
use serde_json::{Value, json};

use crate::restore::Note;
use console::printer;
use failure::Done;
use failure::message::of_drive;

const KIND: &str = "lba-format";

/// The LBA format before Plateau changed it.
pub struct Changed {
    was: u8,
    note: Note,
}

/// Sets the requested format before a new run, or restores the format changed by an earlier run.
pub fn prepare(armed: &mut Armed, state: &Path, requested: Option<u8>) -> Done {
    let left = left_over(armed, state)?;
    let now = armed.lba_format();
    let own = left.as_ref().map(|changed| changed.was).or(now);
    match requested {
        Some(requested) if now != Some(requested) => {
            armed.check_lba_format(requested)?;
            printer::print_line(&format!("formatting the drive to LBA format {requested}"));
            // The record is written even if one exists already, because a crash may occur before the drive has
            // been formatted.
            drop(left);
            let identity = armed.facts().identity.clone();
            let note = own
                .map(|was| Note::write(state, KIND, &identity, &json!({ "identity": identity, "was": was })));
            let note = note.transpose()?;
            if let Err(error) = armed.set_lba_format(requested) {
                // If the drive refused the command, nothing has changed; after any other failure, the state is
                // unknown.
                if error.kind() != device::ErrorKind::Device && now == own {
                    note.into_iter().for_each(Note::done);
                }
                return Err(error.into());
            }
        }
        Some(_) => {}
        None => {
            if let Some(changed) = left {
                armed.set_lba_format(changed.was)?;
                printer::print_line("restored the drive's LBA format, which an earlier run had left changed");
                changed.note.done();
            }
        }
    }
    Ok(())
}

/// Called when a run starts or continues; returns the format to restore at its end, if any.
pub fn begin(armed: &Armed, state: &Path, journal: &mut Journal) -> Done<Option<Changed>> {
    let Some(changed) = left_over(armed, state)? else { return Ok(None) };
    if let Some(is) = armed.lba_format() {
        journal.append(Event::LbaFormat { was: changed.was, is, restored: false })?;
    }
    Ok(Some(changed))
}

/// Restores the format after all tests are complete. If this fails, the failure is reported and the restore
/// record is kept.
pub fn restore(armed: &mut Armed, changed: Changed, journal: &mut Journal) {
    let Some(was) = armed.lba_format() else { return };
    match armed.set_lba_format(changed.was) {
        Ok(()) => {
            changed.note.done();
            // The run is over, and a journal failure has already been reported.
            drop(journal.append(Event::LbaFormat { was, is: changed.was, restored: true }));
        }
        Err(error) => printer::print_line(&format!(
            "the LBA format was {} before and could not be restored: {}; the next run on this drive \
             will try again",
            changed.was,
            of_drive(&error)
        )),
    }
}

fn left_over(armed: &Armed, state: &Path) -> Done<Option<Changed>> {
    let Some((note, content)) = Note::left_over(state, KIND, &armed.facts().identity)? else {
        return Ok(None);
    };
    match noted(&content) {
        Some(was) => Ok(Some(Changed { was, note })),
        None => {
            note.done();
            Ok(None)
        }
    }
}

/// Returns the original format in a restore record.
pub fn noted(content: &Value) -> Option<u8> {
    content["was"].as_u64().and_then(|was| u8::try_from(was).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_without_formats_are_refused_and_leave_no_record() {
        let dir = tempfile::tempdir().expect("a folder");
        let options = device::OpenOptions { scale: Some("1/1024".into()), ..device::OpenOptions::default() };
        let drive = device::open("sim:sas-slc-2011", &options).expect("a simulated drive");
        let mut armed = drive.arm(None).expect("an armed drive");
        prepare(&mut armed, dir.path(), None).expect("nothing to do");
        let failure = prepare(&mut armed, dir.path(), Some(1)).expect_err("no formats");
        assert!(failure.message().contains("only NVMe"), "{}", failure.message());
        drop(Note::write(dir.path(), KIND, &armed.facts().identity, &json!("{")).expect("a note"));
        assert!(left_over(&armed, dir.path()).expect("a look").is_none());
        assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 0);
    }
}
