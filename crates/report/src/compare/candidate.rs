//! A run to compare.

use record::{Loaded, RunFile};

use super::efficiency;
use super::figures::{self, Figure};
use crate::document::contents::Document;
use crate::document::fold::fold;

/// One run of a comparison.
#[derive(Debug)]
pub struct Candidate {
    pub(super) name: String,
    pub(super) document: Document,
    pub(super) figures: Vec<Figure>,
}

impl Candidate {
    /// Judges a run with this build and extracts its figures.
    ///
    /// # Errors
    /// As for [`fold()`].
    pub fn of(run: &RunFile, loaded: &Loaded) -> Result<Self, String> {
        let document = fold(run, loaded)?;
        let mut figures = figures::figures(&document, &loaded.entries);
        figures.extend(efficiency::figures(&document, &loaded.entries, &figures));
        let target = &run.target;
        let model = target.model.as_deref().filter(|model| !model.trim().is_empty());
        // Names given by the operator distinguish runs of one model.
        let name = run.labels.name.as_deref().or(model).unwrap_or(&target.path);
        Ok(Self { name: name.to_owned(), document, figures })
    }
}
