//! What a run showed its user, and therefore must not lose.

use std::sync::Arc;

/// A record of the journal that was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// End offset in the file.
    pub end: usize,
    /// Its bytes; they begin with a hash that covers all records before it.
    pub bytes: Arc<[u8]>,
}

/// Something that was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// The id of the run.
    Id,
    /// A record.
    Record(Line),
}
