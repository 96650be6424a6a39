//! The `live` file: a run's current activity. The run rewrites the file about once a second for observers, and
//! removes it at the end.
//!
//! The file is not authoritative: no stored result depends on it, it is never synced, and a run continues even if the
//! file cannot be written. It is rewritten in place, which allocates no blocks and changes no folder; the digest in
//! its first line lets a reader detect an incomplete state. Readers treat it as untrusted.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

use jiff::Timestamp;
use record::{Digest, Run, gap_ns, printable};
use serde::{Deserialize, Serialize};
use stdx::files::{self, Links, ReadError};

/// Name of the file in a run's directory.
pub const LIVE: &str = "live";
/// Maximum number of seconds that the file covers.
pub const MOST_LIVE_SECONDS: usize = 60;

const MAGIC: &str = "plateau-live 1";
const MOST_BYTES: u64 = 64 << 10;
/// Limit on each string; longer ones are truncated.
const MOST_TEXT_CHARS: usize = 200;
/// Maximum number of attempts to read a file that is being rewritten.
const READINGS: u32 = 4;

/// The current activity of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LivePhase {
    /// The drive is being purged.
    Purge,
    /// The members of an array are being synchronized.
    Settle,
    /// The state that a simulated drive had at the interruption is being rebuilt.
    Rebuild,
    /// A load without measurement.
    Precondition,
    /// A cell of a round.
    Cell,
    /// A measured load outside the rounds.
    Load,
    /// The drive is left idle.
    Idle,
}

/// One second, or another interval between two reports from the load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LiveSecond {
    /// Time from the start of the load to the end of this interval.
    pub elapsed_seconds: f64,
    /// I/Os per second.
    pub iops: f64,
    /// Bytes read and written per second.
    pub bytes_per_second: f64,
    /// Mean response time.
    pub mean_latency_seconds: f64,
    /// Maximum response time.
    pub max_latency_seconds: f64,
}

/// Content of the file. Fields that are unknown or do not apply are `None`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Live {
    /// Id of the run.
    pub run: String,
    /// Wall-clock time when the file was written.
    pub time: Timestamp,
    /// Name of the test.
    pub test: Option<String>,
    /// The current activity; `None` between activities.
    pub phase: Option<LivePhase>,
    /// The load in PTS notation, or what the run is waiting for.
    pub step: Option<String>,
    /// Round number, starting at 1.
    pub round: Option<u32>,
    /// Number of rounds after which the test ends if steady state is not reached.
    pub max_rounds: Option<u32>,
    /// Number of the cell in the round or, if `cells` is `None`, number of the load; starts at 1.
    pub cell: Option<u32>,
    /// Number of cells in the round.
    pub cells: Option<u32>,
    /// Completed fraction of the activity, from 0 to 1.
    pub share_done: Option<f64>,
    /// Time since the activity began.
    pub elapsed_seconds: Option<f64>,
    /// During a load, the time since its last I/O, or since it began; grows if the device hangs. `None` during other
    /// activities, and if an earlier version wrote the file.
    #[serde(default)]
    pub inactive_seconds: Option<f64>,
    /// Time until the activity ends.
    pub left_seconds: Option<f64>,
    /// Whether `left_seconds` comes from an estimate; if `left_seconds` is missing, the estimate has been exceeded.
    pub left_is_estimate: bool,
    /// Time until the test ends if steady state is reached as early as possible.
    pub test_left_min_seconds: Option<f64>,
    /// Time until the test ends if steady state is never reached.
    pub test_left_max_seconds: Option<f64>,
    /// The latest temperature reported by the drive.
    pub temperature_celsius: Option<i16>,
    /// Whether the host may have limited the last completed cell.
    pub host_limited: bool,
    /// Bytes written by the current load, which are not in the journal yet. The number is computed from the share of
    /// writes among the I/Os, so it is not exact for loads with several block sizes.
    pub load_written_bytes: Option<u64>,
    /// The most recent seconds of loads, oldest first. If a load is running, the last entry is the current second.
    pub seconds: Vec<LiveSecond>,
}

/// The reason why a `live` file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// The file cannot be read, or is not a small regular file.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The file was being rewritten each time it was read, or it is damaged.
    #[error("the file is incomplete")]
    Incomplete,
    /// The file does not have the format that this build reads.
    #[error("the file is not valid: {problem}")]
    Invalid {
        /// The problem.
        problem: String,
    },
}

impl Live {
    /// Returns the file's bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let json = serde_json::to_string(&self.within_limits()).unwrap_or_default();
        let mut bytes = format!("{MAGIC} {} {}\n", Digest::of(json.as_bytes()), json.len()).into_bytes();
        bytes.extend_from_slice(json.as_bytes());
        bytes
    }

    /// Returns the content of a file. Bytes beyond the length in its first line are left over from an earlier
    /// state and are ignored. Strings in the result are safe to print.
    ///
    /// # Errors
    /// Returns an error if the file is incomplete or invalid.
    pub fn parse(bytes: &[u8]) -> Result<Self, LiveError> {
        let invalid = |problem: &str| LiveError::Invalid { problem: problem.into() };
        let end = bytes.iter().position(|byte| *byte == b'\n').ok_or(LiveError::Incomplete)?;
        let (head, rest) = (&bytes[..end], &bytes[end + 1..]);
        let head = std::str::from_utf8(head).map_err(|_| invalid("its first line is not text"))?;
        let words = head.strip_prefix(MAGIC).and_then(|rest| rest.strip_prefix(' '));
        let (digest, length) =
            words.and_then(|words| words.split_once(' ')).ok_or_else(|| invalid("another format"))?;
        let length: usize = length.parse().map_err(|_| invalid("its length is not a number"))?;
        let json = rest.get(..length).ok_or(LiveError::Incomplete)?;
        if !Digest::of(json).is(digest) {
            return Err(LiveError::Incomplete);
        }
        let text = std::str::from_utf8(json).map_err(|_| invalid("not text"))?;
        let live: Self =
            serde_json::from_str(&printable(text)).map_err(|error| invalid(&error.to_string()))?;
        live.check().map_err(invalid)?;
        Ok(live)
    }

    /// Returns the content of a run's file; `None` if it does not exist. A killed process leaves the file behind:
    /// check [`Run::is_in_progress`] and its [age](Self::age_ns).
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is incomplete or invalid, or belongs to another
    /// run.
    pub fn of(run: &Run) -> Result<Option<Self>, LiveError> {
        if run.is_archived() {
            return Ok(None);
        }
        let path = run.dir.join(LIVE);
        let mut last = LiveError::Incomplete;
        for _ in 0..READINGS {
            let bytes = match files::read(&path, Links::Refused, MOST_BYTES) {
                Ok(bytes) => bytes,
                Err(ReadError::System(error)) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error.into()),
            };
            match Self::parse(&bytes) {
                Ok(live) if live.run == run.file.id => return Ok(Some(live)),
                Ok(_) => return Err(LiveError::Invalid { problem: "it belongs to another run".into() }),
                Err(error) => last = error,
            }
            if !matches!(last, LiveError::Incomplete) {
                break;
            }
        }
        Err(last)
    }

    /// Returns the time since the file was written; 0 if the clock was set back.
    #[must_use]
    pub fn age_ns(&self, now: Timestamp) -> u64 {
        gap_ns(self.time, now)
    }

    fn check(&self) -> Result<(), &'static str> {
        let numbers = [
            self.share_done,
            self.elapsed_seconds,
            self.left_seconds,
            self.test_left_min_seconds,
            self.test_left_max_seconds,
        ];
        let of_seconds = self.seconds.iter().flat_map(LiveSecond::numbers);
        if !numbers.into_iter().flatten().chain(of_seconds).all(|number| number.is_finite() && number >= 0.0)
        {
            return Err("a number is out of range");
        }
        if self.share_done.is_some_and(|share| share > 1.0) {
            return Err("more than 100 % completed");
        }
        if self.seconds.len() > MOST_LIVE_SECONDS {
            return Err("too many seconds");
        }
        Ok(())
    }

    /// Returns a copy whose strings are truncated and that contains only the most recent seconds, and only numbers
    /// that JSON can represent.
    fn within_limits(&self) -> Self {
        let short = |text: &String| text.chars().take(MOST_TEXT_CHARS).collect::<String>();
        let number = |value: Option<f64>| value.filter(|number| number.is_finite() && *number >= 0.0);
        let seconds = self.seconds.iter().filter(|second| second.numbers().iter().all(|n| n.is_finite()));
        let seconds: Vec<LiveSecond> = seconds.copied().collect();
        Self {
            test: self.test.as_ref().map(short),
            step: self.step.as_ref().map(short),
            share_done: number(self.share_done).map(|share| share.min(1.0)),
            elapsed_seconds: number(self.elapsed_seconds),
            left_seconds: number(self.left_seconds),
            test_left_min_seconds: number(self.test_left_min_seconds),
            test_left_max_seconds: number(self.test_left_max_seconds),
            seconds: seconds[seconds.len().saturating_sub(MOST_LIVE_SECONDS)..].to_vec(),
            ..self.clone()
        }
    }
}

impl LiveSecond {
    fn numbers(&self) -> [f64; 5] {
        let Self { elapsed_seconds, iops, bytes_per_second, mean_latency_seconds, max_latency_seconds } =
            *self;
        [elapsed_seconds, iops, bytes_per_second, mean_latency_seconds, max_latency_seconds]
    }
}

/// The file of a run in progress, which is removed when this value is dropped.
#[derive(Debug)]
pub struct LiveFile {
    folder: File,
    file: File,
}

impl LiveFile {
    /// Creates the file in the directory of `run`, and replaces any file left by an earlier process.
    ///
    /// # Errors
    /// Returns an error if the directory is not the run's directory, or if a system call fails.
    pub fn create(run: &Run) -> io::Result<Self> {
        let folder = files::open_folder(&run.dir)?;
        let found = folder.metadata()?;
        if (found.dev(), found.ino()) != run.identity() {
            return Err(io::Error::other("the directory of the run was replaced"));
        }
        let file = files::create_anew_in(&folder, OsStr::new(LIVE))?;
        Ok(Self { folder, file })
    }

    /// Writes the current state.
    ///
    /// # Errors
    /// Returns an error if a system call fails.
    pub fn write(&self, live: &Live) -> io::Result<()> {
        self.file.write_all_at(&live.encode(), 0)
    }
}

impl Drop for LiveFile {
    fn drop(&mut self) {
        let is_own = || {
            let (_, found) = files::look_in(&self.folder, OsStr::new(LIVE)).ok()?;
            let own = self.file.metadata().ok()?;
            Some(found == (own.dev(), own.ino()))
        };
        if is_own() == Some(true) {
            // Readers recognize a leftover file by its age and by the unlocked journal.
            drop(files::remove_in(&self.folder, OsStr::new(LIVE)));
        }
    }
}

#[cfg(test)]
mod tests;
