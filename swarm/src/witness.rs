//! Watches a run and records what it shows.

use std::time::Duration;

use engine::Tick;
use plateau::course::{Audience, Step};
use record::storage::simulated::Simulated;
use record::{Event, Loaded, Workload};

use crate::check::{Broken, Promise};
use crate::shown::{Line, Shown};

/// The state of the test that is being continued.
#[derive(Debug, Clone, Copy, Default)]
pub struct Attempt {
    /// Whether the test was purged since it last started or restarted.
    pub purged: bool,
    /// Whether the test may restart, by the user's request or because its result is a timeline.
    pub may_restart: bool,
}

/// Watches one process of a run.
#[derive(Debug)]
pub struct Witness {
    disk: Simulated,
    attempt: Attempt,
    is_first: bool,
    pub shown: Vec<Shown>,
    pub broken: Option<Broken>,
}

impl Witness {
    pub fn of(disk: &Simulated, attempt: Attempt, is_first: bool) -> Self {
        Self { disk: disk.clone(), attempt, is_first, shown: Vec::new(), broken: None }
    }

    fn show(&mut self, shown: Shown) {
        self.disk.mark(self.shown.len());
        self.shown.push(shown);
    }

    fn breaks(&mut self, promise: Promise, text: String) {
        self.broken.get_or_insert(Broken { promise, text });
    }
}

impl Attempt {
    /// Returns the state of the last test in `loaded`.
    pub fn of(loaded: &Loaded, may_restart: bool) -> Self {
        let mut purged = false;
        for entry in &loaded.entries {
            match entry.event {
                Event::TestStarted { .. } | Event::Restarted { .. } => purged = false,
                Event::Purged(_) => purged = true,
                _ => {}
            }
        }
        Self { purged, may_restart }
    }
}

impl Audience for Witness {
    fn step(&mut self, step: Step<'_>) {
        if step != Step::Purge {
            return;
        }
        if self.attempt.purged {
            self.breaks(
                Promise::PurgedOnce,
                "the test had already been purged, and no restart was requested".into(),
            );
        }
        self.attempt.purged = true;
    }

    fn share_done(&mut self, _: f64) {}

    fn expected(&mut self, _: Duration) {}

    fn begin(&mut self, _: &Workload, _: bool) {}

    fn tick(&mut self, _: &Tick) {}

    fn event(&mut self, event: &Event) {
        match event {
            Event::TestStarted { .. } => self.attempt = Attempt::default(),
            Event::Restarted { test } => {
                if !self.attempt.may_restart {
                    self.breaks(
                        Promise::PurgedOnce,
                        format!("{test} starts again, although no restart was requested"),
                    );
                }
                self.attempt = Attempt::default();
            }
            _ => {}
        }
        let last = self.disk.last_append();
        if let Some((bytes, end)) = last.filter(|(bytes, _)| is_record_of(bytes, event)) {
            return self.show(Shown::Record(Line { end, bytes }));
        }
        // A test's notes are derived from its answers, and are issued again when the answers are replayed.
        if self.is_first || !matches!(event, Event::Noted(_)) {
            self.breaks(Promise::ShownIsKept, format!("{event:?} was shown, but is not the last record"));
        }
    }

    fn print_line(&mut self, line: &str) {
        if line.starts_with("run ") && line.contains(" on ") {
            self.show(Shown::Id);
        }
    }

    fn clear(&mut self) {}
}

/// Returns whether `line` of a journal contains `event`, which is the last field of a record.
fn is_record_of(line: &[u8], event: &Event) -> bool {
    let Ok(json) = serde_json::to_string(event) else { return false };
    let rest = line.strip_suffix(b"}\n").and_then(|rest| rest.strip_suffix(json.as_bytes()));
    rest.is_some_and(|rest| rest.ends_with(b"\"event\":"))
}
