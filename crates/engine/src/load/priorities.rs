//! I/O priorities: which I/Os have which, and whether this process may use them.

use std::io;

use std::sync::Arc;

use record::{Commands, IoPriority, PriorityShare, PriorityTimes, SegmentDetail, Workload};
use stdx::Rng;
use stdx::access::Access;

use super::content::{Checks, Content};
use super::ledger::Ledger;
use super::recorder::Recording;
use super::tally::Tally;
use crate::error::EngineError;
use crate::queue::stamps::Took;
use crate::queue::{Queue, Slot};

/// `IOPRIO_WHO_PROCESS` (linux/ioprio.h), which means one thread.
const ONE_THREAD: libc::c_int = 1;
/// Distinguishes the random numbers of priorities from those of offsets and data.
const STREAM: u64 = 1 << 40;

/// Checks that this process may use the priorities of a workload.
///
/// # Errors
/// [`EngineError::Priority`].
pub fn check_priorities(workload: &Workload) -> Result<(), EngineError> {
    let Some(commands) = &workload.commands else { return Ok(()) };
    let possible = |priority| set_of_this_thread(priority).map_err(|source| (priority, source));
    // The kernel applies the same rules to single I/Os as to threads. The thread ends with the check.
    let tried = std::thread::scope(|scope| {
        let tried = scope.spawn(|| commands.priorities().try_for_each(possible)).join();
        tried.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    tried.map_err(|(priority, source)| EngineError::Priority { priority, source })
}

/// Sets the priority of the calling thread and of the threads that it starts from now on.
pub(crate) fn set_of_this_thread(priority: IoPriority) -> io::Result<()> {
    let number = libc::c_int::from(priority.number());
    // SAFETY: the call takes three integers and does not access memory.
    let answer = unsafe { libc::syscall(libc::SYS_ioprio_set, ONE_THREAD, 0, number) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Returns whether I/Os have priorities of their own.
pub(crate) fn has_priorities(workload: &Workload) -> bool {
    workload.commands.as_ref().is_some_and(|commands| commands.priorities().next().is_some())
}

/// The directions and priorities under which response times are recorded: first the I/Os without a priority of their own,
/// by direction.
fn recorded(commands: &Commands) -> Vec<(bool, Option<IoPriority>)> {
    let mut recorded = vec![(false, commands.priority), (true, commands.priority)];
    for share in &commands.priority_shares {
        let kind = (share.read, Some(share.priority));
        if !recorded.contains(&kind) {
            recorded.push(kind);
        }
    }
    recorded
}

/// Returns the number of histograms that a workload needs to record its I/Os by priority.
pub(crate) fn histograms(workload: &Workload) -> usize {
    match &workload.commands {
        Some(commands) if has_priorities(workload) => recorded(commands).len(),
        _ => 0,
    }
}

/// Combines the response times of all workers by priority.
pub(crate) fn times(workload: &Workload, notes: &[Recording]) -> Vec<PriorityTimes> {
    let Some(commands) = &workload.commands else { return Vec::new() };
    let mut times: Vec<PriorityTimes> = recorded(commands)
        .into_iter()
        .map(|(read, priority)| PriorityTimes { read, priority, latency: stdx::Histogram::new() })
        .collect();
    for (sum, latency) in notes.iter().flat_map(|note| note.priorities.iter().enumerate()) {
        times[sum].latency.merge(latency);
    }
    times.retain(|times| times.latency.count() > 0);
    times
}

/// Returns the figures of a workload that only the results of loads contain.
pub(crate) fn detail(
    workload: &Workload,
    notes: &[Recording],
    interval_ns: u64,
    elapsed_ns: u64,
) -> Option<Box<SegmentDetail>> {
    let mut detail = SegmentDetail { priorities: times(workload, notes), ..SegmentDetail::default() };
    if workload.read_percent > 0 && workload.read_percent < 100 {
        let rows = super::recorder::rows(notes, interval_ns, elapsed_ns);
        let means = rows.iter().map(super::interval::Interval::latency_means_ns);
        (detail.read_means_ns, detail.write_means_ns) = means.map(|[read, write]| (read, write)).unzip();
    }
    let sum = |of: fn(&Tally) -> u64| -> u64 { notes.iter().map(|note| of(&note.tally)).sum() };
    (detail.failed_writes, detail.failed_reads) =
        (sum(|tally| tally.failed[0]), sum(|tally| tally.failed[1]));
    let has_resets = workload.zoned().is_some() && workload.writes();
    detail.zone_resets = has_resets.then(|| sum(|tally| tally.zone_resets));
    (detail != SegmentDetail::default()).then(|| Box::new(detail))
}

/// One of the priorities of a kind of I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Chance {
    /// The priority applies to numbers from 0 to 99 that are below this one, but not below the previous one.
    below: u64,
    number: u16,
    recorded: usize,
}

/// The priorities of the I/Os of one direction and length.
struct OfKind {
    share: PriorityShare,
    chances: Vec<Chance>,
}

/// Draws the priority of each I/O. As in fio, they are independent of each other and of the offsets.
struct Draws {
    rng: Rng,
    /// The number of the priority of all other I/Os.
    default: u16,
    kinds: Vec<OfKind>,
}

impl Draws {
    fn new(commands: &Commands, seed: u64, thread: u16) -> Self {
        let known = recorded(commands);
        let mut kinds: Vec<OfKind> = Vec::new();
        for share in commands.priority_shares.iter().filter(|share| share.share_percent > 0) {
            let same = |kind: &&mut OfKind| {
                (kind.share.read, kind.share.block_bytes) == (share.read, share.block_bytes)
            };
            let chance = |before: u64| Chance {
                below: before + u64::from(share.share_percent),
                number: share.priority.number(),
                recorded: known
                    .iter()
                    .position(|kind| *kind == (share.read, Some(share.priority)))
                    .unwrap_or_else(|| share.read.into()),
            };
            match kinds.iter_mut().find(same) {
                Some(kind) => {
                    let before = kind.chances.last().map_or(0, |chance| chance.below);
                    kind.chances.push(chance(before));
                }
                None => kinds.push(OfKind { share: *share, chances: vec![chance(0)] }),
            }
        }
        let rng = Rng::from_seed_and_stream(seed, STREAM + u64::from(thread));
        Self { rng, default: commands.priority.map_or(0, IoPriority::number), kinds }
    }

    /// Returns the number of an I/O's priority, and the number under which the I/O is recorded.
    fn draw(&mut self, access: Access) -> (u16, usize) {
        let kind = self.kinds.iter().find(|kind| kind.share.is_of(access.read, access.block_bytes));
        if let Some(kind) = kind {
            let drawn = self.rng.below(100);
            if let Some(chance) = kind.chances.iter().find(|chance| drawn < chance.below) {
                return (chance.number, chance.recorded);
            }
        }
        (self.default, access.read.into())
    }
}

/// Contents of buffers for I/Os that have priorities.
pub(crate) struct Prioritised<C> {
    content: C,
    draws: Draws,
    /// By slot.
    recorded: Box<[usize]>,
}

impl<C: Content> Content for Prioritised<C> {
    fn new(workload: &Workload, thread: u16, ledger: Option<&Arc<Ledger>>) -> Self {
        let none = Commands::default();
        let commands = workload.commands.as_deref().unwrap_or(&none);
        let slots = workload.queue_depth + super::write_buffers::spares(workload);
        Self {
            content: C::new(workload, thread, ledger),
            draws: Draws::new(commands, workload.seed, thread),
            recorded: vec![0; slots.into()].into(),
        }
    }

    fn admits(&mut self, access: Access) -> bool {
        self.content.admits(access)
    }

    fn fresh(&mut self, buffer: &mut [u8]) {
        self.content.fresh(buffer);
    }

    fn prepare<Q: Queue>(&mut self, access: Access, slot: Slot, queue: &mut Q) -> Took {
        let (number, recorded) = self.draws.draw(access);
        self.recorded[usize::from(slot)] = recorded;
        queue.set_priority(slot, number);
        self.content.prepare(access, slot, queue)
    }

    fn back<Q: Queue>(&mut self, access: Access, slot: Slot, queue: &mut Q) -> Took {
        self.content.back(access, slot, queue)
    }

    fn lost(&mut self, access: Access) {
        self.content.lost(access);
    }

    fn priority(&self, slot: Slot) -> Option<usize> {
        Some(self.recorded[usize::from(slot)])
    }

    fn checks(self) -> Option<Checks> {
        self.content.checks()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REAL_TIME: IoPriority = IoPriority { class: 1, level: 1, hint: 0 };
    const IDLE: IoPriority = IoPriority { class: 3, level: 2, hint: 0 };

    fn share(read: bool, block_bytes: u32, share_percent: u8, priority: IoPriority) -> PriorityShare {
        PriorityShare { read, block_bytes: Some(block_bytes), share_percent, priority }
    }

    #[test]
    fn priorities_are_drawn_by_direction_and_length() {
        let shares =
            vec![share(true, 4096, 25, REAL_TIME), share(true, 4096, 75, IDLE), share(false, 512, 40, IDLE)];
        let commands = Commands { priority_shares: shares, ..Commands::default() };
        let known = recorded(&commands);
        assert_eq!(
            known,
            [(false, None), (true, None), (true, Some(REAL_TIME)), (true, Some(IDLE)), (false, Some(IDLE))]
        );
        let mut draws = Draws::new(&commands, 1, 0);
        let mut counts = |read, block_bytes| {
            let mut counts = [0u32; 5];
            for _ in 0..10_000 {
                let (number, recorded) = draws.draw(Access { read, block_bytes, offset_bytes: 0 });
                assert_eq!(number, known[recorded].1.map_or(0, IoPriority::number));
                counts[recorded] += 1;
            }
            counts
        };
        let near = |count: u32, expected: u32| count.abs_diff(expected) < 300;
        let reads = counts(true, 4096);
        assert!(near(reads[2], 2500) && near(reads[3], 7500) && reads[1] == 0, "{reads:?}");
        assert_eq!(counts(true, 512), [0, 10_000, 0, 0, 0]);
        let writes = counts(false, 512);
        assert!(near(writes[0], 6000) && near(writes[4], 4000), "{writes:?}");
    }

    #[test]
    fn a_priority_like_the_default_is_recorded_with_the_default() {
        let any = PriorityShare { read: true, block_bytes: None, share_percent: 20, priority: IDLE };
        let commands = Commands { priority: Some(IDLE), priority_shares: vec![any], ..Commands::default() };
        assert_eq!(recorded(&commands), [(false, Some(IDLE)), (true, Some(IDLE))]);
        let access = Access { read: true, block_bytes: 512, offset_bytes: 0 };
        assert_eq!(Draws::new(&commands, 1, 0).draw(access), (IDLE.number(), 1));
    }
}
