//! Writes traces that are not recordings: an anonymised copy, and a sample.

use std::fs::File;
use std::io::BufWriter;

use serde_json::json;
use stdx::units::grouped;

use crate::answer::Answer;
use crate::args::{TraceAnonymise, TraceSample};
use crate::error::WorkloadError;
use crate::files;

/// Copies a trace to `output`, with its addresses replaced.
///
/// # Errors
/// Returns an error if the trace cannot be read.
pub fn anonymise(options: &TraceAnonymise, output: &mut File) -> Result<Answer, WorkloadError> {
    let summary = files::summary(&options.trace)?;
    let seed = options.seed.map_or_else(drawn, Ok)?;
    let copied =
        trace::anonymise(files::open(&options.trace)?, BufWriter::new(output), summary.end_bytes, seed);
    let (_, after) = copied.map_err(|error| files::of_trace(&options.trace, error))?;
    Ok(Answer {
        text: format!(
            "{} I/Os with new addresses\n{}",
            grouped(after.ios as f64, 0),
            options.output.display()
        ),
        document: json!({ "trace": options.output.to_string_lossy(), "ios": after.ios }),
        ..Answer::default()
    })
}

/// Returns a random seed, so that nobody can restore the addresses.
fn drawn() -> Result<u64, WorkloadError> {
    let mut bytes = [0; 8];
    let read = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
    read.map_err(|errno| WorkloadError::Seed(errno.into()))?;
    Ok(u64::from_le_bytes(bytes))
}

/// Writes the sample to `output`.
///
/// # Errors
/// Returns an error if the sample cannot be written.
pub fn sample(options: &TraceSample, output: &mut File) -> Result<Answer, WorkloadError> {
    let written = trace::sample(BufWriter::new(output), options.seed);
    let (_, summary) = written.map_err(|error| files::of_trace(&options.output, error))?;
    Ok(Answer {
        text: format!("{}\n{}", summary.text(), options.output.display()),
        document: json!({ "trace": options.output.to_string_lossy(), "ios": summary.ios }),
        ..Answer::default()
    })
}
