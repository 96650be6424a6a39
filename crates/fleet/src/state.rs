//! The state of a job, decided from what the queue, the library and the job's output say.

use crate::queue::Place;

/// What the library says about the run of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stored {
    /// It has no such run.
    Missing,
    /// A process is working on the run; its current activity.
    Running(String),
    /// The run was interrupted.
    Incomplete,
    /// The run is complete, and its verdict rejects the drive.
    Rejected,
    /// The run is complete; its verdict.
    Complete(String),
    /// The run cannot be read, and why.
    Unreadable(String),
}

/// The state of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// One word.
    pub word: &'static str,
    /// Where it runs, what it waits for, or why it failed; may be empty.
    pub detail: String,
}

impl State {
    /// The word for a job whose run is complete.
    pub const COMPLETE: &'static str = "complete";

    fn of(word: &'static str, detail: impl Into<String>) -> Self {
        Self { word, detail: detail.into() }
    }
}

/// Returns the state of a job. `place` is its place in the queue, `stored` what the library says, and `said` the last error
/// in the job's output, which is empty if there is none.
#[must_use]
pub fn state(
    place: Option<Place>,
    is_queue_known: bool,
    stored: impl FnOnce() -> Stored,
    said: impl FnOnce() -> String,
) -> State {
    match place {
        Some(Place::Running(nodes)) => return State::of("running", format!("on {nodes}")),
        Some(Place::AfterOthers) => return State::of("waiting", "for earlier jobs on its drive"),
        Some(Place::Waiting(reason)) => return State::of("waiting", format!("for {reason}")),
        Some(Place::Held(reason)) => {
            let said = said();
            return State::of("held", if said.is_empty() { reason } else { said });
        }
        Some(Place::Ending) => return State::of("ending", ""),
        None => {}
    }
    match stored() {
        Stored::Missing => match said() {
            said if said.is_empty() => State::of("new", ""),
            said => State::of("failed", said),
        },
        Stored::Running(doing) => State::of("running", doing),
        // The job may be waiting in a queue that could not be read.
        Stored::Incomplete if !is_queue_known => State::of("incomplete", said()),
        Stored::Incomplete => State::of("failed", said()),
        Stored::Rejected => State::of("rejected", said()),
        Stored::Complete(verdict) => State::of(State::COMPLETE, verdict),
        Stored::Unreadable(why) => State::of("unreadable", why),
    }
}

/// Counts jobs by state: `3 complete, 1 waiting`.
#[must_use]
pub fn counts<'a>(all: impl Iterator<Item = &'a State>) -> String {
    let mut counts: Vec<(&str, u32)> = Vec::new();
    for state in all {
        match counts.iter_mut().find(|(word, _)| *word == state.word) {
            Some((_, count)) => *count += 1,
            None => counts.push((state.word, 1)),
        }
    }
    counts.iter().map(|(word, count)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_decides_first_then_the_library_then_the_output() {
        let decided = |place: Option<Place>, is_queue_known, stored: Stored, said: &str| {
            let state = state(place, is_queue_known, || stored, || said.to_owned());
            (state.word, state.detail)
        };
        let done = || Stored::Complete("steady".into());
        assert_eq!(
            decided(Some(Place::Running("n1".into())), true, done(), "x"),
            ("running", "on n1".to_owned())
        );
        assert_eq!(
            decided(Some(Place::Waiting("Resources".into())), true, Stored::Missing, "x"),
            ("waiting", "for Resources".to_owned())
        );
        let after = decided(Some(Place::AfterOthers), true, Stored::Missing, "x");
        assert_eq!(after, ("waiting", "for earlier jobs on its drive".to_owned()));
        let held = || Some(Place::Held("launch failed requeued held".into()));
        assert_eq!(decided(held(), true, Stored::Missing, "hot"), ("held", "hot".to_owned()));
        assert_eq!(
            decided(held(), true, Stored::Missing, ""),
            ("held", "launch failed requeued held".to_owned())
        );
        assert_eq!(decided(None, true, Stored::Missing, ""), ("new", String::new()));
        assert_eq!(decided(None, true, Stored::Missing, "x"), ("failed", "x".to_owned()));
        assert_eq!(decided(None, true, Stored::Incomplete, "x"), ("failed", "x".to_owned()));
        assert_eq!(decided(None, false, Stored::Incomplete, "x"), ("incomplete", "x".to_owned()));
        assert_eq!(decided(None, false, done(), "x"), ("complete", "steady".to_owned()));
        assert_eq!(decided(None, false, Stored::Rejected, "x"), ("rejected", "x".to_owned()));
    }
}
