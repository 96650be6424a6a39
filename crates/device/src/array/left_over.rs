//! Dismantles arrays at the end of a test, and leftover arrays at the next start after a crash.

use std::path::Path;

use super::controller::ArrayController;
use super::hardware::{self, Hardware};
use super::members::controller_of;
use super::note::{Note, Noted};
use super::plan::ArrayPlan;
use crate::error::DriveError;
use crate::error::array::ArrayError;
use crate::error::confirm::Unconfirmed;

/// Dismantles every array left by a process that no longer exists, if `erase` contains the identity of each of its
/// members. For each array, returns what was done, or why nothing was done. Members of arrays that remain are still
/// refused as targets.
#[must_use]
pub fn dissolve_left_over(notes: &Path, erase: &[String]) -> Vec<Result<String, DriveError>> {
    Note::left_over(notes).into_iter().map(|(note, noted)| undo(note, noted, erase)).collect()
}

fn undo(note: Note, noted: Option<Noted>, erase: &[String]) -> Result<String, DriveError> {
    let Some(noted) = noted else {
        // An incomplete note means that its array was never created.
        note.done();
        return Ok("removed the record of an array that was never created".into());
    };
    confirm(&note, &noted, erase)?;
    let plan = plan_of(&noted);
    let mut controller = controller_of(plan.hardware.as_ref());
    take_apart(&mut *controller, &plan, &noted)
        .map_err(|error| DriveError::LeftOver { error: Box::new(error), note: note.path() })?;
    note.done();
    let names: Vec<&str> = noted.members.iter().map(|member| member.identity.as_str()).collect();
    Ok(format!("dismantled the RAID {} of {} left by an earlier run", noted.level, names.join(", ")))
}

/// A note alone must not suffice to destroy data: the user must name all members.
fn confirm(note: &Note, noted: &Noted, erase: &[String]) -> Result<(), Unconfirmed> {
    if noted.members.iter().all(|member| erase.contains(&member.identity)) {
        return Ok(());
    }
    let members = noted.members.iter().map(|member| member.identity.clone()).collect();
    Err(Unconfirmed::LeftOver { level: noted.level, note: note.path(), members })
}

/// Reconstructs the part of the plan that is needed for dismantling.
fn plan_of(noted: &Noted) -> ArrayPlan {
    let hardware = noted.controller.as_ref().map(|controller| {
        let serials = noted.members.iter().map(|member| member.identity.clone()).collect();
        Hardware::of_serials(controller.program, controller.adapter, serials)
    });
    ArrayPlan {
        level: noted.level,
        chunk_kib: None,
        bitmap: false,
        name: hardware.as_ref().map(|_| hardware::volume_name(&noted.uuid)).unwrap_or_default(),
        uuid: noted.uuid.clone(),
        members: noted.members.iter().map(|member| (&member.path).into()).collect(),
        component_kib: None,
        hardware,
    }
}

/// Stops the array and removes its metadata from each member that is still the same drive.
pub(super) fn take_apart(
    controller: &mut dyn ArrayController,
    plan: &ArrayPlan,
    noted: &Noted,
) -> Result<(), DriveError> {
    controller.stop(plan)?;
    let mut lost = Vec::new();
    for member in &noted.members {
        if !controller.free(plan, member)? {
            lost.push(format!("{} ({})", member.identity, member.path));
        }
    }
    if lost.is_empty() {
        return Ok(());
    }
    Err(ArrayError::MembersLost(lost).into())
}
