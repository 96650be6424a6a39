//! Reads a journal in batches of lines, several of which are parsed at the same time.
//!
//! A record's hash covers the digits in the line before it, not the result of checking that line. Each batch
//! can therefore be checked against the digits in the line before it, and the chain is intact if every batch
//! is.

use std::collections::VecDeque;
use std::io::{BufRead, Read as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::batches::{BATCH_BYTES, Batch, Batches};
use super::detail::Detail;
use super::error::JournalError;
use super::line::{MAGIC, OLDEST_VERSION, VERSION, parse_line};
use super::loaded::{Loaded, TornTail};
use crate::amounts::Amounts;
use crate::chain::{is_unfinished, version_in};
use crate::{Digest, Entry};

/// Limit on threads, and thereby on memory: each thread holds a batch and its records.
const MOST_THREADS: usize = 4;
/// A longer batch contains an extraordinarily long record and is parsed on its own.
const LONG_BATCH_BYTES: usize = 8 << 20;
/// Limit on the number of records for which memory is allocated before they are read.
const MOST_ROOM: usize = 1 << 10;
/// Limit on the first line.
const MOST_HEADER_BYTES: u64 = 100;

/// Parses a journal in batches, because its text may take more memory than all its records.
pub(crate) fn parse(input: &mut dyn BufRead, path: &Path, detail: Detail) -> Result<Loaded, JournalError> {
    let loaded = begun(input, path)?;
    continue_in_batches(loaded, input, path, detail, BATCH_BYTES, threads())
}

/// Parses the records that follow those in `loaded`; `input` begins where `loaded` ends.
pub(crate) fn parse_more(
    loaded: Loaded,
    input: &mut dyn BufRead,
    path: &Path,
) -> Result<Loaded, JournalError> {
    continue_in_batches(Loaded { torn: None, ..loaded }, input, path, Detail::All, BATCH_BYTES, threads())
}

fn threads() -> usize {
    stdx::parallel::processors().min(MOST_THREADS)
}

fn continue_in_batches(
    mut loaded: Loaded,
    input: &mut dyn BufRead,
    path: &Path,
    detail: Detail,
    batch_bytes: usize,
    threads: usize,
) -> Result<Loaded, JournalError> {
    let failed = |source| JournalError::Io { action: "read", path: path.into(), source };
    let mut batches = Batches::of(input, batch_bytes, loaded.entries.len() as u64, loaded.digest);
    thread::scope(|scope| {
        let mut pending = VecDeque::new();
        let mut failure = None;
        while let Some(batch) = batches.next() {
            let batch = match batch {
                Ok(batch) => batch,
                Err(error) => {
                    failure = Some(failed(error));
                    break;
                }
            };
            // Most journals fit in one batch.
            let is_only = batch.is_last && pending.is_empty();
            if threads == 1 || is_only || batch.bytes() > LONG_BATCH_BYTES {
                loaded.take_each(pending.drain(..).map(joined), path)?;
                batches.reuse(loaded.take(batch.parsed(detail), path)?);
                continue;
            }
            // Keep one more batch in progress than there are threads, so that no thread waits for the next
            // batch to be read.
            if pending.len() > threads
                && let Some(parsed) = pending.pop_front().and_then(joined)
            {
                batches.reuse(loaded.take(parsed, path)?);
            }
            let shared = Arc::new(Mutex::new(Some(batch)));
            let its = Arc::clone(&shared);
            match thread::Builder::new()
                .spawn_scoped(scope, move || taken(&its).map(|batch| batch.parsed(detail)))
            {
                Ok(thread) => pending.push_back(thread),
                // The process has reached its limit on threads.
                Err(_) => {
                    let before = pending.drain(..).map(joined);
                    loaded
                        .take_each(before.chain([taken(&shared).map(|batch| batch.parsed(detail))]), path)?;
                }
            }
        }
        // Report a damaged record rather than a failure to read the records after it.
        loaded.take_each(pending.into_iter().map(joined), path)?;
        failure.map_or(Ok(loaded), Err)
    })
}

fn taken(batch: &Mutex<Option<Batch>>) -> Option<Batch> {
    batch.lock().unwrap_or_else(PoisonError::into_inner).take()
}

fn joined<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Reads the first line.
fn begun(input: &mut dyn BufRead, path: &Path) -> Result<Loaded, JournalError> {
    let mut line = Vec::new();
    input.take(MOST_HEADER_BYTES).read_until(b'\n', &mut line).map_err(|source| JournalError::Io {
        action: "read",
        path: path.into(),
        source,
    })?;
    let version = version_in(&line, MAGIC).ok_or_else(|| JournalError::NotAJournal { path: path.into() })?;
    if version > VERSION {
        return Err(JournalError::Newer { path: path.into(), found: version });
    }
    if version < OLDEST_VERSION {
        return Err(JournalError::Unknown { path: path.into(), found: version });
    }
    Ok(Loaded {
        entries: Vec::new(),
        torn: None,
        digest: Digest::of(&line),
        whole_bytes: line.len() as u64,
        last_line: Vec::new(),
        amounts: Amounts::default(),
    })
}

/// The records of a batch up to the first damaged record.
struct Parsed {
    batch: Batch,
    entries: Vec<Entry>,
    /// The last link.
    digest: Digest,
    /// The problem with the record after `entries`, if any.
    problem: Option<String>,
}

impl Batch {
    fn parsed(self, detail: Detail) -> Parsed {
        let mut entries = Vec::with_capacity(self.ends.len().min(MOST_ROOM));
        let (mut digest, mut problem) = (self.before, None);
        for (index, seq) in (0..self.ends.len()).zip(self.seq..) {
            match parse_line(self.line(index), seq, digest, detail) {
                Ok((entry, link)) => {
                    entries.push(entry);
                    digest = link;
                }
                Err(why) => {
                    problem = Some(why);
                    break;
                }
            }
        }
        Parsed { batch: self, entries, digest, problem }
    }
}

impl Loaded {
    /// Adds the next batches, except those that were parsed elsewhere.
    fn take_each(
        &mut self,
        mut all: impl Iterator<Item = Option<Parsed>>,
        path: &Path,
    ) -> Result<(), JournalError> {
        all.try_for_each(|parsed| parsed.map_or(Ok(()), |parsed| self.take(parsed, path).map(drop)))
    }

    /// Adds the next batch, and returns its text for reuse.
    fn take(&mut self, parsed: Parsed, path: &Path) -> Result<Vec<u8>, JournalError> {
        let Parsed { batch, entries, digest, problem } = parsed;
        let damaged = |seq, problem| JournalError::Damaged { path: path.into(), seq, problem };
        let whole = entries.len();
        for (entry, seq) in entries.iter().zip(batch.seq..) {
            self.amounts.take(&entry.event).map_err(|why| damaged(seq, why.to_owned()))?;
        }
        // An entry takes more than a kilobyte, and most journals have only one batch.
        match self.entries.is_empty() {
            true => self.entries = entries,
            false => self.entries.extend(entries),
        }
        if let Some(last) = whole.checked_sub(1) {
            self.digest = digest;
            self.whole_bytes += batch.ends[last] as u64;
            self.last_line = batch.line(last).to_vec();
        }
        if let Some(problem) = problem {
            let (line, rest) = (batch.line(whole), batch.rest_of(whole));
            let bytes = line.len() as u64 + rest.bytes;
            let zero_bytes = line.iter().filter(|byte| **byte == 0).count() as u64 + rest.zero_bytes;
            let is_complete = rest.is_ended && zero_bytes == 0;
            if is_complete || !is_unfinished(line, batch.is_last && whole + 1 == batch.ends.len()) {
                return Err(damaged(batch.seq + whole as u64, problem));
            }
            self.torn = Some(TornTail { bytes, zero_bytes });
        }
        Ok(batch.into_text())
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::super::line::MOST_LINE_BYTES;
    use super::*;
    use crate::chain::line_of;
    use crate::{Event, Note};
    use proptest::prelude::*;

    /// A journal with this many records.
    fn journal(records: u64) -> Vec<u8> {
        let mut text = format!("{MAGIC}{VERSION}\n");
        let mut chain = Digest::of(text.as_bytes());
        for seq in 0..records {
            let event = Event::Noted(Note::RoundStarted { round: seq as u32, cells: 56 });
            let entry = Entry { seq, wall: jiff::Timestamp::UNIX_EPOCH, event };
            let (line, link) = line_of(&serde_json::to_string(&entry).unwrap(), chain);
            text.push_str(&line);
            chain = link;
        }
        text.into_bytes()
    }

    fn parse_in_batches(
        input: &mut dyn BufRead,
        path: &Path,
        batch_bytes: usize,
        threads: usize,
    ) -> Result<Loaded, JournalError> {
        continue_in_batches(begun(input, path)?, input, path, Detail::All, batch_bytes, threads)
    }

    /// What was read, or the error.
    fn read(bytes: &[u8], batch_bytes: usize, threads: usize) -> String {
        let path = Path::new("journal");
        match parse_in_batches(&mut &*bytes, path, batch_bytes, threads) {
            Ok(loaded) => format!("{loaded:?}"),
            Err(error) => error.to_string(),
        }
    }

    /// A reader that fails after these bytes.
    struct Failing<'a>(&'a [u8]);

    impl io::Read for Failing<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() { Err(io::ErrorKind::Other.into()) } else { self.0.read(into) }
        }
    }

    #[test]
    fn a_damaged_record_is_reported_rather_than_a_failure_to_read_those_after_it() {
        let whole = journal(9);
        // The failure is in a later batch, in the same batch after a complete line, or within a line.
        for batch_bytes in [100, 1 << 20] {
            for cut in [0, 1, 50] {
                let bytes = &whole[..whole.len() - cut];
                let read = |bytes: &[u8]| {
                    let mut input = io::BufReader::with_capacity(64, Failing(bytes));
                    parse_in_batches(&mut input, Path::new("journal"), batch_bytes, 3).unwrap_err()
                };
                assert!(matches!(read(bytes), JournalError::Io { .. }), "{batch_bytes} {cut}");
                for (at, record) in [(100, 0), (900, 5)] {
                    let mut changed = bytes.to_vec();
                    changed[at] ^= 1;
                    let error = read(&changed);
                    assert!(
                        matches!(error, JournalError::Damaged { seq, .. } if seq == record),
                        "{batch_bytes} {cut} {at}: {error:?}"
                    );
                }
            }
        }
    }

    /// A reader that returns `length` characters without a newline, and counts the characters read from it.
    struct Endless {
        begin: Vec<u8>,
        length: u64,
    }

    impl io::Read for Endless {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            if !self.begin.is_empty() {
                let read = self.begin.as_slice().read(into)?;
                self.begin.drain(..read);
                return Ok(read);
            }
            let read = into.len().min(usize::try_from(self.length).unwrap_or(usize::MAX));
            into[..read].fill(b'x');
            self.length -= read as u64;
            Ok(read)
        }
    }

    #[test]
    fn a_line_without_end_takes_bounded_memory() {
        let length = 4 * MOST_LINE_BYTES as u64;
        let reader = || io::BufReader::new(Endless { begin: journal(3), length });
        let mut input = reader();
        assert!(begun(&mut input, Path::new("journal")).is_ok());
        let batches: Vec<Batch> =
            Batches::of(&mut input, BATCH_BYTES, 0, Digest::of(b"")).collect::<io::Result<_>>().unwrap();
        assert!(batches.iter().all(|batch| batch.bytes() < 2 * MOST_LINE_BYTES));
        assert!(batches.iter().map(Batch::bytes).sum::<usize>() < 2 * MOST_LINE_BYTES);
        let loaded = parse(&mut reader(), Path::new("journal"), Detail::All).unwrap();
        assert_eq!((loaded.entries.len(), loaded.torn.unwrap().bytes), (3, length));
        let mut header = io::BufReader::new(Endless { begin: Vec::new(), length });
        let error = parse(&mut header, Path::new("journal"), Detail::All).unwrap_err();
        assert!(matches!(error, JournalError::NotAJournal { .. }), "{error}");
        let read = length - header.into_inner().length;
        assert!(read < 1 << 20, "{read}");
    }

    proptest! {
        #[test]
        fn a_journal_that_is_read_in_two_parts_equals_one_that_is_read_at_once(
            records in 1u64..12,
            first in any::<prop::sample::Index>(),
            second in any::<prop::sample::Index>(),
        ) {
            let (whole, path) = (journal(records), Path::new("journal"));
            let header = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
            let ends = [first, second].map(|index| header + index.index(whole.len() + 1 - header));
            let (first, second) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
            let known = parse(&mut &whole[..first], path, Detail::All).unwrap();
            let mut rest = &whole[known.whole_bytes as usize..second];
            let more = parse_more(known, &mut rest, path).unwrap();
            let at_once = parse(&mut &whole[..second], path, Detail::All).unwrap();
            prop_assert_eq!(format!("{more:?}"), format!("{at_once:?}"));
        }

        #[test]
        fn batches_and_threads_make_no_difference(
            records in 0u64..20,
            cut in any::<prop::sample::Index>(),
            change in prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
            batch_bytes in 1usize..2000,
            threads in 1usize..4,
        ) {
            let mut bytes = journal(records);
            bytes.truncate(cut.index(2 * bytes.len()));
            if let Some((at, byte)) = change.filter(|_| !bytes.is_empty()) {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            prop_assert_eq!(read(&bytes, batch_bytes, threads), read(&bytes, usize::MAX, 1));
        }
    }
}
