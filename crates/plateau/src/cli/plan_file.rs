//! Plan files on disk.

use std::path::Path;

use anyhow::Context as _;
use plans::{Plan, PlanError};
use stdx::files::Links;

use crate::failure::{Done, Exit, Failure};

/// Maximum size of a plan file; real plans are much shorter.
const MOST_BYTES: u64 = 1 << 20;

/// Reads the plan in a file; returns the plan or its errors.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub fn read(path: &Path) -> Done<Result<Plan, Vec<PlanError>>> {
    let text = text(path).with_context(|| format!("cannot read the plan {}", path.display()));
    let text = text.map_err(|error| Failure::new(Exit::Usage, error))?;
    Ok(Plan::read(&path.display().to_string(), &text))
}

/// Formats a plan's errors, one per line.
pub fn lines(errors: &[PlanError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn text(path: &Path) -> anyhow::Result<String> {
    Ok(stdx::files::read_text(path, Links::Followed, MOST_BYTES)?)
}
