//! The confirmation that the target of a run may be erased, when the run is continued.

use device::Drive;
use failure::{Done, Exit, Failure, message};
use record::{Entry, Run, RunFile, TargetKind};
use stdx::text::in_quotes;

use crate::{others, reused};

/// Who continues a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The user, who confirms with `--erase` that nobody needs a file that has changed.
    User,
    /// A job, which repeats the confirmation that the run began with, whatever has happened since.
    Job,
}

/// Rejects the continuation of a test on a drive that others have used since, because its state is no longer that which
/// the test has left.
///
/// # Errors
/// [`Exit::Held`] if others have used the drive.
pub fn refuse_used(file: &RunFile, test: &str, entries: &[Entry], known: &others::Known) -> Done {
    let evidence =
        if file.target.simulated.is_some() { None } else { others::evidence(file, entries, known) };
    let Some(evidence) = evidence else { return Ok(()) };
    let text = format!(
        "{} has been used since run {} was interrupted in {test}: {evidence}; its state is no longer that of the test, so \
         restart the test from its purge with --restart-test",
        file.target.path, file.id
    );
    Err(Failure::text(Exit::Held, text).of_run(&file.id))
}

/// Returns the identities that confirm an array's members before the array is opened: those typed or, if no other user
/// can have written the run, those recorded in the run. If others can write to the run's directory, the identities
/// recorded in it do not count.
///
/// # Errors
/// [`Exit::Refused`] if the identities must be typed.
pub fn of_members(run: &Run, is_own: Result<(), String>, erase: &[String]) -> Done<Vec<String>> {
    let target = &run.file.target;
    if !erase.is_empty() || target.simulated.is_some() {
        return Ok(erase.to_vec());
    }
    if let Err(why) = is_own {
        let identities = match &target.array {
            Some(array) => array.members.iter().map(|member| &member.identity).collect(),
            None => vec![&target.identity],
        };
        let text = format!(
            "{why}, so the confirmation recorded in it cannot be trusted; if {} is the right target, confirm \
             with {}",
            target.path,
            message::erase(identities)
        );
        return Err(Failure::text(Exit::Refused, text));
    }
    let members = target.array.iter().flat_map(|array| &array.members);
    // Members without a serial number must be confirmed again.
    Ok(members.filter(|member| member.serial.is_some()).map(|member| member.identity.clone()).collect())
}

/// Returns the identities that need not be typed again. The confirmation given when the run began remains valid for a
/// device that can be recognized with certainty: by its serial number, or because it has not been detached since. It
/// also remains valid for a file that was neither recreated nor copied. A job's confirmation was typed before the run
/// began, so it is valid for the same targets only.
///
/// # Errors
/// [`Exit::Refused`] if the identity must be typed, or if a file may have been used for another purpose.
pub fn of(file: &RunFile, drive: &Drive, entries: &[Entry], erase: &[String], by: By) -> Done<Vec<String>> {
    let (was, is) = (&file.target, drive.facts());
    if was.array.is_some() {
        return Ok(erase.to_vec());
    }
    let attached = was.attachment.is_some() && was.attachment == is.attachment;
    let (certain, doubt) = match was.kind {
        TargetKind::Block => (
            was.serial.is_some() || attached,
            "has no serial number and was reattached after the run started, so it may be a different device",
        ),
        TargetKind::File => (
            attached,
            "may not be the file that the run started on: it was recreated or copied, or its file system \
             records no creation time",
        ),
        TargetKind::Simulated | TargetKind::Imported => (true, ""),
    };
    let confirm = || {
        let command = if by == By::Job { format!(" plateau resume {}", file.id) } else { String::new() };
        format!("confirm with{command} --erase {}", in_quotes(&was.identity))
    };
    let refused = |text: String| Err(Failure::text(Exit::Refused, text));
    if (erase.is_empty() || by == By::Job)
        && let Some(now) = drive.file_state()?
        && let Some(evidence) = reused::evidence(&now, was.capacity_bytes, entries)
    {
        return refused(format!(
            "{} may have been used since the run was interrupted: {evidence}; if nobody needs its content, {}",
            was.path,
            confirm()
        ));
    }
    match erase {
        [_, ..] if certain || by == By::User => Ok(erase.to_vec()),
        [] if certain => Ok(vec![was.identity.clone()]),
        _ => refused(format!("{} {doubt}; if it is the right target, {}", was.path, confirm())),
    }
}
