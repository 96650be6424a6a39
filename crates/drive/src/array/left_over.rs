//! Taking arrays apart: at the end of a test, and at the next start what a crash left.

use std::path::{Path, PathBuf};

use super::controller::{ArrayController, Host, Plan};
use super::mdadm::Mdadm;
use super::note::{Note, Noted, NotedMember};
use crate::error::DriveError;
use crate::refusal::Refusal;
use crate::{OpenOptions, list};

/// Takes apart every array that a process left which is gone; says of each what was done, or why not.
#[must_use]
pub fn dissolve_left_over(notes: &Path) -> Vec<Result<String, DriveError>> {
    Note::left_over(notes).into_iter().map(|(note, noted)| undo(note, noted)).collect()
}

fn undo(note: Note, noted: Option<Noted>) -> Result<String, DriveError> {
    let Some(noted) = noted else {
        // Torn while it was written: what it speaks of was not created yet.
        note.done();
        return Ok("a note of an array that was never created is gone".into());
    };
    let plan = Plan {
        level: noted.level,
        chunk_kib: None,
        bitmap: false,
        name: String::new(),
        uuid: noted.uuid.clone(),
        members: Vec::new(),
        component_kib: None,
    };
    let mut controller = Mdadm { outside: Host };
    take_apart(&mut controller, &plan, &noted).map_err(|error| {
        DriveError::Unusable(format!(
            "an array that an earlier run left cannot be taken apart: {error}; what it is stands in {}",
            note.path().display()
        ))
    })?;
    note.done();
    let names: Vec<&str> = noted.members.iter().map(|member| member.identity.as_str()).collect();
    Ok(format!("took apart the RAID {} of {} that an earlier run had left", noted.level, names.join(", ")))
}

/// Stops the array and takes its metadata off each member that is still the one that it was.
pub(super) fn take_apart(
    controller: &mut dyn ArrayController,
    plan: &Plan,
    noted: &Noted,
) -> Result<(), DriveError> {
    controller.stop(plan)?;
    let mut lost = Vec::new();
    for member in &noted.members {
        match node_of(member) {
            Some(node) => {
                controller.clear(plan, &node)?;
                check_clear(member, &node)?;
            }
            None => lost.push(format!("{} ({})", member.identity, member.path)),
        }
    }
    if lost.is_empty() {
        return Ok(());
    }
    Err(DriveError::Unusable(format!(
        "{} cannot be found, so its RAID superblock may be left; attach it and start plateau again",
        lost.join(", ")
    )))
}

/// Where the member is now: where it was, or under another name.
fn node_of(member: &NotedMember) -> Option<PathBuf> {
    let is_it = |path: &str| {
        let found = crate::open(path, &OpenOptions::default()).ok()?;
        let facts = found.facts();
        ((&facts.identity, facts.capacity_bytes) == (&member.identity, member.capacity_bytes))
            .then(|| std::fs::canonicalize(path).ok())
            .flatten()
    };
    is_it(&member.path).or_else(|| {
        let all = list().unwrap_or_default();
        all.iter()
            .filter(|one| one.identity.as_ref() == Some(&member.identity))
            .find_map(|one| is_it(&one.path))
    })
}

/// A member without metadata is what it was before.
fn check_clear(member: &NotedMember, node: &Path) -> Result<(), DriveError> {
    let drive = crate::open(&node.display().to_string(), &OpenOptions::default())?;
    let is_left = |refusal: &Refusal| match refusal {
        Refusal::Signature { of, .. } => of.contains("Linux RAID"),
        Refusal::Held { .. } => true,
        _ => false,
    };
    match drive.refusals().into_iter().find(is_left) {
        None => Ok(()),
        Some(refusal) => Err(DriveError::device(format!("{} ({}): {refusal}", member.path, member.identity))),
    }
}
