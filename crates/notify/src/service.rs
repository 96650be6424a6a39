//! Checks the library periodically and delivers notices. Each channel has its own thread and queue, so that a
//! channel that fails or hangs does not delay the others.

mod apart;
mod common;
mod error;
mod looking;
#[cfg(test)]
mod tests;
mod worker;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use stdx::text::with_causes;

use crate::channel::{Channel, DeliveryError};
use crate::config::Config;
use crate::memory::Memory;
use crate::notice::Notice;
use common::{MOST_WAITING, Report, STEP, abandon, lock, note, waiting_for};
use looking::Looking;
use worker::{Queue, Worker};

pub use error::ServiceError;
pub use looking::ReadJobs;

/// A delivered notice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivered {
    /// The notice.
    pub notice: Notice,
    /// Name of the channel.
    pub channel: String,
}

/// An undelivered notice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undelivered {
    /// The notice.
    pub notice: Notice,
    /// Name of the channel.
    pub channel: String,
    /// Why.
    pub problem: String,
}

/// Sends notices about one library.
#[derive(Debug)]
pub struct Service {
    config: Config,
    looking: Looking,
    memory: Mutex<Memory>,
    channels: Vec<Channel>,
}

impl Service {
    /// Returns a service for the library at `library` that keeps its memory in `folder`. `jobs` reads the jobs of the
    /// campaigns.
    ///
    /// # Errors
    /// Returns an error if the memory cannot be opened, for example because another process uses it.
    pub fn open(
        config: Config,
        library: &Path,
        folder: &Path,
        host: &str,
        jobs: ReadJobs,
    ) -> Result<Self, ServiceError> {
        let memory = Memory::open(folder)?;
        let folder: PathBuf = memory.folder().into();
        let channels = config.channels.iter().map(|entry| Channel::of(entry.clone(), &folder)).collect();
        let looking = Looking::of(config.rules, host, library, jobs);
        Ok(Self { config, looking, memory: Mutex::new(memory), channels })
    }

    /// Checks the library and attempts each outstanding delivery once, up to the first failure of each channel.
    ///
    /// # Errors
    /// Returns an error if the library or the memory cannot be read or written, or if `stop` is set in the meantime.
    pub fn once(
        &mut self,
        now: Timestamp,
        stop: &AtomicBool,
        report: Report<'_>,
    ) -> Result<(Vec<Delivered>, Vec<Undelivered>), ServiceError> {
        let Self { config, looking, memory, channels } = self;
        let most = config.attempts;
        abandon_unknown(memory, channels, report);
        looking.look(memory, channels, now, stop, report)?;
        let memory = &*memory;
        let results: Vec<(Notice, String, Option<String>)> = std::thread::scope(|scope| {
            let deliver = |channel| scope.spawn(move || deliver_all(most, memory, channel, stop, report));
            let threads: Vec<_> = channels.iter().map(deliver).collect();
            let joined = |thread: std::thread::ScopedJoinHandle<'_, _>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().flat_map(joined).collect()
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

    /// Checks and delivers until `stop` is set. Problems are reported but do not end the service.
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
                let found = match looking.look(memory, channels, record::wall_now(), stop, report) {
                    Err(ServiceError::Stopped) => break,
                    found => found.err().map(|error| with_causes(&error)),
                };
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

/// Attempts to deliver a channel's notices, oldest first, until one attempt fails: each of the others would probably wait
/// for the same time-out. Returns the notices that were attempted, with the problem of the one that failed.
fn deliver_all(
    most: u32,
    memory: &Mutex<Memory>,
    channel: &Channel,
    stop: &AtomicBool,
    report: Report<'_>,
) -> Vec<(Notice, String, Option<String>)> {
    let mut waiting = waiting_for(memory, channel);
    for notice in waiting.drain(..waiting.len().saturating_sub(MOST_WAITING)) {
        abandon(memory, channel, &notice.id, "too many notices are waiting", report);
    }
    let mut attempted = Vec::new();
    for notice in waiting {
        let error = channel.deliver(&notice, stop).err();
        let problem = error.as_ref().map(|error| with_causes(error));
        let name = channel.name();
        match (&error, &problem) {
            (Some(DeliveryError::Stopped), _) => {}
            (_, Some(problem)) => {
                let failures = lock(memory).attempts(&notice.id, name) + 1;
                match failures < most {
                    true => note(lock(memory).failed(&notice.id, name, failures), report),
                    false => {
                        let why = format!("attempt {failures} of {most} failed: {problem}");
                        abandon(memory, channel, &notice.id, &why, report);
                    }
                }
            }
            (_, None) => note(lock(memory).delivered(&notice.id, name), report),
        }
        let has_failed = problem.is_some();
        attempted.push((notice, name.to_owned(), problem));
        if has_failed {
            break;
        }
    }
    attempted
}

/// Waits until the time is over or `stop` is set.
fn pause(length: Duration, stop: &AtomicBool) {
    let until = Instant::now() + length;
    while !stop.load(Ordering::Relaxed) {
        match until.saturating_duration_since(Instant::now()) {
            Duration::ZERO => return,
            left => std::thread::sleep(left.min(STEP)),
        }
    }
}
