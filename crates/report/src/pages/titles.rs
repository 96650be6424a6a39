//! Titles, headings and footers.

use pts::Outcome;

use super::values::model;
use crate::document::contents::Document;

/// The line on every PTS page.
const SPECIFICATION: &str = "SNIA SSS TWG: Solid State Storage Performance Test Specification (PTS)";

/// Short form for summary pages.
const SPECIFICATION_SHORT: &str = "SNIA Solid State Storage Performance Test Specification (PTS)";

/// Replaces the name of the specification on the pages of imported runs.
const IMPORTED: &str = "Results of another tool or publication, imported by Plateau";

/// Returns the line at the top of a report page.
pub(crate) fn specification(document: &Document) -> &'static str {
    if document.run.origin.is_some() { IMPORTED } else { SPECIFICATION }
}

/// Returns the line at the top of a summary page.
pub(crate) fn specification_short(document: &Document) -> &'static str {
    if document.run.origin.is_some() { IMPORTED } else { SPECIFICATION_SHORT }
}

/// Returns the heading above the clauses: the specification without its revision, such as `PTS-E`.
pub(crate) fn series(document: &Document) -> &'static str {
    let revision = if document.run.origin.is_some() { "PTS" } else { document.profile.revision };
    revision.split(' ').next().unwrap_or_default()
}

/// Returns the revision of the specification, for the top of every page.
pub(crate) fn revision(document: &Document) -> String {
    let label = if document.run.origin.is_some() { "" } else { "Rev. " };
    format!("{label}{}", document.profile.revision)
}

/// Title of the page about all tests, in contents and bookmarks.
pub(crate) const ALL_TESTS: &str = "All tests";

/// Returns the test, with its clause if it has one: `8.0 IOPS`.
pub(crate) fn numbered(outcome: &Outcome) -> String {
    outcome.clause.map_or_else(|| outcome.title.clone(), |clause| format!("{clause} {}", outcome.title))
}

/// Returns the title of the first page.
pub(crate) fn summary_kind(document: &Document) -> &'static str {
    if document.run.origin.is_some() { "Imported Results Summary" } else { "SNIA SSS PTS Summary Report" }
}

/// Returns the PTS title line of a test: `Enterprise IOPS (REQUIRED) - Report Page`. The class of the specification is
/// not part of the title of a test that the specification does not contain.
pub(crate) fn title_line(document: &Document, outcome: &Outcome, kind: &str) -> String {
    let (class, title) = (document.profile.class, &outcome.title);
    // Titles on two lines are not parted within these words.
    let requirement = outcome.header.requirement.replace(' ', "\u{a0}");
    let is_listed = document.run.origin.is_some() || outcome.clause.is_some();
    let is_classed = is_listed && title.split(' ').all(|word| word != class);
    let class = if is_classed { format!("{class} ") } else { String::new() };
    format!("{class}{title} ({requirement}) - {kind}")
}

/// Returns the title of the whole document.
pub(crate) fn document_title(document: &Document) -> String {
    let mark = document.watermark().map(|word| format!("{word} - ")).unwrap_or_default();
    let by = document.run.origin.as_ref().map_or(document.profile.revision, |origin| origin.tool.as_str());
    format!("{mark}{} - {by} report", model(document))
}

/// Returns the left part of the footer of every page.
pub(crate) fn footer(document: &Document) -> String {
    format!(
        "Plateau {} · run {} · journal SHA-256 {}…",
        document.run.plateau_version,
        document.run.id,
        document.digest.get(..16).unwrap_or(&document.digest)
    )
}

/// Returns the test and the specification that it follows, if it follows one: `IOPS (REQUIRED) · PTS-E 2.0`.
pub(crate) fn tested(document: &Document, outcome: &Outcome) -> String {
    match document.run.origin {
        Some(_) => outcome.title.clone(),
        None => format!("{} ({}) · {}", outcome.title, outcome.header.requirement, document.profile.revision),
    }
}
