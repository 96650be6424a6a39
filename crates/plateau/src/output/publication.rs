//! Sponsor, auditor, notes and logo of a report: taken from the command line or, by default, from the run's
//! plan.

use std::path::Path;

use anyhow::Context as _;
use record::Run;
use report::{Logo, Publication};
use stdx::files::Links;

use crate::cli::Publisher;
use crate::failure::{Done, Exit, Failure};
use record::run_files::LOGO;

/// Maximum size to read; above the limit for logos, so that the logo check can report one that is too large.
const MOST_BYTES: u64 = 8 << 20;

/// Reads the image at `path` and checks it.
///
/// # Errors
/// Returns an error if the file cannot be read or is not an image.
pub fn picture(path: &Path) -> Done<Vec<u8>> {
    let bytes = read(path)?;
    logo_of(bytes.clone(), path)?;
    Ok(bytes)
}

/// Returns the values specified on the command line and, for those not specified, the values in the run's plan.
///
/// # Errors
/// Returns an error if a logo cannot be read or is not an image.
pub fn of(run: &Run, typed: &Publisher) -> Done<Publication> {
    let logo = typed.logo.as_deref().map(|path| logo_of(read(path)?, path)).transpose()?;
    let plan = Publication::of_run(&run.file, logo, |limit_bytes| run.read_file(LOGO, limit_bytes))
        .map_err(|text| Failure::text(Exit::Run, text).of_run(&run.file.id))?;
    Ok(Publication {
        sponsor: typed.sponsor.clone().or(plan.sponsor),
        auditor: typed.auditor.clone().or(plan.auditor),
        notes: if typed.note.is_empty() { plan.notes } else { typed.note.clone() },
        logo: plan.logo,
    })
}

fn read(path: &Path) -> Done<Vec<u8>> {
    let bytes = stdx::files::read(path, Links::Followed, MOST_BYTES).map_err(std::io::Error::from);
    let bytes = bytes.with_context(|| format!("cannot read {}", path.display()));
    bytes.map_err(|error| Failure::new(Exit::Usage, error))
}

fn logo_of(bytes: Vec<u8>, path: &Path) -> Done<Logo> {
    Logo::of(bytes).map_err(|text| Failure::text(Exit::Usage, format!("{}: {text}", path.display())))
}
