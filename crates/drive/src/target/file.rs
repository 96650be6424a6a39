//! A regular file: a stand-in for a drive on which everything can be tried.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use record::{TargetFacts, TargetKind};
use rustix::fs::{AtFlags, FallocateFlags, FlockOperation, Mode, OFlags, SeekFrom, StatxFlags};
use rustix::io::Errno;

use super::{Held, check_capacity, hint, open_direct, write_permission};
use crate::OpenOptions;
use crate::error::{DriveError, reason};
use crate::host::Roots;
use crate::refusal::Refusal;

/// Assumed where the file system does not tell what direct I/O needs.
const DEFAULT_BLOCK_BYTES: u32 = 512;

/// A regular file, perhaps one still to be made.
#[derive(Debug, Clone)]
pub(crate) struct RegularFile {
    pub(crate) facts: TargetFacts,
    path: PathBuf,
    is_new: bool,
    roots: Roots,
}

impl RegularFile {
    /// A file that will be made when the target is armed.
    pub(crate) fn planned(target: &str, options: &OpenOptions) -> Result<Self, DriveError> {
        let path = Path::new(target);
        let missing = |problem: String| DriveError::Unusable(format!("{target}: {problem}"));
        if path.starts_with("/dev") && !path.starts_with("/dev/shm") {
            return Err(missing("there is no such device; lsblk shows those that are there".into()));
        }
        if fs::symlink_metadata(path).is_ok() {
            return Err(missing("it is a symbolic link to nothing".into()));
        }
        let Some(size) = options.size_bytes else {
            return Err(missing("there is no such file; to have it made, say how large with --size".into()));
        };
        let parent = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        if !parent.is_dir() {
            return Err(missing(format!("there is no directory {}", parent.display())));
        }
        let parent = fs::canonicalize(parent).map_err(|e| missing(reason(&e)))?;
        let name = path.file_name().ok_or_else(|| missing("it is not the name of a file".into()))?;
        let path = parent.join(name);
        Self::new(target, path, size, true, DEFAULT_BLOCK_BYTES, Roots::default())
    }

    /// A file that is there.
    pub(crate) fn existing(target: &str, options: &OpenOptions, roots: Roots) -> Result<Self, DriveError> {
        let unusable = |e: io::Error| DriveError::Unusable(format!("{target}: {}{}", reason(&e), hint(&e)));
        let path = fs::canonicalize(target).map_err(unusable)?;
        let file = File::open(&path).map_err(unusable)?;
        let length = file.metadata().map_err(unusable)?.len();
        let size = options.size_bytes.unwrap_or(length);
        let mut found = Self::new(target, path, size, false, direct_block_bytes(&file), roots)?;
        found.facts.attachment = birth(&file);
        Ok(found)
    }

    fn new(
        target: &str,
        path: PathBuf,
        size: u64,
        is_new: bool,
        block_bytes: u32,
        roots: Roots,
    ) -> Result<Self, DriveError> {
        // What is behind the last whole block cannot be reached with direct I/O.
        let capacity_bytes = size / u64::from(block_bytes) * u64::from(block_bytes);
        check_capacity(target, capacity_bytes, "say how large it shall be with --size")?;
        let identity = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let facts = TargetFacts {
            kind: TargetKind::File,
            path: target.to_owned(),
            identity,
            attachment: None,
            vendor: None,
            model: None,
            serial: None,
            firmware: None,
            interface: None,
            nand: None,
            capacity_bytes,
            logical_block_bytes: block_bytes,
            physical_block_bytes: block_bytes,
            rotational: None,
            simulated: None,
            array: None,
        };
        Ok(Self { facts, path, is_new, roots })
    }

    pub(crate) fn refusals(&self) -> Vec<Refusal> {
        let mut found = Vec::new();
        let place = if self.is_new { self.path.parent().unwrap_or(&self.path) } else { &self.path };
        found.extend(write_permission(place));
        found.extend(self.lack_of_space(place));
        if self.is_new {
            return found;
        }
        if ["run.json", "journal"].iter().all(|name| self.path.with_file_name(name).is_file()) {
            found.push(Refusal::OfRun);
        }
        found.extend(self.roots.loops_over(&self.path).into_iter().map(|by| Refusal::LoopBacking { by }));
        match self.roots.swaps() {
            Ok(swaps) if swaps.iter().any(|swap| same_file(swap, &self.path)) => {
                found.push(Refusal::Swap { device: self.facts.path.clone() });
            }
            Ok(_) => {}
            Err(error) => found.push(Refusal::Unknown { what: reason(&error) }),
        }
        let locked = File::open(&self.path).is_ok_and(|f| {
            rustix::fs::flock(&f, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK)
        });
        if locked {
            found.push(Refusal::Busy);
        }
        found
    }

    fn lack_of_space(&self, place: &Path) -> Option<Refusal> {
        let volume = rustix::fs::statvfs(place).ok()?;
        let occupied = if self.is_new { 0 } else { fs::metadata(&self.path).ok()?.blocks() * 512 };
        let needed_bytes = self.facts.capacity_bytes.saturating_sub(occupied);
        let free_bytes = volume.f_bavail.saturating_mul(volume.f_frsize);
        (needed_bytes > free_bytes).then_some(Refusal::NoSpace { needed_bytes, free_bytes })
    }

    /// Whether anything is in the file: a new one and one of holes only have nothing to lose.
    pub(crate) fn holds_data(&self) -> bool {
        if self.is_new {
            return false;
        }
        let Ok(file) = File::open(&self.path) else { return true };
        rustix::fs::seek(&file, SeekFrom::Data(0)) != Err(Errno::NXIO)
    }

    /// Opens the file, making it first if it is new, and locks it.
    pub(crate) fn hold(&self) -> Result<Held, DriveError> {
        let unusable = |e: io::Error| DriveError::Unusable(format!("{}: {}", self.facts.path, reason(&e)));
        if self.is_new {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            rustix::fs::open(&self.path, flags, Mode::from_raw_mode(0o644))
                .map_err(|e| unusable(e.into()))?;
        }
        let held = self.open_and_lock();
        if held.is_err() && self.is_new {
            // Nothing was written; leave things as they were found. The first error is the one to tell.
            let _ = fs::remove_file(&self.path);
        }
        held
    }

    /// Opens the file without the right to write; it must be there and as large as was asked.
    pub(crate) fn hold_to_read(&self) -> Result<Held, DriveError> {
        let unusable = |problem: String| DriveError::Unusable(format!("{}: {problem}", self.facts.path));
        if self.is_new {
            return Err(unusable("there is no such file, and reading makes none".into()));
        }
        let failed = |e: io::Error| unusable(format!("{}{}", reason(&e), hint(&e)));
        let held = open_direct(&self.path, OFlags::RDONLY).map_err(|e| failed(e.into()))?;
        let length = File::from(held.fd.try_clone().map_err(failed)?).metadata().map_err(failed)?.len();
        if length < self.facts.capacity_bytes {
            return Err(unusable(format!(
                "it has {length} B and not {}; read less of it with --size",
                self.facts.capacity_bytes
            )));
        }
        Ok(held)
    }

    fn open_and_lock(&self) -> Result<Held, DriveError> {
        let unusable = |e: io::Error| DriveError::Unusable(format!("{}: {}", self.facts.path, reason(&e)));
        let held = open_direct(&self.path, OFlags::RDWR).map_err(|e| unusable(e.into()))?;
        rustix::fs::flock(&held.fd, FlockOperation::NonBlockingLockExclusive).map_err(|_| {
            DriveError::Refused { target: self.facts.path.clone(), refusals: vec![Refusal::Busy] }
        })?;
        let file = File::from(held.fd.try_clone().map_err(unusable)?);
        if file.metadata().map_err(unusable)?.len() < self.facts.capacity_bytes {
            file.set_len(self.facts.capacity_bytes).map_err(unusable)?;
        }
        Ok(held)
    }

    /// Makes the whole file one hole.
    pub(crate) fn punch(&self, held: &Held) -> Result<(), DriveError> {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        rustix::fs::fallocate(held.fd.as_fd(), flags, 0, self.facts.capacity_bytes).map_err(|errno| {
            match errno {
                Errno::OPNOTSUPP | Errno::NOSYS => DriveError::NoPurge(format!(
                    "the file system of {} cannot make holes; run without a purge step",
                    self.facts.path
                )),
                other => DriveError::device(format!(
                    "making a hole of {} failed: {}",
                    self.facts.path,
                    reason(&other.into())
                )),
            }
        })
    }
}

/// What direct I/O on this file has to be aligned to.
pub(crate) fn direct_block_bytes(file: impl AsFd) -> u32 {
    rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN)
        .ok()
        .filter(|s| s.stx_mask & StatxFlags::DIOALIGN.bits() != 0)
        .map(|s| s.stx_dio_offset_align)
        .filter(|&bytes| bytes >= DEFAULT_BLOCK_BYTES && bytes.is_power_of_two())
        .unwrap_or(DEFAULT_BLOCK_BYTES)
}

/// What tells this file from any other, also from one of its name that takes its place: volume, number and time of
/// birth. None where the file system keeps no such time, for numbers are given out again.
pub(crate) fn birth(file: impl AsFd) -> Option<String> {
    let file = File::from(file.as_fd().try_clone_to_owned().ok()?);
    let metadata = file.metadata().ok()?;
    let born = metadata.created().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(format!("{}:{}:{}", metadata.dev(), metadata.ino(), born.as_nanos()))
}

fn same_file(a: &Path, b: &Path) -> bool {
    let key = |path| fs::metadata(path).map(|m| (m.dev(), m.ino())).ok();
    key(a).is_some() && key(a) == key(b)
}
