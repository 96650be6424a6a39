//! The file that marks a run as a copy.

use std::ffi::OsStr;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use record::{JOURNAL_FILE, Run};
use serde::{Deserialize, Serialize};
use stdx::files::{Folder, Links, is_locked_now, open, read_text};

use crate::destination::SourceState;
use crate::error::{TransferError, io};

/// Name of the mark file in a run directory.
pub const COPIED: &str = "copied.json";
const VERSION: u32 = 1;
const MOST_BYTES: u64 = 64 << 10;
const MOST_CHARACTERS: usize = 1_000;
/// Age at which the time of the last transfer is updated even if nothing else has changed.
const REFRESH: SignedDuration = SignedDuration::from_secs(60);

/// Says that a run is a copy, where it was copied from, and how complete it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// Format version.
    pub version: u32,
    /// Where the run was copied from: host and directory.
    pub source: String,
    /// Name of the sender, if the run was received by a server. Only this sender can continue the copy there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<String>,
    /// Time of the first transfer.
    pub first: Timestamp,
    /// Time of the last transfer.
    pub last: Timestamp,
    /// Length of the source's journal at the last transfer, in bytes.
    pub source_bytes: u64,
    /// Whether a process was working on the source at the last transfer.
    pub source_in_progress: bool,
    /// Whether the copy had all bytes of the source at the end of the last transfer.
    pub has_all: bool,
}

impl Mark {
    /// Returns the mark of a copy to which nothing has been transferred yet.
    pub(crate) fn new(source: &str, sender: Option<&str>, now: Timestamp, state: SourceState) -> Self {
        Self {
            version: VERSION,
            source: source.chars().take(MOST_CHARACTERS).collect(),
            sender: sender.map(ToOwned::to_owned),
            first: now,
            last: now,
            source_bytes: state.bytes,
            source_in_progress: state.is_in_progress,
            has_all: false,
        }
    }

    /// Returns the mark after a transfer, at the time `now`, from a source in this state to a copy that then has
    /// `bytes`; `None` if only the time would change. While a process is working on the source, the time of the
    /// last transfer shows whether the source's host can still be reached, so it is updated at intervals.
    pub(crate) fn after(&self, state: SourceState, bytes: u64, now: Timestamp) -> Option<Self> {
        let is_old = state.is_in_progress && now.duration_since(self.last).abs() >= REFRESH;
        (is_old || !self.is(state, bytes)).then(|| Self { last: now, ..self.with(state, bytes) })
    }

    /// Returns whether the mark describes a copy with `bytes` of a source in this state.
    pub(crate) fn is(&self, state: SourceState, bytes: u64) -> bool {
        *self == self.with(state, bytes)
    }

    fn with(&self, state: SourceState, bytes: u64) -> Self {
        Self {
            source_bytes: state.bytes,
            source_in_progress: state.is_in_progress,
            has_all: bytes == state.bytes,
            ..self.clone()
        }
    }

    /// Describes the copy in a few words, such as `copy of HOST:/dir; some of its records are missing`.
    #[must_use]
    pub fn words(&self) -> String {
        let source = stdx::text::on_one_line(&self.source);
        match (self.has_all, self.source_in_progress) {
            (false, _) => format!("copy of {source}; some of its records are missing"),
            (true, true) => format!("copy of {source}, which was in progress at {:.0}", self.last),
            (true, false) => format!("copy of {source}"),
        }
    }

    pub(crate) fn write(&self, dir: &Path) -> Result<(), TransferError> {
        let failed = |error: std::io::Error| io("write", &dir.join(COPIED), error);
        let bytes = self.bytes().map_err(failed)?;
        let folder = Folder::make(dir, false).map_err(|e| failed(std::io::Error::other(e)))?;
        folder.replace(OsStr::new(COPIED), &bytes).map_err(|e| failed(std::io::Error::other(e)))
    }

    pub(crate) fn bytes(&self) -> Result<Vec<u8>, std::io::Error> {
        Ok(serde_json::to_vec_pretty(self)?)
    }
}

/// Returns whether a process appears to be working on a run: here or, for a copy, at its source when that was last known. For
/// pages and terminals, which ask again soon ([`Run::appears_in_progress`]).
#[must_use]
pub fn appears_in_progress(run: &Run) -> bool {
    let is_there = || mark_of(run).is_ok_and(|mark| mark.is_some_and(|mark| mark.source_in_progress));
    run.appears_in_progress().unwrap_or(false) || is_there()
}

/// Same as [`appears_in_progress`], for the run in the directory `dir`, whose `run.json` is not read. Nothing works on an
/// archive.
#[must_use]
pub fn appears_in_progress_at(dir: &Path) -> bool {
    let journal = open(&dir.join(JOURNAL_FILE), Links::Refused);
    let is_there = || {
        let text = read_text(&dir.join(COPIED), Links::Refused, MOST_BYTES).ok();
        let mark = text.and_then(|text| serde_json::from_str::<Mark>(&text).ok());
        mark.is_some_and(|mark| mark.source_in_progress)
    };
    journal.is_ok_and(|journal| is_locked_now(&journal).unwrap_or(false)) || is_there()
}

/// Returns the mark of a run; `None` if it is not a copy.
///
/// # Errors
/// Returns an error if the mark exists but cannot be read.
pub fn mark_of(run: &Run) -> Result<Option<Mark>, TransferError> {
    let path = run.dir.join(COPIED);
    match run.read_text(COPIED, MOST_BYTES) {
        Ok(text) => serde_json::from_str(&text).map(Some).map_err(|e| io("read", &path, e.into())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io("read", &path, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_the_last_transfer_is_kept_current_while_the_source_is_in_progress() {
        let begun: Timestamp = "2026-11-26T12:00:00Z".parse().expect("a time");
        let state = SourceState { bytes: 7, is_in_progress: true };
        let mark =
            Mark::new("host:/d", Some("host"), begun, state).after(state, 7, begun).expect("it has all");
        let at = |seconds| begun + SignedDuration::from_secs(seconds);
        assert_eq!(mark.after(state, 7, at(59)), None);
        for quiet in [at(60), at(-60)] {
            assert_eq!(mark.after(state, 7, quiet), Some(Mark { last: quiet, ..mark.clone() }));
        }
        let ended = SourceState { is_in_progress: false, ..state };
        let mark = mark.after(ended, 7, at(1)).expect("it has ended");
        assert_eq!((mark.last, mark.after(ended, 7, at(86_400))), (at(1), None), "no further change");
    }

    #[test]
    fn a_copy_appears_in_progress_while_its_source_is() {
        let dir = tempfile::tempdir().expect("a folder");
        assert!(!appears_in_progress_at(dir.path()));
        for is_in_progress in [true, false] {
            let state = SourceState { bytes: 7, is_in_progress };
            let mark = Mark::new("host:/d", None, Timestamp::UNIX_EPOCH, state);
            std::fs::write(dir.path().join(COPIED), mark.bytes().expect("JSON")).expect("writable");
            assert_eq!(appears_in_progress_at(dir.path()), is_in_progress);
        }
    }
}
