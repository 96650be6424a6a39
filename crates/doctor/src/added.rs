//! Problems with `library.journal`, which contains the annotations of runs.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use record::{Library, LibraryJournalError};
use stdx::text::with_causes;

use crate::severity::Severity;

/// Write permission bits for the group and for others.
const OTHERS_MAY_WRITE: u32 = 0o022;
/// Maximum number of runs named in a message.
const MOST_NAMED: usize = 5;

/// A problem with `library.journal`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddedProblem {
    /// The journal cannot be read.
    #[error("cannot be read: {why}; the tags, notes and names in it are not shown, and none can be added")]
    Unreadable {
        /// The error with its causes.
        why: String,
    },
    /// The journal was written by a newer version of Plateau.
    #[error("was written by a newer version of Plateau; the tags, notes and names in it are not shown")]
    Newer,
    /// The last record is incomplete.
    #[error(
        "the last record is incomplete ({bytes} B) and is ignored; unless a process is currently writing it, \
         its writer has died"
    )]
    Torn {
        /// Length of the incomplete record.
        bytes: u64,
    },
    /// The journal belongs to another user.
    #[error("belongs to user {uid}, who can change it; you may be unable to add tags, notes and names")]
    OtherOwner {
        /// The owner.
        uid: u32,
    },
    /// The file's permissions allow other users to change it.
    #[error("others can change the tags, notes and names in it (mode {mode:04o})")]
    OthersCanWrite {
        /// Permissions of the file.
        mode: u32,
    },
    /// The journal refers to runs that are not in the library.
    #[error("refers to {} not in the library: {}", are(runs.len()), some(runs))]
    NoSuchRuns {
        /// Ids of the runs.
        runs: Vec<String>,
    },
}

fn are(count: usize) -> String {
    if count == 1 { "1 run that is".to_owned() } else { format!("{count} runs that are") }
}

fn some(runs: &[String]) -> String {
    let named = runs.get(..MOST_NAMED).unwrap_or(runs).join(", ");
    match runs.len().saturating_sub(MOST_NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

impl AddedProblem {
    /// Returns the severity of the problem.
    #[must_use]
    pub const fn severity(&self) -> Severity {
        match self {
            Self::Unreadable { .. } | Self::Newer => Severity::Error,
            Self::Torn { .. } | Self::OthersCanWrite { .. } => Severity::Warning,
            Self::OtherOwner { .. } | Self::NoSuchRuns { .. } => Severity::Note,
        }
    }

    /// Returns the problem's name in documents, which never changes.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "library_journal_unreadable",
            Self::Newer => "library_journal_newer",
            Self::Torn { .. } => "library_journal_torn",
            Self::OtherOwner { .. } => "library_journal_other_owner",
            Self::OthersCanWrite { .. } => "library_journal_others_can_write",
            Self::NoSuchRuns { .. } => "library_journal_no_such_runs",
        }
    }

    /// Returns the remedy. `path` is the file, as typed on the command line.
    pub(crate) fn advice(&self, path: &impl Display) -> String {
        match self {
            Self::Unreadable { .. } => {
                format!("restore it from a copy, or move it away and add them again: mv {path} ELSEWHERE")
            }
            Self::Newer => "use the version of Plateau that wrote it, or a newer one".into(),
            Self::Torn { .. } => {
                "only that record is lost; the next `plateau tag`, `note` or `name` removes its remains"
                    .into()
            }
            Self::OtherOwner { uid } => format!(
                "if you trust user {uid}, nothing; to replace it with a copy of your own: \
                 cp {path} {path}.own && mv {path}.own {path}"
            ),
            Self::OthersCanWrite { .. } => format!("chmod go-w {path}"),
            Self::NoSuchRuns { .. } => {
                "if you removed them, nothing: these records have no effect; otherwise restore the runs from a copy"
                    .into()
            }
        }
    }
}

/// Examines a library's journal at `path`. `known` are the ids of all runs and the names of all entries in the
/// library, and `uid` is the effective user. A missing journal is not a problem.
pub(crate) fn problems(
    library: &Library,
    path: &Path,
    known: &BTreeSet<&str>,
    uid: u32,
) -> Vec<AddedProblem> {
    let Ok(found) = std::fs::symlink_metadata(path) else { return Vec::new() };
    let mut problems = Vec::new();
    match library.annotations_with_end() {
        Ok((annotations, torn_bytes)) => {
            if torn_bytes > 0 {
                problems.push(AddedProblem::Torn { bytes: torn_bytes });
            }
            let runs: Vec<String> =
                annotations.runs().filter(|run| !known.contains(run)).map(str::to_owned).collect();
            if !runs.is_empty() {
                problems.push(AddedProblem::NoSuchRuns { runs });
            }
        }
        Err(LibraryJournalError::Newer { .. }) => problems.push(AddedProblem::Newer),
        Err(error) => problems.push(AddedProblem::Unreadable { why: with_causes(&error) }),
    }
    // A link's permissions are meaningless, and links are not followed.
    if found.is_file() {
        if found.uid() != uid {
            problems.push(AddedProblem::OtherOwner { uid: found.uid() });
        }
        if found.mode() & OTHERS_MAY_WRITE != 0 {
            problems.push(AddedProblem::OthersCanWrite { mode: found.mode() & 0o7777 });
        }
    }
    problems
}
