//! Detects that the process made no progress: it was stopped (SIGSTOP, Ctrl-Z, a debugger, a frozen cgroup),
//! its guest was paused, or it got no CPU time.
//!
//! `crate::clock` cannot detect this, because the kernel's clocks keep running. The watcher only sleeps,
//! performs no I/O and takes no lock. If it wakes up late, the cause is the host, however slow the device is.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::time::{Duration, Instant};

use crate::disturbance::Disturbance;

/// Longest sleep of the watcher, short enough to cover short workloads.
pub(super) const PULSE: Duration = Duration::from_millis(100);
/// Tolerance for stops: a guest on a busy host loses its CPU for a few hundredths of a second at a time.
const STOPPED_GRACE: Duration = Duration::from_millis(500);
/// Tolerance for waiting on the run queue: the scheduler favours a thread that mostly sleeps, even among many
/// busy ones.
const STARVED_GRACE: Duration = Duration::from_secs(1);

/// One sleep of the watcher.
#[derive(Debug, Clone, Copy)]
struct Sleep {
    /// Requested upper limit.
    requested: Duration,
    took: Duration,
    /// Time during the sleep in which the thread was runnable but waited for a CPU. `None` if the kernel does
    /// not account for this time.
    queued: Option<Duration>,
}

/// Checks one thread's sleeps.
#[derive(Debug)]
pub(super) struct Stillness {
    /// `/proc/thread-self/schedstat`, if it exists.
    statistics: Option<File>,
    found: Option<Disturbance>,
}

impl Stillness {
    /// Starts watching the calling thread.
    pub(super) fn watch() -> Self {
        Self { statistics: File::open("/proc/thread-self/schedstat").ok(), found: None }
    }

    /// Calls `sleep`, which must wait no longer than `requested`, and checks how long it took.
    pub(super) fn during<T>(&mut self, requested: Duration, sleep: impl FnOnce(Duration) -> T) -> T {
        let (queued_before, begun) = (self.queued(), Instant::now());
        let woken = sleep(requested);
        let took = begun.elapsed();
        let queued = queued_before.zip(self.queued()).map(|(before, after)| after.saturating_sub(before));
        if self.found.is_none() {
            self.found = disturbance(Sleep { requested, took, queued });
        }
        woken
    }

    /// Returns why measurements so far are invalid, or `None` if they are valid.
    pub(super) const fn disturbance(&self) -> Option<Disturbance> {
        self.found
    }

    fn queued(&self) -> Option<Duration> {
        let mut bytes = [0; 96];
        let length = self.statistics.as_ref()?.read_at(&mut bytes, 0).ok()?;
        queued_in(std::str::from_utf8(&bytes[..length]).ok()?)
    }
}

/// Parses the second number: nanoseconds on the run queue.
fn queued_in(statistics: &str) -> Option<Duration> {
    statistics.split_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
}

fn disturbance(sleep: Sleep) -> Option<Disturbance> {
    let late = sleep.took.saturating_sub(sleep.requested);
    let stopped = sleep.queued.map_or(Duration::ZERO, |queued| late.saturating_sub(queued));
    if stopped > STOPPED_GRACE {
        return Some(Disturbance::Stopped { length: stopped });
    }
    (late > STARVED_GRACE).then_some(Disturbance::Starved { length: late })
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    fn stopped_and_starved_processes_are_distinguished() {
        let of = |took: u64, queued: Option<u64>| {
            disturbance(Sleep { requested: ms(100), took: ms(took), queued: queued.map(ms) })
        };
        assert_eq!(of(20, Some(0)), None, "a message arrived");
        assert_eq!(of(600, Some(0)), None);
        assert_eq!(of(1_050, Some(700)), None, "a busy host");
        assert_eq!(of(1_100, None), None);
        assert_eq!(of(601, Some(0)), Some(Disturbance::Stopped { length: ms(501) }));
        assert_eq!(of(3_100, Some(10)), Some(Disturbance::Stopped { length: ms(2_990) }));
        assert_eq!(of(1_101, Some(1_000)), Some(Disturbance::Starved { length: ms(1_001) }));
        assert_eq!(of(1_101, None), Some(Disturbance::Starved { length: ms(1_001) }));
    }

    #[test]
    fn the_kernel_reports_how_long_a_thread_was_queued() {
        assert_eq!(queued_in("630687 106989 3\n"), Some(Duration::from_nanos(106_989)));
        assert_eq!(queued_in(""), None);
    }

    #[test]
    fn a_normal_sleep_is_not_a_disturbance_and_the_first_disturbance_is_kept() {
        let mut stillness = Stillness::watch();
        stillness.during(ms(20), std::thread::sleep);
        assert_eq!(stillness.disturbance(), None);
        // Simulates a stopped process.
        stillness.during(Duration::ZERO, |_| std::thread::sleep(ms(1_001)));
        let first = stillness.disturbance();
        assert!(first.is_some());
        stillness.during(Duration::ZERO, |_| std::thread::sleep(ms(1_501)));
        assert_eq!(stillness.disturbance(), first);
    }
}
