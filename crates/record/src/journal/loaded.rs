//! The content of a journal.

use crate::amounts::Amounts;
use crate::{Digest, Entry};

/// An incomplete last record, left by a crash or power cut. It was never displayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TornTail {
    /// Bytes after the last complete record.
    pub bytes: u64,
    /// Number of zero bytes among them; complete records contain no zero bytes.
    pub zero_bytes: u64,
}

impl std::fmt::Display for TornTail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the last record is incomplete ({} bytes", self.bytes)?;
        match self.zero_bytes {
            0 => f.write_str(")"),
            zero_bytes => write!(f, ", {zero_bytes} of them zero, as after a power cut)"),
        }
    }
}

/// The content of a journal.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// Complete records in order.
    pub entries: Vec<Entry>,
    /// The incomplete record at the end, if any.
    pub torn: Option<TornTail>,
    /// Hash of the last record, which covers all records before it.
    pub digest: Digest,
    /// Length of the header and all complete records.
    pub(super) whole_bytes: u64,
    /// The last complete record, byte for byte.
    pub(super) last_line: Vec<u8>,
    pub(super) amounts: Amounts,
}

impl Loaded {
    /// Returns the length of the header and all complete records.
    pub(crate) const fn whole_bytes(&self) -> u64 {
        self.whole_bytes
    }
}
