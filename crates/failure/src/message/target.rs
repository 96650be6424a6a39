//! The next step for a target that cannot be used as requested.

use std::io;
use std::path::Path;

use device::{TargetError, WrongKind};
use stdx::units::amount_base2;

use super::next::then;

/// Error numbers for which the standard library has only one error kind.
const EPERM: i32 = 1;
const EACCES: i32 = 13;

pub(super) fn text(target: &str, problem: &TargetError) -> String {
    if let (TargetError::NoFile | TargetError::NoFileToRead, Some(device)) = (problem, device_named(target)) {
        return format!("no such file; did you mean {device}?");
    }
    let next = match problem {
        TargetError::SizeTooSmall { bytes, least_bytes } => return too_small(*bytes, *least_bytes),
        TargetError::SizeOfDrive => {
            return "--size applies only to files; a drive is always tested as a whole".into();
        }
        TargetError::SizeOfSimulated => {
            return "--size applies only to files; use --scale for a smaller simulated drive".into();
        }
        TargetError::ScaleOfReal => return "--scale applies only to simulated drives (sim:MODEL)".into(),
        TargetError::ArrayOutsideRun => {
            return "arrays exist only during `plateau run`; specify a drive".into();
        }
        TargetError::WrongKind(kind) => return then(problem, Some(&of_kind(kind))),
        TargetError::System(error) => return then(problem, of_system(error)),
        TargetError::NoDevice => "`plateau list` lists the devices",
        TargetError::NoFile => "to create it, specify its size with --size",
        TargetError::Shorter { .. } => "choose a smaller --size",
        TargetError::EmptyFile => "specify its size with --size",
        TargetError::SizeOfArray => "omit --size",
        TargetError::FaultsOfReal => "omit --sim-fault and --no-sim-faults",
        TargetError::NotNvme | TargetError::NotScsi => "use io_uring",
        TargetError::CannotPoll => "use io_uring, or omit polling",
        TargetError::NotAFile => "use a regular file, or omit --ioengine",
        TargetError::EngineWithoutTarget => "omit --ioengine, or give the jobs separate targets",
        TargetError::NoFileToRead
        | TargetError::NoDirectory(_)
        | TargetError::NotFileName
        | TargetError::DanglingLink
        | TargetError::Replaced
        | TargetError::EmptyDevice
        | TargetError::TooSmall { .. }
        | TargetError::NoBlock { .. }
        | TargetError::Scale(_)
        | TargetError::Fault(_)
        | TargetError::Model(_)
        | TargetError::NoThreads
        | TargetError::NothingToPoll
        | TargetError::SimulatedPassthrough
        | TargetError::Unfit(_)
        | TargetError::Data { .. }
        | TargetError::ReadOnly(_)
        | TargetError::Description { .. }
        | TargetError::Described(_)
        | TargetError::MemberNotBlock(_)
        | TargetError::SameMember { .. }
        | TargetError::DifferentSectors { .. } => return problem.to_string(),
    };
    then(problem, Some(next))
}

/// Returns the path of a device whose name was typed without its folder.
fn device_named(target: &str) -> Option<String> {
    let device = format!("/dev/{target}");
    (!target.contains('/') && Path::new(&device).exists()).then_some(device)
}

fn too_small(bytes: u64, least_bytes: u64) -> String {
    let unit = if bytes < 1 << 20 {
        format!("; for MiB or GiB, add the unit: --size {bytes}MiB")
    } else {
        String::new()
    };
    format!("--size {bytes} is too small; the smallest target has {}{unit}", amount_base2(least_bytes))
}

fn of_kind(kind: &WrongKind) -> String {
    match kind {
        WrongKind::Directory | WrongKind::Pipe | WrongKind::Socket | WrongKind::CharacterDevice => {
            "name a block device or a file".into()
        }
        WrongKind::NvmeController { path } => format!("name one of its namespaces, such as {path}n1"),
        WrongKind::NvmeGeneric { namespace } => {
            format!("name its block device, /dev/nvme{namespace}, with --ioengine io_uring_cmd")
        }
    }
}

/// Returns the remedy for a system error.
fn of_system(error: &io::Error) -> Option<&'static str> {
    match error.raw_os_error()? {
        EACCES => Some("run as root, or as a member of the group that owns it"),
        EPERM => Some("the kernel or the container denies it, even to root"),
        _ => None,
    }
}
