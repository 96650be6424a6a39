//! The strips at the top of every page.

use pts::Outcome;

use crate::document::contents::Document;
use crate::document::marks::{Mark, MarkKind};
use crate::facts::conformance::Verdict;
use crate::pages::notes::ALL_NOTES;
use charts::markup::shortened;

/// Maximum number of characters in a banner's list; longer lists would leave too little space for the plot.
const NAMED_CHARACTERS: usize = 130;

/// A banner for a mark.
pub(crate) struct Strip {
    pub kind: MarkKind,
    pub label: &'static str,
    pub text: String,
}

/// Returns one banner per mark. Long lists are shortened; the special notes of the run contain them in full.
pub(crate) fn strips(document: &Document, outcome: Option<&Outcome>) -> Vec<Strip> {
    let strip = |mark: Mark| Strip {
        kind: mark.kind,
        label: if mark.kind == MarkKind::Modified { "modified:" } else { mark.title },
        text: in_short(&mark.details),
    };
    let mut strips: Vec<Strip> = document.marks(outcome).into_iter().map(strip).collect();
    let verdict = document.verdict(outcome);
    // Imported runs have no conformance statement; their mark already labels them.
    if verdict == Verdict::DoesNotConform {
        let text = format!("{} to {}", verdict.words(), document.profile.revision);
        match strips.first_mut() {
            Some(first) => first.text = format!("{}; {text}", first.text),
            None => strips.push(Strip { kind: MarkKind::NotComplete, label: "NOT A PTS RESULT", text }),
        }
    }
    strips
}

fn in_short(details: &[String]) -> String {
    let mut named = details.len();
    while named > 1
        && details[..named].iter().map(|d| d.chars().count() + 2).sum::<usize>() > NAMED_CHARACTERS
    {
        named -= 1;
    }
    let text = shortened(&details[..named].join("; "), NAMED_CHARACTERS + 10);
    match details.len() - named {
        0 => text,
        more => format!("{text}; and {more} more: {ALL_NOTES}"),
    }
}
