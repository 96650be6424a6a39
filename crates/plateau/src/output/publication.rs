//! Sponsor, auditor, notes and logo of a report: taken from the command line or, by default, from the plan of
//! the run.

use std::path::Path;

use anyhow::Context as _;
use record::{Digest, Run};
use report::{Logo, Publication};
use stdx::files::Links;

use crate::cli::Publisher;
use crate::failure::{Done, Exit, Failure};
use crate::output::run_files::LOGO;

/// Size limit for reading, above the limit for logos, so that the check of the logo can report an oversized logo.
const MOST_BYTES: u64 = 8 << 20;

/// Reads the image at `path` and checks it.
///
/// # Errors
/// Returns an error if it cannot be read or is not an image.
pub fn picture(path: &Path) -> Done<Vec<u8>> {
    let bytes = read(path)?;
    logo_of(bytes.clone(), path)?;
    Ok(bytes)
}

/// Returns the values specified on the command line and, for all others, the values in the run's plan.
///
/// # Errors
/// Returns an error if a logo cannot be read or is not an image.
pub fn of(run: &Run, typed: &Publisher) -> Done<Publication> {
    let plan = run.file.plan.clone().unwrap_or_default();
    let logo = match (&typed.logo, &plan.logo) {
        (Some(path), _) => Some(logo_of(read(path)?, path)?),
        (None, Some(_)) => Some(logo_of(kept_logo(run)?, &run.dir.join(LOGO))?),
        (None, None) => None,
    };
    Ok(Publication {
        sponsor: typed.sponsor.clone().or(plan.sponsor),
        auditor: typed.auditor.clone().or(plan.auditor),
        notes: if typed.note.is_empty() { plan.notes } else { typed.note.clone() },
        logo,
    })
}

/// Returns the logo that the run was started with; refuses a replacement.
///
/// # Errors
/// Returns an error if it cannot be read, or was replaced.
pub fn kept_logo(run: &Run) -> Done<Vec<u8>> {
    let changed = |why: String| {
        let text =
            format!("{why}: `logo` in {} is not the image that the run started with", run.dir.display());
        Failure::text(Exit::Run, text).of_run(&run.file.id)
    };
    let bytes = run
        .read_file(LOGO, MOST_BYTES)
        .map_err(|error| changed(format!("cannot read {}: {error}", run.dir.join(LOGO).display())))?;
    let recorded = run.file.plan.as_ref().and_then(|plan| plan.logo_sha256.as_deref());
    let found = Digest::of(&bytes).to_string();
    if recorded == Some(found.as_str()) { Ok(bytes) } else { Err(changed(format!("its SHA-256 is {found}"))) }
}

fn read(path: &Path) -> Done<Vec<u8>> {
    let bytes = stdx::files::read(path, Links::Followed, MOST_BYTES).map_err(std::io::Error::from);
    let bytes = bytes.with_context(|| format!("cannot read {}", path.display()));
    bytes.map_err(|error| Failure::new(Exit::Usage, error))
}

fn logo_of(bytes: Vec<u8>, path: &Path) -> Done<Logo> {
    Logo::of(bytes).map_err(|text| Failure::text(Exit::Usage, format!("{}: {text}", path.display())))
}
