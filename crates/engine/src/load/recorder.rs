//! Records the I/Os of one worker. Recording shares no data, takes no locks and does not allocate.

use std::sync::mpsc::{SyncSender, sync_channel};

use record::{Direction, Series};
use stdx::Histogram;
use stdx::access::Access;
use stdx::histogram::coarse::{Columns, Ledger, ROWS, Rows, add_slots};
use stdx::histogram::{SLOTS, slot_of};

use super::interval::{Interval, touched};
use super::message::Message;
use super::tally::Tally;
use crate::queue::stamps::Took;

/// Number of intervals to reserve memory for if the length of a run is unknown. Unused memory takes up only
/// address space.
const RESERVED_INTERVALS: u64 = 100_000;

/// Records one direction. To keep the number of updates per I/O low, the histogram's count, sum and maximum are derived
/// from the intervals when they end, and I/Os with the same start and end are recorded as a group.
struct Lane {
    /// Number of I/Os with the same start, end and length that are not recorded yet.
    alike: u64,
    alike_start_ns: u64,
    alike_done_ns: u64,
    alike_bytes: u32,
    slots: Box<[u64; SLOTS]>,
    /// Completion time of the latest I/O.
    last_done_ns: u64,
    /// The following fields cover the run up to the end of the last closed interval.
    min_ns: u64,
    bytes: u64,
    sum_ns: u128,
    max_ns: u64,
    /// The following fields cover the current interval.
    ios: u64,
    interval_bytes: u64,
    interval_sum_ns: u64,
    interval_max_ns: u64,
}

/// A lane's sums over one closed interval.
struct Closed {
    ios: u64,
    bytes: u64,
    sum_ns: u64,
    max_ns: u64,
}

impl Lane {
    fn new() -> Self {
        Self {
            alike: 0,
            alike_start_ns: 0,
            alike_done_ns: 0,
            alike_bytes: 0,
            slots: Box::new([0; SLOTS]),
            last_done_ns: 0,
            min_ns: u64::MAX,
            bytes: 0,
            sum_ns: 0,
            max_ns: 0,
            ios: 0,
            interval_bytes: 0,
            interval_sum_ns: 0,
            interval_max_ns: 0,
        }
    }

    #[inline]
    fn record(&mut self, block_bytes: u32, start_ns: u64, done_ns: u64) {
        // Compares the start first: it differs for most I/Os, so the branch is predictable, unlike one on
        // response times.
        if start_ns != self.alike_start_ns || done_ns != self.alike_done_ns || block_bytes != self.alike_bytes
        {
            self.enter();
            (self.alike_start_ns, self.alike_done_ns) = (start_ns, done_ns);
            self.alike_bytes = block_bytes;
        }
        self.alike += 1;
    }

    /// Records the I/Os collected in `alike`.
    #[inline]
    fn enter(&mut self) {
        if self.alike == 0 {
            return;
        }
        let latency_ns = self.alike_done_ns.saturating_sub(self.alike_start_ns);
        self.slots[slot_of(latency_ns)] += self.alike;
        self.ios += self.alike;
        self.interval_bytes += self.alike * u64::from(self.alike_bytes);
        self.interval_sum_ns += self.alike * latency_ns;
        self.interval_max_ns = self.interval_max_ns.max(latency_ns);
        self.last_done_ns = self.last_done_ns.max(self.alike_done_ns);
        self.min_ns = self.min_ns.min(latency_ns);
        self.alike = 0;
    }

    /// Closes the interval.
    fn close(&mut self) -> Closed {
        self.enter();
        let closed = Closed {
            ios: std::mem::take(&mut self.ios),
            bytes: std::mem::take(&mut self.interval_bytes),
            sum_ns: std::mem::take(&mut self.interval_sum_ns),
            max_ns: std::mem::take(&mut self.interval_max_ns),
        };
        self.bytes += closed.bytes;
        self.sum_ns += u128::from(closed.sum_ns);
        self.max_ns = self.max_ns.max(closed.max_ns);
        closed
    }

    fn clear(&mut self) {
        self.close();
        self.slots.fill(0);
        self.last_done_ns = 0;
        (self.min_ns, self.bytes, self.sum_ns, self.max_ns) = (u64::MAX, 0, 0, 0);
    }

    /// Adds the closed intervals to the rows of a coarse histogram.
    fn add_rows(&self, rows: &mut Rows) {
        if self.min_ns <= self.max_ns {
            let (first, last) = (slot_of(self.min_ns), slot_of(self.max_ns));
            add_slots(first, &self.slots[first..=last], rows);
        }
    }

    /// Returns the closed intervals as a histogram.
    fn histogram(&self) -> Histogram {
        let slots = self.slots.iter().enumerate().filter(|(_, count)| **count > 0);
        let filled: Vec<_> = slots.map(|(slot, &count)| (slot, count)).collect();
        Histogram::from_parts(&filled, self.sum_ns, self.min_ns, self.max_ns)
            .expect("minimum and maximum were recorded with their slots")
    }
}

/// One worker's recorder.
pub struct Recorder {
    /// Indexed by `Access::read`: writes, then reads.
    lanes: [Lane; 2],
    /// Syncs, if the workload has any.
    syncs: Option<Box<Lane>>,
    /// I/Os by priority, if the workload has any.
    priorities: Vec<Lane>,
    finished: Vec<Interval>,
    /// Response times of the closed intervals, reads and writes combined.
    times: Ledger,
    current_end_ns: u64,
    interval_ns: u64,
    /// Start of the measurement, after the ramp.
    begin_ns: u64,
    /// I/Os that complete before this time are not counted; set to 0 once the time has passed.
    counts_from_ns: u64,
    tally: Tally,
    display: SyncSender<Message>,
}

/// One worker's results.
pub struct Recording {
    pub(crate) read: Histogram,
    pub(crate) write: Histogram,
    pub(crate) read_bytes: u64,
    pub(crate) write_bytes: u64,
    /// Response times of syncs; `None` if the workload has none.
    pub(crate) syncs: Option<Histogram>,
    /// Response times by priority, as reserved.
    pub(crate) priorities: Vec<Histogram>,
    pub(crate) intervals: Vec<Interval>,
    pub(crate) times: Columns,
    pub(crate) tally: Tally,
    /// Completion time of the latest I/O, or the start of the measurement if there was none.
    pub last_done_ns: u64,
}

impl Recorder {
    /// Returns a recorder that does not report its intervals to a display.
    #[must_use]
    pub fn without_display(interval_ns: u64, duration_ns: Option<u64>) -> Self {
        let (nobody, _) = sync_channel(1);
        Self::new(interval_ns, duration_ns, nobody)
    }

    /// Reserves all memory that recording needs. `duration_ns` is `None` for runs of unknown length.
    pub(crate) fn new(interval_ns: u64, duration_ns: Option<u64>, display: SyncSender<Message>) -> Self {
        let intervals = duration_ns.map(|ns| (ns / interval_ns + 2).min(RESERVED_INTERVALS));
        let finished = match intervals {
            None => Vec::with_capacity(RESERVED_INTERVALS as usize),
            Some(intervals) => touched(intervals as usize),
        };
        Self {
            lanes: [Lane::new(), Lane::new()],
            syncs: None,
            priorities: Vec::new(),
            finished,
            times: Ledger::reserved(intervals),
            current_end_ns: 0,
            interval_ns,
            begin_ns: 0,
            counts_from_ns: 0,
            tally: Tally::default(),
            display,
        }
    }

    /// Reserves memory for the response times of syncs.
    pub(crate) fn reserve_syncs(&mut self) {
        self.syncs = Some(Box::new(Lane::new()));
    }

    /// Reserves memory for the response times of this number of priorities.
    pub(crate) fn reserve_priorities(&mut self, count: usize) {
        self.priorities = (0..count).map(|_| Lane::new()).collect();
    }

    /// Starts recording at this time; I/Os count from the end of the ramp.
    pub fn start(&mut self, start_ns: u64, ramp_ns: u64) {
        let counts_from_ns = start_ns.saturating_add(ramp_ns);
        self.current_end_ns = start_ns + self.interval_ns;
        if ramp_ns > 0 {
            self.current_end_ns = self.current_end_ns.min(counts_from_ns);
            self.counts_from_ns = counts_from_ns;
        }
        self.begin_ns = counts_from_ns;
    }

    /// Records one completed I/O. Completion times of different helpers may be slightly out of order. An I/O
    /// that is recorded after its interval was closed counts in the next interval.
    #[inline(always)]
    pub fn record(&mut self, access: Access, started_ns: u64, done_ns: u64) -> Took {
        let mut took = Took::NoTime;
        if done_ns >= self.current_end_ns {
            self.advance(done_ns);
            took = Took::Time;
        }
        self.lanes[usize::from(access.read)].record(access.block_bytes, started_ns, done_ns);
        took
    }

    /// Records the response time of an I/O, which was just recorded, with its priority as well.
    #[inline]
    pub(crate) fn record_priority(&mut self, priority: usize, access: Access, started_ns: u64, done_ns: u64) {
        self.priorities[priority].record(access.block_bytes, started_ns, done_ns);
    }

    /// Records one completed sync. Syncs are not part of the intervals.
    #[cold]
    pub(crate) fn record_sync(&mut self, started_ns: u64, done_ns: u64) {
        if done_ns >= self.current_end_ns {
            self.advance(done_ns);
        }
        if let Some(syncs) = &mut self.syncs {
            syncs.record(0, started_ns, done_ns);
        }
    }

    /// Returns the counts to which an event at this time is added; `None` during the ramp.
    #[cold]
    pub(crate) fn tally(&mut self, at_ns: u64) -> Option<&mut Tally> {
        (at_ns >= self.counts_from_ns).then_some(&mut self.tally)
    }

    #[cold]
    fn advance(&mut self, now_ns: u64) {
        let mut closed = self.close();
        // If the display falls behind, it misses an update; no data is lost.
        let syncs = self.syncs.as_mut().map_or(0, |lane| lane.close().ios);
        for lane in &mut self.priorities {
            lane.close();
        }
        let _ = self.display.try_send(Message::Interval { closed, syncs });
        if self.counts_from_ns > 0 {
            if now_ns < self.counts_from_ns {
                self.current_end_ns = (now_ns + self.interval_ns).min(self.counts_from_ns);
                return;
            }
            self.end_ramp();
            closed = Interval::default();
        }
        // A clock jump invalidates the run. Until the jump is detected, intervals are skipped instead of filling
        // memory.
        let late_intervals = now_ns.saturating_sub(self.current_end_ns) / self.interval_ns;
        self.current_end_ns += late_intervals.saturating_sub(RESERVED_INTERVALS) * self.interval_ns;
        while now_ns >= self.current_end_ns {
            self.push(std::mem::take(&mut closed));
            self.current_end_ns += self.interval_ns;
        }
    }

    /// Discards everything recorded during the ramp and starts the measurement.
    fn end_ramp(&mut self) {
        let others = self.syncs.as_deref_mut().into_iter().chain(&mut self.priorities);
        self.lanes.iter_mut().chain(others).for_each(Lane::clear);
        self.current_end_ns = self.counts_from_ns + self.interval_ns;
        self.begin_ns = self.counts_from_ns;
        self.counts_from_ns = 0;
    }

    fn push(&mut self, closed: Interval) {
        if closed.ios() == 0 {
            self.times.close_empty();
        } else {
            let mut sums = [0; ROWS];
            self.lanes.iter().for_each(|lane| lane.add_rows(&mut sums));
            self.times.close(&sums);
        }
        self.finished.push(closed);
    }

    fn close(&mut self) -> Interval {
        let [writes, reads] = self.lanes.each_mut().map(Lane::close);
        Interval {
            read_ios: reads.ios,
            write_ios: writes.ios,
            bytes: reads.bytes + writes.bytes,
            latency_sum_ns: reads.sum_ns + writes.sum_ns,
            read_latency_sum_ns: reads.sum_ns,
            latency_max_ns: reads.max_ns.max(writes.max_ns),
        }
    }

    /// Ends the recording.
    #[must_use]
    pub fn finish(mut self) -> Recording {
        if self.counts_from_ns > 0 {
            self.end_ramp();
        }
        let last = self.close();
        self.push(last);
        let [write, read] = self.lanes.each_ref().map(Lane::histogram);
        let [write_bytes, read_bytes] = self.lanes.each_ref().map(|lane| lane.bytes);
        let closed = |mut lane: Lane| {
            lane.close();
            lane.histogram()
        };
        let syncs = self.syncs.map(|lane| closed(*lane));
        let priorities = self.priorities.into_iter().map(closed).collect();
        let last_done_ns = self.lanes.iter().map(|lane| lane.last_done_ns).fold(self.begin_ns, u64::max);
        Recording {
            read,
            write,
            read_bytes,
            write_bytes,
            syncs,
            priorities,
            intervals: self.finished,
            times: self.times.finish(),
            tally: self.tally,
            last_done_ns,
        }
    }
}

/// Merges the results of all workers: reads, writes, and the time series over `elapsed_ns`.
#[must_use]
pub fn merge(notes: &[Recording], interval_ns: u64, elapsed_ns: u64) -> (Direction, Direction, Series) {
    let (mut read, mut write) = (Histogram::new(), Histogram::new());
    let rows = rows(notes, interval_ns, elapsed_ns);
    for note in notes {
        read.merge(&note.read);
        write.merge(&note.write);
    }
    let direction = |latency: Histogram, bytes: fn(&Recording) -> u64| Direction {
        ios: latency.count(),
        bytes: notes.iter().map(bytes).sum(),
        latency,
    };
    let times = Columns::merged(notes.iter().map(|note| &note.times), rows.len() as u64);
    let series = series(&rows, times, interval_ns);
    (direction(read, |n| n.read_bytes), direction(write, |n| n.write_bytes), series)
}

/// Returns the sums of all workers by interval.
pub(crate) fn rows(notes: &[Recording], interval_ns: u64, elapsed_ns: u64) -> Vec<Interval> {
    let mut rows = vec![Interval::default(); elapsed_ns.div_ceil(interval_ns).max(1) as usize];
    let last = rows.len() - 1;
    for (i, interval) in notes.iter().flat_map(|note| note.intervals.iter().enumerate()) {
        // In a run limited by an amount, the last I/O may complete exactly at the end of the last interval.
        rows[i.min(last)].add(interval);
    }
    rows
}

/// Returns the time series of the first intervals; later intervals are omitted.
pub(crate) fn course<'a>(
    notes: impl Iterator<Item = &'a Recording> + Clone,
    interval_ns: u64,
    intervals: usize,
) -> Series {
    let noted = notes.clone().map(|note| note.intervals.len()).max().unwrap_or(0).max(intervals);
    let mut times = Columns::merged(notes.clone().map(|note| &note.times), noted as u64);
    times.truncate(intervals as u64);
    let mut rows = vec![Interval::default(); intervals];
    for note in notes {
        rows.iter_mut().zip(&note.intervals).for_each(|(row, interval)| row.add(interval));
    }
    series(&rows, times, interval_ns)
}

fn series(rows: &[Interval], times: Columns, interval_ns: u64) -> Series {
    Series {
        interval_ns,
        read_ios: rows.iter().map(|r| r.read_ios).collect(),
        write_ios: rows.iter().map(|r| r.write_ios).collect(),
        latency_mean_ns: rows.iter().map(Interval::latency_mean_ns).collect(),
        latency_max_ns: rows.iter().map(|r| r.latency_max_ns).collect(),
        times: Some(times.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use stdx::histogram::stored::StoredColumns;

    #[test]
    fn the_ramp_does_not_count() {
        let notes_of = |times: &[u64]| {
            let (sender, _receiver) = std::sync::mpsc::sync_channel(1);
            let mut recorder = Recorder::new(1000, None, sender);
            recorder.start(50, 2500);
            let access = Access { read: true, block_bytes: 512, offset_bytes: 0 };
            for &done in times {
                recorder.record(access, done - 10 - done % 7, done);
            }
            recorder.finish()
        };
        let notes = notes_of(&[60, 900, 1500, 2549, 2550, 2551, 3549, 3550, 9000]);
        assert_eq!((notes.read.count(), notes.read_bytes), (5, 5 * 512));
        let ios: Vec<u64> = notes.intervals.iter().map(|interval| interval.read_ios).collect();
        assert_eq!(ios, [3, 1, 0, 0, 0, 0, 1]);
        let nothing = notes_of(&[60, 900, 2549]);
        assert_eq!((nothing.read.count(), nothing.last_done_ns, nothing.read.min()), (0, 2550, None));
        assert_eq!(nothing.syncs, None);
    }

    #[test]
    fn syncs_count_after_the_ramp_and_are_not_ios() {
        let mut recorder = Recorder::without_display(1000, None);
        recorder.reserve_syncs();
        recorder.start(50, 2500);
        for done in [60, 2549, 2550, 2700, 9000] {
            recorder.record_sync(done - 10, done);
        }
        let notes = recorder.finish();
        let syncs = notes.syncs.expect("reserved");
        assert_eq!((syncs.count(), syncs.sum(), syncs.min()), (3, 30, Some(10)));
        assert_eq!((notes.write.count(), notes.last_done_ns), (0, 2550));
        assert!(notes.intervals.iter().all(|interval| interval.ios() == 0));
    }

    proptest! {
        #[test]
        fn series_sums_equal_totals(ios in prop::collection::vec((any::<bool>(), 0u64..10_000, 0u64..5_000), 0..300), workers in 1usize..4, ramp in prop::sample::select(vec![0u64, 700, 2500])) {
            let notes: Vec<Recording> = (0..workers).map(|_| {
                let (sender, _receiver) = std::sync::mpsc::sync_channel(1);
                let mut recorder = Recorder::new(1000, None, sender);
                recorder.start(50, ramp);
                for &(read, done, latency) in &ios {
                    let access = Access { read, block_bytes: 512, offset_bytes: 0 };
                    recorder.record(access, (50 + done).saturating_sub(latency), 50 + done);
                }
                recorder.finish()
            }).collect();
            let end = notes.iter().map(|n| n.last_done_ns).max().unwrap_or(50);
            let (read, write, series) = merge(&notes, 1000, end - 50 - ramp);
            prop_assert_eq!(series.read_ios.iter().sum::<u64>(), read.ios);
            prop_assert_eq!(series.write_ios.iter().sum::<u64>(), write.ios);
            prop_assert!(ramp > 0 || read.ios + write.ios == (ios.len() * workers) as u64);
            prop_assert_eq!(read.bytes, read.ios * 512);
            let max = read.latency.max().max(write.latency.max()).unwrap_or(0);
            prop_assert_eq!(series.latency_max_ns.iter().max(), Some(max));
            let times = series.times.as_ref().expect("a recorder notes them");
            let (mut columns, mut exact) = ([0; ROWS], [0; ROWS]);
            times.iter().flatten().for_each(|(row, count)| columns[row] += count);
            [&read, &write].iter().for_each(|direction| direction.latency.add_rows(&mut exact));
            prop_assert_eq!(columns, exact);
            let ios = times.iter().map(|column| column.map(|(_, count)| count).sum::<u64>());
            let sums = series.read_ios.iter().zip(&series.write_ios).map(|(reads, writes)| reads + writes);
            prop_assert!(times.intervals_per_column() == 1 && ios.eq(sums));
            let finished = series.read_ios.len() / 2;
            let cut = course(notes.iter(), 1000, finished);
            let ios = |times: &StoredColumns| -> Vec<u64> {
                times.iter().map(|column| column.map(|(_, count)| count).sum()).collect()
            };
            let whole = cut.times.as_ref().expect("noted as well");
            prop_assert_eq!(ios(whole), &ios(times)[..finished]);
            let lengths = [series.write_ios.len(), series.latency_mean_ns.len(), series.latency_max_ns.len()];
            prop_assert_eq!(lengths, [series.read_ios.len(); 3]);
        }
    }
}
