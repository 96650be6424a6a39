//! Restore records: settings to restore after a run.
//!
//! A record is on disk before any setting is changed and is removed after all of its settings have been restored.
//! After a crash, the next start on the same drive can therefore restore them. Other processes ignore a record
//! while the process that wrote it is alive.

use std::io::ErrorKind;
use std::path::Path;

use record::storage::Stored;
use record::{Digest, Library};
use serde_json::Value;
use stdx::files::{OwnedFolder, Unowned, is_locked};
use stdx::text::with_causes;

use console::printer;
use failure::{Done, Exit, Failure};
use state::{self, State, StateFolder, UNFINISHED, unfinished};

/// Size limit; all valid records are smaller.
const MOST_BYTES: u64 = 1 << 20;
/// Longest identity in the name of a record; file systems limit whole names to 255 bytes.
const MOST_NAME_BYTES: usize = 200;
/// Prefixes of the names of records; records in a library are ignored.
const BEGINNINGS: [&str; 4] = [".write-cache-", ".lba-format-", ".tuning-", ".array-"];

/// A restore record, locked by this process.
#[derive(Debug)]
pub struct Note {
    folder: Box<dyn StateFolder>,
    name: String,
    /// The file, which is locked until it is closed.
    _file: Box<dyn Stored>,
}

impl Note {
    /// Writes a record of the settings to restore on the drive with this identity; returns once it is on disk.
    pub fn write(state: &(impl State + ?Sized), kind: &str, identity: &str, content: &Value) -> Done<Self> {
        let name = name(kind, identity);
        let folder = state.make().map_err(untrusted)?;
        let failed = |error: std::io::Error| {
            let path = folder.path().join(&name);
            Failure::text(Exit::Run, format!("cannot write {}: {error}", path.display()))
        };
        let busy = || {
            let text = format!(
                "another plateau process has changed the {kind} of {identity} and is still running; wait until it \
                 completes"
            );
            Failure::text(Exit::Refused, text)
        };
        let old = folder.make_file(&name).map_err(untrusted)?;
        if !old.try_lock().map_err(failed)? || !is_current(&*folder, &name, &*old) {
            return Err(busy());
        }
        // The old record may contain the original settings, so it remains until the new record is on disk.
        let file = state::replace(&*folder, &name, content.to_string().as_bytes());
        let file = file.map_err(|error| match error {
            Unowned::System { source, .. } if source.kind() == ErrorKind::WouldBlock => busy(),
            Unowned::System { source, .. } => failed(source),
            error => untrusted(error),
        })?;
        drop(old);
        Ok(Self { folder, name, _file: file })
    }

    /// Returns the record left by a process that died; its content is null if it is unreadable. Ignores records that
    /// another user may have written.
    pub fn left_over(
        state: &(impl State + ?Sized),
        kind: &str,
        identity: &str,
    ) -> Done<Option<(Self, Value)>> {
        let Ok(Some(folder)) = state.open() else { return Ok(None) };
        let name = name(kind, identity);
        let mut file = match folder.file(&name) {
            Ok(Some(file)) => file,
            Ok(None) => return Ok(None),
            Err(error) => {
                printer::print_line(&format!("warning: ignored a restore record: {}", with_causes(&error)));
                return Ok(None);
            }
        };
        if !file.try_lock()? || !is_current(&*folder, &name, &*file) {
            return Ok(None);
        }
        let content = content_of(&mut *file);
        Ok(Some((Self { folder, name, _file: file }, content)))
    }

    /// Removes the record after the restore.
    pub fn done(self) {
        // If it cannot be removed, the next start repeats the restore, which is harmless.
        drop(self.folder.remove(&unfinished(&self.name)));
        drop(self.folder.remove(&self.name));
    }
}

/// Returns whether the name still refers to this file: the file may have been removed or replaced before it was
/// locked.
fn is_current(folder: &dyn StateFolder, name: &str, file: &dyn Stored) -> bool {
    let identity = |file: &dyn Stored| file.found().ok().map(|found| found.identity);
    let now = folder.file(name).ok().flatten();
    now.is_some_and(|now| identity(&*now).is_some_and(|now| identity(file) == Some(now)))
}

/// Returns the content of a record; null if it is incomplete, too long or unreadable.
pub fn content_of(file: &mut dyn Stored) -> Value {
    file.read(MOST_BYTES).map_or(Value::Null, |bytes| parse(&bytes))
}

/// Parses the content of a record; null if it is invalid.
pub fn parse(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap_or(Value::Null)
}

/// Returns the names of the records left by processes that no longer exist; none if the folder is missing.
///
/// # Errors
/// Returns why the records in this folder are not used.
pub fn abandoned(state: &Path) -> Result<Vec<String>, String> {
    let folder = match OwnedFolder::open(state).map_err(|error| with_causes(&error))? {
        Some(folder) => folder,
        None => return Ok(Vec::new()),
    };
    let names = folder.names().map_err(|error| with_causes(&error))?;
    let mut names: Vec<String> = names.into_iter().map(|name| name.to_string_lossy().into_owned()).collect();
    names.retain(|name| BEGINNINGS.iter().any(|beginning| name.starts_with(beginning)));
    names.retain(|name| !name.ends_with(UNFINISHED));
    names.retain(|name| {
        // The process that wrote a record keeps it locked until it ends.
        let file = folder.file(name).ok().flatten();
        file.is_some_and(|file| matches!(is_locked(&file), Ok(false)))
    });
    names.sort();
    Ok(names)
}

/// Warns about records that are ignored: records in a library, which others may have written, and all records
/// in a state folder that others can write to.
pub fn warn_of_untrusted(library: &Library, state: &Path) {
    if let Err(error) = OwnedFolder::open(state) {
        printer::print_line(&format!(
            "warning: settings that an earlier run may have left changed are not restored: {}",
            with_causes(&error)
        ));
    }
    let entries = std::fs::read_dir(library.root()).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| BEGINNINGS.iter().any(|beginning| name.starts_with(beginning)));
    names.sort();
    if let [first, rest @ ..] = &names[..] {
        let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        printer::print_line(&format!(
            "warning: {}{more}: restore records in a library are ignored, because others may have written \
             them; Plateau keeps its own in {}; remove them",
            library.root().join(first).display(),
            state.display()
        ));
    }
}

/// Returns the error for an unusable state folder, with its remedy.
pub fn untrusted(error: Unowned) -> Failure {
    let text = format!(
        "{}; a run records its changes in a directory that nobody else can write to, so that they can be \
         restored after a crash: specify one with PLATEAU_STATE",
        with_causes(&error)
    );
    Failure::text(Exit::Run, text)
}

/// Returns a file name for one drive's records. The names for different identities are different.
fn name(kind: &str, identity: &str) -> String {
    let mut plain = String::new();
    for byte in identity.bytes() {
        if byte.is_ascii_alphanumeric() {
            plain.push(char::from(byte));
        } else {
            plain.push_str(&format!("-{byte:02x}"));
        }
    }
    if plain.len() > MOST_NAME_BYTES {
        plain = format!("--{}", Digest::of(identity.as_bytes()));
    }
    format!(".{kind}-{plain}.json")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn record_names_are_plain() {
        assert_eq!(name("write-cache", "../S1:n2"), ".write-cache--2e-2e-2fS1-3an2.json");
        let long = [name("tuning", &"a".repeat(300)), name("tuning", &"a".repeat(301))];
        assert!(long[0].len() < 255 && long[0] != long[1], "{long:?}");
    }

    proptest::proptest! {
        #[test]
        fn identities_do_not_share_a_record(a in "[a-f0-9:-]{0,8}", b in "[a-f0-9:-]{0,8}") {
            proptest::prop_assert_eq!(a == b, name("tuning", &a) == name("tuning", &b));
        }
    }

    /// A power cut may keep any part of a write that is not yet synced, so a record is never written in place.
    #[test]
    fn a_replaced_record_is_on_disk_at_all_times() {
        let dir = tempfile::tempdir().expect("a folder");
        let write =
            |was: u32| Note::write(dir.path(), "tuning", "S1", &json!({ "was": was })).expect("a note");
        drop(write(1));
        let mut old = std::fs::File::open(dir.path().join(name("tuning", "S1"))).expect("a record");
        let second = write(2);
        assert_eq!(content_of(&mut old), json!({ "was": 1 }), "not changed in place");
        assert!(Note::write(dir.path(), "tuning", "S1", &json!({})).is_err(), "the new one is locked");
        assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 1);
        drop(second);
        std::fs::write(dir.path().join(unfinished(&name("tuning", "S1"))), "{").expect("left by a crash");
        assert_eq!(abandoned(dir.path()).expect("ours"), [name("tuning", "S1")]);
        let (note, content) = Note::left_over(dir.path(), "tuning", "S1").expect("a look").expect("a note");
        assert_eq!(content, json!({ "was": 2 }));
        note.done();
        assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 0);
    }

    #[test]
    fn a_replaced_file_is_not_the_record() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = State::make(dir.path()).expect("ours");
        let first = folder.make_file("a").expect("a file");
        assert!(is_current(&*folder, "a", &*first));
        folder.remove("a").expect("removed");
        assert!(!is_current(&*folder, "a", &*first));
        folder.make_file("a").expect("a file");
        assert!(!is_current(&*folder, "a", &*first));
    }

    #[test]
    fn a_record_is_stale_only_when_its_writer_has_ended() {
        let dir = tempfile::tempdir().expect("a folder");
        let left = || Note::left_over(dir.path(), "tuning", "S1").expect("a look");
        assert!(left().is_none());
        let note = Note::write(dir.path(), "tuning", "S1", &json!({ "was": 1 })).expect("a note");
        assert!(left().is_none(), "its writer is at work");
        assert!(Note::write(dir.path(), "tuning", "S1", &json!({})).is_err());
        drop(note);
        let (note, content) = left().expect("a note that was left over");
        assert_eq!(content, json!({ "was": 1 }));
        note.done();
        assert!(left().is_none());
    }
}
