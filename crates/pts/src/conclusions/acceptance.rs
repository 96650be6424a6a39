//! The verdict on whether a drive is accepted, with the reasons.

use std::fmt;

use record::{ExportedReason, FailedIo, WrongData, WrongPlace};

/// The verdict on a drive.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Acceptance {
    /// Reasons for not accepting the drive; empty if it is accepted.
    pub reasons: Vec<Reason>,
    /// Limits that could not be checked because the drive does not report the value.
    pub unchecked: Vec<String>,
}

/// A reason for not accepting a drive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// Blocks did not contain the data that was written to them.
    Data {
        /// Number of blocks with wrong data.
        blocks: u64,
        /// The first of these blocks.
        first: Option<WrongPlace>,
    },
    /// An I/O failed.
    Io(FailedIo),
    /// A value that must not increase has increased.
    Grown {
        /// Name of the value.
        what: &'static str,
        /// How much the value has increased.
        by: u64,
        /// Allowed growth.
        allowed: u64,
    },
    /// A value exceeded its limit.
    Above {
        /// Name of the value.
        what: &'static str,
        /// The largest value.
        is: i64,
        /// The limit.
        limit: i64,
        /// Unit of both.
        unit: &'static str,
    },
    /// A value fell below its limit.
    Below {
        /// Name of the value.
        what: &'static str,
        /// The smallest value.
        is: i64,
        /// The limit.
        limit: i64,
        /// Unit of both.
        unit: &'static str,
    },
    /// An NVMe drive reported critical warnings.
    Warned {
        /// All bits that were set in any reading.
        bits: u8,
    },
    /// A reason taken from an imported file.
    Stated(ExportedReason),
}

impl Acceptance {
    /// Whether the drive is accepted.
    #[must_use]
    pub fn is_pass(&self) -> bool {
        self.reasons.is_empty()
    }

    /// The verdict as printed: `PASS` or `FAIL`.
    #[must_use]
    pub fn word(&self) -> &'static str {
        if self.is_pass() { "PASS" } else { "FAIL" }
    }
}

impl fmt::Display for Acceptance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reasons: Vec<String> = self.reasons.iter().map(Reason::to_string).collect();
        f.write_str(self.word())?;
        if reasons.is_empty() { Ok(()) } else { write!(f, ": {}", reasons.join("; ")) }
    }
}

impl Reason {
    /// Returns the kind of reason as used in JSON documents, such as `data`.
    #[must_use]
    pub fn kind(&self) -> &str {
        match self {
            Self::Data { .. } => "data",
            Self::Io(_) => "io",
            Self::Grown { .. } => "grown",
            Self::Above { .. } => "above",
            Self::Below { .. } => "below",
            Self::Warned { .. } => "critical_warning",
            Self::Stated(stated) => &stated.reason,
        }
    }

    /// Returns the reason's location on the drive; None if it has none.
    #[must_use]
    pub fn offset_bytes(&self) -> Option<u64> {
        match self {
            Self::Data { first, .. } => first.map(|place| place.offset_bytes),
            Self::Io(failed) => Some(failed.offset_bytes),
            Self::Stated(stated) => stated.offset_bytes,
            _ => None,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data { blocks, first } => {
                let noun = if *blocks == 1 { "block does" } else { "blocks do" };
                write!(f, "{blocks} {noun} not contain what was written")?;
                let Some(WrongPlace { offset_bytes, length_bytes, wrong }) = first else { return Ok(()) };
                let what = match wrong {
                    WrongData::Corrupt => "corrupt",
                    WrongData::Misdirected => "misdirected",
                    WrongData::Lost => "a lost write",
                    WrongData::Unstamped => "without a stamp",
                };
                write!(f, ", first {length_bytes} B at byte {offset_bytes} ({what})")
            }
            Self::Io(FailedIo { kind, read, offset_bytes, length_bytes }) => {
                let verb = if *read { "read" } else { "write" };
                write!(f, "a {verb} of {length_bytes} B at byte {offset_bytes} failed with {kind}")
            }
            Self::Grown { what, by, allowed } => write!(f, "{by} more {what} ({allowed} allowed)"),
            Self::Above { what, is, limit, unit } => write!(f, "{what} {is} {unit} (at most {limit} {unit})"),
            Self::Below { what, is, limit, unit } => {
                write!(f, "{what} {is} {unit} (at least {limit} {unit})")
            }
            Self::Warned { bits } => write!(f, "critical warning {bits:02x}h"),
            Self::Stated(stated) => f.write_str(&stated.text),
        }
    }
}
