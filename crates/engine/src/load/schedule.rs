//! Arrival times of the I/Os in an open loop.

use record::{Arrivals, Process};
use stdx::Rng;
use stdx::units::SECOND_NS;

/// Separates these random streams from the streams for offsets and data.
const ARRIVAL_STREAM: u64 = 2 << 32;

/// One thread's unbounded sequence of due times.
pub struct Schedule {
    process: Process,
    /// Arrivals in `divisor` seconds across all threads. Every `threads`-th arrival belongs to this thread.
    per_second: u64,
    divisor: u64,
    threads: u64,
    /// Number of this thread's next arrival, counted across all threads.
    next: u64,
    start_ns: u64,
    due_ns: u64,
    rng: Rng,
}

impl Schedule {
    /// Creates the part of the schedule for thread `thread` (from 0) out of `threads`.
    #[must_use]
    pub fn new(arrivals: Arrivals, seed: u64, thread: u16, threads: u16, start_ns: u64) -> Self {
        let mut schedule = Self {
            process: arrivals.process,
            per_second: arrivals.per_second.into(),
            divisor: arrivals.divisor.into(),
            threads: threads.into(),
            next: thread.into(),
            start_ns,
            due_ns: start_ns,
            rng: Rng::from_seed_and_stream(seed, ARRIVAL_STREAM + u64::from(thread)),
        };
        schedule.due_ns = match arrivals.process {
            Process::Constant => schedule.on_the_grid(),
            Process::Poisson => start_ns.saturating_add(schedule.drawn_ns()),
        };
        schedule
    }

    /// Returns the time when the next I/O is due.
    #[inline]
    #[must_use]
    pub fn due_ns(&self) -> u64 {
        self.due_ns
    }

    /// Returns the time when the next I/O is due and advances to the I/O after it.
    #[inline]
    pub fn take(&mut self) -> u64 {
        let due_ns = self.due_ns;
        self.due_ns = match self.process {
            Process::Constant => {
                self.next += self.threads;
                self.on_the_grid()
            }
            Process::Poisson => due_ns.saturating_add(self.drawn_ns()),
        };
        due_ns
    }

    /// Returns this thread's next point on the common grid: threads alternate, and rounding errors do not
    /// accumulate.
    fn on_the_grid(&self) -> u64 {
        let ns = u128::from(self.next) * u128::from(SECOND_NS * self.divisor) / u128::from(self.per_second);
        self.start_ns.saturating_add(u64::try_from(ns).unwrap_or(u64::MAX))
    }

    /// Draws an exponentially distributed gap: the independent arrivals of all threads combined have the
    /// requested rate.
    fn drawn_ns(&mut self) -> u64 {
        let mean_ns = (SECOND_NS * self.threads) as f64 * self.divisor as f64 / self.per_second as f64;
        // The value lies in (0, 1], so the logarithm is finite.
        let uniform = ((self.rng.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
        (-uniform.ln() * mean_ns).round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(process: Process, per_second: u32, threads: u16, seconds: u64) -> Vec<u64> {
        let arrivals = Arrivals { per_second, divisor: 1, process };
        let mut all: Vec<u64> = (0..threads)
            .flat_map(|thread| {
                let mut schedule = Schedule::new(arrivals, 7, thread, threads, 1000);
                std::iter::from_fn(move || Some(schedule.take()))
                    .take_while(move |due| *due < 1000 + seconds * SECOND_NS)
            })
            .collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn constant_arrivals_are_equally_far_apart_over_all_threads() {
        let times = times(Process::Constant, 3000, 3, 2);
        assert_eq!((times.len(), times[0]), (6000, 1000));
        assert!(times.windows(2).all(|pair| (333_333..=333_334).contains(&(pair[1] - pair[0]))));
    }

    #[test]
    fn a_rate_may_be_a_fraction() {
        for (per_second, divisor, gap_ns) in [(3, 2, 666_666_666), (625, 2048, 3_276_800_000)] {
            let arrivals = Arrivals { per_second, divisor, process: Process::Constant };
            let mut schedule = Schedule::new(arrivals, 7, 0, 1, 1000);
            assert_eq!([schedule.take(), schedule.take()], [1000, 1000 + gap_ns], "{arrivals:?}");
        }
        let rare = Arrivals { per_second: 1, divisor: u32::MAX, process: Process::Constant };
        let mut schedule = Schedule::new(rare, 7, u16::MAX, u16::MAX, 1000);
        assert!((0..9).all(|_| schedule.take() > SECOND_NS), "no overflow");
    }

    #[test]
    fn poisson_arrivals_have_their_rate_and_are_independent() {
        for threads in [1, 4] {
            let times = times(Process::Poisson, 100_000, threads, 2);
            let count = times.len() as f64;
            // 200,000 arrivals are expected, with a standard deviation of 447.
            assert!((count - 200_000.0).abs() < 2300.0, "{count}");
            let gaps: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
            let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
            let deviation =
                (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
            assert!(
                (deviation / mean - 1.0).abs() < 0.02,
                "an exponential deviates by its mean: {}",
                deviation / mean
            );
        }
    }
}
