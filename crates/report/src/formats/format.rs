//! The type of a format, and functions that several formats share.

use record::{Access, Entry};
use serde_json::{Value, json};

use crate::document::contents::Document;
use crate::facts::judged::JudgedRun;

/// Input of an export.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The report.
    pub document: &'a Document,
    /// The journal of the reported run.
    pub entries: &'a [Entry],
}

impl<'a> Source<'a> {
    /// Returns the run and its conclusions.
    pub(super) fn judged(self) -> JudgedRun<'a> {
        let Document { run, profile, outcomes, .. } = self.document;
        JudgedRun { run, profile, outcomes, entries: self.entries }
    }
}

/// A format.
#[derive(Debug)]
pub struct Format {
    /// Name of the option: `csv`.
    pub name: &'static str,
    /// One-line description.
    pub about: &'static str,
    /// File extensions that select the format; empty for formats with several files or an ambiguous extension.
    pub extensions: &'static [&'static str],
    /// Generates the file or files.
    pub make: Make,
}

impl Format {
    /// Returns the name of the file or folder to which the run `name` is exported in this format. Files have an
    /// extension that other programs recognise.
    #[must_use]
    pub fn output_name(&self, name: &str) -> String {
        match (&self.make, self.extensions.first()) {
            (Make::Folder(_), _) => name.to_owned(),
            (Make::File(_), Some(extension)) => format!("{name}.{extension}"),
            // The extension belongs to another format, so both parts of the name are needed: `.fio.json`.
            (Make::File(_), None) => format!("{name}.{}", self.name.replace('-', ".")),
        }
    }
}

/// A directory of files, each with its name and content.
pub type Files = Vec<(String, Vec<u8>)>;

/// Generates one file or a directory of files. The error says what the format cannot represent.
#[derive(Debug, Clone, Copy)]
pub enum Make {
    /// One file.
    File(fn(Source<'_>) -> Result<Vec<u8>, String>),
    /// A directory of files.
    Folder(fn(Source<'_>) -> Result<Files, String>),
}

/// Rejects imported runs, which have figures but no I/Os.
pub(crate) fn refuse_imported(source: Source<'_>, name: &str) -> Result<(), String> {
    match &source.document.run.origin {
        None => Ok(()),
        Some(origin) => Err(format!(
            "--{name} requires a measured run, but this one is imported ({} of {}); use --csv, --json-file \
             or --xlsx for its figures; the original file is in the run's directory",
            origin.file, origin.tool
        )),
    }
}

/// Returns the provenance of the results in a file in a foreign format: the run, its profile, the simulated
/// drive (null for a real one) and the marks. The `import` crate reads it back.
pub(super) fn provenance(document: &Document) -> Value {
    let simulated = Some(document.simulated()).filter(|label| !label.is_empty());
    let marks = document.marks(None).into_iter();
    let marks = marks.map(|mark| json!({ "mark": mark.kind, "details": mark.details }));
    json!({
        "run": document.run.id,
        "version": document.run.plateau_version,
        "profile": document.profile.revision,
        "simulated": simulated,
        "marks": marks.collect::<Vec<_>>(),
    })
}

/// Returns the order of addresses as a word.
pub(super) const fn access(access: Access) -> &'static str {
    match access {
        Access::Random => "random",
        Access::Sequential => "sequential",
    }
}
