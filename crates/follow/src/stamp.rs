//! Whether a journal has changed since it was read.

use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

/// State of a journal file when it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    len_bytes: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    /// Returns the state of a journal file; `None` if it does not exist.
    #[must_use]
    pub fn of(journal: &Path) -> Option<Self> {
        let found = std::fs::symlink_metadata(journal).ok()?;
        Some(Self { len_bytes: found.len(), modified: found.modified().ok() })
    }

    /// Returns the length of the file.
    #[must_use]
    pub const fn len_bytes(self) -> u64 {
        self.len_bytes
    }
}
