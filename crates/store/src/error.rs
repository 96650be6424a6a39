//! Why the store cannot be used.

use std::path::PathBuf;
use std::time::Duration;

use stdx::files::Unowned;

/// Errors in the store. None of these errors concerns a run or its journal.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The store's schema is newer than this build supports.
    #[error("the store has schema version {found}; this version of Plateau supports versions up to {known}")]
    Newer {
        /// Version of the store's schema.
        found: i64,
        /// The newest version that this build knows.
        known: i64,
    },
    /// There is no store, and it must not be created.
    #[error("{store} does not exist")]
    Missing {
        /// Where it was expected.
        store: String,
    },
    /// A shared store has no tables yet.
    #[error("the store {store} is empty")]
    Empty {
        /// The store.
        store: String,
    },
    /// The schema of the store is older than this build requires.
    #[error("the store {store} has schema version {found}; this version of Plateau requires version {known}")]
    Older {
        /// The store.
        store: String,
        /// Version of the store's schema.
        found: i64,
        /// The version that this build knows.
        known: i64,
    },
    /// The address of a shared store is not valid. The text contains no part of it, because it may contain a password.
    #[error("the address of the store is not valid: {0}")]
    Address(String),
    /// A shared store cannot be reached, or the connection was lost.
    #[error("the store {store} cannot be reached")]
    Unreachable {
        /// The store.
        store: String,
        /// The underlying error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A shared store does not accept the connection: user, password, database or certificate are wrong.
    #[error("the connection to the store {store} was refused")]
    Refused {
        /// The store.
        store: String,
        /// The underlying error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The role has no permission.
    #[error("the role has no permission to {action} the store {store}")]
    Denied {
        /// What was attempted.
        action: &'static str,
        /// The store.
        store: String,
        /// The underlying error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A shared store has no space left.
    #[error("the store {store} has no space left")]
    Full {
        /// The store.
        store: String,
        /// The underlying error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The database's encoding cannot represent all characters.
    #[error("the store {store} has the encoding {found} instead of UTF8")]
    Encoding {
        /// The store.
        store: String,
        /// Its encoding.
        found: String,
    },
    /// The certificates of the authorities to trust cannot be read.
    #[error("cannot read the certificates of the authorities to trust, {}", path.display())]
    Authorities {
        /// The file.
        path: PathBuf,
        /// The underlying error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// This host has no list of authorities to trust.
    #[error("this host has no certificates of authorities to trust")]
    NoAuthorities,
    /// Others can write to the store, so its content cannot be trusted.
    #[error("the store is not used, because others can write to it")]
    Untrusted(#[source] Unowned),
    /// A file of the store cannot be opened or changed.
    #[error("cannot open or change the store")]
    Inaccessible(#[source] Unowned),
    /// The file is not a store, or is damaged.
    #[error("{store} is not a store, or is damaged")]
    Damaged {
        /// The store.
        store: String,
        /// The underlying error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Tables of a shared store are missing, or have other columns.
    #[error("tables of the store {store} are damaged, missing or were altered")]
    Altered {
        /// The store.
        store: String,
        /// The underlying error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Another process has held its write lock for too long.
    #[error("another process holds the lock of {store}")]
    Locked {
        /// The store.
        store: String,
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
    /// A shared store has no rows of a library.
    #[error("the store has no runs of library '{library}'; its libraries are: {}", listed(known))]
    NoLibrary {
        /// Name of the library.
        library: String,
        /// Names of the libraries in the store.
        known: Vec<String>,
    },
    /// The file with the library's name in shared stores has other content.
    #[error("{} does not contain the name of a library", path.display())]
    LibraryId {
        /// The file.
        path: PathBuf,
    },
    /// The library cannot be read.
    #[error("cannot read {}", path.display())]
    Library {
        /// The path.
        path: PathBuf,
        /// The underlying error.
        source: std::io::Error,
    },
}

fn listed(libraries: &[String]) -> String {
    if libraries.is_empty() { "none".to_owned() } else { libraries.join(", ") }
}

impl From<Unowned> for StoreError {
    fn from(error: Unowned) -> Self {
        match error {
            Unowned::System { .. } => Self::Inaccessible(error),
            other => Self::Untrusted(other),
        }
    }
}
