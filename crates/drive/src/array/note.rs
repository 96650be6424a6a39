//! What is written down before an array is created, so that the next start can take it apart.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use record::MemberFacts;
use serde::{Deserialize, Serialize};

use super::controller::Plan;
use super::hardware::{Hardware, Program};
use crate::error::{DriveError, reason};

/// Enough to take an array apart and to touch nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Noted {
    /// What made it; mdadm where nothing stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) controller: Option<NotedController>,
    pub(super) level: u8,
    pub(super) uuid: String,
    pub(super) members: Vec<NotedMember>,
}

/// A RAID controller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NotedController {
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

/// A note of this process. As long as it is held nobody else takes it up.
#[derive(Debug)]
pub(super) struct Note {
    path: PathBuf,
    _locked: File,
}

impl Noted {
    pub(super) fn of(plan: &Plan, members: &[MemberFacts]) -> Self {
        let member = |member: &MemberFacts| NotedMember {
            path: member.path.clone(),
            identity: member.identity.clone(),
            capacity_bytes: member.capacity_bytes,
        };
        let behind =
            |hardware: &Hardware| NotedController { program: hardware.program, adapter: hardware.adapter };
        Self {
            controller: plan.hardware.as_ref().map(behind),
            level: plan.level,
            uuid: plan.uuid.clone(),
            members: members.iter().map(member).collect(),
        }
    }
}

const BEGIN: &str = ".array-";
const END: &str = ".json";

impl Note {
    /// Returns when it is on disk.
    pub(super) fn write(folder: &Path, noted: &Noted) -> Result<Self, DriveError> {
        let path = folder.join(format!("{BEGIN}{}{END}", noted.uuid.replace(':', "-")));
        let failed = |error: std::io::Error| {
            DriveError::Unusable(format!(
                "{}: {}; without this note a crash would leave the array behind, so it is not created",
                path.display(),
                reason(&error)
            ))
        };
        fs::create_dir_all(folder).map_err(failed)?;
        let file = OpenOptions::new().create_new(true).write(true).open(&path).map_err(failed)?;
        file.lock().map_err(failed)?;
        let text = serde_json::to_string(noted).map_err(|error| failed(error.into()))?;
        (&file).write_all(text.as_bytes()).map_err(failed)?;
        file.sync_all().and_then(|()| File::open(folder)?.sync_all()).map_err(failed)?;
        Ok(Self { path, _locked: file })
    }

    /// It was taken apart.
    pub(super) fn done(self) {
        // One that stays is done again at the next start, and finds nothing.
        drop(fs::remove_file(&self.path));
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The notes of processes that are gone; without a content where nobody can tell what it was.
    pub(super) fn left_over(folder: &Path) -> Vec<(Self, Option<Noted>)> {
        let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        paths.into_iter().filter_map(Self::take_up).collect()
    }

    fn take_up(path: PathBuf) -> Option<(Self, Option<Noted>)> {
        let name = path.file_name()?.to_str()?;
        if !name.starts_with(BEGIN) || !name.ends_with(END) {
            return None;
        }
        let file = File::open(&path).ok()?;
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock | TryLockError::Error(_))) {
            return None;
        }
        let noted = fs::read_to_string(&path).ok().and_then(|text| serde_json::from_str(&text).ok());
        Some((Self { path, _locked: file }, noted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_taken_up_when_its_writer_is_gone() {
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
    fn a_note_of_an_earlier_version_is_one_of_mdadm() {
        let text = "{\"level\":5,\"uuid\":\"a\",\"members\":[]}";
        let noted: Noted = serde_json::from_str(text).expect("a note");
        assert_eq!((&noted.controller, noted.level), (&None, 5));
        assert_eq!(serde_json::to_string(&noted).expect("text"), text);
    }

    #[test]
    fn what_is_no_note_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("array.json"), "{}").expect("a file");
        fs::write(folder.path().join(".array-x.json"), "{\"level\":").expect("a torn note");
        let found = Note::left_over(folder.path());
        assert_eq!((found.len(), &found[0].1), (1, &None));
    }
}
