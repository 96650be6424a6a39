//! The accesses by one thread with one kind of I/O.

use super::pattern::{Kind, Pattern};
use super::scatter::Scatter;
use super::span::{Order, Span, share};
use crate::Rng;

/// One I/O to issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// True for a read, false for a write.
    pub read: bool,
    /// Length in bytes.
    pub block_bytes: u32,
    /// Byte offset on the device. Relative to the start of its segment, it is a multiple of the alignment or, without one,
    /// of the block size.
    pub offset_bytes: u64,
}

/// One kind of I/O by one thread: random over the whole span, or sequential in the thread's part of it.
#[derive(Debug, Clone)]
pub(super) struct Lane {
    pub(super) span: Span,
    pub(super) order: Order,
    pub(super) read_percent: u8,
    pub(super) block_bytes: u32,
    pub(super) blocks_per_segment: u64,
    /// Distance between the positions that a distribution or a sequence numbers.
    position_bytes: u64,
    positions_per_segment: u64,
    pub(super) first_block: u64,
    pub(super) end_block: u64,
    pub(super) next_block: u64,
    pub(super) descending: bool,
}

impl Lane {
    pub(super) fn new(kind: &Kind, pattern: &Pattern, thread: u16, threads: u16) -> Self {
        let span = pattern.span;
        let blocks = span.blocks(kind.block_bytes);
        let part = match kind.order {
            Order::Random => 0..blocks,
            Order::Sequential => share(blocks, thread, threads),
        };
        let skipped = pattern.from_block % (part.end - part.start).max(1);
        let next_block = if pattern.descending { part.end - 1 - skipped } else { part.start + skipped };
        Self {
            span,
            order: kind.order,
            read_percent: kind.read_percent,
            block_bytes: kind.block_bytes,
            blocks_per_segment: span.segment_bytes / u64::from(kind.block_bytes),
            position_bytes: pattern.alignment_bytes(),
            positions_per_segment: pattern.positions_per_segment(),
            first_block: part.start,
            end_block: part.end,
            next_block,
            descending: pattern.descending,
        }
    }

    #[inline]
    pub(super) fn read(&self, rng: &mut Rng) -> bool {
        match self.read_percent {
            0 => false,
            100 => true,
            percent => rng.percent(percent),
        }
    }

    #[inline]
    pub(super) fn next_access(&mut self, rng: &mut Rng) -> Access {
        let read = self.read(rng);
        let block = match self.order {
            Order::Random => rng.below(self.end_block),
            Order::Sequential => {
                let block = self.next_block;
                self.next_block = match self.descending {
                    false if block + 1 == self.end_block => self.first_block,
                    false => block + 1,
                    true if block == self.first_block => self.end_block - 1,
                    true => block - 1,
                };
                block
            }
        };
        let offset_bytes = self.span.offset_of(block, self.block_bytes.into(), self.blocks_per_segment);
        Access { read, block_bytes: self.block_bytes, offset_bytes }
    }

    /// Returns the next access to a position that `scatter` chooses.
    pub(super) fn scattered(&self, scatter: &mut Scatter, rng: &mut Rng) -> Access {
        let read = self.read(rng);
        let position = scatter.next(read, rng);
        let offset_bytes = self.span.offset_of(position, self.position_bytes, self.positions_per_segment);
        Access { read, block_bytes: self.block_bytes, offset_bytes }
    }

    /// Draws random accesses to a single segment. The loop is small enough to keep the generator in registers; in
    /// memory, each step would wait for the previous store.
    #[inline(always)]
    pub(super) fn draw_random(
        &self,
        rng: &mut Rng,
        count: usize,
        read: impl Fn(&mut Rng) -> bool,
        take: &mut impl FnMut(Access),
    ) {
        let (blocks, block_bytes, start_bytes) = (self.end_block, self.block_bytes, self.span.start_bytes);
        let mut own = rng.clone();
        for _ in 0..count {
            let read = read(&mut own);
            let offset_bytes = start_bytes + own.below(blocks) * u64::from(block_bytes);
            take(Access { read, block_bytes, offset_bytes });
        }
        *rng = own;
    }
}
