//! Follows a library and sends whatever is new, newest runs first.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use record::Library;
use stdx::text::with_causes;
use transfer::{Sent, Source, TransferError, mark_of, send};

use crate::client::Client;
use crate::status::{Stamp, Status, stamps};

/// Longest time between two attempts to reach a server.
const LONGEST_RETRY: Duration = Duration::from_secs(60);
/// Time after which a run is tried again if it could not be sent for a reason that usually passes by itself.
const RETRY_SOON: Duration = Duration::from_secs(10);
/// Time after which a refused run is tried again, because someone may have fixed the problem in the meantime, for
/// example by updating the server.
const RETRY_REFUSED: Duration = Duration::from_secs(600);
/// Maximum time between two checks for a request to end the process.
const STEP: Duration = Duration::from_millis(100);

/// Prints a line about what the service does.
pub type Report<'a> = &'a mut dyn FnMut(&str);

/// The outcome of one check of the library.
#[derive(Debug, Default)]
pub struct Round {
    /// Runs for which new records were sent.
    pub sent: Vec<(String, Sent)>,
    /// Runs that the server does not accept, or that cannot be read, with the reason.
    pub failed: Vec<(String, String)>,
}

/// Sends the runs of a library.
#[derive(Debug)]
pub struct Service {
    library: Library,
    client: Client,
    stop: Arc<AtomicBool>,
    /// What is known about each run.
    known: BTreeMap<String, Known>,
    /// For each run, the number of attempts to send it that ended with a server error. Such a run does not keep the
    /// others from being sent.
    attempts: BTreeMap<String, u32>,
    status: Arc<Status>,
}

/// What is known about a run after it was sent or refused.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Known {
    stamp: Stamp,
    /// Whether a process was working on the run.
    was_in_progress: bool,
    /// Why the run was not sent; None if it was.
    problem: Option<Problem>,
}

/// Why a run was not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Problem {
    text: String,
    /// When the run is tried again, unless it changes before then.
    retry_at: Instant,
}

impl Known {
    /// Returns whether there may be something new to send at `now`.
    fn is_due(&self, stamp: Stamp, now: Instant) -> bool {
        let is_retried = self.problem.as_ref().is_some_and(|problem| now >= problem.retry_at);
        self.stamp != stamp || self.was_in_progress || is_retried
    }
}

impl Service {
    /// Returns the service that sends the runs of `library` until `stop` is set.
    #[must_use]
    pub fn of(library: Library, client: Client, stop: Arc<AtomicBool>) -> Self {
        let status = Arc::new(Status::of(library.clone()));
        Self { library, client, stop, known: BTreeMap::new(), attempts: BTreeMap::new(), status }
    }

    /// Returns the progress of the service, for another thread.
    #[must_use]
    pub fn status(&self) -> Arc<Status> {
        Arc::clone(&self.status)
    }

    /// Sends everything that is new.
    ///
    /// # Errors
    /// Returns an error if the library cannot be listed, or if the server cannot be reached or does
    /// not admit this sender. Whatever was sent before the error is not sent again.
    pub fn round(&mut self) -> Result<Round, TransferError> {
        let result = self.send_changed();
        self.status.checked(result.is_ok());
        result
    }

    fn send_changed(&mut self) -> Result<Round, TransferError> {
        let mut round = Round::default();
        for (id, stamp) in self.changed()? {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            let result = self.run(&id, stamp);
            if let Err(error) = &result
                && is_of_server(error)
            {
                *self.attempts.entry(id).or_default() += 1;
                return result.map(|_| round);
            }
            self.attempts.remove(&id);
            match result {
                Ok(Some(sent)) => round.sent.push((id, sent)),
                Ok(None) => {}
                Err(error) => {
                    self.status.unsent(&id);
                    let text = with_causes(&error);
                    let before = self.known.get(&id).and_then(|known| known.problem.as_ref());
                    if before.is_none_or(|before| before.text != text) {
                        round.failed.push((id.clone(), text.clone()));
                    }
                    let problem = Some(Problem { text, retry_at: Instant::now() + retry_after(&error) });
                    self.known.insert(id, Known { stamp, was_in_progress: false, problem });
                }
            }
        }
        Ok(round)
    }

    /// Returns the runs that may have changed since they were sent: those with the fewest failed attempts first,
    /// and among these, the most recently changed first.
    fn changed(&self) -> Result<Vec<(String, Stamp)>, TransferError> {
        let root = self.library.root();
        let stamped = stamps(&self.library).map_err(|source| TransferError::Io {
            action: "list",
            path: root.into(),
            source,
        })?;
        let now = Instant::now();
        let is_new =
            |id: &String, stamp: &Stamp| self.known.get(id).is_none_or(|known| known.is_due(*stamp, now));
        let mut changed: Vec<(String, Stamp)> =
            stamped.into_iter().filter(|(id, stamp)| is_new(id, stamp)).collect();
        let attempts = |id: &str| self.attempts.get(id).copied().unwrap_or(0);
        changed.sort_by(|(a_id, a), (b_id, b)| (attempts(a_id), b, a_id).cmp(&(attempts(b_id), a, b_id)));
        Ok(changed)
    }

    /// Sends what is new in a run; returns None if there is nothing new.
    fn run(&mut self, id: &str, stamp: Stamp) -> Result<Option<Sent>, TransferError> {
        let run = self.library.open(id)?;
        // A run that was received comes from another host, which sends it itself.
        if mark_of(&run)?.is_some() {
            self.status.foreign(id);
            self.known.insert(id.into(), Known { stamp, was_in_progress: false, problem: None });
            return Ok(None);
        }
        self.client.set_directory(run.dir.display().to_string());
        let (stop, status) = (Arc::clone(&self.stop), Arc::clone(&self.status));
        let mut go_on = move |received| {
            status.received(id, received);
            match stop.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let sent = send(&mut Source::of(run), &mut self.client, &mut go_on)?;
        self.status.sent(id, &sent, stamp);
        if sent.has_all {
            let was_in_progress = sent.was_in_progress;
            self.known.insert(id.into(), Known { stamp, was_in_progress, problem: None });
        }
        Ok((sent.new_bytes > 0).then_some(sent))
    }

    /// Sends what is new every `look_every` until the process is asked to end. If the server cannot be reached, tries
    /// again at growing intervals; meanwhile, the runs remain on this host.
    pub fn follow(&mut self, look_every: Duration, report: Report<'_>) {
        let mut failures = 0;
        let mut last_problem = None;
        while !self.stop.load(Ordering::Relaxed) {
            let wait = match self.round() {
                Ok(round) => {
                    if last_problem.take().is_some() {
                        report("the server is reachable again");
                    }
                    failures = 0;
                    for (id, sent) in &round.sent {
                        report(&format!("{id}: {} bytes sent, {} at the server", sent.new_bytes, sent.bytes));
                    }
                    for (id, problem) in &round.failed {
                        report(&format!("{id}: not sent: {problem}"));
                    }
                    look_every
                }
                Err(_) if self.stop.load(Ordering::Relaxed) => return,
                Err(error) => {
                    let problem = with_causes(&error);
                    failures += 1;
                    if last_problem.as_ref() != Some(&problem) {
                        report(&format!("{problem}; trying again"));
                    }
                    last_problem = Some(problem);
                    backoff(look_every, failures)
                }
            };
            pause(wait, &self.stop);
        }
    }
}

/// Returns whether an error concerns the server or the sender rather than one run.
fn is_of_server(error: &TransferError) -> bool {
    matches!(error, TransferError::Unreachable { .. } | TransferError::NotAdmitted { .. })
}

/// Returns the time after which a run that could not be sent for this reason is tried again.
const fn retry_after(error: &TransferError) -> Duration {
    match error {
        // The cause is another process on the server, a copy that was removed or restored there, or a problem
        // on this host.
        TransferError::Busy { .. }
        | TransferError::Gap { .. }
        | TransferError::Unknown { .. }
        | TransferError::Io { .. }
        | TransferError::Library(_) => RETRY_SOON,
        _ => RETRY_REFUSED,
    }
}

/// Returns how long to wait before the next attempt after this number of failures.
fn backoff(first: Duration, failures: u32) -> Duration {
    let doubled = 2_u32.checked_pow(failures.saturating_sub(1)).unwrap_or(u32::MAX);
    first.saturating_mul(doubled).min(LONGEST_RETRY.max(first))
}

/// Waits until the time has passed or `stop` is set.
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
    fn a_run_that_was_not_sent_is_tried_again_although_it_does_not_change() {
        let now = Instant::now();
        let stamp = Stamp { modified: (1, 2), bytes: 3 };
        let id = || "r".to_owned();
        for (error, after) in [
            (TransferError::Busy { id: id() }, RETRY_SOON),
            (TransferError::Gap { id: id(), have_bytes: 1, at: 2 }, RETRY_SOON),
            (TransferError::Unknown { id: id() }, RETRY_SOON),
            (TransferError::OtherRun { id: id() }, RETRY_REFUSED),
            (TransferError::Refused { text: "a newer journal".into() }, RETRY_REFUSED),
        ] {
            let problem = Problem { text: error.to_string(), retry_at: now + retry_after(&error) };
            let known = Known { stamp, was_in_progress: false, problem: Some(problem) };
            assert!(!known.is_due(stamp, now + after.saturating_sub(STEP)), "{error}");
            assert!(known.is_due(stamp, now + after), "{error}");
            assert!(known.is_due(Stamp { bytes: 4, ..stamp }, now), "{error}");
        }
        assert!(!Known { stamp, was_in_progress: false, problem: None }.is_due(stamp, now + RETRY_REFUSED));
    }

    #[test]
    fn attempts_become_rarer_up_to_a_limit() {
        let first = Duration::from_secs(2);
        let waits: Vec<u64> = (1..=7).map(|failures| backoff(first, failures).as_secs()).collect();
        assert_eq!(waits, [2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(backoff(Duration::from_secs(3600), 9), Duration::from_secs(3600));
    }
}
