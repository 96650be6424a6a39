//! Special notes of a run: a table that may need several sheets, because each sheet must carry the banners.

use pts::Outcome;

use crate::Document;
use crate::document::{Interruption, MarkKind};

/// One row of the special notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NoteRow {
    pub item: String,
    pub notation: String,
    pub comments: Vec<String>,
}

/// Characters of a comment over the whole width, and over one of the two columns of a list. Estimates, on
/// the safe side: too small a page is better than a sheet that runs over.
const WIDE: usize = 100;
const NARROW: usize = 48;
const LINE_PIXELS: f64 = 17.0;
const ROW_PIXELS: f64 = 8.0;

/// Height of a row with these comments in pixels of the sheet.
fn height(comments: &[String]) -> f64 {
    let lines =
        |limit: usize| comments.iter().map(|c| c.chars().count().div_ceil(limit).max(1)).sum::<usize>();
    let lines = if comments.len() == 1 { lines(WIDE) } else { lines(NARROW).div_ceil(2) + 1 };
    lines as f64 * LINE_PIXELS + ROW_PIXELS
}

/// `rows` on as many sheets as they need: the first sheet has `first` pixels for them, others `further`.
fn paginate(rows: Vec<NoteRow>, first: f64, further: f64) -> Vec<Vec<NoteRow>> {
    let mut sheets = vec![Vec::new()];
    let mut room = first;
    for mut row in rows {
        while height(&row.comments) > room {
            let fitting = (1..row.comments.len()).rev().find(|n| height(&row.comments[..*n]) <= room);
            // A single comment larger than a whole sheet has to run over.
            if fitting.is_none() && room >= further {
                break;
            }
            if let (Some(fitting), Some(sheet)) = (fitting, sheets.last_mut()) {
                let rest = row.comments.split_off(fitting);
                sheet.push(row.clone());
                row.comments = rest;
            }
            sheets.push(Vec::new());
            room = further;
        }
        room -= height(&row.comments);
        if let Some(sheet) = sheets.last_mut() {
            sheet.push(row);
        }
    }
    sheets
}

/// The first few of `comments`, and where the others are: page 1 has them all.
fn first_few(comments: &[String]) -> Vec<String> {
    const FEW: usize = 6;
    let mut few = comments[..comments.len().min(FEW)].to_vec();
    if comments.len() > FEW {
        few.push(format!("and {} more: see Special Notes, page 1", comments.len() - FEW));
    }
    few
}

/// Pixels that a sheet has for special notes when it has nothing but them, and next to one test and no mark.
const ROOM_ALONE: f64 = 540.0;
const ROOM_BESIDE: f64 = 255.0;

/// The special notes of the run, sheet by sheet.
pub(crate) fn sheets_of_notes(document: &Document) -> Vec<Vec<NoteRow>> {
    let marks = document.marks(None).len() as f64 * 27.0;
    let tests = (document.outcomes.len() + document.not_begun.len()).saturating_sub(1) as f64 * 32.0;
    paginate(all_notes(document), (ROOM_BESIDE - marks - tests).max(0.0), ROOM_ALONE - marks)
}

fn all_notes(document: &Document) -> Vec<NoteRow> {
    let mut rows = Vec::new();
    for mark in document.marks(None) {
        let comments = match mark.kind {
            MarkKind::Interrupted => document.interruptions.iter().map(Interruption::describe).collect(),
            _ => mark.details,
        };
        rows.push(NoteRow { item: "Run".into(), notation: mark.title, comments });
    }
    for note in &document.publication.notes {
        rows.push(NoteRow { item: "Sponsor".into(), notation: "NOTE".into(), comments: vec![note.clone()] });
    }
    for outcome in document.outcomes.iter().filter(|outcome| !outcome.notes.is_empty()) {
        rows.push(NoteRow {
            item: outcome.title.into(),
            notation: "NOTE".into(),
            comments: outcome.notes.clone(),
        });
    }
    if let Some(bytes) = document.torn_bytes {
        rows.push(NoteRow {
            item: "Journal".into(),
            notation: "NOTE".into(),
            comments: vec![format!("an unfinished last record of {bytes} B was left out")],
        });
    }
    rows
}

/// The notes of one test: not more than fits on its summary, for page 1 has everything.
pub(crate) fn of_test(outcome: &Outcome) -> Vec<NoteRow> {
    let row = |(notation, comments): (&str, &Vec<String>)| NoteRow {
        item: outcome.title.into(),
        notation: notation.into(),
        comments: first_few(comments),
    };
    let kinds = [("NOTE", &outcome.notes), ("MODIFIED", &outcome.modified)];
    kinds.into_iter().filter(|(_, all)| !all.is_empty()).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row_of(comments: usize) -> NoteRow {
        let comments = (0..comments).map(|i| format!("comment {i}")).collect();
        NoteRow { item: "Run".into(), notation: "MODIFIED".into(), comments }
    }

    #[test]
    fn sheets_hold_all_comments_in_order() {
        for count in [1, 2, 7, 40, 300] {
            for first in [0.0, 30.0, 200.0] {
                let sheets = paginate(vec![row_of(count), row_of(3)], first, 400.0);
                let all: Vec<&String> = sheets.iter().flatten().flat_map(|row| &row.comments).collect();
                let expected = [row_of(count).comments, row_of(3).comments].concat();
                assert_eq!(all, expected.iter().collect::<Vec<_>>());
                for sheet in &sheets[1..] {
                    assert!(!sheet.is_empty());
                    assert!(sheet.iter().map(|row| height(&row.comments)).sum::<f64>() <= 400.0);
                }
            }
        }
        assert_eq!(paginate(Vec::new(), 0.0, 1.0).len(), 1);
        let endless = NoteRow { comments: vec!["x".repeat(1_000_000)], ..row_of(0) };
        assert_eq!(paginate(vec![endless], 100.0, 400.0).len(), 2);
    }
}
