//! The run that is sent.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Cursor, Read, Seek as _, SeekFrom};

use record::run_files::{IMPORTED, LOGO, SIGNATURE};
use record::{MOST_LINE_BYTES, MOST_RUN_FILE_BYTES, Run, Verifier};
use stdx::files::{Links, ReadError, open};

use crate::destination::SourceState;
use crate::error::{TransferError, io as failed};

/// Files of a run that are sent with it, in addition to `run.json` and the journal. The run's report is not
/// transferred, because it is computed from the journal.
pub const EXTRA_FILES: &[&str] = &[LOGO, SIGNATURE, IMPORTED];
/// Size limit of each of these files.
pub(crate) const MOST_EXTRA_BYTES: u64 = 64 << 20;
/// Number of bytes to read at a time. A longer record is read as a whole.
pub(crate) const CHUNK_BYTES: usize = 1 << 20;

/// A run that is sent, read in pieces.
#[derive(Debug)]
pub struct Source {
    run: Run,
    /// The part of the journal that has been verified, from whose end verification continues.
    verified: Verifier,
    /// The journal of an archived run, unpacked as far as the last byte that was read.
    unpacked: Option<Unpacked>,
}

/// A journal that can only be read from its beginning.
struct Unpacked {
    reader: Box<dyn Read + Send>,
    length: u64,
    /// Offset of the next byte.
    at: u64,
    /// Bytes that were put back, to be returned before those of `reader`.
    again: Cursor<Vec<u8>>,
}

/// An open journal at some offset.
enum Opened<'a> {
    File(File),
    Unpacked(&'a mut Unpacked),
}

impl Source {
    /// Returns the source that sends `run`.
    #[must_use]
    pub fn of(run: Run) -> Self {
        Self { run, verified: Verifier::default(), unpacked: None }
    }

    /// Returns the run.
    #[must_use]
    pub const fn run(&self) -> &Run {
        &self.run
    }

    /// Returns the id of the run.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.run.file.id
    }

    /// Returns the length of the journal in bytes, including an incomplete last record.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be opened.
    pub fn length(&mut self) -> Result<u64, TransferError> {
        if let Some(unpacked) = &self.unpacked {
            return Ok(unpacked.length);
        }
        let path = self.run.journal_path();
        let length = match self.open(0)? {
            Opened::File(file) => file.metadata().map(|found| found.len()),
            Opened::Unpacked(unpacked) => Ok(unpacked.length),
        };
        length.map_err(|e| failed("read", &path, e))
    }

    /// Returns the state of the run, after `bytes` were read from it.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be opened.
    pub fn state(&self, bytes: u64) -> Result<SourceState, TransferError> {
        Ok(SourceState { bytes, is_in_progress: self.run.is_in_progress()? })
    }

    /// Returns the `run.json`, byte for byte.
    ///
    /// # Errors
    /// Returns an error if it cannot be read.
    pub fn run_json(&self) -> Result<Vec<u8>, TransferError> {
        let path = self.run.dir.join("run.json");
        self.run.read_file("run.json", MOST_RUN_FILE_BYTES).map_err(|e| failed("read", &path, e))
    }

    /// Returns the run's additional files that exist.
    ///
    /// # Errors
    /// Returns an error if one of them cannot be read.
    pub fn files(&self) -> Result<Vec<(&'static str, Vec<u8>)>, TransferError> {
        let mut files = Vec::new();
        for name in EXTRA_FILES {
            match self.run.read_file(name, MOST_EXTRA_BYTES) {
                Ok(bytes) => files.push((*name, bytes)),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(failed("read", &self.run.dir.join(name), error)),
            }
        }
        Ok(files)
    }

    /// Verifies the journal up to `bytes`, and returns the digest of that part; `None` if no record ends there.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read, or is damaged before that offset.
    pub fn digest_at(&mut self, bytes: u64) -> Result<Option<String>, TransferError> {
        if self.verified.bytes() > bytes {
            self.verified = Verifier::default();
        }
        let (id, path) = (self.run.file.id.clone(), self.run.journal_path());
        let mut verified = std::mem::take(&mut self.verified);
        let mut position = verified.bytes();
        let mut reader = BufReader::with_capacity(CHUNK_BYTES, self.open(position)?);
        let mut line = Vec::new();
        while position < bytes {
            line.clear();
            let limit = MOST_LINE_BYTES as u64 + 1;
            let read = reader.by_ref().take(limit).read_until(b'\n', &mut line);
            let read = read.map_err(|e| failed("read", &path, e))?;
            if read == 0 || !line.ends_with(b"\n") || position + read as u64 > bytes {
                return Ok(None);
            }
            verified.take(&line).map_err(|source| TransferError::Unverified {
                id: id.clone(),
                at: position,
                source,
            })?;
            position += read as u64;
        }
        let rest = reader.buffer().to_vec();
        reader.into_inner().put_back(&rest);
        self.verified = verified;
        Ok(self.verified.digest().map(|digest| digest.to_string()))
    }

    /// Returns complete lines from the offset `at`, once they are on disk; empty if there are none yet.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read or synced, or contains a line that is longer than any record.
    pub fn lines_from(&mut self, at: u64) -> Result<Vec<u8>, TransferError> {
        let path = self.run.journal_path();
        let unread = |error| failed("read", &path, error);
        let mut journal = self.open(at)?;
        let mut bytes = Vec::new();
        let mut wanted = CHUNK_BYTES;
        loop {
            let missing = (wanted - bytes.len()) as u64;
            let read = journal.by_ref().take(missing).read_to_end(&mut bytes).map_err(unread)?;
            if let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') {
                journal.put_back(&bytes[end + 1..]);
                bytes.truncate(end + 1);
                journal.sync().map_err(|e| failed("sync", &path, e))?;
                return Ok(bytes);
            }
            if (read as u64) < missing {
                return Ok(Vec::new());
            }
            if wanted >= MOST_LINE_BYTES {
                return Err(unread(ReadError::TooLarge { limit_bytes: MOST_LINE_BYTES as u64 }.into()));
            }
            wanted = (wanted * 2).min(MOST_LINE_BYTES);
        }
    }

    /// Waits until the names of the run and of its files are on disk. A run becomes visible before its name is synced,
    /// so a power cut could remove a run that the destination has.
    ///
    /// # Errors
    /// Returns an error if a folder cannot be synced.
    pub fn sync_entries(&self) -> Result<(), TransferError> {
        self.run.sync_entries().map_err(TransferError::Library)
    }

    /// Opens the journal at an offset. An archived journal that was read beyond the offset is unpacked again from its
    /// beginning.
    fn open(&mut self, at: u64) -> Result<Opened<'_>, TransferError> {
        let path = self.run.journal_path();
        if !self.run.is_archived() {
            let mut file = open(&path, Links::Refused).map_err(|e| failed("open", &path, e.into()))?;
            file.seek(SeekFrom::Start(at)).map_err(|e| failed("read", &path, e))?;
            return Ok(Opened::File(file));
        }
        let unpacked = match self.unpacked.take().filter(|unpacked| unpacked.at <= at) {
            Some(unpacked) => self.unpacked.insert(unpacked),
            None => {
                let opened = self.run.journal_reader().map_err(|e| failed("open", &path, e))?;
                self.unpacked.insert(Unpacked::of(opened))
            }
        };
        let skipped = at - unpacked.at;
        io::copy(&mut unpacked.by_ref().take(skipped), &mut io::sink())
            .map_err(|e| failed("read", &path, e))?;
        Ok(Opened::Unpacked(unpacked))
    }
}

impl Unpacked {
    fn of((reader, length): (Box<dyn Read + Send>, u64)) -> Self {
        Self { reader, length, at: 0, again: Cursor::default() }
    }

    /// Puts back these bytes, which must be the last ones that were read.
    fn put_back(&mut self, bytes: &[u8]) {
        let rest = usize::try_from(self.again.position()).unwrap_or(usize::MAX);
        let rest = self.again.get_ref().get(rest..).unwrap_or_default();
        self.again = Cursor::new([bytes, rest].concat());
        self.at -= bytes.len() as u64;
    }
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let again = self.again.read(buffer)?;
        let bytes = if again == 0 { self.reader.read(buffer)? } else { again };
        self.at += bytes as u64;
        Ok(bytes)
    }
}

impl std::fmt::Debug for Unpacked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unpacked").field("length", &self.length).field("at", &self.at).finish_non_exhaustive()
    }
}

impl Opened<'_> {
    /// Puts back these bytes, which must be the last ones that were read. Not needed for a file, which is opened again
    /// for each read.
    fn put_back(&mut self, bytes: &[u8]) {
        if let Self::Unpacked(unpacked) = self {
            unpacked.put_back(bytes);
        }
    }

    /// Waits until everything that was read is on disk. The process of the run appends a record before it syncs it, so
    /// a reader may see a record that a power cut would remove again; the destination would then have a record that
    /// never existed. This descriptor was opened before the records were read, so it reports a failed write even if the
    /// process of the run has received the error first. An archive is complete before it gets its name.
    fn sync(&self) -> io::Result<()> {
        match self {
            Self::File(file) => on_disk(file),
            Self::Unpacked(_) => Ok(()),
        }
    }
}

/// Waits until the content of a file is on disk.
fn on_disk(file: &File) -> io::Result<()> {
    match file.sync_data() {
        // Only read-only file systems, such as that of an optical disc, cannot sync.
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
            Ok(())
        }
        synced => synced,
    }
}

impl Read for Opened<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(buffer),
            Self::Unpacked(unpacked) => unpacked.read(buffer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_that_cannot_sync_is_accepted() {
        let file = File::open("/proc/self/status").expect("Linux");
        assert_eq!(file.sync_data().expect_err("procfs cannot sync").kind(), io::ErrorKind::InvalidInput);
        on_disk(&file).expect("there is nothing to sync");
    }
}
