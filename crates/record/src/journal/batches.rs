//! Divides a journal into batches of consecutive lines, in bounded memory.

use std::cell::Cell;
use std::io::{self, BufRead, ErrorKind, Read as _};

use memchr::memchr_iter;

use super::line::MOST_LINE_BYTES;
use crate::Digest;

/// A batch ends with the line that reaches this length: long enough to be worth a thread.
pub(super) const BATCH_BYTES: usize = 1 << 21;
/// Limit on the memory of a batch that is kept for reuse.
const MOST_REUSED_BYTES: usize = 2 * BATCH_BYTES;

thread_local! {
    /// Memory for the text of the next journal that this thread reads. Allocating it anew, and growing it, takes longer than
    /// checking the hashes.
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Consecutive lines.
pub(super) struct Batch {
    text: Vec<u8>,
    /// The end of each line in `text`.
    pub ends: Vec<usize>,
    /// Number of the first record.
    pub seq: u64,
    /// The link before the first record, as given in the previous line.
    pub before: Digest,
    /// Whether the journal ends with this batch.
    pub is_last: bool,
    /// The remainder of the last line.
    pub rest: Rest,
}

/// The remainder of a line that is longer than any record. It is read but not kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Rest {
    pub bytes: u64,
    pub zero_bytes: u64,
    /// Whether the line ends with a newline.
    pub is_ended: bool,
}

impl Batch {
    /// Returns a line without its remainder.
    pub fn line(&self, index: usize) -> &[u8] {
        &self.text[index.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[index]]
    }

    /// Returns the remainder of a line.
    pub fn rest_of(&self, index: usize) -> Rest {
        if index + 1 == self.ends.len() { self.rest } else { Rest::default() }
    }

    /// Returns the text, so that its memory can be reused.
    pub fn into_text(self) -> Vec<u8> {
        self.text
    }

    /// Returns the length of the text.
    pub fn bytes(&self) -> usize {
        self.text.len()
    }
}

/// The batches of a journal, beginning with a given record. If the journal cannot be read to its end, the error
/// follows the batch of the lines before it.
pub(super) struct Batches<'a> {
    input: &'a mut dyn BufRead,
    batch_bytes: usize,
    next_seq: u64,
    stated: Digest,
    failure: Option<io::Error>,
    is_over: bool,
    /// Memory of earlier batches; reusing it is faster than allocating new memory.
    spare: Vec<Vec<u8>>,
}

impl Iterator for Batches<'_> {
    type Item = io::Result<Batch>;

    fn next(&mut self) -> Option<io::Result<Batch>> {
        if self.is_over {
            return None;
        }
        let batch = if self.failure.is_none() { self.read() } else { None };
        self.is_over = batch.as_ref().is_none_or(|batch| batch.is_last);
        batch.map(Ok).or_else(|| self.failure.take().map(Err))
    }
}

impl<'a> Batches<'a> {
    /// Divides the rest of `input`, which begins with record `next_seq`; `digest` is the link of the line before it.
    pub fn of(input: &'a mut dyn BufRead, batch_bytes: usize, next_seq: u64, digest: Digest) -> Self {
        Self {
            input,
            batch_bytes,
            next_seq,
            stated: digest,
            failure: None,
            is_over: false,
            spare: Vec::new(),
        }
    }

    /// Keeps the memory of a batch for later batches, unless one of its lines was far longer than usual.
    pub fn reuse(&mut self, text: Vec<u8>) {
        if text.capacity() <= MOST_REUSED_BYTES {
            self.spare.push(text);
        }
    }

    /// Reads the next batch; `None` if the journal ends, or reading fails, before another complete line.
    fn read(&mut self) -> Option<Batch> {
        let (mut text, mut ends, mut rest) =
            (self.spare.pop().unwrap_or_else(|| SPARE.take()), Vec::new(), Rest::default());
        text.clear();
        while text.len() < self.batch_bytes && rest == Rest::default() {
            if self.lines_in_memory(&mut text, &mut ends) > 0 {
                continue;
            }
            match self.line(&mut text) {
                Ok(Some(found)) => {
                    ends.push(text.len());
                    rest = found;
                }
                Ok(None) => break,
                Err(error) => {
                    self.failure = Some(error);
                    break;
                }
            }
        }
        text.truncate(*ends.last()?);
        let is_last = self.failure.is_none()
            && self.is_at_end().unwrap_or_else(|error| {
                self.failure = Some(error);
                false
            });
        let batch = Batch { text, ends, seq: self.next_seq, before: self.stated, is_last, rest };
        self.next_seq += batch.ends.len() as u64;
        // A line without a link is itself invalid, and so are all lines after it.
        self.stated = Digest::stated_in(batch.line(batch.ends.len() - 1)).unwrap_or(self.stated);
        Some(batch)
    }

    /// Appends the complete lines that have been read from the file, up to the end of the batch, to `text` and their ends to
    /// `ends`; returns their number.
    fn lines_in_memory(&mut self, text: &mut Vec<u8>, ends: &mut Vec<usize>) -> usize {
        // If this fails, reading the next line fails as well.
        let Ok(buffer) = self.input.fill_buf() else { return 0 };
        let (begin, room, mut length, mut lines) = (text.len(), self.batch_bytes - text.len(), 0, 0);
        for newline in memchr_iter(b'\n', buffer) {
            let end = newline + 1;
            if end - length > MOST_LINE_BYTES {
                break;
            }
            ends.push(begin + end);
            (length, lines) = (end, lines + 1);
            if length >= room {
                break;
            }
        }
        text.extend_from_slice(&buffer[..length]);
        self.input.consume(length);
        lines
    }

    /// Appends the next line to `text`; if the line is too long, appends only enough of it to show that. Returns the
    /// remainder of the line; `None` if there are no more lines.
    fn line(&mut self, text: &mut Vec<u8>) -> io::Result<Option<Rest>> {
        let limit = MOST_LINE_BYTES + 1;
        let read = (&mut *self.input).take(limit as u64).read_until(b'\n', text)?;
        if read < limit || text.ends_with(b"\n") {
            return Ok((read > 0).then(Rest::default));
        }
        let mut rest = Rest::default();
        while !rest.is_ended && !self.is_at_end()? {
            let buffer = self.input.fill_buf()?;
            let newline = buffer.iter().position(|byte| *byte == b'\n');
            let part = &buffer[..newline.map_or(buffer.len(), |at| at + 1)];
            rest.bytes += part.len() as u64;
            rest.zero_bytes += part.iter().filter(|byte| **byte == 0).count() as u64;
            rest.is_ended = newline.is_some();
            let length = part.len();
            self.input.consume(length);
        }
        Ok(Some(rest))
    }

    fn is_at_end(&mut self) -> io::Result<bool> {
        loop {
            match self.input.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => return read.map(<[u8]>::is_empty),
            }
        }
    }
}

impl Drop for Batches<'_> {
    fn drop(&mut self) {
        if let Some(text) = self.spare.pop() {
            SPARE.set(text);
        }
    }
}
