//! Why the service cannot continue.

use crate::memory::MemoryError;
use crate::observe::ObserveError;

/// Why the service cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The memory cannot be used.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The library cannot be read.
    #[error(transparent)]
    Observe(#[from] ObserveError),
    /// A thread cannot be started.
    #[error("cannot start a thread")]
    Thread(#[source] std::io::Error),
    /// The library was not read because of a bug in this program.
    #[error("internal error while reading the library: {0}")]
    Panicked(String),
    /// This process has been asked to end.
    #[error("interrupted; nothing was recorded, and the next `plateau notify` continues")]
    Stopped,
}
