//! The file format of traces (docs/reference/trace-format.md): a header, blocks of I/Os, and a summary at the end. Each
//! part has a length and a checksum.

mod block;
mod varint;

use std::io::{self, Read, Write};

use crate::{Io, Op, TraceError};
use block::BLOCK_IOS;

/// The first bytes of each trace.
pub const MAGIC: [u8; 8] = *b"PLTRACE\n";
const VERSION: u32 = 1;
/// Maximum length of the name of a source.
const LONGEST_SOURCE: usize = 255;
/// Maximum length of the payload of a block: each I/O takes at most 36 bytes.
const LONGEST_PAYLOAD: usize = BLOCK_IOS * 36;
/// Number of bytes before the payload of a block: payload length, number of I/Os, checksum.
const BLOCK_HEAD: usize = 12;
const SUMMARY_BYTES: usize = 8 * 10;

/// The header of a trace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// Where the I/Os come from, such as `msr: web_0.csv`; empty if unknown or anonymised.
    pub source: String,
    /// Resolution of the times.
    pub resolution_ns: u64,
    /// Whether offsets were replaced by [`anonymise`](crate::anonymise()).
    pub is_anonymised: bool,
}

/// Totals of a trace, stored at its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// Number of I/Os.
    pub ios: u64,
    /// Number of I/Os whose completion is known.
    pub completed: u64,
    /// Issue time of the last I/O.
    pub last_issue_ns: u64,
    /// Time of the last completion, or of the last issue if that is later.
    pub end_ns: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// The offset after the last accessed byte: the size of the smallest volume on which the trace fits.
    pub end_bytes: u64,
    /// The largest read or write.
    pub largest_bytes: u64,
    /// Events that the tracer dropped.
    pub lost_events: u64,
    /// I/Os whose times were adjusted because the source is not sorted.
    pub moved: u64,
}

impl Summary {
    fn add(&mut self, io: &Io) {
        self.ios += 1;
        self.completed += u64::from(io.response_ns.is_some());
        self.last_issue_ns = io.issue_ns;
        self.end_ns = self.end_ns.max(io.issue_ns.saturating_add(io.response_ns.unwrap_or(0)));
        self.end_bytes = self.end_bytes.max(io.end_bytes());
        let length = u64::from(io.length_bytes);
        match io.op {
            Op::Read => self.read_bytes = self.read_bytes.saturating_add(length),
            Op::Write => self.written_bytes = self.written_bytes.saturating_add(length),
            Op::Trim | Op::Flush => return,
        }
        self.largest_bytes = self.largest_bytes.max(length);
    }

    const fn words(&self) -> [u64; 10] {
        [
            self.ios,
            self.completed,
            self.last_issue_ns,
            self.end_ns,
            self.read_bytes,
            self.written_bytes,
            self.end_bytes,
            self.largest_bytes,
            self.lost_events,
            self.moved,
        ]
    }

    fn of_words(words: [u64; 10]) -> Self {
        let [
            ios,
            completed,
            last_issue_ns,
            end_ns,
            read_bytes,
            written_bytes,
            end_bytes,
            largest_bytes,
            lost_events,
            moved,
        ] = words;
        Self {
            ios,
            completed,
            last_issue_ns,
            end_ns,
            read_bytes,
            written_bytes,
            end_bytes,
            largest_bytes,
            lost_events,
            moved,
        }
    }
}

/// Writes a trace.
pub struct Writer<W> {
    output: W,
    waiting: Vec<Io>,
    bytes: Vec<u8>,
    summary: Summary,
}

impl<W: Write> Writer<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn new(mut output: W, origin: &Origin) -> Result<Self, TraceError> {
        let mut end = origin.source.len().min(LONGEST_SOURCE);
        while !origin.source.is_char_boundary(end) {
            end -= 1;
        }
        let source = &origin.source.as_bytes()[..end];
        let mut head = MAGIC.to_vec();
        head.extend(VERSION.to_le_bytes());
        head.extend(u32::from(origin.is_anonymised).to_le_bytes());
        head.extend(origin.resolution_ns.to_le_bytes());
        head.push(source.len() as u8);
        head.extend(source);
        head.extend(crc32c::crc32c(&head).to_le_bytes());
        output.write_all(&head).map_err(TraceError::Write)?;
        Ok(Self {
            output,
            waiting: Vec::with_capacity(BLOCK_IOS),
            bytes: Vec::new(),
            summary: Summary::default(),
        })
    }

    /// Adds an I/O. Times must not decrease.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    ///
    /// # Panics
    /// Panics if the I/O was issued before the previous one: callers must sort them.
    #[inline]
    pub fn push(&mut self, io: Io) -> Result<(), TraceError> {
        assert!(io.issue_ns >= self.summary.last_issue_ns, "the I/Os must be sorted by issue time");
        self.summary.add(&io);
        self.waiting.push(io);
        if self.waiting.len() < BLOCK_IOS { Ok(()) } else { self.end_block() }
    }

    #[inline(never)]
    fn end_block(&mut self) -> Result<(), TraceError> {
        self.bytes.clear();
        self.bytes.extend([0; BLOCK_HEAD]);
        block::encode(&self.waiting, &mut self.bytes);
        let payload = (self.bytes.len() - BLOCK_HEAD) as u32;
        self.bytes[..4].copy_from_slice(&payload.to_le_bytes());
        self.bytes[4..8].copy_from_slice(&(self.waiting.len() as u32).to_le_bytes());
        let sum = crc32c::crc32c_append(crc32c::crc32c(&self.bytes[..8]), &self.bytes[BLOCK_HEAD..]);
        self.bytes[8..12].copy_from_slice(&sum.to_le_bytes());
        self.waiting.clear();
        self.output.write_all(&self.bytes).map_err(TraceError::Write)
    }

    /// Writes the remaining I/Os and the summary, and returns the output and the summary.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn finish(mut self, lost_events: u64, moved: u64) -> Result<(W, Summary), TraceError> {
        if !self.waiting.is_empty() {
            self.end_block()?;
        }
        (self.summary.lost_events, self.summary.moved) = (lost_events, moved);
        let payload: Vec<u8> = self.summary.words().into_iter().flat_map(u64::to_le_bytes).collect();
        let mut bytes = (payload.len() as u32).to_le_bytes().to_vec();
        bytes.extend(0u32.to_le_bytes());
        let sum = crc32c::crc32c_append(crc32c::crc32c(&bytes), &payload);
        bytes.extend(sum.to_le_bytes());
        bytes.extend(payload);
        self.output.write_all(&bytes).and_then(|()| self.output.flush()).map_err(TraceError::Write)?;
        Ok((self.output, self.summary))
    }
}

/// Reads a trace.
pub struct Reader<R> {
    input: R,
    origin: Origin,
    at_byte: u64,
    block: Vec<Io>,
    next: usize,
    bytes: Vec<u8>,
    seen: Summary,
    stored: Option<Summary>,
}

impl<R: Read> Reader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// Returns an error if the input is not a trace of this version.
    pub fn new(mut input: R) -> Result<Self, TraceError> {
        let mut head = vec![0; 25];
        if !filled(&mut input, &mut head)? || head[..8] != MAGIC {
            return Err(TraceError::NotATrace);
        }
        let version = u32_at(&head, 8);
        if version != VERSION {
            return Err(TraceError::Version { version });
        }
        let length = usize::from(head[24]);
        head.resize(25 + length + 4, 0);
        if !filled(&mut input, &mut head[25..])? {
            return Err(TraceError::Truncated { ios: 0 });
        }
        let damaged = |problem| TraceError::Damaged { at_byte: 0, problem };
        if crc32c::crc32c(&head[..25 + length]) != u32_at(&head, 25 + length) {
            return Err(damaged("the header does not match its checksum"));
        }
        let source = str::from_utf8(&head[25..25 + length]).map_err(|_| damaged("its source is not text"))?;
        let origin = Origin {
            source: source.to_owned(),
            resolution_ns: u64_at(&head, 16),
            is_anonymised: u32_at(&head, 12) & 1 != 0,
        };
        Ok(Self {
            input,
            origin,
            at_byte: head.len() as u64,
            block: Vec::new(),
            next: 0,
            bytes: Vec::new(),
            seen: Summary::default(),
            stored: None,
        })
    }

    /// Returns the header.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Returns the summary; None until all I/Os have been read.
    pub fn summary(&self) -> Option<Summary> {
        self.stored
    }

    /// Returns the next I/O; None at the end of the trace.
    ///
    /// # Errors
    /// Returns an error if the file is damaged or incomplete.
    #[inline]
    pub fn next_io(&mut self) -> Result<Option<Io>, TraceError> {
        while self.next == self.block.len() {
            if self.stored.is_some() || !self.read_block()? {
                return Ok(None);
            }
        }
        let io = self.block[self.next];
        self.next += 1;
        Ok(Some(io))
    }

    fn damaged(&self, problem: &'static str) -> TraceError {
        TraceError::Damaged { at_byte: self.at_byte, problem }
    }

    /// Reads the next block; returns false if it was the summary.
    fn read_block(&mut self) -> Result<bool, TraceError> {
        let mut head = [0; BLOCK_HEAD];
        if !filled(&mut self.input, &mut head)? {
            return Err(TraceError::Truncated { ios: self.seen.ios });
        }
        let (length, ios) = (u32_at(&head, 0) as usize, u32_at(&head, 4) as usize);
        if length > LONGEST_PAYLOAD || ios > BLOCK_IOS || (ios == 0 && length != SUMMARY_BYTES) {
            return Err(self.damaged("the length of a block is impossible"));
        }
        self.bytes.resize(length, 0);
        if !filled(&mut self.input, &mut self.bytes)? {
            return Err(TraceError::Truncated { ios: self.seen.ios });
        }
        if crc32c::crc32c_append(crc32c::crc32c(&head[..8]), &self.bytes) != u32_at(&head, 8) {
            return Err(self.damaged("a block does not match its checksum"));
        }
        if ios == 0 {
            let mut words = [0; 10];
            words.iter_mut().enumerate().for_each(|(place, word)| *word = u64_at(&self.bytes, place * 8));
            let stored = Summary::of_words(words);
            let Summary { lost_events, moved, .. } = stored;
            if (Summary { lost_events, moved, ..self.seen }) != stored {
                return Err(self.damaged("the summary does not match the I/Os"));
            }
            if !matches!(filled(&mut self.input, &mut [0]), Ok(false)) {
                return Err(self.damaged("there is data after the summary"));
            }
            self.stored = Some(stored);
            return Ok(false);
        }
        self.next = 0;
        if block::decode(&self.bytes, ios, self.seen.last_issue_ns, &mut self.block).is_none() {
            self.block.clear();
            return Err(self.damaged("a block contains impossible values"));
        }
        self.block.iter().for_each(|io| self.seen.add(io));
        self.at_byte += (BLOCK_HEAD + length) as u64;
        Ok(true)
    }
}

/// Fills the buffer; returns false if the input ends first.
fn filled(input: &mut impl Read, buffer: &mut [u8]) -> Result<bool, TraceError> {
    match input.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(TraceError::Read(error)),
    }
}

fn u32_at(bytes: &[u8], place: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|index| bytes[place + index]))
}

fn u64_at(bytes: &[u8], place: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|index| bytes[place + index]))
}
