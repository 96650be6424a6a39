//! A channel's queue, and the thread that delivers the channel's notices.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use stdx::text::with_causes;

use super::common::{MOST_WAITING, Report, STEP, abandon, lock, note, waiting_for};
use crate::channel::{Channel, DeliveryError};
use crate::config::Config;
use crate::memory::Memory;
use crate::notice::Notice;

/// Maximum time before the next attempt.
const LONGEST_RETRY: Duration = Duration::from_secs(600);

/// A notice waiting for a channel.
#[derive(Debug)]
struct Waiting {
    notice: Notice,
    failures: u32,
    due: Instant,
}

/// The notices waiting for one channel, oldest first.
#[derive(Debug, Default)]
pub struct Queue {
    waiting: Mutex<Vec<Waiting>>,
    changed: Condvar,
}

impl Queue {
    fn waiting(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a notice is due; returns it with its failed attempts, or `None` if `stop` is set.
    fn next(&self, stop: &AtomicBool) -> Option<(Notice, u32)> {
        let mut waiting = self.waiting();
        while !stop.load(Ordering::Relaxed) {
            let now = Instant::now();
            let next = waiting.iter().min_by_key(|one| one.due);
            match next {
                Some(next) if next.due <= now => return Some((next.notice.clone(), next.failures)),
                next => {
                    let length = next.map_or(STEP, |next| (next.due - now).min(STEP));
                    let waited = self.changed.wait_timeout(waiting, length);
                    waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
        None
    }

    fn remove(&self, id: &str) {
        self.waiting().retain(|one| one.notice.id != id);
    }
}

/// Delivers the notices of one channel.
pub struct Worker<'a> {
    pub config: &'a Config,
    pub memory: &'a Mutex<Memory>,
    pub channel: &'a Channel,
    pub queue: Queue,
    pub stop: &'a AtomicBool,
    pub report: Report<'a>,
}

impl Worker<'_> {
    /// Adds the outstanding notices to the queue.
    pub fn fill(&self) {
        let mut too_many = Vec::new();
        {
            // Deliveries are recorded before they leave the queue, so while the queue is locked, every outstanding
            // notice is either queued or new.
            let mut waiting = self.queue.waiting();
            let due = Instant::now();
            for notice in waiting_for(self.memory, self.channel) {
                if waiting.iter().any(|one| one.notice.id == notice.id) {
                    continue;
                }
                if waiting.len() == MOST_WAITING {
                    too_many.push(waiting.remove(0).notice);
                }
                let failures = lock(self.memory).attempts(&notice.id, self.channel.name());
                waiting.push(Waiting { notice, failures, due });
            }
        }
        too_many.iter().for_each(|notice| self.abandon(notice, "too many notices are waiting"));
        self.queue.changed.notify_all();
    }

    /// Delivers until `stop` is set.
    pub fn work(&self) {
        while let Some((notice, failures)) = self.queue.next(self.stop) {
            let name = self.channel.name();
            match self.channel.deliver(&notice, self.stop) {
                Ok(()) => {
                    // The record must be on disk before the notice leaves the queue.
                    note(lock(self.memory).delivered(&notice.id, name), self.report);
                    self.queue.remove(&notice.id);
                    (self.report)(&format!("notice {} is delivered through '{name}'", notice.id));
                }
                Err(DeliveryError::Stopped) => return,
                Err(error) => self.failed(&notice, failures + 1, &error),
            }
        }
    }

    fn failed(&self, notice: &Notice, failures: u32, error: &DeliveryError) {
        let (name, most) = (self.channel.name(), self.config.attempts);
        let problem = with_causes(error);
        if failures >= most {
            self.abandon(notice, &format!("attempt {failures} of {most} failed: {problem}"));
            return self.queue.remove(&notice.id);
        }
        note(lock(self.memory).failed(&notice.id, name, failures), self.report);
        let wait = backoff(self.config.first_retry, failures);
        (self.report)(&format!(
            "notice {} is not delivered through '{name}': attempt {failures} of {most} failed: {problem}; next one in \
             {wait:?}",
            notice.id
        ));
        let due = Instant::now() + wait;
        if let Some(one) = self.queue.waiting().iter_mut().find(|one| one.notice.id == notice.id) {
            (one.failures, one.due) = (failures, due);
        }
    }

    fn abandon(&self, notice: &Notice, why: &str) {
        abandon(self.memory, self.channel, &notice.id, why, self.report);
    }
}

/// Returns the time before the next attempt.
fn backoff(first: Duration, failures: u32) -> Duration {
    let doubled = 2_u32.checked_pow(failures.saturating_sub(1)).unwrap_or(u32::MAX);
    first.saturating_mul(doubled).min(LONGEST_RETRY.max(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_become_rarer_up_to_a_limit() {
        let first = Duration::from_secs(5);
        let waits: Vec<u64> = (1..=9).map(|failures| backoff(first, failures).as_secs()).collect();
        assert_eq!(waits, [5, 10, 20, 40, 80, 160, 320, 600, 600]);
        assert_eq!(backoff(first, u32::MAX), LONGEST_RETRY);
        assert_eq!(backoff(Duration::from_secs(3600), 1), Duration::from_secs(3600));
    }
}
