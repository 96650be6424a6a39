//! Real targets: block devices and regular files, inspected without changing them.

pub(crate) mod block;
pub(crate) mod file;
pub(crate) mod generic;
mod opening;
mod records;

pub use file::FileState;
pub(crate) use opening::Held;
pub use opening::SMALLEST_BYTES;

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;

use record::TargetFacts;

use crate::error::DriveError;
use crate::error::target::{TargetError, WrongKind};
use crate::open_options::OpenOptions;
use crate::refusal::Refusal;
use sysfs::Roots;

/// Rejects options that do not apply to a real drive, which may be in another host.
///
/// # Errors
/// Returns an error that names the option.
pub fn check_for_drive(target: &str, options: &OpenOptions) -> Result<(), DriveError> {
    check_for_real(target, options)?;
    match options.size_bytes {
        Some(_) => Err(DriveError::target(target, TargetError::SizeOfDrive)),
        None => Ok(()),
    }
}

/// Rejects options of simulated drives.
fn check_for_real(target: &str, options: &OpenOptions) -> Result<(), DriveError> {
    let inapplicable = |problem: TargetError| Err(DriveError::target(target, problem));
    if options.scale.is_some() {
        return inapplicable(TargetError::ScaleOfReal);
    }
    if options.sim_faults.is_some() {
        return inapplicable(TargetError::FaultsOfReal);
    }
    Ok(())
}

/// A real target after inspection.
#[derive(Debug, Clone)]
pub(crate) enum Real {
    Block(block::Block),
    File(file::RegularFile),
}

impl Real {
    /// Inspects `target` without changing it.
    pub(crate) fn open(target: &str, options: &OpenOptions, roots: Roots) -> Result<Self, DriveError> {
        let unusable = |problem: TargetError| Err(DriveError::target(target, problem));
        check_for_real(target, options)?;
        let kind = match fs::metadata(target) {
            Ok(meta) => meta.file_type(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return file::RegularFile::planned(target, options).map(Self::File);
            }
            Err(error) => return unusable(error.into()),
        };
        if kind.is_block_device() {
            if options.size_bytes.is_some() {
                return unusable(TargetError::SizeOfDrive);
            }
            return block::Block::open(target, roots, &options.libraries).map(Self::Block);
        }
        if kind.is_file() {
            return file::RegularFile::existing(target, options, roots).map(Self::File);
        }
        unusable(TargetError::WrongKind(if kind.is_dir() {
            WrongKind::Directory
        } else if kind.is_char_device() {
            character_device(target)
        } else if kind.is_fifo() {
            WrongKind::Pipe
        } else {
            WrongKind::Socket
        }))
    }

    pub(crate) fn facts(&self) -> &TargetFacts {
        match self {
            Self::Block(block) => &block.facts,
            Self::File(file) => &file.facts,
        }
    }

    pub(crate) fn refusals(&self) -> Vec<Refusal> {
        match self {
            Self::Block(block) => block.refusals(),
            Self::File(file) => file.refusals(),
        }
    }

    pub(crate) fn file_state(&self) -> Result<Option<FileState>, DriveError> {
        match self {
            Self::Block(_) => Ok(None),
            Self::File(file) => file.state(),
        }
    }

    /// Removes the password that an interrupted purge left on a drive.
    pub(crate) fn unlock(&self) -> Result<(), DriveError> {
        match self {
            Self::Block(block) => block.unlock(),
            Self::File(_) => Ok(()),
        }
    }

    /// Returns the nearest NUMA node, if reported by the kernel.
    pub(crate) fn numa_node(&self) -> Option<u32> {
        match self {
            Self::Block(block) => block.numa_node(),
            Self::File(_) => None,
        }
    }

    /// Returns why completions cannot be polled; `None` if they can.
    pub(crate) fn unpollable(&self) -> Option<&'static str> {
        match self {
            Self::Block(block) if block.can_be_polled() => None,
            Self::Block(_) => Some("the device has no poll queues (queue/io_poll; see nvme.poll_queues)"),
            Self::File(_) => Some("a file may be on a device without poll queues"),
        }
    }

    pub(crate) fn needs_erase_confirmation(&self) -> bool {
        match self {
            Self::Block(_) => true,
            Self::File(file) => file.holds_data(),
        }
    }

    /// Returns whether the target accepts NVMe commands.
    pub(crate) fn is_nvme(&self) -> bool {
        match self {
            Self::Block(block) => block.is_nvme(),
            Self::File(_) => false,
        }
    }

    /// Returns whether the target accepts SCSI commands for its own blocks.
    pub(crate) fn is_scsi_disk(&self) -> bool {
        match self {
            Self::Block(block) => block.is_scsi_disk(),
            Self::File(_) => false,
        }
    }

    /// Opens the target read-only, also for NVMe commands if the load sends any.
    pub(crate) fn hold_to_read(&self, sends_commands: bool) -> Result<Held, DriveError> {
        let held = match self {
            Self::Block(block) => block.hold_to_read(),
            Self::File(file) => file.hold_to_read(),
        };
        held.map(|held| self.with_generic(held, sends_commands, false))
    }

    /// Opens the target exclusively for writing and checks the target again through the descriptor. If a file
    /// contains data, opening it must be `confirmed`.
    pub(crate) fn hold(&self, sends_commands: bool, confirmed: bool) -> Result<Held, DriveError> {
        let held = match self {
            Self::Block(block) => block.hold(),
            Self::File(file) => file.hold(confirmed),
        };
        held.map(|held| self.with_generic(held, sends_commands, true))
    }

    /// Verifies between two workloads, at little cost, that the target has not been moved and that nothing has been
    /// built on it since it was opened.
    pub(crate) fn check_in_between(&self, held: &Held) -> Result<(), DriveError> {
        match self {
            Self::Block(block) => block.check_in_between(held),
            Self::File(file) => file.check_in_between(held),
        }
    }

    fn with_generic(&self, held: Held, sends_commands: bool, writable: bool) -> Held {
        match self {
            Self::Block(block) if sends_commands => {
                Held { generic: Some(block.generic(&held, writable)), ..held }
            }
            _ => held,
        }
    }
}

fn character_device(target: &str) -> WrongKind {
    let nvme = target.strip_prefix("/dev/nvme").is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()));
    if nvme {
        WrongKind::NvmeController { path: target.to_owned() }
    } else if let Some(namespace) = target.strip_prefix("/dev/ng") {
        WrongKind::NvmeGeneric { namespace: namespace.to_owned() }
    } else {
        WrongKind::CharacterDevice
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsuitable_targets_are_distinguished() {
        let path = "/dev/nvme0".to_owned();
        assert_eq!(character_device("/dev/nvme0"), WrongKind::NvmeController { path });
        let namespace = "0n1".to_owned();
        assert_eq!(character_device("/dev/ng0n1"), WrongKind::NvmeGeneric { namespace });
        for other in ["/dev/null", "/dev/nvme-fabrics", "/dev/sg0"] {
            assert_eq!(character_device(other), WrongKind::CharacterDevice, "{other}");
        }
    }
}

#[cfg(test)]
mod wrong_targets;
