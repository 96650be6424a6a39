//! Trace files.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use stdx::files::Links;
use trace::{Characteristics, Reader, Summary, TraceError};

use crate::error::WorkloadError;

const BUFFER_BYTES: usize = 1 << 18;

/// Opens a regular file named by the user, regardless of its content.
pub fn open_any(path: &Path) -> Result<File, WorkloadError> {
    stdx::files::open(path, Links::Followed)
        .map_err(|source| WorkloadError::Open { path: path.into(), source })
}

/// Opens a trace.
pub fn open(path: &Path) -> Result<Reader<BufReader<File>>, WorkloadError> {
    Reader::new(BufReader::with_capacity(BUFFER_BYTES, open_any(path)?))
        .map_err(|error| of_trace(path, error))
}

/// Reads a trace to its end, and returns its summary.
pub fn summary(path: &Path) -> Result<Summary, WorkloadError> {
    let mut reader = open(path)?;
    while reader.next_io().map_err(|error| of_trace(path, error))?.is_some() {}
    Ok(reader.summary().unwrap_or_default())
}

/// Reads a trace to its end, and returns its characteristics.
pub fn characterised(path: &Path) -> Result<Characteristics, WorkloadError> {
    trace::characterise(open(path)?).map_err(|error| of_trace(path, error))
}

/// Returns the name of a file in titles.
pub fn name(path: &Path) -> String {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    stdx::text::on_one_line(&name).into_owned()
}

pub fn of_trace(path: &Path, source: TraceError) -> WorkloadError {
    WorkloadError::Trace { path: path.into(), source }
}
