//! Finds the format of a foreign file and reads it.

use crate::formats::{FORMATS, Format};
use crate::imported::Imported;

/// Limit on the number of readings in one test: more than any tool produces.
const MOST_READINGS: usize = 200_000;

/// Why a file cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// The file does not match any known format.
    #[error("the file is not in a known format; known formats: {}", names())]
    Unknown,
    /// There is no format with this name.
    #[error("no format '{name}'; available formats: {}", names())]
    NoSuchFormat {
        /// The requested format.
        name: String,
    },
    /// The file is larger than any file in its format.
    #[error("the file has {bytes} bytes; a {format} file has at most {limit}")]
    TooLarge {
        /// Size of the file.
        bytes: usize,
        /// The format.
        format: &'static str,
        /// The maximum size.
        limit: usize,
    },
    /// The file is not valid.
    #[error("not a usable {format} file: {problem}")]
    Refused {
        /// The format.
        format: &'static str,
        /// Description and location of the problem.
        problem: String,
    },
}

fn names() -> String {
    FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ")
}

/// Returns the largest size limit of all formats.
#[must_use]
pub fn largest_bytes() -> usize {
    FORMATS.iter().map(|format| format.largest_bytes).max().unwrap_or(0)
}

/// Parses a file in the format `name`, or in the first format that matches.
///
/// # Errors
/// Returns an error if no format matches or the file is not valid.
pub fn read(bytes: &[u8], name: Option<&str>) -> Result<(&'static Format, Imported), ImportError> {
    let format = match name {
        Some(name) => FORMATS
            .iter()
            .find(|format| format.name == name)
            .ok_or_else(|| ImportError::NoSuchFormat { name: name.into() })?,
        None => FORMATS.iter().find(|format| (format.is)(bytes)).ok_or(ImportError::Unknown)?,
    };
    let limit = format.largest_bytes;
    if bytes.len() > limit {
        return Err(ImportError::TooLarge { bytes: bytes.len(), format: format.title, limit });
    }
    let refused = |problem| ImportError::Refused { format: format.title, problem };
    let imported = (format.read)(bytes).map_err(refused)?;
    if imported.tests.is_empty() {
        return Err(refused("it contains no results".into()));
    }
    if let Some(test) = imported.tests.iter().find(|test| test.readings.len() > MOST_READINGS) {
        return Err(refused(format!(
            "{} has {} values; at most {MOST_READINGS} are supported",
            test.test,
            test.readings.len()
        )));
    }
    Ok((format, imported))
}
