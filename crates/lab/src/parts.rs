//! Parts of a run's page that all its viewers request again and again. Each is rendered once and then shared while it is
//! current.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use follow::Stamp;
use jiff::Timestamp;
use live::LIVE;
use record::{gap_ns, wall_now};

use crate::pages::edition::Width;
use crate::snapshot::Snapshot;

/// After this time, a part is rendered again even if nothing has changed, because it shows how old data is.
/// Viewers request parts at most once a second.
const MOST_AGE_NS: u64 = 1_000_000_000;

/// A part of a page that is the same for all viewers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The part that changes with every record, for windows of this width, or for all.
    Record(Option<Width>),
    /// The part that changes every second.
    Second,
    /// The picture of the latest hour, for wide windows or for narrow ones.
    Picture(Width),
}

/// The parts of one run's page.
#[derive(Debug, Default)]
pub struct Parts {
    record: Mutex<Option<Rendered>>,
    wide_record: Mutex<Option<Rendered>>,
    narrow_record: Mutex<Option<Rendered>>,
    second: Mutex<Option<Rendered>>,
    wide_picture: Mutex<Option<Rendered>>,
    narrow_picture: Mutex<Option<Rendered>>,
}

/// A part, and the data from which it was rendered.
#[derive(Debug)]
struct Rendered {
    snapshot: Weak<Snapshot>,
    /// State of the `live` file.
    live: Option<Stamp>,
    at: Timestamp,
    text: String,
}

impl Parts {
    /// Returns a part, after rendering it again if it is out of date. Viewers wait for one another instead of rendering
    /// the same part at the same time.
    pub fn of(
        &self,
        part: Part,
        snapshot: &Arc<Snapshot>,
        render: impl FnOnce(&Snapshot) -> String,
    ) -> String {
        // The state of the file is determined before the file is read, so that an outdated part is never kept.
        let live = Stamp::of(&snapshot.run.dir.join(LIVE));
        self.at(wall_now(), live, part, snapshot, render)
    }

    fn at(
        &self,
        now: Timestamp,
        live: Option<Stamp>,
        part: Part,
        snapshot: &Arc<Snapshot>,
        render: impl FnOnce(&Snapshot) -> String,
    ) -> String {
        let place = match part {
            Part::Record(None) => &self.record,
            Part::Record(Some(Width::Wide)) => &self.wide_record,
            Part::Record(Some(Width::Narrow)) => &self.narrow_record,
            Part::Second => &self.second,
            Part::Picture(Width::Wide) => &self.wide_picture,
            Part::Picture(Width::Narrow) => &self.narrow_picture,
        };
        let mut kept = place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = kept.as_ref().filter(|kept| kept.is_current(snapshot, live, now)) {
            return kept.text.clone();
        }
        let text = render(snapshot);
        *kept = Some(Rendered { snapshot: Arc::downgrade(snapshot), live, at: now, text: text.clone() });
        text
    }
}

impl Rendered {
    fn is_current(&self, snapshot: &Arc<Snapshot>, live: Option<Stamp>, now: Timestamp) -> bool {
        std::ptr::eq(self.snapshot.as_ptr(), Arc::as_ptr(snapshot))
            && self.live == live
            // The clock may have been set back.
            && now >= self.at
            && gap_ns(self.at, now) < MOST_AGE_NS
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use record::{Event, Health};

    use super::*;
    use crate::followed::example;
    use crate::snapshot::Snapshots;

    #[test]
    fn a_part_is_rendered_once_while_nothing_has_changed() {
        let dir = tempfile::tempdir().expect("a folder");
        let (run, mut journal) = example(dir.path());
        let snapshots = Snapshots::default();
        let first = snapshots.of(run.clone()).expect("a snapshot");
        let parts = Parts::default();
        let begin: Timestamp = "2026-11-26T12:00:00Z".parse().expect("a time");
        let at = |ms| begin + SignedDuration::from_millis(ms);
        let file = dir.path().join("file");
        let is_rendered = |ms, part, snapshot: &Arc<Snapshot>| {
            let mut rendered = false;
            let shown = parts.at(at(ms), Stamp::of(&file), part, snapshot, |snapshot| {
                rendered = true;
                format!("{part:?} {:?}", snapshot.last_record())
            });
            assert_eq!(shown, format!("{part:?} {:?}", snapshot.last_record()));
            rendered
        };
        assert!(is_rendered(0, Part::Record(None), &first) && is_rendered(0, Part::Second, &first));
        assert!(!is_rendered(999, Part::Record(None), &first) && !is_rendered(999, Part::Second, &first));
        std::fs::write(&file, "the next second").expect("a file");
        assert!(is_rendered(999, Part::Second, &first), "the file has changed");
        assert!(is_rendered(1_999, Part::Second, &first), "ages have changed");
        assert!(is_rendered(1_500, Part::Second, &first), "the clock was set back");
        journal.append(Event::Health { at_ns: 1, health: Health::default() }).expect("appended");
        let second = snapshots.of(run).expect("a snapshot");
        assert!(is_rendered(1_500, Part::Second, &second), "there is a new record");
        assert!(!is_rendered(1_500, Part::Second, &second));
    }
}
