//! One I/O of a trace.

/// The operation of an I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Op {
    /// Reads data.
    Read,
    /// Writes data.
    Write,
    /// Declares data unused (discard, trim).
    Trim,
    /// Flushes the write cache; it has no offset and no length.
    Flush,
}

impl Op {
    /// All operations, in the order of their numbers in a trace file.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Trim, Self::Flush];

    /// Returns the name in tables and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Flush => "flush",
        }
    }

    /// Returns whether data is transferred.
    #[must_use]
    pub const fn transfers(self) -> bool {
        matches!(self, Self::Read | Self::Write)
    }
}

/// One I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Io {
    /// When the I/O was issued, in nanoseconds. In a trace file, the first I/O is issued at 0.
    pub issue_ns: u64,
    /// Time from issue to completion; None if the source does not contain it.
    pub response_ns: Option<u64>,
    /// First byte on the volume.
    pub offset_bytes: u64,
    /// Length.
    pub length_bytes: u32,
    /// The operation.
    pub op: Op,
}

impl Io {
    /// Returns the offset after the last byte.
    #[must_use]
    pub const fn end_bytes(&self) -> u64 {
        self.offset_bytes.saturating_add(self.length_bytes as u64)
    }
}
