//! Notes of what has to be put back after a run.
//!
//! A note is on disk before anything is changed and goes when it was put back, so that the next start on the same
//! drive puts it back after a crash. As long as the process lives that wrote it, nobody else takes it up.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::failure::{Done, Exit, Failure};

/// A note, held by this process.
#[derive(Debug)]
pub struct Note {
    path: PathBuf,
    /// Locked until it is closed.
    _file: File,
}

impl Note {
    /// Writes down what has to be put back on the drive of this identity; returns when it is on disk.
    pub fn write(library: &Path, kind: &str, identity: &str, content: &Value) -> Done<Self> {
        let path = library.join(name(kind, identity));
        let failed =
            |e: std::io::Error| Failure::text(Exit::Run, format!("cannot write {}: {e}", path.display()));
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
        if !is_ours(&file).map_err(failed)? {
            return Err(Failure::text(
                Exit::Refused,
                format!(
                    "another Plateau has changed the {kind} of {identity} and is at work; wait for its end"
                ),
            ));
        }
        file.set_len(0).map_err(failed)?;
        (&file).write_all(content.to_string().as_bytes()).map_err(failed)?;
        file.sync_all().and_then(|()| File::open(library)?.sync_all()).map_err(failed)?;
        Ok(Self { path, _file: file })
    }

    /// What a process that is gone has left over; null where nobody can tell what that was.
    pub fn left_over(library: &Path, kind: &str, identity: &str) -> Done<Option<(Self, Value)>> {
        let path = library.join(name(kind, identity));
        let Ok(file) = File::open(&path) else { return Ok(None) };
        if !is_ours(&file)? {
            return Ok(None);
        }
        let text = std::fs::read_to_string(&path)?;
        let content = serde_json::from_str(&text).unwrap_or(Value::Null);
        Ok(Some((Self { path, _file: file }, content)))
    }

    /// It was put back.
    pub fn done(self) {
        // A note that stays is done once more at the next start, which harms nothing.
        drop(std::fs::remove_file(&self.path));
    }
}

/// Whether no other process holds it.
fn is_ours(file: &File) -> std::io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn name(kind: &str, identity: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    format!(".{kind}-{}.json", identity.chars().map(plain).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_note_has_a_plain_name() {
        assert_eq!(name("write-cache", "../S1:n2"), ".write-cache----S1-n2.json");
    }

    #[test]
    fn a_note_is_left_over_only_when_its_writer_is_gone() {
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
