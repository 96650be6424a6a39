//! The annexes, clearly separated from the report: conformance statement, and data that the specification does not
//! require.

use pts::exhibit::Page;

use crate::document::contents::Document;
use crate::facts::conformance::{Clause, Verdict};
use crate::facts::supplement::Supplement;
use charts::Size;

pub(crate) const NOTES_TITLE: &str = "Annex N: special notes, continued from page 1";
pub(crate) const STATEMENT_TITLE: &str = "Annex A: conformance statement";
pub(crate) const SUPPLEMENT_TITLE: &str = "Annex B: beyond the standard";

/// Introduction to an imported run's supplement.
pub(crate) const STATED_INTRODUCTION: &str =
    "Power and the share of the file system, as stated in the imported file. Nothing here affects a verdict.";

/// Column headings of the clause table.
pub(crate) const CLAUSE_HEADINGS: [&str; 5] = ["Clause", "Required", "Done", "Verdict", "Journal records"];

/// Returns the introduction to the conformance statement, with the caveat that must accompany it.
pub(crate) fn statement_introduction(document: &Document) -> String {
    let unsourced = match document.profile.unsourced {
        [] => String::new(),
        [rest @ .., last] => {
            let rest = if rest.is_empty() { String::new() } else { rest.join(", ") + " and " };
            format!(" No source was found for {rest}{last}; here, Plateau follows an earlier version.")
        }
    };
    format!(
        "The requirements of {}, what was done, and the journal records that show it. Plateau follows published \
         reports and implementations of the specification, whose full text is not public.{unsourced}",
        document.profile.revision
    )
}

/// Returns the introduction to the supplement.
pub(crate) fn supplement_introduction(document: &Document) -> String {
    format!("Nothing here is required by {}, and nothing here affects a verdict.", document.profile.revision)
}

/// Returns a clause's verdict as text.
pub(crate) fn clause_verdict(clause: &Clause) -> &'static str {
    clause.verdict.map_or("not recorded", Verdict::words)
}

/// Returns the journal records that show a clause: `7`, `7 to 12`.
pub(crate) fn clause_records(clause: &Clause) -> String {
    match clause.records.as_slice() {
        [] => "-".to_owned(),
        [one] => one.to_string(),
        [first, .., last] => format!("{first} to {last}"),
    }
}

/// Size of the charts on pages that the specification does not contain.
pub(crate) const BEYOND: Size = Size { width: 1047.0, height: 250.0 };

/// Returns a test's pages that the specification does not contain.
pub(crate) fn beyond<'a>(document: &'a Document, test: &Supplement) -> &'a [Page] {
    document.outcomes.iter().find(|outcome| outcome.test == test.test).map_or(&[], |found| &found.beyond)
}

/// Returns the name of a test's timeline.
pub(crate) fn timeline_name(test: &Supplement) -> String {
    format!("{}: IOPS, response times and health over the whole test", test.title)
}

/// Says where the notes are that do not fit on the first page; `is_whole` is set if none fits.
pub(crate) const fn continuation(is_whole: bool) -> &'static str {
    if is_whole {
        "After the report pages, in Annex N."
    } else {
        "Continued after the report pages, in Annex N."
    }
}
