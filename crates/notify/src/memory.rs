//! What was observed and delivered, so that a restart neither repeats nor forgets a notice: an append-only
//! file with one JSON document per line. A line counts once it is on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use stdx::files::{OwnedFolder, Unowned};

use crate::decide::{Conclusion, Known, held_by};
use crate::notice::Notice;

const FILE: &str = "memory";
const NEXT: &str = "memory.next";
const LOCK: &str = "lock";
const VERSION: u32 = 1;
const MOST_BYTES: u64 = 256 << 20;
/// Length at which the file is rewritten, unless the lines that are still needed are longer.
const LONG_BYTES: u64 = 1 << 20;

/// Why the memory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// Another process is using it.
    #[error("another process is sending notices about this library (it holds {})", path.display())]
    Busy {
        /// The lock.
        path: PathBuf,
    },
    /// The folder or a file in it is not trusted, or cannot be opened.
    #[error(transparent)]
    Folder(#[from] Unowned),
    /// A system call failed.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// The operation.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The underlying error.
        source: std::io::Error,
    },
    /// A line is invalid and is not merely an incomplete last line.
    #[error(
        "{} is damaged at line {line}; remove it to start over; runs that have already ended are then not reported",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Number of the line, counted from 1.
        line: usize,
    },
}

/// A line in the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    /// The first line: version of the format.
    Notices(u32),
    /// A run has ended with a journal of this length.
    Ended { run: String, bytes: u64 },
    /// A notice for these channels.
    Notice { notice: Box<Notice>, channels: Vec<String> },
    /// The id of a notice that needs no further deliveries.
    Past(String),
    /// The id of a notice whose cause is over and may recur.
    Over(String),
    /// A notice was delivered through a channel.
    Delivered { id: String, channel: String },
    /// A notice will not be delivered through a channel, after too many attempts.
    Abandoned { id: String, channel: String },
    /// This many attempts to deliver a notice through a channel have failed.
    Failed { id: String, channel: String, attempts: u32 },
}

/// A notice and the channels still waiting for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outstanding {
    /// The notice.
    pub notice: Notice,
    /// Names of the channels.
    pub channels: BTreeSet<String>,
}

/// The state that the lines describe.
#[derive(Debug, Default)]
struct State {
    known: Known,
    /// Sorted by position in the file, so the oldest comes first.
    outstanding: BTreeMap<usize, Outstanding>,
    /// Failed attempts by id and channel.
    failed: BTreeMap<(String, String), u32>,
}

impl State {
    fn take(&mut self, position: usize, line: Line) {
        match line {
            Line::Notices(_) => {}
            Line::Ended { run, bytes } => drop(self.known.ended.insert(run, bytes)),
            Line::Past(id) => drop(self.known.noticed.insert(id)),
            Line::Over(id) => drop(self.known.noticed.remove(&id)),
            Line::Notice { notice, channels } => {
                self.known.noticed.insert(notice.id.clone());
                let channels: BTreeSet<String> = channels.into_iter().collect();
                if !channels.is_empty() {
                    self.outstanding.insert(position, Outstanding { notice: *notice, channels });
                }
            }
            Line::Failed { id, channel, attempts } => drop(self.failed.insert((id, channel), attempts)),
            Line::Delivered { id, channel } | Line::Abandoned { id, channel } => {
                self.failed.remove(&(id.clone(), channel.clone()));
                for outstanding in self.outstanding.values_mut().filter(|it| it.notice.id == id) {
                    outstanding.channels.remove(&channel);
                }
                self.outstanding.retain(|_, it| !it.channels.is_empty());
            }
        }
    }
}

/// The memory, which one process uses at a time.
#[derive(Debug)]
pub struct Memory {
    folder: OwnedFolder,
    file: File,
    /// Held until the memory is dropped.
    _lock: File,
    is_new: bool,
    bytes: u64,
    /// Length at which the file is next rewritten.
    long_bytes: u64,
    lines: usize,
    state: State,
    /// Deliveries that could not yet be recorded.
    unrecorded: Vec<Line>,
}

impl Memory {
    /// Opens the memory in a folder, which is created if it is missing.
    ///
    /// # Errors
    /// Returns an error if another process uses the memory, if another user could have written to it, if it
    /// is damaged, or if a system call fails.
    pub fn open(folder: &Path) -> Result<Self, MemoryError> {
        let folder = OwnedFolder::make(folder)?;
        let lock = folder.make_file(LOCK)?;
        let is_locked = stdx::files::try_lock(&lock).map_err(io("lock", &folder, LOCK))?;
        if !is_locked {
            return Err(MemoryError::Busy { path: folder.path().join(LOCK) });
        }
        let mut file = folder.make_file(FILE)?;
        let (state, bytes, lines) = read(&mut file, &folder)?;
        Ok(Self {
            folder,
            file,
            _lock: lock,
            // The first line is written together with the first observation: if it were written earlier and the
            // observation failed, the next process would report all runs that ended before it.
            is_new: lines == 0,
            bytes,
            long_bytes: LONG_BYTES,
            lines,
            state,
            unrecorded: Vec::new(),
        })
    }

    /// Returns whether nothing has been observed yet.
    #[must_use]
    pub const fn is_new(&self) -> bool {
        self.is_new
    }

    /// Returns the folder, which also holds other files of this process.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns what is known from earlier observations.
    #[must_use]
    pub const fn known(&self) -> &Known {
        &self.state.known
    }

    /// Returns the undelivered notices, oldest first.
    pub fn outstanding(&self) -> impl Iterator<Item = &Outstanding> {
        self.state.outstanding.values()
    }

    /// Records runs that have ended and are not to be reported.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written; in that case, nothing was recorded.
    pub fn settle(&mut self, runs: &[(String, u64)]) -> Result<(), MemoryError> {
        let mut lines: Vec<Line> = (self.lines == 0).then_some(Line::Notices(VERSION)).into_iter().collect();
        lines.extend(runs.iter().map(|(run, bytes)| Line::Ended { run: run.clone(), bytes: *bytes }));
        self.append(&lines)?;
        self.folder.sync()?;
        self.is_new = false;
        Ok(())
    }

    /// Forgets notices whose causes are over and may recur. They are still delivered.
    ///
    /// # Errors
    /// As [`settle`](Self::settle).
    pub fn forget(&mut self, ids: Vec<String>) -> Result<(), MemoryError> {
        let lines: Vec<Line> = ids.into_iter().map(Line::Over).collect();
        self.append(&lines)
    }

    /// Records conclusions. `notice` completes a notice and names its channels.
    ///
    /// # Errors
    /// As [`settle`](Self::settle).
    pub fn conclude(
        &mut self,
        conclusions: &[Conclusion],
        notice: impl Fn(&Conclusion) -> Option<(Notice, Vec<String>)>,
    ) -> Result<(), MemoryError> {
        let mut lines = Vec::new();
        for conclusion in conclusions {
            // The notice is written first, so that the run does not count as reported after a crash between the
            // two writes.
            if let Some((notice, channels)) = notice(conclusion) {
                lines.push(Line::Notice { notice: Box::new(notice), channels });
            }
            if let Some(bytes) = conclusion.settled {
                lines.push(Line::Ended { run: conclusion.run.id.clone(), bytes });
            }
        }
        self.append(&lines)
    }

    /// Records that a notice was delivered through a channel.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written. In this process, the notice still counts as delivered.
    pub fn delivered(&mut self, id: &str, channel: &str) -> Result<(), MemoryError> {
        self.mark(Line::Delivered { id: id.into(), channel: channel.into() })
    }

    /// Records that a notice will not be delivered through a channel.
    ///
    /// # Errors
    /// As [`delivered`](Self::delivered).
    pub fn abandoned(&mut self, id: &str, channel: &str) -> Result<(), MemoryError> {
        self.mark(Line::Abandoned { id: id.into(), channel: channel.into() })
    }

    /// Returns how many attempts to deliver a notice through a channel have failed.
    #[must_use]
    pub fn attempts(&self, id: &str, channel: &str) -> u32 {
        self.state.failed.get(&(id.to_owned(), channel.to_owned())).copied().unwrap_or(0)
    }

    /// Records the number of failed attempts to deliver a notice through a channel.
    ///
    /// # Errors
    /// As [`delivered`](Self::delivered).
    pub fn failed(&mut self, id: &str, channel: &str, attempts: u32) -> Result<(), MemoryError> {
        self.mark(Line::Failed { id: id.into(), channel: channel.into(), attempts })
    }

    /// The line counts at once, even if it cannot be written; otherwise, the notice would be sent again after
    /// each observation. A line that could not be written is written with the next one.
    fn mark(&mut self, line: Line) -> Result<(), MemoryError> {
        self.unrecorded.push(line.clone());
        let lines = std::mem::take(&mut self.unrecorded);
        let written = self.append(&lines);
        if written.is_err() {
            self.state.take(self.lines, line);
            self.unrecorded = lines;
        }
        written
    }

    /// Rewrites a long file without the lines that are no longer needed. Runs that are missing from the library remain
    /// known, because they may return: the library may be on a file system that is not currently mounted.
    ///
    /// # Errors
    /// Returns an error if the new file cannot be written. In that case, the old file remains in use.
    pub fn compact(&mut self) -> Result<(), MemoryError> {
        if self.bytes < self.long_bytes {
            return Ok(());
        }
        let known = &self.state.known;
        let mut lines = vec![Line::Notices(VERSION)];
        lines.extend(known.ended.iter().map(|(run, bytes)| Line::Ended { run: run.clone(), bytes: *bytes }));
        // Once a run has ended, only a longer journal could cause another notice, so earlier ones need not be
        // remembered.
        let may_recur = |id: &&String| {
            // The numbers in these ids are not lengths of journals; they are forgotten when the job is released.
            if held_by(id).is_some() {
                return true;
            }
            let (run, rest) = id.split_once(':').unwrap_or((id.as_str(), ""));
            let bytes =
                rest.rsplit(':').next().and_then(|bytes| bytes.parse::<u64>().ok()).unwrap_or(u64::MAX);
            known.ended.get(run).is_none_or(|ended| *ended < bytes)
        };
        lines.extend(known.noticed.iter().filter(may_recur).map(|id| Line::Past(id.clone())));
        lines.extend(self.state.outstanding.values().map(|it| Line::Notice {
            notice: Box::new(it.notice.clone()),
            channels: it.channels.iter().cloned().collect(),
        }));
        // Their causes are over; the lines above would make them known again.
        let over = self.state.outstanding.values().map(|it| &it.notice.id);
        lines.extend(over.filter(|id| !known.noticed.contains(*id)).map(|id| Line::Over(id.clone())));
        lines.extend(self.state.failed.iter().map(|((id, channel), attempts)| Line::Failed {
            id: id.clone(),
            channel: channel.clone(),
            attempts: *attempts,
        }));
        let bytes = encode(&lines).map_err(|error| io("encode", &self.folder, NEXT)(error))?;
        self.folder.remove(NEXT)?;
        let mut next = self.folder.new_file(NEXT)?;
        next.write_all(&bytes).and_then(|()| next.sync_all()).map_err(io("write", &self.folder, NEXT))?;
        self.folder.rename(NEXT, FILE)?;
        self.folder.sync()?;
        (self.file, self.bytes) = (next, bytes.len() as u64);
        self.long_bytes = LONG_BYTES.max(self.bytes.saturating_mul(2));
        // The outstanding notices were written without the deliveries that could not be recorded.
        self.unrecorded.clear();
        let (lines, mut state) = (lines, State::default());
        self.lines = lines.len();
        lines.into_iter().enumerate().for_each(|(position, line)| state.take(position, line));
        self.state = state;
        Ok(())
    }

    fn append(&mut self, lines: &[Line]) -> Result<(), MemoryError> {
        if lines.is_empty() {
            return Ok(());
        }
        let failed = |error| io("write", &self.folder, FILE)(error);
        let bytes = encode(lines).map_err(failed)?;
        let written = self.file.seek(SeekFrom::Start(self.bytes)).and_then(|_| {
            self.file.write_all(&bytes)?;
            self.file.sync_data()
        });
        if let Err(error) = written {
            // Remove whatever part of the lines was written.
            drop(self.file.set_len(self.bytes));
            return Err(failed(error));
        }
        self.bytes += bytes.len() as u64;
        for line in lines {
            self.state.take(self.lines, line.clone());
            self.lines += 1;
        }
        Ok(())
    }
}

fn encode(lines: &[Line]) -> Result<Vec<u8>, std::io::Error> {
    let mut bytes = Vec::new();
    for line in lines {
        serde_json::to_writer(&mut bytes, line)?;
        bytes.push(b'\n');
    }
    Ok(bytes)
}

/// Reads the complete lines and removes an incomplete last line.
fn read(file: &mut File, folder: &OwnedFolder) -> Result<(State, u64, usize), MemoryError> {
    let mut bytes = Vec::new();
    let limited = std::io::Read::by_ref(file).take(MOST_BYTES + 1).read_to_end(&mut bytes);
    limited.map_err(io("read", folder, FILE))?;
    let damaged = |line| MemoryError::Damaged { path: folder.path().join(FILE), line };
    if bytes.len() as u64 > MOST_BYTES {
        return Err(damaged(1));
    }
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    if whole < bytes.len() {
        file.set_len(whole as u64).map_err(io("shorten", folder, FILE))?;
    }
    let (mut state, mut lines) = (State::default(), 0);
    for line in bytes[..whole].split_inclusive(|byte| *byte == b'\n') {
        let parsed: Line = serde_json::from_slice(line).map_err(|_| damaged(lines + 1))?;
        if (lines == 0) != matches!(parsed, Line::Notices(_))
            || matches!(parsed, Line::Notices(v) if v != VERSION)
        {
            return Err(damaged(lines + 1));
        }
        state.take(lines, parsed);
        lines += 1;
    }
    Ok((state, whole as u64, lines))
}

fn io<'a>(
    action: &'static str,
    folder: &'a OwnedFolder,
    name: &'a str,
) -> impl Fn(std::io::Error) -> MemoryError + 'a {
    move |source| MemoryError::Io { action, path: folder.path().join(name), source }
}

#[cfg(test)]
mod tests;
