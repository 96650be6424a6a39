//! The run that is sent.

use std::io::{BufRead as _, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use record::{MOST_JOURNAL_BYTES, MOST_LINE_BYTES, MOST_RUN_FILE_BYTES, Run, Verifier};
use stdx::files::{Links, ReadError, open};

use crate::destination::SourceState;
use crate::error::{TransferError, io};

/// Files of a run that are sent with it, in addition to `run.json` and the journal. The run's report is not
/// transferred, because it is computed from the journal.
pub const EXTRA_FILES: &[&str] = &["logo", "signature.json", "imported-file"];
/// Limit on each of these files.
pub(crate) const MOST_EXTRA_BYTES: u64 = 64 << 20;
/// Number of bytes to read at a time. A longer record is read as a whole.
pub(crate) const CHUNK_BYTES: usize = 1 << 20;

/// A run that is sent, read in pieces.
#[derive(Debug)]
pub struct Source {
    run: Run,
    /// The beginning of the journal that was verified, to continue from there.
    verified: Verifier,
    /// The journal of an archived run, unpacked.
    unpacked: OnceLock<Arc<[u8]>>,
}

/// An open journal.
trait Journal: Read + Seek {}
impl<T: Read + Seek> Journal for T {}

impl Source {
    /// Returns the source that sends `run`.
    #[must_use]
    pub fn of(run: Run) -> Self {
        Self { run, verified: Verifier::default(), unpacked: OnceLock::new() }
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
    pub fn length(&self) -> Result<u64, TransferError> {
        let (mut journal, path) = self.open()?;
        journal.seek(SeekFrom::End(0)).map_err(|e| io("read", &path, e))
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
        self.run.read_file("run.json", MOST_RUN_FILE_BYTES).map_err(|e| io("read", &path, e))
    }

    /// Returns the run's additional files that exist.
    ///
    /// # Errors
    /// Returns an error if any run cannot be read.
    pub fn files(&self) -> Result<Vec<(&'static str, Vec<u8>)>, TransferError> {
        let mut files = Vec::new();
        for name in EXTRA_FILES {
            match self.run.read_file(name, MOST_EXTRA_BYTES) {
                Ok(bytes) => files.push((*name, bytes)),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(io("read", &self.run.dir.join(name), error)),
            }
        }
        Ok(files)
    }

    /// Verifies the journal up to `bytes`, and returns the digest of that beginning; `None` if no record ends there.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read, or is damaged before.
    pub fn digest_at(&mut self, bytes: u64) -> Result<Option<String>, TransferError> {
        if self.verified.bytes() > bytes {
            self.verified = Verifier::default();
        }
        let (file, path) = self.open()?;
        let mut reader = BufReader::with_capacity(CHUNK_BYTES, file);
        let mut position = self.verified.bytes();
        reader.seek(SeekFrom::Start(position)).map_err(|e| io("read", &path, e))?;
        let mut line = Vec::new();
        while position < bytes {
            line.clear();
            let limit = MOST_LINE_BYTES as u64 + 1;
            let read =
                reader.by_ref().take(limit).read_until(b'\n', &mut line).map_err(|e| io("read", &path, e))?;
            if read == 0 || !line.ends_with(b"\n") || position + read as u64 > bytes {
                return Ok(None);
            }
            self.verified.take(&line).map_err(|source| TransferError::Unverified {
                id: self.run.file.id.clone(),
                at: position,
                source,
            })?;
            position += read as u64;
        }
        Ok(self.verified.digest().map(|digest| digest.to_string()))
    }

    /// Returns complete lines from the offset `at`; empty if there are none yet.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read, or contains a line that is longer than any record.
    pub fn lines_from(&self, at: u64) -> Result<Vec<u8>, TransferError> {
        let (mut file, path) = self.open()?;
        let failed = |error| io("read", &path, error);
        file.seek(SeekFrom::Start(at)).map_err(failed)?;
        let mut bytes = Vec::new();
        let mut wanted = CHUNK_BYTES;
        loop {
            let missing = (wanted - bytes.len()) as u64;
            let read = (&mut file).take(missing).read_to_end(&mut bytes).map_err(failed)?;
            if let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') {
                bytes.truncate(end + 1);
                return Ok(bytes);
            }
            if (read as u64) < missing {
                return Ok(Vec::new());
            }
            if wanted >= MOST_LINE_BYTES {
                return Err(failed(ReadError::TooLarge { limit_bytes: MOST_LINE_BYTES as u64 }.into()));
            }
            wanted = (wanted * 2).min(MOST_LINE_BYTES);
        }
    }

    fn open(&self) -> Result<(Box<dyn Journal>, PathBuf), TransferError> {
        let path = self.run.journal_path();
        if !self.run.is_archived() {
            let file = open(&path, Links::Refused).map_err(|e| io("open", &path, e.into()))?;
            return Ok((Box::new(file), path));
        }
        let bytes = match self.unpacked.get() {
            Some(bytes) => Arc::clone(bytes),
            None => {
                let bytes = self.run.read_file("journal", MOST_JOURNAL_BYTES);
                let bytes: Arc<[u8]> = bytes.map_err(|e| io("read", &path, e))?.into();
                Arc::clone(self.unpacked.get_or_init(|| bytes))
            }
        };
        Ok((Box::new(Cursor::new(bytes)), path))
    }
}
