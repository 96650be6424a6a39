//! Why the store cannot be used.

use std::path::PathBuf;
use std::time::Duration;

use stdx::files::Unowned;

/// Errors in the store. None of these errors concerns a run or its journal.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The store's schema is newer than this build.
    #[error("the store has schema version {found}; this version of Plateau supports versions up to {known}")]
    Newer {
        /// Version of the store's schema.
        found: i64,
        /// The newest version that this build knows.
        known: i64,
    },
    /// There is no store, and none may be created.
    #[error("{} does not exist", path.display())]
    Missing {
        /// Where the store was expected.
        path: PathBuf,
    },
    /// Others can write to the store, so its content cannot be trusted.
    #[error("the store is not used, because others can write to it")]
    Untrusted(#[source] Unowned),
    /// The file is not a store, or is damaged.
    #[error("{} is not a store, or is damaged", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The underlying error.
        source: rusqlite::Error,
    },
    /// Another process has held its write lock for too long.
    #[error("another process holds the lock on {}", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The database failed, for example because the disk is full.
    #[error("cannot {action} the store")]
    Database {
        /// What was attempted.
        action: &'static str,
        /// The underlying error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A query is not valid, or not read-only.
    #[error("{0}")]
    Query(String),
    /// A query returns too many rows.
    #[error("the answer has more than {limit} rows; restrict it with LIMIT")]
    TooManyRows {
        /// The limit.
        limit: usize,
    },
    /// A query took too long.
    #[error("the query was interrupted after {} s", limit.as_secs())]
    TooSlow {
        /// The limit.
        limit: Duration,
    },
    /// A query needs too much memory.
    #[error("the query needs more than {} MiB of memory; select fewer columns or rows", limit_bytes >> 20)]
    TooLarge {
        /// The limit.
        limit_bytes: usize,
    },
    /// The annotations of the runs cannot be read, so an answer would be incomplete.
    #[error(transparent)]
    Annotations(#[from] record::LibraryJournalError),
    /// The library cannot be read.
    #[error("cannot read {}", path.display())]
    Library {
        /// The path.
        path: PathBuf,
        /// The underlying error.
        source: std::io::Error,
    },
}
