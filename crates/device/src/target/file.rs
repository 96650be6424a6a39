//! A regular file as a target, for trying everything without a drive.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use record::errno::reason;
use record::{TargetFacts, TargetKind};
use rustix::fs::{AtFlags, FallocateFlags, FlockOperation, Mode, OFlags, SeekFrom, StatxFlags};
use rustix::io::Errno;

use super::opening::{
    Held, SMALLEST_BYTES, check_capacity, open_direct, open_nothing_else, open_to_load, write_permission,
};
use super::records;
use crate::error::confirm::Unconfirmed;
use crate::error::target::TargetError;
use crate::error::{DriveError, PurgeError};
use crate::open_options::OpenOptions;
use crate::refusal::Refusal;
use crate::signature;
use crate::usage::descriptor::{self, Elsewhere};
use crate::usage::{self, Thing};
use sysfs::Roots;

/// Alignment for direct I/O, used if the file system does not report it.
const DEFAULT_BLOCK_BYTES: u32 = 512;

/// A regular file, which may not exist yet.
#[derive(Debug, Clone)]
pub(crate) struct RegularFile {
    pub(crate) facts: TargetFacts,
    path: PathBuf,
    /// The existing file; `None` if it does not exist yet.
    found: Option<Identity>,
    /// Libraries of runs, whose files cannot be targets.
    libraries: Vec<PathBuf>,
    roots: Roots,
}

/// Distinguishes a file from all others, even from one that reuses its name and inode.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Identity {
    thing: Thing,
    birth: Option<String>,
}

/// State of a file, which reveals whether others have changed it since a run was interrupted.
#[derive(Debug, Clone)]
pub struct FileState {
    /// Length of the file.
    pub length_bytes: u64,
    /// Time of the last change to content or attributes, by the file system's clock. Unlike the modification
    /// time, it cannot be set back.
    pub modified: SystemTime,
    /// Signatures of file systems and other formats, which a run never writes.
    pub signatures: Vec<Refusal>,
}

impl Identity {
    fn of(file: impl AsFd) -> Option<Self> {
        let thing = usage::thing_of_file(&file).filter(|thing| matches!(thing, Thing::File { .. }))?;
        Some(Self { thing, birth: birth(file) })
    }
}

impl RegularFile {
    /// Returns a file that will be created when the target is armed.
    pub(crate) fn planned(target: &str, options: &OpenOptions) -> Result<Self, DriveError> {
        let path = Path::new(target);
        let missing = |problem: TargetError| DriveError::target(target, problem);
        if path.starts_with("/dev") && !path.starts_with("/dev/shm") {
            return Err(missing(TargetError::NoDevice));
        }
        if fs::symlink_metadata(path).is_ok() {
            return Err(missing(TargetError::DanglingLink));
        }
        let Some(size) = options.size_bytes else {
            return Err(missing(TargetError::NoFile));
        };
        let parent = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        if !parent.is_dir() {
            return Err(missing(TargetError::NoDirectory(parent.to_owned())));
        }
        let parent = stdx::files::resolve(parent).map_err(|error| missing(error.into()))?;
        let name = path.file_name().ok_or_else(|| missing(TargetError::NotFileName))?;
        let path = parent.join(name);
        Self::new(target, path, size, None, DEFAULT_BLOCK_BYTES, options, Roots::default())
    }

    /// Returns an existing file.
    pub(crate) fn existing(target: &str, options: &OpenOptions, roots: Roots) -> Result<Self, DriveError> {
        let unusable = |error: io::Error| DriveError::target(target, error);
        let path = stdx::files::resolve(Path::new(target)).map_err(unusable)?;
        let file = open_nothing_else(&path, OFlags::RDONLY).map_err(|e| unusable(e.into()))?;
        let file = File::from(file);
        let length = file.metadata().map_err(unusable)?.len();
        let size = options.size_bytes.unwrap_or(length);
        let identity = Identity::of(&file);
        let identity = identity.ok_or_else(|| DriveError::target(target, TargetError::Replaced))?;
        let block_bytes = direct_block_bytes(&file);
        let mut found = Self::new(target, path, size, Some(identity), block_bytes, options, roots)?;
        found.facts.attachment = birth(&file);
        Ok(found)
    }

    fn new(
        target: &str,
        path: PathBuf,
        size: u64,
        found: Option<Identity>,
        block_bytes: u32,
        options: &OpenOptions,
        roots: Roots,
    ) -> Result<Self, DriveError> {
        // Direct I/O cannot reach a partial block at the end.
        let capacity_bytes = size / u64::from(block_bytes) * u64::from(block_bytes);
        check_size(options.size_bytes, size, capacity_bytes)
            .map_err(|problem| DriveError::target(target, problem))?;
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
        Ok(Self { facts, path, found, libraries: options.libraries.clone(), roots })
    }

    pub(crate) fn refusals(&self) -> Vec<Refusal> {
        usage::settled(|| self.look())
    }

    fn look(&self) -> Vec<Refusal> {
        let mut found = Vec::new();
        let place = if self.found.is_some() { &self.path } else { self.path.parent().unwrap_or(&self.path) };
        found.extend(write_permission(place));
        found.extend(self.lack_of_space(place));
        let Some(identity) = &self.found else { return found };
        match open_nothing_else(&self.path, OFlags::RDONLY) {
            Ok(file) if Identity::of(&file).as_ref() == Some(identity) => found.extend(self.users(&file)),
            Ok(_) => found.push(Refusal::Unknown { what: TargetError::Replaced.to_string() }),
            // Without read permission, the file cannot be inspected; a missing write permission has already
            // been reported.
            Err(Errno::ACCESS) if !found.is_empty() => {}
            Err(errno) => found.push(Refusal::Unknown { what: reason(&errno.into()) }),
        }
        found
    }

    /// Returns all other users of the file; this process must not have any descriptor for it except `file`.
    fn users(&self, file: &OwnedFd) -> Vec<Refusal> {
        let unknown = |what: String| vec![Refusal::Unknown { what }];
        let Some(Identity { thing, .. }) = Identity::of(file) else {
            return unknown(TargetError::Replaced.to_string());
        };
        let facts = match usage::gather(&self.roots, &[(thing, &self.path)]) {
            Ok(facts) => facts,
            Err(error) => return unknown(reason(&error)),
        };
        let mut found = usage::users_and_claims(&self.roots, &facts, thing);
        if self.is_of_run(file) {
            found.push(Refusal::OfRun);
        }
        if !found.iter().any(|refusal| matches!(refusal, Refusal::Swap { .. })) && descriptor::is_swap(file) {
            found.push(Refusal::Swap { device: self.facts.path.clone() });
        }
        if found.is_empty() {
            let is_whole = !facts.is_stored_elsewhere(thing);
            found.extend(held_elsewhere(file, is_whole, facts.unseen_user_of_files()));
        }
        found
    }

    /// Returns whether the file belongs to a run, whatever its name.
    fn is_of_run(&self, file: &OwnedFd) -> bool {
        let belongs_to_run =
            ["run.json", "journal"].iter().all(|name| self.path.with_file_name(name).is_file());
        let thing = usage::thing_of_file(file);
        belongs_to_run
            || records::begins_as_record(file)
            || thing.is_some_and(|t| records::are_in(&self.libraries, t))
    }

    fn lack_of_space(&self, place: &Path) -> Option<Refusal> {
        let volume = rustix::fs::statvfs(place).ok()?;
        let occupied = if self.found.is_none() { 0 } else { fs::metadata(&self.path).ok()?.blocks() * 512 };
        let needed_bytes = self.facts.capacity_bytes.saturating_sub(occupied);
        let free_bytes = volume.f_bavail.saturating_mul(volume.f_frsize);
        (needed_bytes > free_bytes).then_some(Refusal::NoSpace { needed_bytes, free_bytes })
    }

    /// Returns the file's length, the time of its last change and its signatures; `None` if it does not exist yet.
    pub(crate) fn state(&self) -> Result<Option<FileState>, DriveError> {
        let Some(identity) = &self.found else { return Ok(None) };
        let file = open_nothing_else(&self.path, OFlags::RDONLY).map_err(|e| self.unusable(e.into()))?;
        if Identity::of(&file).as_ref() != Some(identity) {
            return Err(DriveError::target(&self.facts.path, TargetError::Replaced));
        }
        let file = File::from(file);
        let read = || {
            let metadata = file.metadata()?;
            let signatures = signature::refusals(&file, metadata.len(), &self.facts.path)?;
            let changed = Duration::new(metadata.ctime().max(0) as u64, metadata.ctime_nsec() as u32);
            let modified = metadata.modified()?.max(SystemTime::UNIX_EPOCH + changed);
            Ok(FileState { length_bytes: metadata.len(), modified, signatures })
        };
        read().map(Some).map_err(|e| self.unusable(e))
    }

    /// Returns whether the file contains data; a new file or one that consists only of holes does not.
    pub(crate) fn holds_data(&self) -> bool {
        if self.found.is_none() {
            return false;
        }
        open_nothing_else(&self.path, OFlags::RDONLY).map_or(true, |file| has_data(&file))
    }

    /// Opens the file, creating it if it does not exist, locks it, and checks it again through the
    /// descriptor. If the file contains data, opening it must be `confirmed`.
    pub(crate) fn hold(&self, confirmed: bool) -> Result<Held, DriveError> {
        let held = match &self.found {
            Some(identity) => self.hold_existing(identity)?,
            None => self.create()?,
        };
        let prepared = self.prepare(&held, confirmed);
        if prepared.is_err() && self.found.is_none() {
            self.discard_created(&held);
        }
        prepared.map(|()| held)
    }

    fn unusable(&self, error: io::Error) -> DriveError {
        DriveError::target(&self.facts.path, error)
    }

    fn hold_existing(&self, identity: &Identity) -> Result<Held, DriveError> {
        let anchor = open_nothing_else(&self.path, OFlags::PATH).map_err(|e| self.unusable(e.into()))?;
        if Identity::of(&anchor).as_ref() != Some(identity) {
            return Err(DriveError::target(&self.facts.path, TargetError::Replaced));
        }
        // Open the file through the descriptor, so that it cannot be replaced between the check and the opening.
        let path = format!("/proc/self/fd/{}", anchor.as_raw_fd());
        open_direct(Path::new(&path), OFlags::RDWR).map_err(|e| self.unusable(e.into()))
    }

    /// Creates the file and returns the only descriptor for it.
    fn create(&self) -> Result<Held, DriveError> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::open(&self.path, flags, Mode::from_raw_mode(0o644))
            .map_err(|e| self.unusable(e.into()))?;
        let is_buffered = rustix::fs::fcntl_setfl(&fd, OFlags::DIRECT).is_err();
        Ok(Held { fd, is_buffered, generic: None, loops: Vec::new() })
    }

    /// Removes the created file, unless another file has replaced it.
    fn discard_created(&self, held: &Held) {
        if usage::thing_at(&self.path) == usage::thing_of_file(&held.fd) {
            // Nothing was written yet, so report only the first error.
            drop(fs::remove_file(&self.path));
        }
    }

    fn prepare(&self, held: &Held, confirmed: bool) -> Result<(), DriveError> {
        let refused = |refusals| DriveError::Refused { target: self.facts.path.clone(), refusals };
        // A child process keeps the lock of an earlier inspection until it calls exec.
        let lock = || rustix::fs::flock(&held.fd, FlockOperation::NonBlockingLockExclusive);
        let busy = usage::settled(|| lock().err().map(|_| Refusal::Busy).into_iter().collect());
        if !busy.is_empty() {
            return Err(refused(busy));
        }
        self.recheck(held)?;
        if !confirmed && has_data(&held.fd) {
            let identity = self.facts.identity.clone();
            let target = self.facts.path.clone();
            return Err(Unconfirmed::Target { target, identity, given: None }.into());
        }
        let file = File::from(held.fd.try_clone().map_err(|e| self.unusable(e))?);
        if file.metadata().map_err(|e| self.unusable(e))?.len() < self.facts.capacity_bytes {
            file.set_len(self.facts.capacity_bytes).map_err(|e| self.unusable(e))?;
        }
        Ok(())
    }

    /// Verifies again that the open file has no other users.
    pub(crate) fn recheck(&self, held: &Held) -> Result<(), DriveError> {
        let refusals = usage::settled(|| self.users(&held.fd));
        if refusals.is_empty() {
            return Ok(());
        }
        Err(DriveError::Refused { target: self.facts.path.clone(), refusals })
    }

    /// Verifies that nothing has been built on the file. A lease suffices if it shows that the file is not open
    /// elsewhere, unless the file is on an overlay, where a lease does not cover the stored file. Otherwise, gathers
    /// all users.
    pub(crate) fn check_in_between(&self, held: &Held) -> Result<(), DriveError> {
        if descriptor::open_elsewhere(&held.fd) == Elsewhere::No && !usage::overlay::is_on_one(&held.fd) {
            return Ok(());
        }
        match self.users(&held.fd).into_iter().find(usage::is_built_on_it) {
            None => Ok(()),
            Some(user) => Err(DriveError::CameIntoUse { target: self.facts.path.clone(), user }),
        }
    }

    /// Opens the file read-only; it must exist and have the requested size.
    pub(crate) fn hold_to_read(&self) -> Result<Held, DriveError> {
        let unusable = |problem: TargetError| DriveError::target(&self.facts.path, problem);
        if self.found.is_none() {
            return Err(unusable(TargetError::NoFileToRead));
        }
        let failed = |error: io::Error| unusable(error.into());
        let held = open_to_load(&self.path).map_err(|e| failed(e.into()))?;
        if Identity::of(&held.fd) != self.found {
            return Err(unusable(TargetError::Replaced));
        }
        let length = File::from(held.fd.try_clone().map_err(failed)?).metadata().map_err(failed)?.len();
        if length < self.facts.capacity_bytes {
            let capacity_bytes = self.facts.capacity_bytes;
            return Err(unusable(TargetError::Shorter { length_bytes: length, capacity_bytes }));
        }
        Ok(held)
    }

    /// Punches a hole over the whole file.
    pub(crate) fn punch(&self, held: &Held) -> Result<(), DriveError> {
        self.recheck(held)?;
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        rustix::fs::fallocate(held.fd.as_fd(), flags, 0, self.facts.capacity_bytes).map_err(|errno| {
            let file = self.facts.path.clone();
            match errno {
                Errno::OPNOTSUPP | Errno::NOSYS => PurgeError::NoHoles { file },
                other => PurgeError::Hole { file, source: other.into() },
            }
        })?;
        Ok(())
    }
}

/// Checks the size of a file: the specified size or, if there is none, the file's length.
fn check_size(given: Option<u64>, size: u64, capacity_bytes: u64) -> Result<(), TargetError> {
    match given {
        Some(bytes) if bytes < SMALLEST_BYTES => {
            Err(TargetError::SizeTooSmall { bytes, least_bytes: SMALLEST_BYTES })
        }
        _ if size > 0 && capacity_bytes == 0 => {
            Err(TargetError::NoBlock { bytes: size, least_bytes: SMALLEST_BYTES })
        }
        _ => check_capacity(capacity_bytes, TargetError::EmptyFile),
    }
}

/// Returns the offset alignment for direct I/O on this file.
pub(crate) fn direct_block_bytes(file: impl AsFd) -> u32 {
    rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN)
        .ok()
        .filter(|s| s.stx_mask & StatxFlags::DIOALIGN.bits() != 0)
        .map(|s| s.stx_dio_offset_align)
        .filter(|&bytes| bytes >= DEFAULT_BLOCK_BYTES && bytes.is_power_of_two())
        .unwrap_or(DEFAULT_BLOCK_BYTES)
}

/// Returns the volume, inode and birth time of this file. They distinguish it from all other files, even from a file
/// that replaces it. `None` if the file system does not store birth times, because inode numbers alone may be reused.
pub(crate) fn birth(file: impl AsFd) -> Option<String> {
    let file = File::from(file.as_fd().try_clone_to_owned().ok()?);
    let metadata = file.metadata().ok()?;
    let born = metadata.created().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(format!("{}:{}:{}", metadata.dev(), metadata.ino(), born.as_nanos()))
}

fn has_data(file: impl AsFd) -> bool {
    rustix::fs::seek(file, SeekFrom::Data(0)) != Err(Errno::NXIO)
}

/// Checks for users of an open file that only the kernel can see. A lease covers only the file itself. If its
/// content is stored in another file (`!is_whole`), the users of that file must be known.
fn held_elsewhere(file: &OwnedFd, is_whole: bool, unseen_user: Option<&str>) -> Option<Refusal> {
    let locked = descriptor::locked_by_others(file) || is_flocked(file);
    if locked {
        return Some(Refusal::Busy);
    }
    match descriptor::open_elsewhere(file) {
        Elsewhere::No if is_whole => None,
        Elsewhere::Open => Some(Refusal::OpenElsewhere),
        // If the lease does not settle it, refuse the file unless every possible user of files is visible.
        Elsewhere::No | Elsewhere::Unknown => {
            unseen_user.map(|what| Refusal::UnknownUser { what: what.to_owned() })
        }
    }
}

/// Returns whether the whole file is locked by others. A lock held through `file` is kept.
fn is_flocked(file: &OwnedFd) -> bool {
    rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_a_size_of_a_target() {
        let too_small = check_size(Some(2), 2, 0);
        assert!(matches!(too_small, Err(TargetError::SizeTooSmall { bytes: 2, .. })), "{too_small:?}");
        assert!(matches!(check_size(None, 100, 0), Err(TargetError::NoBlock { bytes: 100, .. })));
        assert!(matches!(check_size(None, 0, 0), Err(TargetError::EmptyFile)));
        assert!(matches!(check_size(None, 4096, 4096), Err(TargetError::TooSmall { bytes: 4096, .. })));
        assert!(check_size(Some(SMALLEST_BYTES), SMALLEST_BYTES, SMALLEST_BYTES).is_ok());
    }
}
