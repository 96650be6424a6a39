//! The blocks that verified workloads have written. Threads and workloads that write to the same blocks share a ledger, in
//! which each of them claims the blocks of an I/O until it has completed.

use std::mem::ManuallyDrop;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use record::Workload;
use stdx::access::Access;

use super::stamp_run::StampRun;
use super::verifiable::{Extent, Unverifiable};

/// This bit is set in a block's entry while an I/O to the block is in flight.
const BUSY: u32 = 1 << 31;

/// The state of each block in a part of the target.
pub(crate) struct Ledger {
    /// Start of the part, in bytes.
    pub(crate) start_bytes: u64,
    /// Length of a block, in bytes.
    pub(crate) block_bytes: u32,
    /// Number in the stamps that this load writes.
    pub(crate) run: u64,
    /// The smallest such number of the workloads that run at the same time.
    pub(crate) first_run: u64,
    /// The run that must have written the blocks if the workload has no writes; `None` for any run.
    pub(crate) expected: Option<StampRun>,
    /// Sequence number of the last write to each block, 0 if there was none; empty if there are no writes.
    writes: Vec<AtomicU32>,
    /// Number of workloads that have not ended.
    running: AtomicUsize,
}

/// Returns zeros in memory that is not touched yet, because few blocks of a large range may be written.
fn zeros(count: usize) -> Vec<AtomicU32> {
    let mut zeros = ManuallyDrop::new(vec![0u32; count]);
    let (start, length, capacity) = (zeros.as_mut_ptr(), zeros.len(), zeros.capacity());
    // SAFETY: the parts are those of a vector that is not dropped, and the two types have the same layout.
    unsafe { Vec::from_raw_parts(start.cast::<AtomicU32>(), length, capacity) }
}

impl Ledger {
    /// Creates the ledger of `workloads` workloads, which access this extent.
    fn new(extent: Extent, writes: bool, workloads: usize, expected: Option<StampRun>) -> Self {
        let run = StampRun::of_next_load();
        Self {
            start_bytes: extent.start_bytes,
            block_bytes: extent.block_bytes as u32,
            run,
            first_run: run,
            expected,
            writes: zeros(if writes { extent.blocks() as usize } else { 0 }),
            running: AtomicUsize::new(workloads),
        }
    }

    /// Creates the ledger of a single workload.
    pub(crate) fn of(workload: &Workload, expected: Option<StampRun>) -> Arc<Self> {
        Arc::new(Self::new(Extent::of(workload), workload.writes(), 1, expected))
    }

    /// Returns whether the load does not write, so that nothing is known about the blocks.
    pub(crate) fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    /// Returns the number of blocks, whether written or not; 0 if the load does not write.
    pub(crate) fn blocks(&self) -> u64 {
        self.writes.len() as u64
    }

    /// Returns whether any of these blocks was written.
    pub(crate) fn any_written(&self, blocks: Range<u64>) -> bool {
        self.writes[blocks.start as usize..blocks.end as usize]
            .iter()
            .any(|entry| entry.load(Ordering::Relaxed) & !BUSY > 0)
    }

    /// Returns the sequence number of the last write to each block from this offset on.
    pub(crate) fn writes_from(&self, offset_bytes: u64) -> impl Iterator<Item = u32> {
        let first = ((offset_bytes - self.start_bytes) / u64::from(self.block_bytes)) as usize;
        self.writes[first..].iter().map(|entry| entry.load(Ordering::Relaxed) & !BUSY)
    }

    fn entries(&self, access: Access) -> &[AtomicU32] {
        if self.writes.is_empty() {
            return &[];
        }
        let first = ((access.offset_bytes - self.start_bytes) / u64::from(self.block_bytes)) as usize;
        &self.writes[first..first + (access.block_bytes / self.block_bytes) as usize]
    }

    /// Claims the blocks of an access, unless another I/O to one of them is in flight.
    pub(crate) fn claim(&self, access: Access) -> bool {
        let entries = self.entries(access);
        // The claim of a block follows the end of the last I/O to it.
        let taken = entries.iter().position(|entry| entry.fetch_or(BUSY, Ordering::Acquire) & BUSY > 0);
        let Some(taken) = taken else { return true };
        entries[..taken].iter().for_each(|entry| _ = entry.fetch_and(!BUSY, Ordering::Release));
        false
    }

    /// Counts a write to the claimed blocks of an access. Returns the sequence number for each block. The number saturates
    /// after 2^31 - 1 writes to one block; from then on, only lost writes go undetected.
    pub(crate) fn write(&self, access: Access) -> impl Iterator<Item = u32> {
        self.entries(access).iter().map(|entry| {
            let write = ((entry.load(Ordering::Relaxed) & !BUSY) + 1).min(!BUSY);
            entry.store(write | BUSY, Ordering::Relaxed);
            write
        })
    }

    /// Ends the claim to the blocks of an access that has completed.
    pub(crate) fn release(&self, access: Access) {
        self.entries(access).iter().for_each(|entry| _ = entry.fetch_and(!BUSY, Ordering::Release));
    }

    /// Ends the claim to the blocks of an access that failed. After a failed write, the content of its blocks is unknown.
    pub(crate) fn lose(&self, access: Access) {
        match access.read {
            true => self.release(access),
            false => self.entries(access).iter().for_each(|entry| entry.store(0, Ordering::Release)),
        }
    }

    /// Notes the end of a workload. Returns whether it was the last one.
    pub(crate) fn ended(&self) -> bool {
        self.running.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

/// Returns the ledger of each workload that verifies its data.
pub(super) fn ledgers(workloads: &[Workload], expected: Option<StampRun>) -> Vec<Option<Arc<Ledger>>> {
    let (mut ledgers, mut first_run) = (vec![None; workloads.len()], None);
    for group in groups(workloads) {
        let extent = Extent::of_all(group.iter().map(|index| &workloads[*index]));
        let writes = group.iter().any(|index| workloads[*index].writes());
        let mut ledger = Ledger::new(extent, writes, group.len(), expected);
        ledger.first_run = *first_run.get_or_insert(ledger.run);
        let ledger = Arc::new(ledger);
        group.iter().for_each(|index| ledgers[*index] = Some(Arc::clone(&ledger)));
    }
    ledgers
}

/// Checks that the ledgers of the workloads are possible.
pub(super) fn check(workloads: &[Workload]) -> Result<(), Unverifiable> {
    groups(workloads)
        .iter()
        .filter(|group| group.len() > 1)
        .try_for_each(|group| Extent::of_all(group.iter().map(|index| &workloads[*index])).check())
}

/// Returns the positions of the workloads that verify their data, in groups that write to the same blocks.
fn groups(workloads: &[Workload]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, workload) in workloads.iter().enumerate().filter(|(_, workload)| workload.regime.verify) {
        let shares = |other: &usize| shares_ledger(&workloads[*other], workload);
        let shares = |group: &Vec<usize>| group.iter().any(shares);
        let (joined, mut others): (Vec<_>, Vec<_>) = groups.into_iter().partition(shares);
        others.push(joined.into_iter().flatten().chain([index]).collect());
        groups = others;
    }
    groups
}

/// Returns whether workloads that verify their data claim their blocks from each other. Those that may overwrite each
/// other's blocks do not.
fn shares_ledger(one: &Workload, other: &Workload) -> bool {
    both_write(one, other) && !(one.shares_blocks() && other.shares_blocks())
}

/// Returns whether two workloads that verify their data write to the same range.
pub(super) fn both_write(one: &Workload, other: &Workload) -> bool {
    one.writes() && other.writes() && overlap(one, other)
}

pub(super) fn overlap(one: &Workload, other: &Workload) -> bool {
    let (a, b) = (one.range.span(), other.range.span());
    a.start_bytes < b.end_bytes() && b.start_bytes < a.end_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCKS: u64 = 16;

    fn access(read: bool, first: u64, blocks: u32) -> Access {
        Access { read, block_bytes: blocks * 512, offset_bytes: 4096 + first * 512 }
    }

    fn ledger() -> Ledger {
        let extent = Extent { start_bytes: 4096, end_bytes: 4096 + BLOCKS * 512, block_bytes: 512 };
        Ledger::new(extent, true, 2, None)
    }

    #[test]
    fn blocks_belong_to_one_io_at_a_time() {
        let ledger = ledger();
        let (first, second) = (access(false, 2, 4), access(true, 5, 2));
        assert!(ledger.claim(first) && !ledger.claim(second));
        assert_eq!(ledger.write(first).collect::<Vec<_>>(), [1; 4]);
        // The refused claim has left no claim to its other block.
        assert!(ledger.claim(access(true, 6, 1)));
        ledger.release(access(true, 6, 1));
        ledger.release(first);
        assert!(ledger.claim(second));
        ledger.release(second);
        assert!(ledger.any_written(2..3) && !ledger.any_written(6..BLOCKS));
        assert_eq!(ledger.writes_from(first.offset_bytes).take(5).collect::<Vec<_>>(), [1, 1, 1, 1, 0]);
    }

    #[test]
    fn a_failed_write_leaves_unknown_blocks() {
        let ledger = ledger();
        let access = access(false, 0, 1);
        for write in [1, 2] {
            assert!(ledger.claim(access) && ledger.write(access).eq([write]));
            ledger.release(access);
        }
        assert!(ledger.claim(access) && ledger.write(access).eq([3]));
        ledger.lose(access);
        assert!(!ledger.any_written(0..1) && ledger.claim(access) && ledger.write(access).eq([1]));
    }

    #[test]
    fn threads_never_hold_the_same_block() {
        let (ledger, owned) = (ledger(), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        let access = access(false, 3, 2);
                        if ledger.claim(access) {
                            assert_eq!(owned.fetch_add(1, Ordering::Relaxed), 0);
                            ledger.write(access).for_each(drop);
                            owned.store(0, Ordering::Relaxed);
                            ledger.release(access);
                        }
                    }
                });
            }
        });
        let writes: Vec<u32> = ledger.writes_from(4096).collect();
        assert!(writes[3] > 0 && writes[3] == writes[4] && writes[2] == 0, "{writes:?}");
    }

    #[test]
    fn workloads_that_share_blocks_have_their_own_ledgers_of_one_time() {
        let commands = record::Commands { shared_blocks: true, ..record::Commands::default() };
        let plain = crate::ceiling::workload(1, 1);
        let range = record::Range::first(1 << 20);
        let regime = record::Regime::VERIFIED;
        let joined = Workload { read_percent: 0, range, regime, ..plain };
        let sharing = Workload { commands: Some(Box::new(commands)), ..joined.clone() };
        let of = |workload: &Workload| -> Vec<Arc<Ledger>> {
            let ledgers = ledgers(&[workload.clone(), workload.clone()], None);
            ledgers.into_iter().map(|ledger| ledger.expect("it verifies")).collect()
        };
        let own = of(&sharing);
        assert!(own[0].run != own[1].run && own[1].first_run == own[0].run && own[0].first_run == own[0].run);
        let common = of(&joined);
        assert!(Arc::ptr_eq(&common[0], &common[1]) && common[0].first_run == common[0].run);
    }

    #[test]
    fn only_the_last_workload_reads_back() {
        let ledger = ledger();
        assert_eq!([ledger.ended(), ledger.ended()], [false, true]);
    }
}
