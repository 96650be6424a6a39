//! Runs that viewers follow. One task per run looks for new records, no matter how many viewers there are; the viewers
//! share the records that it finds and the parts of pages rendered from them.
//!
//! A task only publishes which snapshot is the latest. The snapshots themselves are kept by [`Snapshots`], which limits
//! their number, so a viewer that does not read its stream does not keep a snapshot in memory.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use follow::Stamp;
use pts::Standing;
use record::{Annotations, Run};
use tokio::sync::watch;

use crate::catalogue::Catalogue;
use crate::parts::{Part, Parts};
use crate::snapshot::{Snapshot, Snapshots};

/// Interval at which the journal is polled.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// What the most recent poll of a run found.
#[derive(Debug, Clone)]
pub struct Seen {
    /// The snapshot, unless it is no longer kept.
    snapshot: Weak<Snapshot>,
    last_record: Option<u64>,
    standing: Standing,
}

impl Seen {
    fn of(snapshot: &Arc<Snapshot>) -> Self {
        Self {
            snapshot: Arc::downgrade(snapshot),
            last_record: snapshot.last_record(),
            standing: snapshot.standing,
        }
    }

    /// Returns whether no process was working on the run.
    pub fn has_ended(&self) -> bool {
        self.standing != Standing::Running
    }

    /// Returns whether there is anything new for a viewer who is waiting for record `next`.
    pub fn is_news(&self, next: u64) -> bool {
        self.has_ended() || self.last_record.is_some_and(|last| last >= next)
    }
}

/// A run that is being followed.
struct Feed {
    seen: watch::Sender<Option<Seen>>,
    parts: Parts,
}

type Feeds = BTreeMap<String, Arc<Feed>>;

/// The runs that are being followed.
#[derive(Clone)]
pub struct Followed {
    catalogue: Arc<Catalogue>,
    snapshots: Arc<Snapshots>,
    feeds: Arc<Mutex<Feeds>>,
    stopping: Arc<AtomicBool>,
}

impl Followed {
    pub fn of(catalogue: Arc<Catalogue>, snapshots: Arc<Snapshots>) -> Self {
        Self { catalogue, snapshots, feeds: Arc::default(), stopping: Arc::default() }
    }

    /// Follows run `id`. The receiver's channel is closed when the run ends, if the run cannot be read, or when the
    /// server stops.
    pub fn follow(&self, id: &str) -> watch::Receiver<Option<Seen>> {
        let mut feeds = self.feeds();
        if let Some(feed) = feeds.get(id) {
            return feed.seen.subscribe();
        }
        let (seen, receiver) = watch::channel(None);
        let feed = Arc::new(Feed { seen, parts: Parts::default() });
        feeds.insert(id.to_owned(), Arc::clone(&feed));
        drop(feeds);
        tokio::spawn(self.clone().look_until_left(id.to_owned(), feed));
        receiver
    }

    /// Returns the snapshot that was seen, or a newer one. `None` if the run can no longer be read.
    pub fn snapshot(&self, id: &str, seen: &Seen) -> Option<Arc<Snapshot>> {
        seen.snapshot.upgrade().or_else(|| self.snapshots.of(self.catalogue.run(id)?).ok())
    }

    /// Returns a part of the page of run `id`, rendered once for all viewers. `None` if the run is not being
    /// followed.
    pub fn part(&self, id: &str, part: Part, render: impl FnOnce(&Snapshot) -> String) -> Option<String> {
        let feed = Arc::clone(self.feeds().get(id)?);
        let snapshot = feed.seen.borrow().as_ref()?.snapshot.upgrade()?;
        Some(feed.parts.of(part, &snapshot, render))
    }

    /// Ends all streams.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    async fn look_until_left(self, id: String, feed: Arc<Feed>) {
        let mut reader = Reader { followed: self.clone(), id: id.clone(), known: None };
        while !self.is_left(&id, &feed) {
            let look = tokio::task::spawn_blocking(move || {
                let look = reader.look();
                (reader, look)
            });
            let Ok((again, look)) = look.await else { break };
            reader = again;
            match look {
                Look::Same => {}
                Look::New(seen) => {
                    let is_over = seen.has_ended();
                    feed.seen.send_replace(Some(seen));
                    // Viewers still receive the last value. If the run is resumed, the next viewer begins a new
                    // feed.
                    if is_over {
                        break;
                    }
                }
                Look::Gone => break,
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        self.feeds().retain(|_, other| !Arc::ptr_eq(other, &feed));
    }

    /// Returns whether nobody is following a run any longer, in which case its feed is removed. The next viewer
    /// then begins a new feed.
    fn is_left(&self, id: &str, feed: &Feed) -> bool {
        let mut feeds = self.feeds();
        let is_left = feed.seen.is_closed() || self.stopping.load(Ordering::Relaxed);
        if is_left {
            feeds.remove(id);
        }
        is_left
    }

    fn feeds(&self) -> MutexGuard<'_, Feeds> {
        self.feeds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The result of polling a run.
enum Look {
    /// Nothing has changed since the last poll.
    Same,
    New(Seen),
    /// The run cannot be read.
    Gone,
}

/// Polls a run.
struct Reader {
    followed: Followed,
    id: String,
    known: Option<Known>,
}

/// The state of a run at the last poll.
struct Known {
    run: Run,
    stamp: Option<Stamp>,
    /// The names, tags and notes of all runs.
    added: Arc<Annotations>,
}

impl Reader {
    fn look(&mut self) -> Look {
        let Followed { catalogue, snapshots, .. } = &self.followed;
        let added = catalogue.added();
        if self.known.as_ref().is_some_and(|known| known.is_current(&added)) {
            return Look::Same;
        }
        let Some(run) = catalogue.run(&self.id) else { return Look::Gone };
        // The state of the journal file is determined before the journal is read, so that no record is missed.
        let stamp = Stamp::of(&run.journal_path());
        let Ok(snapshot) = snapshots.of(run) else { return Look::Gone };
        self.known = Some(Known { run: snapshot.run.clone(), stamp, added });
        Look::New(Seen::of(&snapshot))
    }
}

impl Known {
    /// Returns whether there are no new records and no new annotations, and a process is still working on the
    /// run.
    fn is_current(&self, added: &Arc<Annotations>) -> bool {
        Stamp::of(&self.run.journal_path()) == self.stamp
            && Arc::ptr_eq(&self.added, added)
            && transfer::appears_in_progress(&self.run)
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub use tests::example;
