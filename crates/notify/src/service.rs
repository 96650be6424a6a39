//! Checks the library periodically, and delivers notices. Each channel has its own thread and queue, so that a
//! channel that fails or hangs does not delay the others.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use stdx::text::with_causes;
use stdx::units::count_of;

use crate::channel::{Channel, DeliveryError};
use crate::config::Config;
use crate::decide::{Conclusion, Rules, decide};
use crate::memory::{Memory, MemoryError};
use crate::notice::{Notice, short};
use crate::observe::{ObserveError, Observer};

/// Limit on the number of notices that wait for one channel. If it is exceeded, the oldest notice is abandoned.
const MOST_WAITING: usize = 1_000;
/// Longest time before the next attempt.
const LONGEST_RETRY: Duration = Duration::from_secs(600);
/// Maximum time between two checks of whether this process has been asked to end.
const STEP: Duration = Duration::from_millis(100);

/// Why the service cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The memory cannot be used.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The library cannot be read.
    #[error(transparent)]
    Observe(#[from] ObserveError),
}

/// A delivered notice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivered {
    /// The notice.
    pub notice: Notice,
    /// Name of the channel.
    pub channel: String,
}

/// A notice that was not delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undelivered {
    /// The notice.
    pub notice: Notice,
    /// Name of the channel.
    pub channel: String,
    /// Why.
    pub problem: String,
}

/// Prints a line about what the service did.
pub type Report<'a> = &'a (dyn Fn(&str) + Sync);

/// Sends notices about one library.
#[derive(Debug)]
pub struct Service {
    config: Config,
    looking: Looking,
    memory: Mutex<Memory>,
    channels: Vec<Channel>,
}

impl Service {
    /// Returns a service for the library at `library` that keeps its memory in `folder`.
    ///
    /// # Errors
    /// Returns an error if the memory cannot be opened, for example because another process uses it.
    pub fn open(config: Config, library: &Path, folder: &Path, host: &str) -> Result<Self, ServiceError> {
        let memory = Memory::open(folder)?;
        let folder: PathBuf = memory.folder().into();
        let channels = config.channels.iter().map(|entry| Channel::of(entry.clone(), &folder)).collect();
        let looking = Looking {
            rules: config.rules,
            host: short(host),
            observer: Observer::of(library),
            unreadable: BTreeMap::new(),
        };
        Ok(Self { config, looking, memory: Mutex::new(memory), channels })
    }

    /// Checks the library and attempts each outstanding delivery once.
    ///
    /// # Errors
    /// Returns an error if the library or the memory cannot be read or written.
    pub fn once(
        &mut self,
        now: Timestamp,
        stop: &AtomicBool,
        report: Report<'_>,
    ) -> Result<(Vec<Delivered>, Vec<Undelivered>), ServiceError> {
        let Self { looking, memory, channels, .. } = self;
        abandon_unknown(memory, channels, report);
        looking.look(memory, channels, now, report)?;
        let memory = &*memory;
        let results: Vec<(Notice, String, Option<String>)> = std::thread::scope(|scope| {
            let deliver = |channel| scope.spawn(move || deliver_all(memory, channel, stop, report));
            let threads: Vec<_> = channels.iter().map(deliver).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
        });
        let (mut delivered, mut undelivered) = (Vec::new(), Vec::new());
        for (notice, channel, problem) in results {
            match problem {
                None => delivered.push(Delivered { notice, channel }),
                Some(problem) => undelivered.push(Undelivered { notice, channel, problem }),
            }
        }
        Ok((delivered, undelivered))
    }

    /// Checks and delivers until `stop` is set. Problems are reported, and the work continues.
    pub fn run(&mut self, stop: &AtomicBool, report: Report<'_>) {
        let Self { config, looking, memory, channels } = self;
        abandon_unknown(memory, channels, report);
        let (config, memory, channels) = (&*config, &*memory, &channels[..]);
        let workers: Vec<Worker<'_>> = channels
            .iter()
            .map(|channel| Worker { config, memory, channel, queue: Queue::default(), stop, report })
            .collect();
        std::thread::scope(|scope| {
            for worker in &workers {
                scope.spawn(move || worker.work());
            }
            let mut problem = None;
            while !stop.load(Ordering::Relaxed) {
                let found = looking.look(memory, channels, record::wall_now(), report).err();
                let found = found.map(|error| with_causes(&error));
                if let Some(text) = found.as_ref().filter(|found| problem.as_ref() != Some(*found)) {
                    report(&format!("{text}; trying again every {:?}", config.look_every));
                }
                problem = found;
                workers.iter().for_each(Worker::fill);
                pause(config.look_every, stop);
            }
        });
    }
}

/// Everything that is needed to read the library.
#[derive(Debug)]
struct Looking {
    rules: Rules,
    host: String,
    observer: Observer,
    /// Problems that were reported, by run.
    unreadable: BTreeMap<String, String>,
}

impl Looking {
    /// Checks the library once and records the conclusions.
    fn look(
        &mut self,
        memory: &Mutex<Memory>,
        channels: &[Channel],
        now: Timestamp,
        report: Report<'_>,
    ) -> Result<(), ServiceError> {
        if lock(memory).is_new() {
            let ended = self.observer.ended()?;
            lock(memory).settle(&ended)?;
            if !ended.is_empty() {
                let count = count_of(ended.len() as u64, "run");
                report(&format!("first start: {count} that had already ended: not reported"));
            }
        }
        let known = lock(memory).known().clone();
        let look = self.observer.look(&known, now)?;
        let conclusions = decide(&known, &look.observed, &self.rules);
        {
            let mut memory = lock(memory);
            memory.conclude(&conclusions, |conclusion| complete(conclusion, &self.host, now, channels))?;
            memory.compact()?;
        }
        for (run, problem) in &look.unreadable {
            if self.unreadable.get(run) != Some(problem) {
                report(&format!("run {run} is not observed: {problem}"));
            }
        }
        self.unreadable = look.unreadable;
        Ok(())
    }
}

/// Returns the notice for a conclusion, and its channels.
fn complete(
    conclusion: &Conclusion,
    host: &str,
    now: Timestamp,
    channels: &[Channel],
) -> Option<(Notice, Vec<String>)> {
    let (id, about) = conclusion.notice.clone()?;
    let notice = Notice { id, time: now, host: host.into(), run: conclusion.run.clone(), about };
    let its = channels.iter().filter(|channel| channel.is_for(notice.event()));
    let names = its.map(|channel| channel.name().to_owned()).collect();
    Some((notice, names))
}

fn lock(memory: &Mutex<Memory>) -> MutexGuard<'_, Memory> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Abandons deliveries through channels that are no longer configured.
fn abandon_unknown(memory: &Mutex<Memory>, channels: &[Channel], report: Report<'_>) {
    let is_known = |name: &String| channels.iter().any(|channel| channel.name() == name);
    let mut memory = lock(memory);
    let unknown: Vec<(String, String)> = memory
        .outstanding()
        .flat_map(|it| it.channels.iter().map(|channel| (it.notice.id.clone(), channel.clone())))
        .filter(|(_, channel)| !is_known(channel))
        .collect();
    for (id, channel) in unknown {
        report(&format!("notice {id} is abandoned: channel '{channel}' no longer exists"));
        note(memory.abandoned(&id, &channel), report);
    }
}

/// Reports that a delivery could not be recorded. In that case, it is repeated after a restart.
fn note(recorded: Result<(), MemoryError>, report: Report<'_>) {
    if let Err(error) = recorded {
        report(&with_causes(&error));
    }
}

fn waiting_for(memory: &Mutex<Memory>, channel: &Channel) -> Vec<Notice> {
    let memory = lock(memory);
    let its = memory.outstanding().filter(|outstanding| outstanding.channels.contains(channel.name()));
    its.map(|outstanding| outstanding.notice.clone()).collect()
}

/// Attempts every delivery of a channel once; returns the failed notices with their problems.
fn deliver_all(
    memory: &Mutex<Memory>,
    channel: &Channel,
    stop: &AtomicBool,
    report: Report<'_>,
) -> Vec<(Notice, String, Option<String>)> {
    let deliver = |notice: Notice| {
        let problem = channel.deliver(&notice, stop).err().map(|error| with_causes(&error));
        if problem.is_none() {
            note(lock(memory).delivered(&notice.id, channel.name()), report);
        }
        (notice, channel.name().to_owned(), problem)
    };
    waiting_for(memory, channel).into_iter().map(deliver).collect()
}

/// A notice that waits for a channel.
#[derive(Debug)]
struct Waiting {
    notice: Notice,
    failures: u32,
    due: Instant,
}

/// The notices that wait for one channel, oldest first.
#[derive(Debug, Default)]
struct Queue {
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
struct Worker<'a> {
    config: &'a Config,
    memory: &'a Mutex<Memory>,
    channel: &'a Channel,
    queue: Queue,
    stop: &'a AtomicBool,
    report: Report<'a>,
}

impl Worker<'_> {
    /// Adds the outstanding notices to the queue.
    fn fill(&self) {
        let mut too_many = Vec::new();
        {
            // Deliveries are recorded before they leave the queue, so with the queue locked, each outstanding notice is
            // either in it or new.
            let mut waiting = self.queue.waiting();
            let due = Instant::now();
            for notice in waiting_for(self.memory, self.channel) {
                if waiting.iter().any(|one| one.notice.id == notice.id) {
                    continue;
                }
                if waiting.len() == MOST_WAITING {
                    too_many.push(waiting.remove(0).notice);
                }
                waiting.push(Waiting { notice, failures: 0, due });
            }
        }
        too_many.iter().for_each(|notice| self.abandon(notice, "too many notices are waiting"));
        self.queue.changed.notify_all();
    }

    fn work(&self) {
        while let Some((notice, failures)) = self.queue.next(self.stop) {
            let name = self.channel.name();
            match self.channel.deliver(&notice, self.stop) {
                Ok(()) => {
                    // The record is on disk before the queue forgets the notice.
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
        let name = self.channel.name();
        note(lock(self.memory).abandoned(&notice.id, name), self.report);
        (self.report)(&format!("notice {} is abandoned for '{name}': {why}", notice.id));
    }
}

/// Returns the time before the next attempt.
fn backoff(first: Duration, failures: u32) -> Duration {
    let doubled = 2_u32.checked_pow(failures.saturating_sub(1)).unwrap_or(u32::MAX);
    first.saturating_mul(doubled).min(LONGEST_RETRY.max(first))
}

/// Waits, but not longer than until `stop` is set.
fn pause(length: Duration, stop: &AtomicBool) {
    let until = Instant::now() + length;
    while !stop.load(Ordering::Relaxed) {
        match until.saturating_duration_since(Instant::now()) {
            Duration::ZERO => return,
            left => std::thread::sleep(left.min(STEP)),
        }
    }
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
