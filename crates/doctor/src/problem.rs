//! The problems that a library can have.

use std::path::{Path, PathBuf};

use stdx::units::{amount_base10, count_of};

use crate::added::AddedProblem;
use crate::severity::Severity;

/// A problem and its location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Id of the run; `None` if the problem does not concern a run or the id cannot be read.
    pub run: Option<String>,
    /// Path of the file or folder.
    pub path: PathBuf,
    /// The problem.
    pub problem: Problem,
    /// If the run must be unarchived before the problem can be solved: its archive, and the directory that
    /// unarchiving creates.
    pub archive: Option<(PathBuf, PathBuf)>,
}

impl Finding {
    /// Creates a problem at `path` that does not concern a run.
    #[must_use]
    pub fn elsewhere(path: &Path, problem: Problem) -> Self {
        Self { run: None, path: path.into(), problem, archive: None }
    }
}

/// A problem.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The run cannot be read.
    #[error("cannot be read: {why}")]
    Unreadable {
        /// The error with its causes.
        why: String,
    },
    /// A folder has a `run.json`, but no journal.
    #[error("has a run.json, but no journal; it is probably an incomplete copy of a run")]
    NoJournal,
    /// A folder has a journal, but no `run.json`.
    #[error("has a journal, but no run.json; it is probably an incomplete copy of a run")]
    NoRunFile,
    /// The last record is incomplete.
    #[error(
        "the last record is incomplete ({bytes} B) and is ignored; the process or its host died while writing it"
    )]
    Torn {
        /// Length of the incomplete record.
        bytes: u64,
    },
    /// The records are in an order that no run produces.
    #[error("record {record}: {why}; the journal was changed, and its hashes were recomputed")]
    Disordered {
        /// Number of the record.
        record: u64,
        /// What is wrong with the record.
        why: String,
    },
    /// This version of Plateau cannot evaluate the run.
    #[error("cannot be evaluated by this version: {why}")]
    Unjudged {
        /// The error.
        why: String,
    },
    /// This version of Plateau reaches different conclusions than the one that recorded the run.
    #[error("evaluated differently by this version in {places} places")]
    JudgedDifferently {
        /// Number of differences.
        places: usize,
    },
    /// The file that a run was imported from is missing or changed.
    #[error("the imported file is missing or was changed")]
    ImportedFileChanged,
    /// Several folders or archives contain a run with this id.
    #[error("{count} folders or archives contain a run with this id: {}", names.join(", "))]
    DuplicateId {
        /// Number of folders and archives.
        count: usize,
        /// Names of the folders and archives.
        names: Vec<String>,
    },
    /// The name of the folder or archive differs from the run's id.
    #[error("is named {name}: it was renamed or is a copy")]
    Renamed {
        /// Name of the folder or archive.
        name: String,
        /// Path it would have if it were named after its run.
        own: PathBuf,
    },
    /// The run belongs to another user.
    #[error("belongs to user {uid}, who can change it")]
    OtherOwner {
        /// The owner.
        uid: u32,
    },
    /// A symbolic link, whose target is not part of the library.
    #[error("is a symbolic link; its target is not part of the library")]
    Link,
    /// A run left partly created or partly removed because its process died.
    #[error("is left over from a run whose creation or removal was interrupted")]
    LeftOverRun,
    /// Both the directory and the archive of a run exist.
    #[error("is also archived: archiving or restoring it was interrupted; its directory is used")]
    HalfArchived,
    /// A temporary file.
    #[error("is a temporary file; unless a process is currently writing it, it is left over")]
    LeftOverFile,
    /// A copy of records that could not be appended to the journal.
    #[error(
        "contains records that could not be appended to the journal, which was moved or changed during the run"
    )]
    Rescued,
    /// Settings that an interrupted run changed and did not restore.
    #[error("contains drive or host settings that an interrupted run changed and did not restore")]
    StaleSettings,
    /// Other users can write to the restore records' folder.
    #[error("restore records are not used: {why}")]
    UntrustedState {
        /// Why the records are not used.
        why: String,
    },
    /// The index lacks runs.
    #[error(
        "the index is out of date for {}; lists read the files of such runs instead",
        count_of(*runs, "run")
    )]
    StaleIndex {
        /// Number of runs.
        runs: usize,
    },
    /// The index cannot be used.
    #[error("the index cannot be used: {why}; lists read the files of all runs instead")]
    UnusableIndex {
        /// Why the index cannot be used.
        why: String,
    },
    /// There is a problem with the annotations of runs.
    #[error(transparent)]
    Added(#[from] AddedProblem),
    /// The file system is almost full.
    #[error("the file system has {} left", amount_base10(*free_bytes))]
    LittleSpace {
        /// Free bytes for this user.
        free_bytes: u64,
    },
}

impl Problem {
    /// Returns the severity of the problem.
    #[must_use]
    pub const fn severity(&self) -> Severity {
        match self {
            Self::Unreadable { .. }
            | Self::NoJournal
            | Self::NoRunFile
            | Self::Disordered { .. }
            | Self::Unjudged { .. }
            | Self::ImportedFileChanged
            | Self::DuplicateId { .. } => Severity::Error,
            Self::Torn { .. }
            | Self::JudgedDifferently { .. }
            | Self::Renamed { .. }
            | Self::Link
            | Self::LeftOverRun
            | Self::LeftOverFile
            | Self::HalfArchived
            | Self::Rescued
            | Self::StaleSettings
            | Self::UntrustedState { .. }
            | Self::UnusableIndex { .. }
            | Self::LittleSpace { .. } => Severity::Warning,
            Self::OtherOwner { .. } | Self::StaleIndex { .. } => Severity::Note,
            Self::Added(problem) => problem.severity(),
        }
    }

    /// Returns the problem's name in documents, which never changes.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "unreadable",
            Self::NoJournal => "no_journal",
            Self::NoRunFile => "no_run_file",
            Self::Torn { .. } => "torn",
            Self::Disordered { .. } => "disordered",
            Self::Unjudged { .. } => "unjudged",
            Self::JudgedDifferently { .. } => "judged_differently",
            Self::ImportedFileChanged => "imported_file_changed",
            Self::DuplicateId { .. } => "duplicate_id",
            Self::Renamed { .. } => "renamed",
            Self::OtherOwner { .. } => "other_owner",
            Self::Link => "link",
            Self::LeftOverRun => "left_over_run",
            Self::LeftOverFile => "left_over_file",
            Self::HalfArchived => "half_archived",
            Self::Rescued => "rescued_records",
            Self::StaleSettings => "stale_settings",
            Self::UntrustedState { .. } => "untrusted_state",
            Self::StaleIndex { .. } => "stale_index",
            Self::UnusableIndex { .. } => "unusable_index",
            Self::Added(problem) => problem.kind(),
            Self::LittleSpace { .. } => "little_space",
        }
    }
}
