//! The note that is written before an array is created, so that the next start can dismantle it.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use record::MemberFacts;
use serde::{Deserialize, Serialize};
use stdx::files::{OwnedFolder, Unowned, try_lock};

use super::hardware::{Hardware, Program};
use super::plan::ArrayPlan;
use crate::error::array::ArrayError;

/// The facts needed to dismantle an array without touching anything else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Noted {
    /// The program that created the array; mdadm if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) controller: Option<NotedController>,
    pub(super) level: u8,
    pub(super) uuid: String,
    pub(super) members: Vec<NotedMember>,
}

/// A RAID controller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NotedController {
    pub(super) program: Program,
    pub(super) adapter: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NotedMember {
    pub(crate) path: String,
    pub(crate) identity: String,
    pub(crate) capacity_bytes: u64,
}

/// A note written by this process. The lock on the note prevents other processes from acting on it.
#[derive(Debug)]
pub(super) struct Note {
    folder: OwnedFolder,
    name: String,
    _locked: File,
}

impl Noted {
    /// Parses the content of a note; `None` if malformed.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Serialises the note.
    pub(crate) fn to_text(&self) -> String {
        serde_json::to_string(self).expect("every note can be written as JSON")
    }

    pub(super) fn of(plan: &ArrayPlan, members: &[MemberFacts]) -> Self {
        let member = |member: &MemberFacts| NotedMember {
            path: member.path.clone(),
            identity: member.identity.clone(),
            capacity_bytes: member.capacity_bytes,
        };
        let of_controller =
            |hardware: &Hardware| NotedController { program: hardware.program, adapter: hardware.adapter };
        Self {
            controller: plan.hardware.as_ref().map(of_controller),
            level: plan.level,
            uuid: plan.uuid.clone(),
            members: members.iter().map(member).collect(),
        }
    }
}

const BEGIN: &str = ".array-";
const END: &str = ".json";
/// Size limit of a note, larger than any array needs.
const MOST_BYTES: u64 = 1 << 20;

impl Note {
    /// Writes the note and syncs it to disk. Only the owner may have write access to the folder, because Plateau
    /// acts on the notes in it.
    pub(super) fn write(folder: &Path, noted: &Noted) -> Result<Self, ArrayError> {
        let name = format!("{BEGIN}{}{END}", noted.uuid.replace(':', "-"));
        let failed = |source: std::io::Error| ArrayError::Note { path: folder.join(&name), source };
        let unowned = |error: Unowned| failed(error.into());
        let owned = OwnedFolder::make(folder).map_err(unowned)?;
        let file = owned.new_file(&name).map_err(unowned)?;
        file.lock().map_err(failed)?;
        (&file).write_all(noted.to_text().as_bytes()).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        owned.sync().map_err(unowned)?;
        Ok(Self { folder: owned, name, _locked: file })
    }

    /// Removes the note of a dismantled array.
    pub(super) fn done(self) {
        // If the note cannot be removed, the next start reads it again and finds nothing to dismantle.
        drop(self.folder.remove(&self.name));
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join(&self.name)
    }

    /// Returns the notes left by processes that no longer exist; the content of unreadable notes is `None`.
    /// Ignores a folder to which other users could have written.
    pub(super) fn left_over(folder: &Path) -> Vec<(Self, Option<Noted>)> {
        let names = |owned: OwnedFolder| owned.names().unwrap_or_default();
        let names = OwnedFolder::open(folder).ok().flatten().map(names).unwrap_or_default();
        names.iter().filter_map(|name| Self::take_up(folder, name.to_str()?)).collect()
    }

    fn take_up(folder: &Path, name: &str) -> Option<(Self, Option<Noted>)> {
        if !name.starts_with(BEGIN) || !name.ends_with(END) {
            return None;
        }
        let folder = OwnedFolder::open(folder).ok()??;
        let file = folder.file(name).ok()??;
        if !matches!(try_lock(&file), Ok(true)) {
            return None;
        }
        let mut text = String::new();
        let read = (&file).take(MOST_BYTES).read_to_string(&mut text);
        let noted = read.ok().and_then(|_| Noted::parse(&text));
        Some((Self { folder, name: name.to_owned(), _locked: file }, noted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_processed_when_its_writer_has_exited() {
        let folder = tempfile::tempdir().expect("a folder");
        let member = NotedMember { path: "/dev/a".into(), identity: "S1".into(), capacity_bytes: 1 << 30 };
        let noted = Noted { controller: None, level: 5, uuid: "a:b:c:d".into(), members: vec![member] };
        let note = Note::write(folder.path(), &noted).expect("a note");
        assert!(note.path().ends_with(".array-a-b-c-d.json"));
        assert!(Note::left_over(folder.path()).is_empty(), "its writer is at work");
        drop(note);
        let mut found = Note::left_over(folder.path());
        let (note, content) = found.pop().expect("a note");
        assert_eq!((content, found.len()), (Some(noted), 0));
        note.done();
        assert!(Note::left_over(folder.path()).is_empty());
    }

    #[test]
    fn a_note_of_an_earlier_version_refers_to_mdadm() {
        let text = "{\"level\":5,\"uuid\":\"a\",\"members\":[]}";
        let noted: Noted = serde_json::from_str(text).expect("a note");
        assert_eq!((&noted.controller, noted.level), (&None, 5));
        assert_eq!(serde_json::to_string(&noted).expect("text"), text);
    }

    #[test]
    fn a_file_that_is_not_a_note_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("array.json"), "{}").expect("a file");
        std::fs::write(folder.path().join(".array-x.json"), "{\"level\":").expect("a torn note");
        let found = Note::left_over(folder.path());
        assert_eq!((found.len(), &found[0].1), (1, &None));
    }

    #[test]
    fn a_note_that_others_may_have_written_is_ignored() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let noted = Noted { controller: None, level: 0, uuid: "a".into(), members: Vec::new() };
        drop(Note::write(folder.path(), &noted).expect("a note"));
        let permit = |path: &Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("our own");
        };
        assert_eq!(Note::left_over(folder.path()).len(), 1);
        permit(&folder.path().join(".array-a.json"), 0o666);
        assert!(Note::left_over(folder.path()).is_empty(), "anybody may write the note");
        permit(&folder.path().join(".array-a.json"), 0o600);
        permit(folder.path(), 0o777);
        assert!(Note::left_over(folder.path()).is_empty(), "anybody may put one there");
        let error = Note::write(folder.path(), &Noted { uuid: "b".into(), ..noted }).expect_err("not there");
        assert!(error.to_string().contains("is writable by others"), "{error}");
    }
}
