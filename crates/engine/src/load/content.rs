//! Buffer contents: data to write, and verification of data that was read.
//!
//! The worker loop is compiled once for plain data and once for stamped blocks, so that plain data has no
//! overhead for verification.

use std::sync::Arc;

use record::Workload;
use stdx::access::Access;

use super::fill::Fill;
use super::ledger::Ledger;
use super::stamp::{self, Stamp};
use super::stamp_run::StampRun;
use super::verify_report::VerifyReport;
use crate::queue::stamps::Took;
use crate::queue::{Queue, Slot};

/// One worker's buffer contents.
pub(crate) trait Content: Send {
    /// Whether an I/O has several ranges.
    const HAS_RANGES: bool = false;
    /// Creates the contents for a thread of a workload; the ledger is that of a workload that verifies its data.
    fn new(workload: &Workload, thread: u16, ledger: Option<&Arc<Ledger>>) -> Self;
    /// Returns whether an access can be issued now. If so, the caller must issue it.
    fn admits(&mut self, access: Access) -> bool;
    /// Fills the buffer of a write, whose offset may not have been drawn yet.
    fn fresh(&mut self, buffer: &mut [u8]);
    /// Prepares an access. Called when a write whose buffer is already filled is issued.
    fn prepare<Q: Queue>(&mut self, access: Access, slot: Slot, queue: &mut Q) -> Took;
    /// Handles an access whose full length was transferred.
    fn back<Q: Queue>(&mut self, access: Access, slot: Slot, queue: &mut Q) -> Took;
    /// Handles an access that failed or transferred only a part, without ending the load.
    fn lost(&mut self, _: Access) {}
    /// Returns the number of ranges of an I/O.
    fn ranges(&self) -> u16 {
        1
    }
    /// Returns the number under which the I/O on this slot is recorded by its priority; `None` without priorities.
    #[inline]
    fn priority(&self, _: Slot) -> Option<usize> {
        None
    }
    /// Returns the verification result.
    fn checks(self) -> Option<Checks>;
}

impl Content for Fill {
    fn new(workload: &Workload, thread: u16, _: Option<&Arc<Ledger>>) -> Self {
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
    fn new(_: &Workload, _: u16, _: Option<&Arc<Ledger>>) -> Self {
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

/// A worker's verification result.
pub(crate) struct Checks {
    pub(crate) ledger: Arc<Ledger>,
    /// Length of the last block with an intact stamp, for blocks without one; `None` if there was none.
    found_bytes: Option<u32>,
    /// Whether other workloads of this process may overwrite blocks.
    shared_blocks: bool,
    pub(crate) report: VerifyReport,
}

impl Checks {
    fn new(ledger: Arc<Ledger>, shared_blocks: bool) -> Self {
        let reads_only = ledger.is_empty();
        let run = (!reads_only).then(StampRun::of_this_process);
        let report = VerifyReport::with_room(run, reads_only && ledger.expected.is_none());
        Self { ledger, found_bytes: None, shared_blocks, report }
    }

    /// Adds the result of another worker of the same workload.
    pub(crate) fn joined(mut self, other: Self) -> Self {
        self.report.add(other.report);
        self
    }

    /// Verifies data read from this offset.
    pub(crate) fn check(&mut self, offset_bytes: u64, bytes: &[u8]) {
        if self.ledger.is_empty() {
            return self.check_unknown(offset_bytes, bytes);
        }
        let Ledger { block_bytes, run, first_run, .. } = *self.ledger;
        let mut offset_bytes = offset_bytes;
        for (block, write) in
            bytes.chunks_exact(block_bytes as usize).zip(self.ledger.writes_from(offset_bytes))
        {
            if write > 0 {
                let expected = Stamp { offset_bytes, run, write, length_bytes: block_bytes };
                self.report.checked += 1;
                let is_of_another =
                    || self.shared_blocks && stamp::is_of_another(block, &expected, first_run);
                if let Some(wrong) = stamp::judge(block, &expected).filter(|_| !is_of_another()) {
                    self.report.note(offset_bytes, block_bytes, wrong);
                }
            }
            offset_bytes += u64::from(block_bytes);
        }
    }

    /// Verifies blocks written by an earlier run; the stamps contain the length of the blocks.
    fn check_unknown(&mut self, mut offset_bytes: u64, mut bytes: &[u8]) {
        let (block_bytes, expected) = (self.ledger.block_bytes, self.ledger.expected);
        while !bytes.is_empty() {
            let judged = stamp::judge_unknown(bytes, offset_bytes, expected);
            let length = match judged.length_bytes {
                Some(length) => length.min(bytes.len() as u32),
                None => stamp::length_without_stamp(bytes, self.found_bytes.unwrap_or(block_bytes)),
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
    fn new(workload: &Workload, thread: u16, ledger: Option<&Arc<Ledger>>) -> Self {
        let fill = Fill::new(workload.data_pattern, workload.seed, thread);
        let ledger = ledger.cloned().unwrap_or_else(|| Ledger::of(workload, None));
        Self { fill, checks: Checks::new(ledger, workload.shares_blocks()) }
    }

    fn admits(&mut self, access: Access) -> bool {
        self.checks.ledger.claim(access)
    }

    fn fresh(&mut self, buffer: &mut [u8]) {
        self.fill.fill(buffer);
    }

    fn prepare<Q: Queue>(&mut self, access: Access, slot: Slot, queue: &mut Q) -> Took {
        if access.read {
            return Took::Time;
        }
        let ledger = &self.checks.ledger;
        let buffer = &mut queue.buffer(slot)[..access.block_bytes as usize];
        let mut offset_bytes = access.offset_bytes;
        for (block, write) in buffer.chunks_exact_mut(ledger.block_bytes as usize).zip(ledger.write(access)) {
            stamp::put(block, offset_bytes, ledger.run, write);
            offset_bytes += u64::from(ledger.block_bytes);
        }
        Took::Time
    }

    fn back<Q: Queue>(&mut self, access: Access, slot: Slot, queue: &mut Q) -> Took {
        if access.read {
            self.checks.check(access.offset_bytes, &queue.buffer(slot)[..access.block_bytes as usize]);
        }
        self.checks.ledger.release(access);
        Took::Time
    }

    fn lost(&mut self, access: Access) {
        self.checks.ledger.lose(access);
    }

    fn checks(self) -> Option<Checks> {
        Some(self.checks)
    }
}
