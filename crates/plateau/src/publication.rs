//! What a report adds to a run: the command line, then the plan that the run was begun by.

use std::path::Path;

use anyhow::Context as _;
use record::Run;
use report::{Logo, Publication};

use crate::cli::Publisher;
use crate::failure::{Done, Exit, Failure};

/// Name of the plan's picture in the directory of a run.
pub const LOGO: &str = "logo";

/// The picture at `path`, if it is one.
///
/// # Errors
/// When it cannot be read or is no picture.
pub fn picture(path: &Path) -> Done<Vec<u8>> {
    logo_at(path)?;
    std::fs::read(path).map_err(Failure::from)
}

/// What was typed, and where nothing was, what the plan of the run says.
///
/// # Errors
/// When a picture cannot be read or is none.
pub fn of(run: &Run, typed: &Publisher) -> Done<Publication> {
    let plan = run.file.plan.clone().unwrap_or_default();
    let logo = match (&typed.logo, &plan.logo) {
        (Some(path), _) => Some(logo_at(path)?),
        (None, Some(_)) => Some(logo_at(&run.dir.join(LOGO))?),
        (None, None) => None,
    };
    Ok(Publication {
        sponsor: typed.sponsor.clone().or(plan.sponsor),
        auditor: typed.auditor.clone().or(plan.auditor),
        notes: if typed.note.is_empty() { plan.notes } else { typed.note.clone() },
        logo,
    })
}

fn logo_at(path: &Path) -> Done<Logo> {
    let wrong = |error: anyhow::Error| Failure::new(Exit::Usage, error);
    let bytes =
        std::fs::read(path).with_context(|| format!("cannot read {}", path.display())).map_err(wrong)?;
    Logo::of(bytes).map_err(|text| Failure::text(Exit::Usage, format!("{}: {text}", path.display())))
}
