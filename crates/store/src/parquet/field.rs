//! The columns of a file.

use std::io;

/// Type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    /// 64-bit integers.
    Integer,
    /// Double-precision numbers.
    Real,
    /// Booleans, from 1 for true and 0 for false.
    Boolean,
    /// Text in UTF-8.
    Text,
    /// Points in time, in microseconds since 1970 in UTC.
    Time,
}

/// A column of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    /// Name.
    pub name: String,
    /// Type.
    pub kind: Type,
    /// Whether a value may be null.
    pub is_optional: bool,
}

/// Returns a length in the type that the format uses; pages are far below its limit.
pub(super) fn length(bytes: usize) -> io::Result<u32> {
    u32::try_from(bytes)
        .ok()
        .filter(|bytes| i32::try_from(*bytes).is_ok())
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a value is too long for a Parquet file"))
}
