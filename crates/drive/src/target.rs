//! Real targets: block devices and regular files, inspected without touching them.

pub(crate) mod block;
pub(crate) mod file;
pub(crate) mod generic;
mod records;

pub use file::FileState;

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use record::TargetFacts;
use rustix::fs::{Access, Mode, OFlags};
use stdx::units::{MIB, amount_base2};

use crate::error::{DriveError, reason};
use crate::host::Roots;
use crate::refusal::Refusal;
use crate::{Engine, OpenOptions};

/// Anything smaller is a mistake, an empty card reader or a loop device without a file.
const SMALLEST_BYTES: u64 = 16 * MIB;

/// An open target: exclusively for writing, or read-only.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) fd: OwnedFd,
    /// I/Os use the page cache, because the file system does not support direct I/O.
    pub(crate) is_buffered: bool,
    /// The passthrough device, or why it is unavailable; none where not requested.
    pub(crate) generic: Option<Result<generic::Generic, String>>,
}

impl Held {
    /// Returns a descriptor that can be neither read nor written.
    pub(crate) fn nothing() -> Result<Self, DriveError> {
        let fd = rustix::fs::open("/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
            .map_err(|errno| DriveError::Unusable(format!("/: {}", reason(&errno.into()))))?;
        Ok(Self { fd, is_buffered: false, generic: None })
    }
}

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

    /// Removes the password left on a drive by an interrupted purge.
    pub(crate) fn unlock(&self) -> Result<(), DriveError> {
        match self {
            Self::Block(block) => block.unlock(),
            Self::File(_) => Ok(()),
        }
    }

    /// Returns the nearest NUMA node, where the kernel reports it.
    pub(crate) fn numa_node(&self) -> Option<u32> {
        match self {
            Self::Block(block) => block.numa_node(),
            Self::File(_) => None,
        }
    }

    /// Why completions cannot be polled; none where they can.
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

    /// Opens it exclusively for writing, and rechecks it through the descriptor. Opening a file that holds data must
    /// be `confirmed`.
    pub(crate) fn hold(&self, engine: Engine, confirmed: bool) -> Result<Held, DriveError> {
        let held = match self {
            Self::Block(block) => block.hold(),
            Self::File(file) => file.hold(confirmed),
        };
        held.map(|held| self.with_generic(held, engine, true))
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

fn hint(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EACCES) => "; run as root, or as a member of the group that owns it",
        Some(libc::EPERM) => "; the kernel or the container denies it, even to root",
        _ => "",
    }
}

fn check_capacity(target: &str, bytes: u64, empty: &str) -> Result<(), DriveError> {
    if bytes == 0 {
        return Err(DriveError::Unusable(format!("{target}: it has no capacity; {empty}")));
    }
    if bytes < SMALLEST_BYTES {
        return Err(DriveError::Unusable(format!(
            "{target}: {} is too small; the smallest target is {}",
            amount_base2(bytes),
            amount_base2(SMALLEST_BYTES)
        )));
    }
    Ok(())
}

/// Checks for write permission. Root always has it, except on a read-only file system.
fn write_permission(path: &Path) -> Option<Refusal> {
    match rustix::fs::access(path, Access::WRITE_OK) {
        Ok(()) => None,
        Err(rustix::io::Errno::ROFS) => Some(Refusal::ReadOnly),
        Err(_) => Some(Refusal::NoPermission),
    }
}

/// Opens exactly what is at `path` for reading: does not follow a symbolic link put there since, or block on a pipe.
fn open_nothing_else(path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty())
}

/// Like [`open_nothing_else`], with direct I/O where supported, for a load.
fn open_to_load(path: &Path) -> rustix::io::Result<Held> {
    let held = open_direct(path, OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK)?;
    // io_uring would fail I/Os that have to wait.
    let flags = rustix::fs::fcntl_getfl(&held.fd)?;
    rustix::fs::fcntl_setfl(&held.fd, flags.difference(OFlags::NONBLOCK))?;
    Ok(held)
}

/// Opens with direct I/O where supported, otherwise buffered.
fn open_direct(path: &Path, flags: OFlags) -> rustix::io::Result<Held> {
    let open = |flags| rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::empty());
    match open(flags | OFlags::DIRECT) {
        Ok(fd) => Ok(Held { fd, is_buffered: false, generic: None }),
        Err(rustix::io::Errno::INVAL) => Ok(Held { fd: open(flags)?, is_buffered: true, generic: None }),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod wrong_targets;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_for_a_load_waits_and_is_of_nothing_else() {
        let dir = tempfile::tempdir().expect("a folder");
        let (file, link, pipe) = (dir.path().join("file"), dir.path().join("link"), dir.path().join("pipe"));
        std::fs::write(&file, [0; 4096]).expect("a file");
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        let mode = Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).expect("a pipe");
        let held = open_to_load(&file).expect("a file");
        let flags = rustix::fs::fcntl_getfl(&held.fd).expect("flags");
        assert!(!flags.contains(OFlags::NONBLOCK) && (held.is_buffered || flags.contains(OFlags::DIRECT)));
        assert_eq!(open_to_load(&link).err(), Some(rustix::io::Errno::LOOP));
        drop(open_to_load(&pipe));
    }

    #[test]
    fn files_without_direct_io_are_opened_all_the_same() {
        let without = open_direct(Path::new("/proc/self/stat"), OFlags::RDONLY).expect("a file in /proc");
        assert!(without.is_buffered);
        let file = tempfile::NamedTempFile::new().expect("a file");
        assert!(!open_direct(file.path(), OFlags::RDWR).expect("a file").is_buffered);
    }
}
