//! Real targets: block devices and regular files, inspected without touching them.

pub(crate) mod block;
pub(crate) mod file;
pub(crate) mod generic;
mod opening;
mod records;

pub use file::FileState;
pub(crate) use opening::Held;

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;

use engine::Engine;
use record::TargetFacts;
use record::errno::reason;

use crate::error::DriveError;
use crate::host::Roots;
use crate::open_options::OpenOptions;
use crate::refusal::Refusal;
use opening::hint;

/// Why fault options are refused on real targets.
pub(crate) const ONLY_SIMULATED_FAIL: &str =
    "faults can be injected only into simulated drives (sim:MODEL); omit --sim-fault and --no-sim-faults";

/// A real target as found.
#[derive(Debug, Clone)]
pub(crate) enum Real {
    Block(block::Block),
    File(file::RegularFile),
}

impl Real {
    /// Inspects `target` without changing it.
    pub(crate) fn open(target: &str, options: &OpenOptions, roots: Roots) -> Result<Self, DriveError> {
        let unusable = |problem: String| Err(DriveError::Unusable(format!("{target}: {problem}")));
        let only_simulated = [
            (options.scale.is_some(), "--scale applies only to simulated drives (sim:MODEL)"),
            (options.sim_faults.is_some(), ONLY_SIMULATED_FAIL),
        ];
        if let Some((_, why)) = only_simulated.into_iter().find(|(asked, _)| *asked) {
            return Err(DriveError::Invalid(format!("{target}: {why}")));
        }
        let kind = match fs::metadata(target) {
            Ok(meta) => meta.file_type(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return file::RegularFile::planned(target, options).map(Self::File);
            }
            Err(error) => return unusable(format!("{}{}", reason(&error), hint(&error))),
        };
        if kind.is_block_device() {
            if options.size_bytes.is_some() {
                return unusable("--size applies only to files; a drive is always tested as a whole".into());
            }
            return block::Block::open(target, roots, &options.libraries).map(Self::Block);
        }
        if kind.is_file() {
            return file::RegularFile::existing(target, options, roots).map(Self::File);
        }
        unusable(if kind.is_dir() {
            "it is a directory; name a block device or a file".into()
        } else if kind.is_char_device() {
            character_device(target)
        } else if kind.is_fifo() {
            "it is a pipe; name a block device or a file".into()
        } else {
            "it is a socket; name a block device or a file".into()
        })
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

    /// Returns the nearest NUMA node, if the kernel reports it.
    pub(crate) fn numa_node(&self) -> Option<u32> {
        match self {
            Self::Block(block) => block.numa_node(),
            Self::File(_) => None,
        }
    }

    /// Why completions cannot be polled; `None` if they can.
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

    /// Whether it accepts NVMe commands.
    pub(crate) fn is_nvme(&self) -> bool {
        match self {
            Self::Block(block) => block.is_nvme(),
            Self::File(_) => false,
        }
    }

    /// Opens it read-only.
    pub(crate) fn hold_to_read(&self, engine: Engine) -> Result<Held, DriveError> {
        let held = match self {
            Self::Block(block) => block.hold_to_read(),
            Self::File(file) => file.hold_to_read(),
        };
        held.map(|held| self.with_generic(held, engine, false))
    }

    /// Opens it exclusively for writing, and rechecks it through the descriptor. Opening a file that contains
    /// data must be `confirmed`.
    pub(crate) fn hold(&self, engine: Engine, confirmed: bool) -> Result<Held, DriveError> {
        let held = match self {
            Self::Block(block) => block.hold(),
            Self::File(file) => file.hold(confirmed),
        };
        held.map(|held| self.with_generic(held, engine, true))
    }

    /// Verifies between two workloads, at little cost, that nobody has moved it or built anything on it since it was
    /// opened.
    pub(crate) fn check_in_between(&self, held: &Held) -> Result<(), DriveError> {
        match self {
            Self::Block(block) => block.check_in_between(held),
            Self::File(file) => file.check_in_between(held),
        }
    }

    fn with_generic(&self, held: Held, engine: Engine, writable: bool) -> Held {
        match self {
            Self::Block(block) if engine == Engine::IoUringCmd => {
                Held { generic: Some(block.generic(&held, writable)), ..held }
            }
            _ => held,
        }
    }
}

fn character_device(target: &str) -> String {
    let nvme = target.strip_prefix("/dev/nvme").is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()));
    if nvme {
        format!("it is an NVMe controller; name one of its namespaces, such as {target}n1")
    } else if let Some(namespace) = target.strip_prefix("/dev/ng") {
        format!(
            "it is the generic device of an NVMe namespace; name its block device, /dev/nvme{namespace}, \
             with --ioengine io_uring_cmd"
        )
    } else {
        "it is a character device; name a block device or a file".into()
    }
}

#[cfg(test)]
mod wrong_targets;
