//! Buffer contents: data to write, and verification of data that was read.
//!
//! The worker loop is compiled once for plain data and once for stamped blocks, so that plain data has no
//! overhead for verification.

use record::Workload;
use stdx::access::Access;

use super::fill::Fill;
use super::stamp::{self, Stamp};
use super::stamp_run::StampRun;
use super::verify_report::VerifyReport;
use crate::queue::stamps::Took;
use crate::queue::{Queue, Slot};

/// This bit is set in a block's entry while an I/O to the block is in flight.
const BUSY: u32 = 1 << 31;

/// One worker's buffer contents.
pub(crate) trait Content: Send {
    /// Creates the contents for a thread of a workload.
    /// Read-only workloads that verify their data accept only stamps of the run `expected`, if that is set.
    fn new(workload: &Workload, thread: u16, expected: Option<StampRun>) -> Self;
    /// Returns whether an access can be issued now.
    fn admits(&mut self, access: Access) -> bool;
    /// Fills the buffer of a write, whose offset may not have been drawn yet.
    fn fresh(&mut self, buffer: &mut [u8]);
    /// Prepares an access. Called when a write whose buffer is already filled is issued.
    fn prepare<Q: Queue>(&mut self, access: Access, slot: Slot, queue: &mut Q) -> Took;
    /// Handles an access whose full length was transferred.
    fn back<Q: Queue>(&mut self, access: Access, slot: Slot, queue: &mut Q) -> Took;
    /// Handles an access that failed or transferred only a part, without ending the load.
    fn lost(&mut self, _: Access) {}
    /// Returns the verification result.
    fn checks(self) -> Option<Checks>;
}

impl Content for Fill {
    fn new(workload: &Workload, thread: u16, _: Option<StampRun>) -> Self {
        Self::new(workload.data_pattern, workload.seed, thread)
    }

    #[inline]
    fn admits(&mut self, _: Access) -> bool {
        true
    }

    #[inline]
    fn fresh(&mut self, buffer: &mut [u8]) {
        self.fill(buffer);
    }

    #[inline]
    fn prepare<Q: Queue>(&mut self, _: Access, _: Slot, _: &mut Q) -> Took {
        Took::NoTime
    }

    #[inline]
    fn back<Q: Queue>(&mut self, _: Access, _: Slot, _: &mut Q) -> Took {
        Took::NoTime
    }

    fn checks(self) -> Option<Checks> {
        None
    }
}

/// Buffers without contents, for trims and file operations.
pub(crate) struct Unfilled;

impl Content for Unfilled {
    fn new(_: &Workload, _: u16, _: Option<StampRun>) -> Self {
        Self
    }

    fn admits(&mut self, _: Access) -> bool {
        true
    }

    fn fresh(&mut self, _: &mut [u8]) {}

    fn prepare<Q: Queue>(&mut self, _: Access, _: Slot, _: &mut Q) -> Took {
        Took::NoTime
    }

    fn back<Q: Queue>(&mut self, _: Access, _: Slot, _: &mut Q) -> Took {
        Took::NoTime
    }

    fn checks(self) -> Option<Checks> {
        None
    }
}

/// The blocks that a worker wrote, and the verification result.
pub(crate) struct Checks {
    /// Start of the range, in bytes.
    pub(crate) start_bytes: u64,
    /// Length of a block, in bytes.
    pub(crate) block_bytes: u32,
    /// Number in the stamps that this load writes.
    run: u64,
    /// The run that must have written the blocks if the workload has no writes; `None` for any run.
    expected: Option<StampRun>,
    /// Sequence number of the last write to each block, 0 if there was none; empty if the workload has no
    /// writes.
    writes: Vec<u32>,
    /// Length of the last block with an intact stamp, for blocks without one; `None` if there was none.
    found_bytes: Option<u32>,
    pub(crate) report: VerifyReport,
}

impl Checks {
    fn new(workload: &Workload, expected: Option<StampRun>) -> Self {
        let block_bytes = workload.pattern().granule_bytes();
        let blocks = if workload.writes() { workload.range.segment_bytes / block_bytes } else { 0 };
        Self {
            start_bytes: workload.range.start_bytes,
            block_bytes: block_bytes as u32,
            run: StampRun::of_next_load(),
            expected,
            found_bytes: None,
            writes: vec![0; blocks as usize],
            report: VerifyReport::with_room(
                workload.writes().then(StampRun::of_this_process),
                !workload.writes() && expected.is_none(),
            ),
        }
    }

    /// Returns the number of blocks in the range, whether written or not; 0 if the workload has no writes.
    pub(crate) fn blocks(&self) -> u64 {
        self.writes.len() as u64
    }

    /// Returns whether any block of the range was written.
    pub(crate) fn any_written(&self, blocks: std::ops::Range<u64>) -> bool {
        self.writes[blocks.start as usize..blocks.end as usize].iter().any(|writes| writes & !BUSY > 0)
    }

    fn numbers(&self, access: Access) -> std::ops::Range<usize> {
        let first = ((access.offset_bytes - self.start_bytes) / u64::from(self.block_bytes)) as usize;
        first..first + (access.block_bytes / self.block_bytes) as usize
    }

    /// Verifies data read from this offset.
    pub(crate) fn check(&mut self, offset_bytes: u64, bytes: &[u8]) {
        if self.writes.is_empty() {
            return self.check_unknown(offset_bytes, bytes);
        }
        let first = ((offset_bytes - self.start_bytes) / u64::from(self.block_bytes)) as usize;
        for (index, block) in bytes.chunks_exact(self.block_bytes as usize).enumerate() {
            let write = self.writes[first + index] & !BUSY;
            if write == 0 {
                continue;
            }
            let offset_bytes = offset_bytes + index as u64 * u64::from(self.block_bytes);
            let expected = Stamp { offset_bytes, run: self.run, write, length_bytes: self.block_bytes };
            self.report.checked += 1;
            if let Some(wrong) = stamp::judge(block, &expected) {
                self.report.note(offset_bytes, self.block_bytes, wrong);
            }
        }
    }

    /// Verifies blocks written by an earlier run; the stamps contain the length of the blocks.
    fn check_unknown(&mut self, mut offset_bytes: u64, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let judged = stamp::judge_unknown(bytes, offset_bytes, self.expected);
            let length = match judged.length_bytes {
                Some(length) => length.min(bytes.len() as u32),
                None => stamp::length_without_stamp(bytes, self.found_bytes.unwrap_or(self.block_bytes)),
            };
            self.found_bytes = judged.length_bytes.or(self.found_bytes);
            match judged.wrong {
                _ if judged.is_longer => self.report.note_longer(judged.length_bytes.unwrap_or(0)),
                Some(wrong) => self.report.note(offset_bytes, length, wrong),
                None => {}
            }
            self.report.checked += u64::from(!judged.is_longer);
            offset_bytes += u64::from(length);
            bytes = &bytes[length as usize..];
        }
    }
}

/// Stamped blocks. A block has at most one I/O in flight, because the order of two I/Os would be undefined.
pub(crate) struct Stamped {
    fill: Fill,
    checks: Checks,
}

impl Content for Stamped {
    fn new(workload: &Workload, thread: u16, expected: Option<StampRun>) -> Self {
        let fill = Fill::new(workload.data_pattern, workload.seed, thread);
        Self { fill, checks: Checks::new(workload, expected) }
    }

    fn admits(&mut self, access: Access) -> bool {
        let numbers = self.checks.numbers(access);
        self.checks.writes.is_empty() || self.checks.writes[numbers].iter().all(|writes| writes & BUSY == 0)
    }

    fn fresh(&mut self, buffer: &mut [u8]) {
        self.fill.fill(buffer);
    }

    fn prepare<Q: Queue>(&mut self, access: Access, slot: Slot, queue: &mut Q) -> Took {
        let numbers = self.checks.numbers(access);
        if access.read {
            if !self.checks.writes.is_empty() {
                self.checks.writes[numbers].iter_mut().for_each(|writes| *writes |= BUSY);
            }
            return Took::Time;
        }
        let (block_bytes, run) = (self.checks.block_bytes, self.checks.run);
        let buffer = &mut queue.buffer(slot)[..access.block_bytes as usize];
        let mut offset_bytes = access.offset_bytes;
        for (block, writes) in
            buffer.chunks_exact_mut(block_bytes as usize).zip(&mut self.checks.writes[numbers])
        {
            // The count saturates after 2^31 - 1 writes to one block; from then on, only lost writes go
            // undetected.
            *writes = (*writes + 1).min(!BUSY) | BUSY;
            stamp::put(block, offset_bytes, run, *writes & !BUSY);
            offset_bytes += u64::from(block_bytes);
        }
        Took::Time
    }

    fn back<Q: Queue>(&mut self, access: Access, slot: Slot, queue: &mut Q) -> Took {
        if access.read {
            self.checks.check(access.offset_bytes, &queue.buffer(slot)[..access.block_bytes as usize]);
        }
        if !self.checks.writes.is_empty() {
            let numbers = self.checks.numbers(access);
            self.checks.writes[numbers].iter_mut().for_each(|writes| *writes &= !BUSY);
        }
        Took::Time
    }

    fn lost(&mut self, access: Access) {
        if !self.checks.writes.is_empty() {
            let numbers = self.checks.numbers(access);
            // After a failed write, the content of its blocks is unknown.
            let kept = if access.read { !BUSY } else { 0 };
            self.checks.writes[numbers].iter_mut().for_each(|writes| *writes &= kept);
        }
    }

    fn checks(self) -> Option<Checks> {
        Some(self.checks)
    }
}
