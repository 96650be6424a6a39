//! Reads a journal in batches of lines, several of which are parsed at the same time.
//!
//! The hash of a record covers the digits of the line before it, not the result of checking that line. A batch is
//! therefore checked against the digits that its predecessor states, and the chain is whole if every batch is.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::error::JournalError;
use super::line::{MAGIC, MOST_LINE_BYTES, OLDEST_VERSION, VERSION, parse_line};
use super::loaded::{Loaded, TornTail};
use crate::amounts::Amounts;
use crate::chain::{is_unfinished, version_in};
use crate::{Digest, Entry};

/// A batch ends with the line that reaches this length: long enough to be worth a thread.
const BATCH_BYTES: usize = 1 << 20;
/// Limit on threads, and thereby on memory: each takes a batch and its records.
const MOST_THREADS: usize = 4;
/// Limit on the first line.
const MOST_HEADER_BYTES: u64 = 64;

/// Parses a journal in batches: its text may take more memory than all of its records.
pub(crate) fn parse(input: &mut dyn BufRead, path: &Path) -> Result<Loaded, JournalError> {
    let threads = stdx::parallel::processors().min(MOST_THREADS);
    parse_in_batches(input, path, BATCH_BYTES, threads)
}

fn parse_in_batches(
    input: &mut dyn BufRead,
    path: &Path,
    batch_bytes: usize,
    threads: usize,
) -> Result<Loaded, JournalError> {
    let failed = |source| JournalError::Io { action: "read", path: path.into(), source };
    let mut loaded = begun(input, path)?;
    let batches = Batches { input, batch_bytes, next_seq: 0, stated: loaded.digest, is_over: false };
    thread::scope(|scope| {
        let mut pending = VecDeque::new();
        let mut failure = None;
        for batch in batches {
            let batch = match batch {
                Ok(batch) => batch,
                Err(error) => {
                    failure = Some(failed(error));
                    break;
                }
            };
            // Most journals fit in one batch.
            if threads == 1 || (batch.is_last && pending.is_empty()) {
                loaded.take(batch.parsed(), path)?;
                continue;
            }
            // One more batch than threads is under way, so that none waits for the next one to be read.
            if pending.len() > threads {
                pending.pop_front().map_or(Ok(()), |oldest| loaded.take_if_any(joined(oldest), path))?;
            }
            let shared = Arc::new(Mutex::new(Some(batch)));
            let its = Arc::clone(&shared);
            match thread::Builder::new().spawn_scoped(scope, move || taken(&its).map(Batch::parsed)) {
                Ok(thread) => pending.push_back(thread),
                // This process may have no more threads.
                Err(_) => {
                    pending.drain(..).try_for_each(|oldest| loaded.take_if_any(joined(oldest), path))?;
                    loaded.take_if_any(taken(&shared).map(Batch::parsed), path)?;
                }
            }
        }
        // A damaged record is reported rather than a failure to read the records after it.
        pending.into_iter().try_for_each(|oldest| loaded.take_if_any(joined(oldest), path))?;
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
    let failed = |source| JournalError::Io { action: "read", path: path.into(), source };
    input.take(MOST_HEADER_BYTES).read_until(b'\n', &mut line).map_err(failed)?;
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

/// Consecutive lines.
struct Batch {
    text: Vec<u8>,
    /// The end of each line in `text`.
    ends: Vec<usize>,
    /// Number of the first record.
    seq: u64,
    /// The link before the first record, as stated by the previous line.
    before: Digest,
    /// Whether the journal ends with this batch.
    is_last: bool,
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
    fn line(&self, index: usize) -> &[u8] {
        &self.text[index.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[index]]
    }

    fn parsed(self) -> Parsed {
        let (mut entries, mut digest, mut problem) = (Vec::new(), self.before, None);
        for (index, seq) in (0..self.ends.len()).zip(self.seq..) {
            match parse_line(self.line(index), seq, digest) {
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

/// The batches of a journal, without its first line.
struct Batches<'a> {
    input: &'a mut dyn BufRead,
    batch_bytes: usize,
    next_seq: u64,
    stated: Digest,
    /// Whether no further batch can be valid.
    is_over: bool,
}

impl Iterator for Batches<'_> {
    type Item = io::Result<Batch>;

    fn next(&mut self) -> Option<io::Result<Batch>> {
        if self.is_over {
            return None;
        }
        let batch = self.read();
        self.is_over |= batch.as_ref().map_or(true, |batch| batch.is_last);
        // A journal without records has no batch.
        Some(batch).filter(|batch| batch.as_ref().map_or(true, |batch| !batch.ends.is_empty()))
    }
}

impl Batches<'_> {
    fn read(&mut self) -> io::Result<Batch> {
        let (mut text, mut ends) = (Vec::new(), Vec::new());
        while text.len() < self.batch_bytes && !self.is_over {
            let read = self.input.take(MOST_LINE_BYTES as u64 + 1).read_until(b'\n', &mut text)?;
            if read == 0 {
                break;
            }
            ends.push(text.len());
            // The part of the line that was read is reported as damaged.
            self.is_over = read > MOST_LINE_BYTES;
        }
        let is_last = !self.is_over && self.input.fill_buf()?.is_empty();
        let batch = Batch { text, ends, seq: self.next_seq, before: self.stated, is_last };
        self.next_seq += batch.ends.len() as u64;
        if let Some(last) = batch.ends.len().checked_sub(1) {
            // A line that states no link is itself invalid, and so are all lines after it.
            self.stated = Digest::stated_in(batch.line(last)).unwrap_or(self.stated);
        }
        Ok(batch)
    }
}

impl Loaded {
    /// Adds the next batch, unless it was parsed elsewhere.
    fn take_if_any(&mut self, parsed: Option<Parsed>, path: &Path) -> Result<(), JournalError> {
        parsed.map_or(Ok(()), |parsed| self.take(parsed, path))
    }

    /// Adds the next batch.
    fn take(&mut self, parsed: Parsed, path: &Path) -> Result<(), JournalError> {
        let Parsed { batch, entries, digest, problem } = parsed;
        let damaged = |seq, problem| JournalError::Damaged { path: path.into(), seq, problem };
        let whole = entries.len();
        for (entry, seq) in entries.into_iter().zip(batch.seq..) {
            self.amounts.take(&entry.event).map_err(|why| damaged(seq, why.to_owned()))?;
            self.entries.push(entry);
        }
        if let Some(last) = whole.checked_sub(1) {
            self.digest = digest;
            self.whole_bytes += batch.ends[last] as u64;
            self.last_line = batch.line(last).to_vec();
        }
        if let Some(problem) = problem {
            let line = batch.line(whole);
            if !is_unfinished(line, batch.is_last && whole + 1 == batch.ends.len()) {
                return Err(damaged(batch.seq + whole as u64, problem));
            }
            let zero_bytes = line.iter().filter(|byte| **byte == 0).count() as u64;
            self.torn = Some(TornTail { bytes: line.len() as u64, zero_bytes });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
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

    /// What was read, or the error.
    fn read(bytes: &[u8], batch_bytes: usize, threads: usize) -> String {
        let path = Path::new("journal");
        match parse_in_batches(&mut &*bytes, path, batch_bytes, threads) {
            Ok(loaded) => format!("{loaded:?}"),
            Err(error) => error.to_string(),
        }
    }

    /// Fails after its bytes.
    struct Failing<'a>(&'a [u8]);

    impl io::Read for Failing<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() { Err(io::ErrorKind::Other.into()) } else { self.0.read(into) }
        }
    }

    /// Counts the bytes that were read.
    struct Counting<R>(R, u64);

    impl<R: io::Read> io::Read for Counting<R> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let bytes = self.0.read(into)?;
            self.1 += bytes as u64;
            Ok(bytes)
        }
    }

    #[test]
    fn a_line_without_an_end_is_not_read_to_its_end() {
        let journal = journal(2);
        for (before, most_bytes) in [(&b""[..], 1 << 10), (&journal[..], MOST_LINE_BYTES + (1 << 20))] {
            let endless = io::Read::chain(before, io::repeat(b'x').take(4 * MOST_LINE_BYTES as u64));
            let mut input = io::BufReader::with_capacity(256, Counting(endless, 0));
            let error = parse_in_batches(&mut input, Path::new("journal"), 1000, 3).unwrap_err();
            let is_damaged = matches!(&error, JournalError::Damaged { seq: 2, problem, .. }
                if problem.contains("no run writes"));
            let is_other = matches!(error, JournalError::NotAJournal { .. });
            assert!(if before.is_empty() { is_other } else { is_damaged }, "{error}");
            assert!(input.get_ref().1 < most_bytes as u64, "{} bytes", input.get_ref().1);
        }
    }

    #[test]
    fn a_damaged_record_is_reported_rather_than_a_failure_to_read_those_after_it() {
        let mut bytes = journal(9);
        let read = |bytes: &[u8]| {
            let mut input = io::BufReader::with_capacity(64, Failing(bytes));
            parse_in_batches(&mut input, Path::new("journal"), 100, 3).unwrap_err()
        };
        assert!(matches!(read(&bytes), JournalError::Io { .. }));
        bytes[100] ^= 1;
        assert!(matches!(read(&bytes), JournalError::Damaged { seq: 0, .. }));
    }

    proptest! {
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
