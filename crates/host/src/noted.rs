//! Reads a restore record without acting on it.

use device::{KnownSettings, Tuning};

use crate::{lba_format, restore, tuning, write_cache};

/// All settings that a restore record can request.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Noted {
    /// Host or device settings; refused settings are omitted.
    pub tunings: Vec<Tuning>,
    /// Whether the drive's write cache was on.
    pub write_cache_was_on: Option<bool>,
    /// The drive's original LBA format.
    pub lba_format_was: Option<u8>,
}

/// Reads a restore record.
#[must_use]
pub fn note(bytes: &[u8], known: &KnownSettings) -> Noted {
    let content = restore::parse(bytes);
    Noted {
        tunings: tuning::judged(&content, known).flatten().collect(),
        write_cache_was_on: write_cache::noted(&content),
        lba_format_was: lba_format::noted(&content),
    }
}
