//! The next step after an array, or the program that creates it, has failed.

use std::io;

use device::{ArrayError, ControllerFailure, VolumeError};

use super::next::then;
use super::refusal::of_refusal;

pub(super) fn text(error: &ArrayError) -> String {
    let next = match error {
        ArrayError::Program { program: "mdadm", source } if source.kind() == io::ErrorKind::NotFound => {
            "install the package mdadm, which manages software RAID"
        }
        ArrayError::NoProgram(_) => "install the RAID controller vendor's program",
        ArrayError::Response { .. } => "run it manually as root",
        ArrayError::Mdadm { .. } => {
            "find out what uses it with lsblk and fuser, then start plateau again to retry"
        }
        ArrayError::Command(failure) => return of_command(failure),
        ArrayError::Syncing { .. } => "wait until it completes and start the test again",
        ArrayError::Broken { .. } => {
            "see the kernel log, replace the failed member, and start the test again"
        }
        ArrayError::Composition { .. } => "see /proc/mdstat",
        ArrayError::NotClear { path, identity, refusal } => {
            return format!("{path} ({identity}): {}", of_refusal(refusal));
        }
        ArrayError::MembersLost(_) => "attach it and start plateau again",
        ArrayError::DriveUnreported { address, program } => {
            return format!("{error}; see the output of {program} {address} show all");
        }
        ArrayError::OtherDrive { .. } => {
            return format!("{error}: correct the slot or serial number in the array description");
        }
        ArrayError::NoCryptoErase { .. } => "choose another purge in the array description",
        ArrayError::EraseHangs => "check it with show erase",
        ArrayError::EraseContinues { program, members } => {
            let first = members.first().map_or("", String::as_str);
            return format!(
                "{error}; watch each with `{program} {first} show erase`, or end it with `{program} {first} stop \
                 erase`, before using the drives again"
            );
        }
        ArrayError::Volume(error) => return of_volume(error),
        ArrayError::Program { .. }
        | ArrayError::NotCreated { .. }
        | ArrayError::NoIdentifier(_)
        | ArrayError::NoNumber
        | ArrayError::Note { .. }
        | ArrayError::Absent
        | ArrayError::NotArray
        | ArrayError::PurgedAsDrives
        | ArrayError::NoController
        | ArrayError::MemberChanged { .. }
        | ArrayError::NotBlock(_)
        | ArrayError::EraseFailed { .. }
        | ArrayError::EraseUnreported(_) => return error.to_string(),
    };
    then(error, Some(next))
}

fn of_command(failure: &ControllerFailure) -> String {
    let ControllerFailure { program, adapter, arguments, .. } = failure;
    format!(
        "{failure}; the command was {program} {arguments}, and {program} /c{adapter} show events may provide details"
    )
}

fn of_volume(error: &VolumeError) -> String {
    let next = match error {
        VolumeError::Two { .. } => "inspect them, and delete manually what is not needed",
        VolumeError::NotDeleted(_) => "delete it manually",
        VolumeError::StrangeDrive { .. } => "inspect it, and delete it manually if it is not needed",
        VolumeError::OtherChanged { number, program, adapter, .. } => {
            return format!("{error}; inspect it with {program} /c{adapter}/v{number} show all");
        }
        VolumeError::Cache { .. } => {
            "write-back needs a charged battery or capacitor, so use write = \"through\" or \"always-back\""
        }
        VolumeError::SeveralPaths { .. } => "keep only one",
        VolumeError::NotAppeared { .. } => {
            "check the kernel log, and whether it is exposed to the operating system"
        }
        VolumeError::ReportedElsewhere { .. } => "inspect both",
        VolumeError::Gone(_)
        | VolumeError::Exists(_)
        | VolumeError::NotCreated(_)
        | VolumeError::Drives { .. }
        | VolumeError::Level { .. }
        | VolumeError::NoWorldWideName(_)
        | VolumeError::OtherDevice { .. }
        | VolumeError::OperationUnreported { .. } => return error.to_string(),
    };
    then(error, Some(next))
}
