//! A run to compare.

use record::{Loaded, RunFile};

use report::parts::Figure;
use report::{Document, fold};

/// One run of a comparison.
#[derive(Debug)]
pub struct Candidate {
    pub(crate) name: String,
    pub(crate) document: Document,
    pub(crate) figures: Vec<Figure>,
}

impl Candidate {
    /// Judges a run with this version of Plateau and extracts its figures.
    ///
    /// # Errors
    /// As for [`report::fold()`].
    pub fn of(run: &RunFile, loaded: &Loaded) -> Result<Self, String> {
        let document = fold(run, loaded)?;
        let figures = document.comparable_figures(&loaded.entries);
        let target = &run.target;
        let model = target.model.as_deref().filter(|model| !model.trim().is_empty());
        // Names given by the operator distinguish runs of one model.
        let name = run.labels.name.as_deref().or(model).unwrap_or(&target.path);
        Ok(Self { name: name.to_owned(), document, figures })
    }
}
