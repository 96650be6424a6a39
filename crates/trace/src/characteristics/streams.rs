//! I/O streams: I/Os of one operation and size that are sequential or random.

use std::collections::HashMap;

use crate::{Io, Op};

/// Number of concurrent sequential runs that are recognized per operation.
const RUNS: usize = 16;
/// Number of streams that are distinguished by exact size; the sizes of all others are rounded up to a power of two.
const EXACT: usize = 1024;

/// The properties that the I/Os of a stream have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamKind {
    /// The operation.
    pub op: Op,
    /// Whether each I/O starts where a recent one of the same operation ended.
    pub is_sequential: bool,
    /// Size of the I/Os.
    pub bytes: u32,
}

/// A stream and its I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream {
    /// The properties that its I/Os have in common.
    pub kind: StreamKind,
    /// Number of I/Os.
    pub ios: u64,
    /// Number of I/Os whose response time is known.
    pub completed: u64,
    /// Sum of the known response times.
    pub response_sum_ns: u128,
    /// The longest known response time.
    pub response_max_ns: u64,
}

/// End offsets of the last I/Os of one operation.
struct Runs {
    ends: [u64; RUNS],
    next: usize,
}

impl Default for Runs {
    fn default() -> Self {
        Self { ends: [u64::MAX; RUNS], next: 0 }
    }
}

impl Runs {
    /// Returns whether the I/O continues a run.
    fn continues(&mut self, io: &Io) -> bool {
        match self.ends.iter_mut().find(|end| **end == io.offset_bytes) {
            Some(end) => {
                *end = io.end_bytes();
                true
            }
            None => {
                self.ends[self.next] = io.end_bytes();
                self.next = (self.next + 1) % RUNS;
                false
            }
        }
    }
}

#[derive(Default)]
pub struct Streams {
    runs: [Runs; 3],
    known: HashMap<StreamKind, usize>,
    all: Vec<Stream>,
}

impl Streams {
    /// Adds an I/O, and returns the number of its stream.
    pub fn add(&mut self, io: &Io) -> usize {
        let is_sequential = match io.op {
            Op::Flush => false,
            op => self.runs[op as usize].continues(io),
        };
        let mut kind = StreamKind { op: io.op, is_sequential, bytes: io.length_bytes };
        if self.all.len() >= EXACT && !self.known.contains_key(&kind) {
            kind.bytes = io.length_bytes.checked_next_power_of_two().unwrap_or(u32::MAX);
        }
        let place = *self.known.entry(kind).or_insert_with(|| {
            self.all.push(Stream { kind, ios: 0, completed: 0, response_sum_ns: 0, response_max_ns: 0 });
            self.all.len() - 1
        });
        let stream = &mut self.all[place];
        stream.ios += 1;
        if let Some(response_ns) = io.response_ns {
            stream.completed += 1;
            stream.response_sum_ns += u128::from(response_ns);
            stream.response_max_ns = stream.response_max_ns.max(response_ns);
        }
        place
    }

    /// Returns the streams, those with the most I/Os first, and the position of each stream number in that list.
    pub fn finish(self) -> (Vec<Stream>, Vec<usize>) {
        let mut order: Vec<usize> = (0..self.all.len()).collect();
        order.sort_by_key(|&place| (std::cmp::Reverse(self.all[place].ios), self.all[place].kind));
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &number)| places[number] = place);
        (order.iter().map(|&number| self.all[number]).collect(), places)
    }
}

impl std::fmt::Display for StreamKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let size = stdx::units::block_size(self.bytes.into());
        let order = if self.is_sequential { "SEQ" } else { "RND" };
        match self.op {
            Op::Read => write!(f, "{order} {size} R"),
            Op::Write => write!(f, "{order} {size} W"),
            Op::Trim => write!(f, "{order} {size} trim"),
            Op::Flush => f.write_str("flush"),
        }
    }
}

impl Stream {
    /// Returns the mean response time; None if no completion is known.
    #[must_use]
    pub fn mean_ms(&self) -> Option<f64> {
        (self.completed > 0).then(|| self.response_sum_ns as f64 / self.completed as f64 / 1e6)
    }
}
