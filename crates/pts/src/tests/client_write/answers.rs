//! The parameters of the test, and the results that it received.

use record::Purged;
use stdx::units::KIB;

use crate::conclusions::incidents::Incidents;
use crate::method::fall::{Fall, Interval, first_fall, mean_rate};
use crate::method::profile::Demand;
use crate::method::steady::{WINDOW_ROUNDS, WindowStats};

pub const BLOCK_BYTES: u32 = 128 * KIB as u32;
/// Recommended demand, as for sequential writes in PTS 2.0; the operator may override it for the run.
pub const DEMAND: Demand = Demand { threads: 1, queue_depth: 32 };
/// Number of chunks in the test range. Five chunks, 8 % of the range, show whether the throughput has settled.
pub const CHUNKS: u32 = 64;
/// Maximum number of intervals per chunk.
pub const INTERVALS: usize = 32;
/// Idle times, in minutes.
pub const IDLE_MINUTES: [u32; 4] = [1, 5, 15, 60];
/// A chunk is as slow as the settled drive if its throughput is at most this multiple of the settled throughput.
const SLOW: f64 = 1.20;
/// Number of consecutive slow chunks that end the writes after an idle time.
const SLOW_CHUNKS: usize = 3;

/// All results that the test received, whether or not it completed.
#[derive(Default)]
pub struct WriteAnswers {
    pub purge: Option<Purged>,
    /// The writes after the purge.
    pub fresh: Stretch,
    /// The writes after each idle time.
    pub bursts: Vec<Stretch>,
    pub incidents: Incidents,
}

/// Writes without a pause.
#[derive(Default)]
pub struct Stretch {
    pub intervals: Vec<Interval>,
    /// Index of the first interval of each chunk.
    starts: Vec<usize>,
    pub complete: bool,
    pub host_limited: bool,
}

impl Stretch {
    pub fn add(&mut self, chunk: Vec<Interval>, host_limited: bool) {
        self.starts.push(self.intervals.len());
        self.intervals.extend(chunk);
        self.host_limited |= host_limited;
    }

    /// The intervals of the last `count` chunks.
    fn last(&self, count: usize) -> &[Interval] {
        let first = self.starts.len().checked_sub(count).and_then(|index| self.starts.get(index));
        first.map_or(&[], |first| &self.intervals[*first..])
    }

    /// Mean throughput of each chunk in bytes per second.
    fn rates(&self) -> impl DoubleEndedIterator<Item = f64> + ExactSizeIterator {
        let ends = self.starts.iter().skip(1).copied().chain([self.intervals.len()]);
        let chunks: Vec<_> = self.starts.iter().copied().zip(ends).collect();
        chunks.into_iter().map(|(from, to)| mean_rate(&self.intervals[from..to]).unwrap_or(0.0))
    }

    /// Returns the mean throughput of the first chunk.
    pub fn first_rate(&self) -> Option<f64> {
        self.rates().next()
    }

    /// Returns whether the last chunks are as slow as the settled drive.
    pub fn has_returned_to(&self, settled: Option<f64>) -> bool {
        let limit = SLOW * settled.unwrap_or(f64::INFINITY);
        let last = self.rates().rev().take(SLOW_CHUNKS);
        last.len() == SLOW_CHUNKS && last.into_iter().all(|rate| rate <= limit)
    }

    /// Returns whether no chunk was faster than the settled drive.
    pub fn is_slow(&self, settled: Option<f64>) -> bool {
        settled.is_some_and(|settled| self.rates().all(|rate| rate <= SLOW * settled))
    }

    pub fn bytes(&self) -> u64 {
        self.intervals.iter().map(|interval| interval.bytes).sum()
    }
}

/// Returns whether the throughput has fallen and the last five chunks are all after the fall and steady by PTS
/// criteria.
pub fn has_settled(fresh: &Stretch, fall: Option<Fall>) -> bool {
    let Some(fall) = fall else { return false };
    let number = fresh.starts.len();
    let is_after = |first: &usize| *first > fall.intervals;
    let Some(first) = number.checked_sub(WINDOW_ROUNDS) else { return false };
    let values: Vec<f64> = fresh.rates().skip(first).collect();
    let values: Result<[f64; WINDOW_ROUNDS], _> = values.try_into();
    fresh.starts.get(first).is_some_and(is_after)
        && values.is_ok_and(|values| WindowStats::of(number as u32, &values).steady)
}

impl WriteAnswers {
    /// Returns the fall in throughput during the first writes.
    pub fn fall(&self) -> Option<Fall> {
        first_fall(&self.fresh.intervals)
    }

    /// Returns the mean throughput of the last five chunks of the first writes, in bytes per second,
    /// excluding chunks up to the fall. `None` until these writes are complete.
    pub fn sustained(&self) -> Option<f64> {
        if !self.fresh.complete {
            return None;
        }
        let five = self.fresh.last(WINDOW_ROUNDS.min(self.fresh.starts.len()));
        let after = self.fall().map_or(0, |fall| fall.intervals + 1);
        let skipped = (after + five.len()).saturating_sub(self.fresh.intervals.len());
        mean_rate(&five[skipped.min(five.len().saturating_sub(1))..])
    }
}
