//! Concurrent workloads that keep the ratio of their numbers of I/Os, as fio's `flow` does.

use std::sync::atomic::{AtomicU64, Ordering};

/// The workloads, possibly on different targets, that keep a ratio.
#[derive(Debug)]
pub struct Proportion {
    issued: AtomicU64,
    weights: AtomicU64,
}

impl Proportion {
    /// `weights` is the sum of the weights of all threads.
    #[must_use]
    pub fn new(weights: u64) -> Self {
        Self { issued: AtomicU64::new(0), weights: AtomicU64::new(weights) }
    }
}

/// The portion of the I/Os that each thread of a workload issues.
#[derive(Debug, Clone, Copy)]
pub struct Portion<'a> {
    /// The workloads that keep a ratio.
    pub of: &'a Proportion,
    /// Weight of each thread.
    pub weight: u32,
    /// Time for which a thread that is ahead of the others pauses, once no I/O is in flight; 0 if it only waits until it
    /// is no longer ahead.
    pub sleep_ns: u64,
}

/// One thread's I/Os. When it is dropped, the others no longer wait for the thread.
pub(super) struct Share<'a> {
    pub(super) portion: Portion<'a>,
    issued: u64,
}

impl<'a> Share<'a> {
    pub(super) fn of(portion: Portion<'a>) -> Self {
        Self { portion, issued: 0 }
    }

    /// Counts the next I/O and returns true, unless the thread is ahead of the others.
    pub(super) fn take(&mut self) -> bool {
        let Proportion { issued, weights } = self.portion.of;
        let all = u128::from(issued.load(Ordering::Relaxed)) * u128::from(self.portion.weight);
        if u128::from(self.issued) * u128::from(weights.load(Ordering::Relaxed)) > all {
            return false;
        }
        issued.fetch_add(1, Ordering::Relaxed);
        self.issued += 1;
        true
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        self.portion.of.issued.fetch_sub(self.issued, Ordering::Relaxed);
        self.portion.of.weights.fetch_sub(self.portion.weight.into(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_keep_their_ratio_until_one_ends() {
        let proportion = Proportion::new(9);
        let share = |weight| Share::of(Portion { of: &proportion, weight, sleep_ns: 0 });
        let (mut slow, mut fast) = (share(1), share(8));
        for _ in 0..900 {
            slow.take();
            for _ in 0..20 {
                fast.take();
            }
        }
        let ratio = fast.issued as f64 / slow.issued as f64;
        assert!((7.9..8.1).contains(&ratio) && slow.issued > 100, "{} and {}", fast.issued, slow.issued);
        while fast.take() {}
        drop(slow);
        assert!((0..100).all(|_| fast.take()), "nobody is left to wait for");
    }
}
