//! The file system of this host.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _, fchown};
use std::path::Path;

use stdx::files::{self, Links, ReadError};

use super::interface::{Extent, Found, FoundKind, Owner, Storage, Stored};

/// Limit on the memory that is allocated for a file before it is read.
const MOST_ROOM_BYTES: u64 = 1 << 20;
/// Number of bytes to read at a time.
const PIECE_BYTES: usize = 1 << 16;

/// The file system of this host.
#[derive(Debug, Clone, Copy, Default)]
pub struct Real;

impl Storage for Real {
    fn create(&self, path: &Path) -> io::Result<Box<dyn Stored>> {
        Ok(Box::new(OpenOptions::new().read(true).append(true).create_new(true).open(path)?))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Stored>> {
        Ok(Box::new(files::open(path, Links::Refused)?))
    }

    fn open_to_append(&self, path: &Path) -> io::Result<Box<dyn Stored>> {
        Ok(Box::new(files::open_to_append(path, Links::Refused)?))
    }

    fn open_folder(&self, path: &Path) -> io::Result<Box<dyn Stored>> {
        Ok(Box::new(files::open_folder(path)?))
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        files::names_in(&files::open_folder(folder)?)
    }

    fn look(&self, path: &Path) -> io::Result<Found> {
        Ok(found(&fs::symlink_metadata(path)?))
    }

    fn now(&self) -> jiff::Timestamp {
        crate::wall_now()
    }
}

impl Stored for File {
    fn read(&mut self, limit_bytes: u64) -> io::Result<Vec<u8>> {
        // Without the length, which `take` hides, the buffer would grow step by step.
        let length = self.metadata()?.len().min(limit_bytes).min(MOST_ROOM_BYTES);
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0) + 1);
        self.seek(SeekFrom::Start(0))?;
        self.take(limit_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit_bytes {
            Err(ReadError::TooLarge { limit_bytes }.into())
        } else {
            Ok(bytes)
        }
    }

    fn reader(&mut self, limit_bytes: u64) -> io::Result<Box<dyn BufRead + Send + '_>> {
        rewind(self, limit_bytes)?;
        Ok(Box::new(BufReader::with_capacity(PIECE_BYTES, self.take(limit_bytes))))
    }

    fn reader_from(&mut self, at: u64, limit_bytes: u64) -> io::Result<Box<dyn BufRead + Send + '_>> {
        rewind(self, limit_bytes)?;
        self.seek(SeekFrom::Start(at))?;
        Ok(Box::new(BufReader::new(self.take(limit_bytes.saturating_sub(at)))))
    }

    fn into_reader(mut self: Box<Self>, limit_bytes: u64) -> io::Result<Box<dyn BufRead + Send>> {
        rewind(&mut self, limit_bytes)?;
        Ok(Box::new(BufReader::with_capacity(PIECE_BYTES, self.take(limit_bytes))))
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn rewrite(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        // Linux ignores the offset when it writes to a file opened with O_APPEND, so open the file again
        // without that flag.
        let again = format!("/proc/self/fd/{}", self.as_raw_fd());
        OpenOptions::new().write(true).open(again)?.write_all_at(bytes, at)
    }

    fn set_len(&mut self, bytes: u64) -> io::Result<()> {
        Self::set_len(self, bytes)
    }

    fn sync_data(&mut self) -> io::Result<()> {
        Self::sync_data(self)
    }

    fn sync_all(&mut self) -> io::Result<()> {
        Self::sync_all(self)
    }

    fn try_lock(&self) -> io::Result<bool> {
        stdx::files::try_lock(self)
    }

    fn is_locked(&self) -> io::Result<bool> {
        stdx::files::is_locked(self)
    }

    fn is_locked_now(&self) -> io::Result<bool> {
        stdx::files::is_locked_now(self)
    }

    fn found(&self) -> io::Result<Found> {
        Ok(found(&self.metadata()?))
    }

    fn extent(&self) -> io::Result<Extent> {
        let metadata = self.metadata()?;
        Ok(Extent { bytes: metadata.len(), modified: metadata.modified().ok() })
    }

    fn mode(&self) -> io::Result<u32> {
        Ok(self.metadata()?.mode() & 0o7777)
    }

    fn set_mode(&mut self, mode: u32) -> io::Result<()> {
        self.set_permissions(Permissions::from_mode(mode))
    }

    fn owner(&self) -> io::Result<Owner> {
        let metadata = self.metadata()?;
        Ok(Owner { user: metadata.uid(), group: metadata.gid() })
    }

    fn set_owner(&mut self, owner: Owner) -> io::Result<()> {
        fchown(self, Some(owner.user), Some(owner.group))
    }

    fn names(&self) -> io::Result<Vec<OsString>> {
        files::names_in(self)
    }

    fn look(&self, name: &OsStr) -> io::Result<Found> {
        let (mode, identity) = files::look_in(self, name)?;
        let kind = match files::FileKind::of_mode(mode) {
            files::FileKind::Regular => FoundKind::File,
            files::FileKind::Directory => FoundKind::Folder,
            _ => FoundKind::Other,
        };
        Ok(Found { kind, identity })
    }

    fn create_file(&mut self, name: &OsStr) -> io::Result<Box<dyn Stored>> {
        Ok(Box::new(files::create_in(self, name)?))
    }

    fn open_file(&self, name: &OsStr) -> io::Result<Box<dyn Stored>> {
        Ok(Box::new(files::open_in(self, name)?))
    }

    fn remove_file(&mut self, name: &OsStr) -> io::Result<()> {
        files::remove_in(self, name)
    }
}

/// Seeks to the beginning of a file, which must not be longer than `limit_bytes`.
fn rewind(file: &mut File, limit_bytes: u64) -> io::Result<()> {
    if file.metadata()?.len() > limit_bytes {
        return Err(ReadError::TooLarge { limit_bytes }.into());
    }
    file.seek(SeekFrom::Start(0)).map(drop)
}

fn found(metadata: &Metadata) -> Found {
    let kind = match metadata.file_type() {
        kind if kind.is_file() => FoundKind::File,
        kind if kind.is_dir() => FoundKind::Folder,
        _ => FoundKind::Other,
    };
    Found { kind, identity: (metadata.dev(), metadata.ino()) }
}
