//! Packs a run's directory into an archive, and restores it.
//!
//! At all times, the directory or the archive is complete on disk: the new form is written under a temporary name,
//! synced, read back and renamed, and the old form is removed only when the rename is on disk. If a process dies
//! before that, both exist. While both exist, the directory is authoritative, and either command completes what was
//! interrupted.

use std::ffi::OsString;
use std::io::{self, BufRead, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::archive::{self, JOURNAL, Packer, RUN_FILE, Total, Unpacker};
use super::error::{LibraryError, io};
use super::nascent::{self, Nascent, hand_over};
use super::run::Run;
use crate::storage::{Extent, FoundKind, Owner, Stored, sync_folder};

const PIECE_BYTES: u64 = 1 << 16;

/// Result of packing or restoring a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archived {
    /// Path of the archive, or of the restored directory.
    pub path: PathBuf,
    /// Total size of the run's files.
    pub files_bytes: u64,
    /// Size of the archive.
    pub archive_bytes: u64,
}

/// A run's open directory.
struct Opened {
    folder: Box<dyn Stored>,
    /// Names and sizes of the directory's files, in the order in which an archive stores them.
    files: Vec<(OsString, u64)>,
    /// Size and modification time of each file, in the same order.
    extents: Vec<Extent>,
}

impl Opened {
    /// Returns whether the directory, which may have been renamed, still contains the same files.
    fn is_unchanged(&self, held: &dyn Stored) -> io::Result<bool> {
        let is_same = |((name, _), extent): (&(OsString, u64), &Extent)| {
            held.open_file(name).and_then(|file| file.extent()).is_ok_and(|now| now == *extent)
        };
        Ok(held.names()?.len() == self.files.len() && self.files.iter().zip(&self.extents).all(is_same))
    }
}

impl Run {
    /// Packs the run into one file beside its directory, and then removes the directory.
    ///
    /// `check` is called with the run in its directory and with the archive. Before the directory is removed, the
    /// archive is also read back and compared with it, byte for byte.
    ///
    /// # Errors
    /// Returns the error of `check`, or an error if the run is archived or in progress, its directory contains
    /// something other than regular files, another file has the name of the archive, or a system call fails. In all
    /// these cases, the directory still exists.
    pub fn archive<E: From<LibraryError>>(
        self,
        check: impl Fn(&Self) -> Result<(), E>,
    ) -> Result<Archived, E> {
        let id = &self.file.id;
        if self.is_archived() {
            return Err(LibraryError::AlreadyArchived { id: id.clone() }.into());
        }
        let journal = self.journal_path();
        let held = self.storage.open(&journal).map_err(|e| io("open", &journal, e))?;
        if !held.try_lock().map_err(|e| io("lock", &journal, e))? {
            return Err(LibraryError::InProgress { id: id.clone() }.into());
        }
        check(&self)?;
        let opened = self.opened()?;
        let (root, name) = (nascent::root_of(&self.dir), archive::name_of(self.name()));
        let path = root.join(&name);
        if archive::is_at(&*self.storage, &path) {
            // This archive was left by a process that died before it removed the directory; the run may have
            // continued since then.
            let is_earlier = self.is_earlier(&opened, &path).map_err(|e| io("read", &path, e))?;
            if !is_earlier {
                return Err(LibraryError::InTheWay { id: id.clone(), path }.into());
            }
        } else if self.storage.look(&path).is_ok() {
            return Err(LibraryError::InTheWay { id: id.clone(), path }.into());
        }
        let (mut file, temporary) = nascent::create_file(&*self.storage, root, &name)?;
        let written = self.pack(&opened, &mut *file, &*held).map_err(|e| E::from(io("write", &temporary, e)));
        let published = written.and_then(|archive_bytes| {
            check(&Self::open_archive(Arc::clone(&self.storage), &temporary)?)?;
            self.storage.rename(&temporary, &path).map_err(|e| io("create", &path, e))?;
            sync_folder(&*self.storage, root).map_err(|e| io("sync", root, e))?;
            Ok(archive_bytes)
        });
        if published.is_err() {
            // If this removal fails, a later process tries again.
            let _ = self.storage.remove_file(&temporary);
        }
        let archive_bytes = published?;
        nascent::remove_run(&*self.storage, &self.dir, |held| opened.is_unchanged(held))?;
        let files_bytes = opened.files.iter().map(|(_, bytes)| bytes).sum();
        Ok(Archived { path, files_bytes, archive_bytes })
    }

    /// Opens the run's directory, and checks that it can be archived.
    fn opened(&self) -> Result<Opened, LibraryError> {
        let failed = |e| io("list", &self.dir, e);
        let folder = self.storage.open_folder(&self.dir).map_err(failed)?;
        let not_archivable = |path: PathBuf| LibraryError::NotArchivable { id: self.file.id.clone(), path };
        let found = folder.found().map_err(failed)?;
        if !self.storage.look(&self.dir).is_ok_and(|there| there == found && found.kind == FoundKind::Folder)
        {
            return Err(not_archivable(self.dir.clone()));
        }
        let (mut files, mut extents, mut total) = (Vec::new(), Vec::new(), Total::default());
        let mut names = folder.names().map_err(failed)?;
        names.sort_by(|a, b| (archive::rank(a), a).cmp(&(archive::rank(b), b)));
        for name in names {
            let path = self.dir.join(&name);
            let is_file = folder.look(&name).is_ok_and(|found| found.kind == FoundKind::File);
            if !is_file || !archive::is_file_name(&name) {
                return Err(not_archivable(path));
            }
            let extent = folder.open_file(&name).and_then(|file| file.extent());
            let extent = extent.map_err(|e| io("read", &path, e))?;
            let bytes = extent.bytes;
            extents.push(extent);
            total.add(&name, bytes).map_err(|e| io("archive", &path, e))?;
            files.push((name, bytes));
        }
        Ok(Opened { folder, files, extents })
    }

    /// Writes the archive, and returns its size once it is on disk and has been compared with the directory. The
    /// archive gets the owner and group of the journal, if this process may set them. Only users who can read the run
    /// can read the archive.
    fn pack(&self, opened: &Opened, file: &mut dyn Stored, journal: &dyn Stored) -> io::Result<u64> {
        let sizes: Vec<u64> = opened.files.iter().map(|(_, bytes)| *bytes).collect();
        let created = u64::try_from(self.file.created.as_second()).unwrap_or(0);
        let folder_mode = opened.folder.mode()?;
        let of_class = |bits: u32| if folder_mode & bits == bits { bits & 0o044 } else { 0 };
        let allowed = 0o600 | of_class(0o050) | of_class(0o005);
        let (of_folder, owner) = (opened.folder.owner()?, journal.owner()?);
        // The owner of a journal in another user's directory may be unable to reach it.
        let user = if of_folder.user == owner.user { owner.user } else { file.owner()?.user };
        let allowed = if of_folder.group == owner.group { allowed } else { allowed & !0o070 };
        hand_over(file, Owner { user, ..owner }, journal.mode()? & allowed)?;
        let mut packer = Packer::new(file, created, &sizes)?;
        for (name, bytes) in &opened.files {
            let mut stored = opened.folder.open_file(name)?;
            packer.add(name, *bytes, &mut *stored.reader(*bytes)?)?;
        }
        packer.finish()?;
        file.sync_all()?;
        let extent = file.extent()?;
        match is_same(opened, file)? {
            true => Ok(extent.bytes),
            false => Err(io::Error::new(ErrorKind::InvalidData, "what was written differs from the run")),
        }
    }

    /// Returns whether the archive at `path` contains an earlier state of this run: the same `run.json`, the
    /// beginning of the journal, and no file that the directory lacks.
    fn is_earlier(&self, opened: &Opened, path: &Path) -> io::Result<bool> {
        let mut stored = self.storage.open(path)?;
        let mut archive = Unpacker::new(&mut *stored)?;
        while let Some((name, bytes)) = archive.next_file()? {
            let Some((_, own)) = opened.files.iter().find(|(own, _)| *own == name) else { return Ok(false) };
            if name != RUN_FILE && name != JOURNAL {
                continue;
            }
            let mut file = opened.folder.open_file(&name)?;
            let mut beginning = file.reader(*own)?.take(bytes);
            if *own < bytes || !is_same_content(&mut archive, &mut beginning)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Restores an archived run's directory, and then removes the archive. The directory and its files get the
    /// owner and group of the archive, if this process may set them.
    ///
    /// `check` is called with the restored run, whose files have also been compared with the archive.
    ///
    /// # Errors
    /// Returns the error of `check`, or an error if the run is not archived, something else has the name of its
    /// directory, or a system call fails. In all these cases, the archive still exists.
    pub fn unarchive<E: From<LibraryError>>(
        self,
        check: impl Fn(&Self) -> Result<(), E>,
    ) -> Result<Archived, E> {
        let (root, id) = (nascent::root_of(&self.dir), &self.file.id);
        let path = root.join(archive::name_of(self.name()));
        if !archive::is_at(&*self.storage, &path) {
            return Err(LibraryError::NotArchived { id: id.clone() }.into());
        }
        let mut stored = self.storage.open(&path).map_err(|e| io("open", &path, e))?;
        if !stored.try_lock().map_err(|e| io("lock", &path, e))? {
            return Err(LibraryError::InProgress { id: id.clone() }.into());
        }
        let archive_bytes = stored.extent().map_err(|e| io("read", &path, e))?.bytes;
        let dir = root.join(self.name());
        let is_new = self.storage.look(&dir).is_err();
        if is_new {
            self.restore(root, &dir, &mut *stored, &path)?;
        } else if !archive::is_folder_of_run(&*self.storage, &dir) {
            return Err(LibraryError::InTheWay { id: id.clone(), path: dir }.into());
        }
        // An existing directory was left by a process that died before it removed the archive, or before it removed the
        // directory.
        let restored = Self::open_on(Arc::clone(&self.storage), &dir)?;
        check(&restored)?;
        let opened = restored.opened()?;
        let is_whole =
            if is_new { is_same(&opened, &mut *stored) } else { restored.is_earlier(&opened, &path) };
        if !is_whole.map_err(|e| io("read", &path, e))? || restored.file.id != *id {
            return Err(LibraryError::InTheWay { id: id.clone(), path: dir }.into());
        }
        nascent::remove_file(&*self.storage, &path)?;
        let files_bytes = opened.files.iter().map(|(_, bytes)| bytes).sum();
        Ok(Archived { path: dir, files_bytes, archive_bytes })
    }

    /// Writes the archive's files into a new directory, which appears completely or not at all.
    fn restore(
        &self,
        root: &Path,
        dir: &Path,
        stored: &mut dyn Stored,
        path: &Path,
    ) -> Result<(), LibraryError> {
        let access = stored.owner().and_then(|owner| Ok((owner, stored.mode()? & 0o666)));
        let access = access.map_err(|e| io("read", path, e))?;
        let name = self.name().to_string_lossy();
        nascent::remove_left_over(&*self.storage, root, &nascent::path_of(root, &name));
        let mut nascent = Nascent::create(&self.storage, root, &name)?;
        let written = unpack(&mut nascent, stored, path, access).and_then(|()| nascent.publish(dir));
        if written.is_err() {
            nascent.discard();
        }
        written
    }
}

/// Writes all files of an archive into a directory.
fn unpack(
    nascent: &mut Nascent,
    stored: &mut dyn Stored,
    path: &Path,
    (owner, mode): (Owner, u32),
) -> Result<(), LibraryError> {
    let failed = |e| io("read", path, e);
    nascent.restrict(mode)?;
    let mut archive = Unpacker::new(stored).map_err(failed)?;
    while let Some((name, _)) = archive.next_file().map_err(failed)? {
        let (mut file, to) = nascent.create_file(&name)?;
        hand_over(&mut *file, owner, mode).map_err(|e| io("write", &to, e))?;
        loop {
            let mut piece = Vec::new();
            archive.by_ref().take(PIECE_BYTES).read_to_end(&mut piece).map_err(failed)?;
            if piece.is_empty() {
                break;
            }
            file.append(&piece).map_err(|e| io("write", &to, e))?;
        }
        file.sync_all().map_err(|e| io("write", &to, e))?;
    }
    nascent.hand_over(owner)
}

/// Returns whether an archive contains exactly the files of a directory.
fn is_same(opened: &Opened, archive: &mut dyn Stored) -> io::Result<bool> {
    let mut archive = Unpacker::new(archive)?;
    let mut expected = opened.files.iter();
    while let Some((name, _)) = archive.next_file()? {
        let Some((own, bytes)) = expected.next().filter(|(own, _)| *own == name) else { return Ok(false) };
        let mut file = opened.folder.open_file(own)?;
        if !is_same_content(&mut archive, &mut *file.reader(*bytes)?)? {
            return Ok(false);
        }
    }
    Ok(expected.next().is_none() && opened.folder.names()?.len() == opened.files.len())
}

fn is_same_content(one: &mut dyn BufRead, other: &mut dyn BufRead) -> io::Result<bool> {
    loop {
        let (first, second) = (one.fill_buf()?, other.fill_buf()?);
        let bytes = first.len().min(second.len());
        if first[..bytes] != second[..bytes] {
            return Ok(false);
        }
        if bytes == 0 {
            return Ok(first.is_empty() && second.is_empty());
        }
        one.consume(bytes);
        other.consume(bytes);
    }
}
