//! Exports of a run for other programs: one module and one entry in [`EXPORTS`] per format.
//!
//! Data use base units (bytes, nanoseconds, I/Os per second), and every key names its unit. Tables and charts match the
//! report. In every format, the same journal yields the same bytes.

mod csv;
mod fio;
mod json;
mod openmetrics;
mod pixels;
mod svg;
mod tkperf;
mod xlsx;

use record::Entry;

use crate::Document;

pub use json::{SCHEMA_VERSION, schema};
pub(crate) use pixels::{BOLD, REGULAR, tree};

/// Input of an export.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The report.
    pub document: &'a Document,
    /// The journal that the report is based on.
    pub entries: &'a [Entry],
}

/// An export format.
#[derive(Debug)]
pub struct Export {
    /// Name of the option: `csv`.
    pub name: &'static str,
    /// One-line description.
    pub about: &'static str,
    /// File extensions that select the format; empty for formats with several files or an ambiguous extension.
    pub extensions: &'static [&'static str],
    /// Generates the export.
    pub make: Make,
}

/// Files of a directory: name and content.
pub type Files = Vec<(String, Vec<u8>)>;

/// Generates one file or a directory of files. The error states what the format cannot represent.
#[derive(Debug, Clone, Copy)]
pub enum Make {
    /// One file.
    File(fn(Source<'_>) -> Result<Vec<u8>, String>),
    /// A directory of files.
    Folder(fn(Source<'_>) -> Result<Files, String>),
}

/// All formats, in the order of the help text.
pub const EXPORTS: &[Export] = &[
    Export {
        name: "html",
        about: "the report as one self-contained HTML file [default: report.html in the run's directory]",
        extensions: &["html", "htm"],
        make: Make::File(|source| Ok(crate::html(source.document).into_bytes())),
    },
    Export {
        name: "pdf",
        about: "the same pages as a PDF: vector graphics, searchable text, bookmarks",
        extensions: &["pdf"],
        make: Make::File(|source| crate::pdf(source.document)),
    },
    csv::EXPORT,
    json::EXPORT,
    xlsx::EXPORT,
    svg::EXPORT,
    pixels::EXPORT,
    openmetrics::EXPORT,
    fio::EXPORT,
    tkperf::EXPORT,
];

/// Rejects imported runs, which have figures but no I/Os.
pub(crate) fn measured_here(source: Source<'_>, name: &str) -> Result<(), String> {
    match &source.document.run.origin {
        None => Ok(()),
        Some(origin) => Err(format!(
            "--{name} requires a measured run, and this one is imported ({} of {}); use --csv, --json-file \
             or --xlsx for its figures; its original file is in its directory",
            origin.file, origin.tool
        )),
    }
}

/// Converts `text` to a file name of lowercase letters, digits and dashes.
pub(crate) fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    out.truncate(60);
    out.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_plain() {
        assert_eq!(slug("ALL RW Mix & BS - 3D Columns"), "all-rw-mix-bs-3d-columns");
        assert_eq!(slug("../../x\n\"é"), "x");
    }

    #[test]
    fn formats_have_different_names_and_extensions() {
        let extensions: Vec<_> = EXPORTS.iter().flat_map(|export| export.extensions).collect();
        for (i, extension) in extensions.iter().enumerate() {
            assert!(!extensions[..i].contains(extension), "{extension}");
        }
        for (i, export) in EXPORTS.iter().enumerate() {
            assert!(EXPORTS[..i].iter().all(|other| other.name != export.name), "{}", export.name);
        }
    }
}
