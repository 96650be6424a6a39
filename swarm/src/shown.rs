//! Information that a run has shown to its user, and that must therefore not be lost.

use std::sync::Arc;

/// A record in the journal that was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// End offset in the file.
    pub end: usize,
    /// The bytes of the record; they begin with a hash that covers all records before it.
    pub bytes: Arc<[u8]>,
}

/// A piece of information that was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// The id of the run.
    Id,
    /// A record.
    Record(Line),
}
