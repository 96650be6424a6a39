//! A run to compare.

use charts::markup::shortened;
use record::{Loaded, RunFile};

use report::parts::{Figure, MarkKind, is_valid_figure};
use report::{Document, fold};

/// Maximum number of characters of a run's name: models come from drives and files, and may be of any length.
const NAME_CHARACTERS: usize = 100;

/// One run in a comparison.
#[derive(Debug)]
pub struct Candidate {
    pub(crate) name: String,
    pub(crate) document: Document,
    pub(crate) figures: Vec<Figure>,
}

impl Candidate {
    /// Evaluates a run with this version of Plateau and extracts its figures.
    ///
    /// # Errors
    /// Returns the errors of [`report::fold()`].
    pub fn of(run: &RunFile, loaded: &Loaded) -> Result<Self, String> {
        let document = fold(run, loaded)?;
        let figures = document.comparable_figures(&loaded.entries);
        let target = &run.target;
        let model = target.model.as_deref().filter(|model| !model.trim().is_empty());
        // Names given by the operator distinguish runs on drives of the same model.
        let name = run.labels.name.as_deref().or(model).unwrap_or(&target.path);
        Ok(Self { name: shortened(name, NAME_CHARACTERS), document, figures })
    }

    /// Returns the run's name: the name that the operator gave it, the model, or the path.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns everything that a report of the run contains.
    #[must_use]
    pub const fn document(&self) -> &Document {
        &self.document
    }

    /// Returns the figures of the run.
    #[must_use]
    pub fn figures(&self) -> &[Figure] {
        &self.figures
    }

    /// Returns the caveat labels that must accompany the run's numbers: `SIMULATED`, `NOT STEADY`, `MODIFIED`.
    #[must_use]
    pub fn marks(&self) -> Vec<&'static str> {
        self.document.marks(None).iter().map(|mark| mark.kind.short()).collect()
    }

    /// Returns why the curves of a test may not be valid results: `NOT STEADY`, `NOT COMPLETE` or
    /// `INTERRUPTED`.
    pub(crate) fn caveat(&self, test: &str) -> Option<&'static str> {
        let outcome = self.document.outcomes.iter().find(|outcome| outcome.test == test)?;
        let doubtful =
            |kind| matches!(kind, MarkKind::NotAchieved | MarkKind::NotComplete | MarkKind::Interrupted);
        let marks = self.document.marks(Some(outcome));
        marks.iter().map(|mark| mark.kind).find(|kind| doubtful(*kind)).map(MarkKind::short)
    }

    /// Returns whether a figure of the run is a valid result: its test is complete and, if it has to be,
    /// steady.
    pub(crate) fn is_valid(&self, figure: &Figure) -> bool {
        is_valid_figure(&self.document, figure)
    }

    /// Identifies the drive.
    pub(crate) fn drive(&self) -> String {
        self.document.run.target.drive()
    }
}
