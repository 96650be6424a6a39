//! New records of a run as server-sent events. The id of an event is the number of its record, so a browser that lost
//! its connection continues after the last record that it received.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::response::sse::{Event as Sent, KeepAlive, Sse};
use futures_util::stream::{self, Stream};
use pts::Standing;
use record::{Entry, Event, Note};
use serde_json::json;
use stdx::units::grouped;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::app::App;
use crate::followed::Seen;
use crate::gate::Visitor;
use crate::live::segment;

/// Interval at which a viewer's session is checked, in addition to the check before each batch of records.
const CHECK_EVERY: Duration = Duration::from_secs(1);
/// Interval of comments that keep proxies from closing an idle connection.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Maximum number of records that are kept in memory for a viewer until they are sent.
const MOST_RECORDS: usize = 500;

/// Reason for the end of a stream.
const UNREADABLE: &str = "the run can no longer be read";

/// The stream of one viewer.
struct Viewer {
    app: Arc<App>,
    visitor: Visitor,
    id: String,
    seen: watch::Receiver<Option<Seen>>,
    /// Number of the next record to send.
    next: u64,
    waiting: std::vec::IntoIter<Sent>,
    ended: bool,
}

/// Returns the records of run `id`, starting with number `next`, for as long as the visitor's session lasts.
pub fn events(
    app: Arc<App>,
    visitor: Visitor,
    id: String,
    next: u64,
) -> Sse<impl Stream<Item = Result<Sent, Infallible>>> {
    let (seen, waiting) = (app.followed.follow(&id), Vec::new().into_iter());
    let viewer = Viewer { app, visitor, id, seen, next, waiting, ended: false };
    let stream = stream::unfold(viewer, |mut viewer| async move {
        loop {
            if let Some(sent) = viewer.waiting.next() {
                return Some((Ok(sent), viewer));
            }
            if viewer.ended {
                return None;
            }
            let next = viewer.next;
            let is_news = |seen: &Option<Seen>| seen.as_ref().is_some_and(|seen| seen.is_news(next));
            let looked = match timeout(CHECK_EVERY, viewer.seen.wait_for(is_news)).await {
                Ok(Ok(seen)) => Some(seen.clone()),
                Ok(Err(_)) => None,
                Err(_) => Some(None),
            };
            let Some(news) = looked else {
                // The browser connects again after the server has been restarted.
                if viewer.app.is_stopping() {
                    return None;
                }
                viewer.end(UNREADABLE);
                continue;
            };
            let taken = tokio::task::spawn_blocking(move || {
                viewer.take(news.as_ref());
                viewer
            });
            viewer = taken.await.ok()?;
        }
    });
    Sse::new(stream).keep_alive(KeepAlive::new().interval(HEARTBEAT))
}

impl Viewer {
    /// Ends the stream for a reason other than the end of the run. Without the event, a browser would connect again
    /// and again.
    fn end(&mut self, why: &str) {
        self.waiting = vec![Sent::default().event("end").data(why)].into_iter();
        self.ended = true;
    }

    /// Collects the new events, unless the session has ended. If no process is working on the run, the stream ends
    /// after the last record.
    fn take(&mut self, news: Option<&Seen>) {
        if !self.app.gate.lasts(&self.visitor) {
            self.waiting =
                vec![Sent::default().event("signed-out").data("the session has ended")].into_iter();
            self.ended = true;
            return;
        }
        let Some(seen) = news else { return };
        let Some(snapshot) = self.app.followed.snapshot(&self.id, seen) else {
            self.end(UNREADABLE);
            return;
        };
        if seen.has_ended() && snapshot.standing == Standing::Running {
            // The run has been resumed, and the feed that followed it before has ended.
            self.seen = self.app.followed.follow(&self.id);
        }
        let entries = &snapshot.loaded.entries;
        let new = entries.iter().filter(|entry| entry.seq >= self.next).take(MOST_RECORDS);
        let mut sent: Vec<Sent> = new.map(of_entry).collect();
        self.next += sent.len() as u64;
        let is_complete = entries.last().is_none_or(|last| last.seq < self.next);
        if is_complete && snapshot.standing != Standing::Running {
            sent.push(Sent::default().event("end").data(snapshot.standing.verdict()));
            self.ended = true;
        }
        self.waiting = sent.into_iter();
    }
}

fn of_entry(entry: &Entry) -> Sent {
    let data = json!({ "record": entry.seq, "wall": entry.wall.to_string(), "kind": kind(&entry.event), "text": text(entry) });
    Sent::default().id(entry.seq.to_string()).event("record").data(data.to_string())
}

/// Returns the name of an event's type, as in the journal.
const fn kind(event: &Event) -> &'static str {
    match event {
        Event::Opened { .. } => "opened",
        Event::Estimated(_) => "estimated",
        Event::TestStarted { .. } => "test_started",
        Event::Purged(_) => "purged",
        Event::Preconditioned(_) => "preconditioned",
        Event::Measured(_) => "measured",
        Event::Cut(_) => "cut",
        Event::Idled { .. } => "idled",
        Event::Health { .. } => "health",
        Event::IdlePower { .. } => "idle_power",
        Event::WriteCache { .. } => "write_cache",
        Event::Imported(_) => "imported",
        Event::HostChecked { .. } => "host_checked",
        Event::Tuned { .. } => "tuned",
        Event::LbaFormat { .. } => "lba_format",
        Event::Noted(_) => "noted",
        Event::Interrupted { .. } => "interrupted",
        Event::Resumed { .. } => "resumed",
        Event::Restarted { .. } => "restarted",
        Event::TestEnded { .. } => "test_ended",
        Event::Closed => "closed",
    }
}

/// Returns a short description of the record; empty if its type says enough.
fn text(entry: &Entry) -> String {
    if let Some(segment) = segment(entry) {
        return format!("{} {} IOPS", segment.workload, grouped(segment.iops(), 1));
    }
    match &entry.event {
        Event::TestStarted { test } | Event::Restarted { test } | Event::TestEnded { test, .. } => {
            test.clone()
        }
        Event::Purged(purged) => purged.method.clone(),
        Event::Interrupted { reason } => reason.clone(),
        Event::Noted(Note::RoundStarted { round, .. }) => format!("round {round} started"),
        Event::Noted(Note::Judged(judgement)) => {
            format!(
                "round {} judged: {}",
                judgement.round,
                if judgement.steady { "steady" } else { "not steady" }
            )
        }
        _ => String::new(),
    }
}
