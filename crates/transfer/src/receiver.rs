//! A library that receives runs. Only complete and verified records are stored, each once, and after all
//! records before it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use record::run_files::{IMPORTED, LOGO, SIGNATURE};
use record::{
    Digest, Event, Library, LibraryError, MOST_JOURNAL_BYTES, MOST_LINE_BYTES, Run, RunFile, Unverified,
    Verifier, parse_run_file,
};
use stdx::files::{Links, open, open_to_append, try_lock};

use crate::destination::{Destination, First, Received, SourceState};
use crate::error::{TransferError, io};
use crate::mark::{COPIED, Mark, mark_of};
use crate::source::{EXTRA_FILES, MOST_EXTRA_BYTES};

/// Size limit of a signature, which is also that of the commands that read it.
const MOST_SIGNATURE_BYTES: usize = 1 << 16;
/// Number of journals whose verified length is remembered, so that an append does not read them again.
const MOST_KNOWN: usize = 256;

/// A library that receives runs from one source.
#[derive(Debug)]
pub struct Receiver {
    library: Library,
    /// Origin of the runs as written to their mark files: host and folder.
    source: String,
    /// Name of the sender, if this library belongs to a server; other senders' runs are refused.
    sender: Option<String>,
    /// Size limit of a journal.
    most_bytes: u64,
    /// The verified part of each run, with the identity of its directory.
    known: HashMap<String, ((u64, u64), Verifier)>,
}

/// A copy that is open for appending, locked against other processes.
struct Copy {
    run: Run,
    file: File,
    path: PathBuf,
    verified: Verifier,
}

impl Receiver {
    /// Returns a receiver for `library`; `source` describes where the runs come from.
    #[must_use]
    pub fn of(library: Library, source: impl Into<String>) -> Self {
        let source = source.into();
        Self { library, source, sender: None, most_bytes: MOST_JOURNAL_BYTES, known: HashMap::new() }
    }

    /// Returns a receiver for a server's `library` that accepts the runs of one authenticated `sender`.
    #[must_use]
    pub fn of_sender(library: Library, sender: impl Into<String>) -> Self {
        let sender = sender.into();
        Self { sender: Some(sender.clone()), ..Self::of(library, sender) }
    }

    /// Checks the beginning of a run: its id, its first records, and that they belong to its `run.json`.
    ///
    /// # Errors
    /// Returns an error if verification fails, or if the id is reserved in a library.
    pub fn check(first: &First<'_>) -> Result<(), TransferError> {
        beginning(first).map(drop)
    }

    /// Changes the description of where runs come from, for later transfers.
    pub fn set_source(&mut self, source: impl Into<String>) {
        self.source = source.into();
    }

    /// Refuses to reveal or change a run that this sender did not send.
    fn check_sender(&self, run: &Run) -> Result<(), TransferError> {
        if self.sender.is_none() {
            return Ok(());
        }
        match mark_of(run)? {
            Some(mark) if mark.sender == self.sender => Ok(()),
            // Whether the records would match is not disclosed.
            Some(_) => Err(TransferError::OtherRun { id: run.file.id.clone() }),
            None => Err(TransferError::Original { id: run.file.id.clone() }),
        }
    }

    /// Returns the run `id`, whose directory has that name.
    fn find(&self, id: &str) -> Result<Option<Run>, TransferError> {
        // Reject names that cannot be runs in the library, such as `..`.
        if !record::is_run_id(id) {
            return Err(TransferError::Unknown { id: id.into() });
        }
        match self.library.open(id) {
            Ok(run) => {
                self.check_sender(&run)?;
                Ok(Some(run))
            }
            Err(LibraryError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Refuses records that would make a journal longer than any that can be read.
    fn check_length(&self, id: &str, bytes: u64) -> Result<(), TransferError> {
        let limit_bytes = self.most_bytes;
        if bytes > limit_bytes {
            return Err(TransferError::TooLarge { id: id.into(), bytes, limit_bytes });
        }
        Ok(())
    }

    fn remember(&mut self, run: &Run, verified: Verifier) {
        if self.known.len() >= MOST_KNOWN {
            self.known.clear();
        }
        self.known.insert(run.file.id.clone(), (run.identity(), verified));
    }

    /// Verifies the records in a journal, starting after those that are known to be intact.
    fn verified(&self, run: &Run, file: &mut File, path: &Path) -> Result<Verifier, TransferError> {
        let known = self.known.get(&run.file.id).filter(|(identity, _)| *identity == run.identity());
        let none = || Verifier::of_run(&run.file.tests);
        let mut verified = known.map_or_else(none, |(_, verified)| verified.clone());
        let length = file.metadata().map_err(|e| io("read", path, e))?.len();
        if length < verified.bytes() {
            verified = none();
        }
        file.seek(SeekFrom::Start(verified.bytes())).map_err(|e| io("read", path, e))?;
        continued(run, verified, BufReader::new(file))
    }

    /// Opens and locks a copy for appending. `verified` does not include the remains of an interrupted append.
    fn open(&mut self, run: Run) -> Result<Copy, TransferError> {
        let (id, path) = (&run.file.id, run.journal_path());
        let mut file = open_to_append(&path, Links::Refused).map_err(|e| io("open", &path, e.into()))?;
        if !try_lock(&file).map_err(|e| io("lock", &path, e))? {
            return Err(TransferError::Busy { id: id.into() });
        }
        let verified = self.verified(&run, &mut file, &path)?;
        Ok(Copy { run, file, path, verified })
    }

    /// Returns the run `id`, which must exist.
    fn existing(&self, id: &str) -> Result<Run, TransferError> {
        self.find(id)?.ok_or_else(|| TransferError::Unknown { id: id.into() })
    }
}

/// Verifies the records that follow those in `verified`; stops at an incomplete last record.
fn continued(run: &Run, mut verified: Verifier, mut reader: impl BufRead) -> Result<Verifier, TransferError> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = reader.by_ref().take(MOST_LINE_BYTES as u64 + 1).read_until(b'\n', &mut line);
        read.map_err(|e| io("read", &run.journal_path(), e))?;
        if !line.ends_with(b"\n") {
            return Ok(verified);
        }
        let at = verified.bytes();
        verified.take(&line).map_err(|source| TransferError::Unverified {
            id: run.file.id.clone(),
            at,
            source,
        })?;
    }
}

/// Opens the journal of an archived run.
fn archived(run: &Run) -> Result<BufReader<Box<dyn Read + Send>>, TransferError> {
    let opened = run.journal_reader().map_err(|e| io("open", &run.journal_path(), e));
    opened.map(|(reader, _)| BufReader::new(reader))
}

/// Compares records with those of an archived run, to which none can be added.
fn compare_archived(run: &Run, at: u64, records: &[u8]) -> Result<Received, TransferError> {
    let id = || run.file.id.clone();
    let verified = continued(run, Verifier::of_run(&run.file.tests), archived(run)?)?;
    let have_bytes = verified.bytes();
    let Some(overlap) = have_bytes.checked_sub(at) else {
        return Err(TransferError::Gap { id: id(), have_bytes, at });
    };
    let (repeated, new) = records
        .split_at(usize::try_from(overlap).map_or(records.len(), |overlap| overlap.min(records.len())));
    let (mut journal, mut found) = (archived(run)?, vec![0; repeated.len()]);
    let read = std::io::copy(&mut journal.by_ref().take(at), &mut std::io::sink());
    let read = read.and_then(|_| journal.read_exact(&mut found));
    read.map_err(|e| io("read", &run.journal_path(), e))?;
    match (found == repeated, new.is_empty()) {
        (false, _) => Err(TransferError::OtherRun { id: id() }),
        (true, false) => Err(TransferError::Archived { id: id() }),
        (true, true) => Ok(Received::of(have_bytes, verified.digest())),
    }
}

impl Destination for Receiver {
    fn received(&mut self, id: &str) -> Result<Option<Received>, TransferError> {
        let Some(run) = self.find(id)? else { return Ok(None) };
        if run.is_archived() {
            let verified = continued(&run, Verifier::of_run(&run.file.tests), archived(&run)?)?;
            return Ok(Some(Received::of(verified.bytes(), verified.digest())));
        }
        let path = run.journal_path();
        let mut file = open(&path, Links::Refused).map_err(|e| io("open", &path, e.into()))?;
        let verified = self.verified(&run, &mut file, &path)?;
        let received = Received::of(verified.bytes(), verified.digest());
        self.remember(&run, verified);
        Ok(Some(received))
    }

    fn begin(&mut self, first: &First<'_>, state: SourceState) -> Result<Received, TransferError> {
        let id = first.id;
        self.check_length(id, first.journal.len() as u64)?;
        let verified = beginning(first)?;
        let mark = Mark::new(&self.source, self.sender.as_deref(), record::wall_now(), state);
        let path = self.library.root().join(id).join(COPIED);
        let mark = mark.bytes().map_err(|e| io("write", &path, e))?;
        let mut files: Vec<(&str, &[u8])> =
            first.files.iter().map(|(name, bytes)| (*name, &bytes[..])).collect();
        files.push((COPIED, &mark));
        match self.library.create_copy(first.run_json, first.journal, &files) {
            Ok(run) => {
                let received = Received::of(verified.bytes(), verified.digest());
                self.remember(&run, verified);
                Ok(received)
            }
            // The response to an earlier, identical request may have been lost.
            Err(LibraryError::Io { source, .. }) if source.kind() == std::io::ErrorKind::AlreadyExists => {
                self.append(id, 0, first.journal)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn append(&mut self, id: &str, at: u64, records: &[u8]) -> Result<Received, TransferError> {
        let run = self.existing(id)?;
        if run.is_archived() {
            return compare_archived(&run, at, records);
        }
        let mut copy = self.open(run)?;
        let have_bytes = copy.verified.bytes();
        let Some(overlap) = have_bytes.checked_sub(at) else {
            return Err(TransferError::Gap { id: id.into(), have_bytes, at });
        };
        let overlap = usize::try_from(overlap).unwrap_or(usize::MAX).min(records.len());
        let (repeated, new) = records.split_at(overlap);
        if !copy.has(at, repeated)? {
            return Err(TransferError::OtherRun { id: id.into() });
        }
        if !new.is_empty() {
            self.check_length(id, have_bytes + new.len() as u64)?;
            if mark_of(&copy.run)?.is_none() {
                return Err(TransferError::Original { id: id.into() });
            }
            copy.extend(new)?;
        }
        let Copy { run, verified, .. } = copy;
        let received = Received::of(verified.bytes(), verified.digest());
        self.remember(&run, verified);
        Ok(received)
    }

    fn settle(&mut self, id: &str, state: SourceState) -> Result<(), TransferError> {
        let run = self.existing(id)?;
        if run.is_archived() {
            let Some(was) = mark_of(&run)? else { return Ok(()) };
            let bytes = continued(&run, Verifier::of_run(&run.file.tests), archived(&run)?)?.bytes();
            return if was.is(state, bytes) {
                Ok(())
            } else {
                Err(TransferError::Archived { id: id.into() })
            };
        }
        let copy = self.open(run)?;
        let Some(was) = mark_of(&copy.run)? else { return Ok(()) };
        was.after(state, copy.verified.bytes(), record::wall_now())
            .map_or(Ok(()), |now| now.write(&copy.run.dir))
    }
}

impl Copy {
    /// Returns whether the journal contains exactly these bytes at `at`.
    fn has(&mut self, at: u64, bytes: &[u8]) -> Result<bool, TransferError> {
        let mut found = vec![0; bytes.len()];
        let read = self.file.seek(SeekFrom::Start(at)).and_then(|_| self.file.read_exact(&mut found));
        read.map_err(|e| io("read", &self.path, e))?;
        Ok(found == bytes)
    }

    /// Appends the complete lines of `bytes`, all of which must verify.
    fn extend(&mut self, bytes: &[u8]) -> Result<(), TransferError> {
        let mut verified = self.verified.clone();
        let complete = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        take(&self.run.file.id, &mut verified, &bytes[..complete])?;
        let whole_bytes = self.verified.bytes();
        // Remove the remains of an append that was interrupted.
        let written = self.file.set_len(whole_bytes).and_then(|()| {
            self.file.write_all(&bytes[..complete])?;
            self.file.sync_data()
        });
        if let Err(error) = written {
            // Report the failed write; the next append removes its remains.
            let _ = self.file.set_len(whole_bytes);
            return Err(io("append to", &self.path, error));
        }
        self.verified = verified;
        Ok(())
    }
}

/// Verifies complete lines.
fn take(id: &str, verified: &mut Verifier, lines: &[u8]) -> Result<(), TransferError> {
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        let at = verified.bytes();
        let unverified = |source: Unverified| TransferError::Unverified { id: id.into(), at, source };
        verified.take(line).map_err(unverified)?;
    }
    Ok(())
}

/// Checks the files of a run other than its `run.json` and its journal.
fn check_files(first: &First<'_>, file: &RunFile) -> Result<(), TransferError> {
    let refused = |text| Err(TransferError::Refused { text });
    for (position, (name, bytes)) in first.files.iter().enumerate() {
        let is_repeated = first.files[..position].iter().any(|(other, _)| other == name);
        if is_repeated || !EXTRA_FILES.contains(name) || bytes.len() as u64 > MOST_EXTRA_BYTES {
            return refused(format!("{name} is not a run file that can be received"));
        }
        if *name == SIGNATURE && !is_signature_of(first.id, bytes) {
            return refused(format!(
                "run {}: its file `{name}` is not a signature of it; remove it",
                first.id
            ));
        }
    }
    let logo = file.plan.as_ref().and_then(|plan| plan.logo_sha256.as_deref());
    let imported = file.origin.as_ref().map(|origin| &*origin.sha256);
    for (name, sha256) in [(LOGO, logo), (IMPORTED, imported)] {
        let found = first.files.iter().find(|(found, _)| *found == name);
        let problem = match (found, sha256) {
            (None, None) => continue,
            (Some((_, bytes)), Some(sha256)) if Digest::of(bytes).is(sha256) => continue,
            (Some(_), Some(_)) => "was changed; restore it from a copy",
            (None, Some(_)) => "is missing; restore it from a copy",
            (Some(_), None) => "is not named in its run.json, so it cannot be verified; remove it",
        };
        return refused(format!("run {}: its file `{name}` {problem}", first.id));
    }
    Ok(())
}

/// Returns whether a file claims to be the signature of a run. Only who has the public key can verify it, and only once
/// the run is complete.
fn is_signature_of(id: &str, file: &[u8]) -> bool {
    file.len() <= MOST_SIGNATURE_BYTES
        && serde_json::from_slice::<serde_json::Value>(file).is_ok_and(|document| document["run"] == id)
}

/// Verifies the beginning of a run: its id, its files, its first records, and that they belong to its `run.json`.
fn beginning(first: &First<'_>) -> Result<Verifier, TransferError> {
    let id = first.id.to_owned();
    let refused =
        |problem: String| TransferError::Refused { text: format!("run {id}: its run.json: {problem}") };
    let file = parse_run_file(first.run_json).map_err(refused)?;
    if file.id != first.id {
        return Err(TransferError::OtherRunFile { id });
    }
    if record::is_reserved_run_id(&id) {
        let text = format!("'{id}' cannot be the id of a received run, because it is reserved in a library");
        return Err(TransferError::Refused { text });
    }
    check_files(first, &file)?;
    let mut verified = Verifier::of_run(&file.tests);
    let mut lines = first.journal.split_inclusive(|byte| *byte == b'\n');
    let mut next = || {
        let at = verified.bytes();
        let unverified = |source: Unverified| TransferError::Unverified { id: id.clone(), at, source };
        verified.take(lines.next().unwrap_or_default()).map_err(unverified)
    };
    next()?;
    let opened = next()?.map(|entry| entry.event);
    if !matches!(opened, Some(Event::Opened { run_sha256 }) if Digest::of(first.run_json).is(&run_sha256)) {
        return Err(TransferError::OtherRunFile { id });
    }
    let rest: usize = usize::try_from(verified.bytes()).unwrap_or(usize::MAX);
    take(&id, &mut verified, &first.journal[rest..])?;
    Ok(verified)
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use record::Event;

    use super::*;
    use crate::{Source, send};

    fn run_file() -> RunFile {
        let json = serde_json::json!({
            "version": 1, "id": "a", "created": "2026-11-25T08:00:00Z", "plateau_version": "0",
            "command": ["plateau"], "tests": ["iops"], "profile": "pts-e-2.0", "settings": null, "host": {},
            "target": {
                "kind": "simulated", "path": "sim:x", "identity": "x", "capacity_bytes": 4096,
                "logical_block_bytes": 512, "physical_block_bytes": 4096
            }
        });
        serde_json::from_str(&json.to_string()).expect("a run file")
    }

    #[test]
    fn a_journal_grows_up_to_the_limit_and_not_beyond() {
        let (from, to) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let (run, mut journal) = Library::at(from.path()).create(run_file()).expect("a run");
        let (here, there) = (run.journal_path(), to.path().join("a/journal"));
        let length = |path: &Path| std::fs::metadata(path).map_or(0, |found| found.len());
        let mut receiver =
            Receiver { most_bytes: length(&here) - 1, ..Receiver::of(Library::at(to.path()), "host") };
        let whole = |receiver: &mut Receiver| {
            send(&mut Source::of(run.clone()), receiver, &mut |_| ControlFlow::Continue(()))
        };
        let refused = whole(&mut receiver);
        assert!(matches!(refused, Err(TransferError::TooLarge { .. })), "{refused:?}");
        assert!(!there.exists(), "nothing was stored");

        receiver.most_bytes = length(&here);
        whole(&mut receiver).expect("exactly the limit");
        journal.append(Event::Resumed { gap_ns: 1 }).expect("appended");
        let refused = whole(&mut receiver);
        let bytes = length(&here);
        assert!(
            matches!(refused, Err(TransferError::TooLarge { bytes: found, .. }) if found == bytes),
            "{refused:?}"
        );
        assert_eq!(length(&there), receiver.most_bytes, "nothing was added");
        receiver.most_bytes = bytes;
        whole(&mut receiver).expect("exactly the limit");
        assert_eq!(length(&there), bytes);
    }

    #[test]
    fn a_run_whose_journal_nobody_could_read_is_not_sent() {
        let (from, to) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let (run, journal) = Library::at(from.path()).create(run_file()).expect("a run");
        drop(journal);
        // The file takes no space on the disk.
        let file = File::options().write(true).open(run.journal_path()).expect("a journal");
        file.set_len(MOST_JOURNAL_BYTES + 1).expect("enough room");
        let mut receiver = Receiver::of(Library::at(to.path().join("runs")), "host");
        let refused = send(&mut Source::of(run), &mut receiver, &mut |_| ControlFlow::Continue(()));
        let text = refused.expect_err("too large").to_string();
        assert!(text.contains("1073741825 B") && text.contains("1073741824 B"), "{text}");
        assert!(!to.path().join("runs").exists(), "nothing was stored");
    }
}
