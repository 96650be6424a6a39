//! The definition of a format.

use crate::sink::Sink;

/// A format that can be imported.
#[derive(Debug)]
pub struct Format {
    /// Name on the command line.
    pub name: &'static str,
    /// Description in one line, for the help text.
    pub about: &'static str,
    /// Resolution of the times in this format.
    pub resolution_ns: u64,
    /// Whether a line is in this format.
    pub(crate) recognizes: fn(&[u8]) -> bool,
    /// Returns the parser of its lines.
    pub(crate) parser: fn() -> Box<dyn Parse>,
}

/// Why a line is not an I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bad {
    /// A field is missing.
    Fields,
    /// A field with this name is not a number of the expected kind.
    Field(&'static str),
    /// The operation is unknown.
    Operation,
    /// The length is zero, or 4 GiB or more.
    Length,
    /// The I/O ends beyond the largest address.
    Address,
    /// The line is longer than 4096 bytes.
    TooLong,
    /// The action does not exist in this version of the log.
    Sequence,
}

impl std::fmt::Display for Bad {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fields => f.write_str("too few fields"),
            Self::Field(name) => write!(f, "the field '{name}' is not a number in its range"),
            Self::Operation => f.write_str("unknown operation"),
            Self::Length => f.write_str("the length is zero, or 4 GiB or more"),
            Self::Address => f.write_str("the I/O ends beyond the largest address"),
            Self::TooLong => f.write_str("longer than 4096 bytes"),
            Self::Sequence => f.write_str("an action that this version of the log does not have"),
        }
    }
}

/// Parses the lines of one format.
pub(crate) trait Parse {
    /// Parses one line and passes what it contains to `sink`.
    fn line(&mut self, line: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad>;
}
