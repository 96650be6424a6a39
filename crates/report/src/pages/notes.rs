//! Special notes of a run: a table that continues in an annex if it does not fit on its page.

use pts::Outcome;
use record::MemberFacts;

use super::front::MOST_MEMBERS;
use crate::document::contents::Document;
use crate::document::marks::MarkKind;
use crate::facts::interruptions::Interruption;

/// Where all notes are. It names no page: they are on page 1, in an annex, or in both.
pub(crate) const ALL_NOTES: &str = "see the run's Special Notes";

/// One row of the special notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NoteRow {
    pub item: String,
    pub notation: String,
    pub comments: Vec<String>,
}

/// Estimated characters per line of a comment: over the whole width, and in one of the two columns of a list.
/// The estimates are low, because a half-empty page is better than an overflowing page.
const WIDE: usize = 100;
const NARROW: usize = 48;
const LINE_PIXELS: f64 = 17.0;
const ROW_PIXELS: f64 = 8.0;

/// Returns the estimated height of a table row, in sheet pixels.
fn height(row: &NoteRow) -> f64 {
    let comments = &row.comments;
    let lines =
        |limit: usize| comments.iter().map(|c| c.chars().count().div_ceil(limit).max(1)).sum::<usize>();
    let lines = if comments.len() == 1 { lines(WIDE) } else { lines(NARROW).div_ceil(2) + 1 };
    lines as f64 * LINE_PIXELS + ROW_PIXELS
}

/// Splits `rows` into those that fit into `room` pixels and the rest, so that no sheet overflows.
pub(crate) fn split(
    rows: Vec<NoteRow>,
    mut room: f64,
    height: impl Fn(&NoteRow) -> f64,
) -> (Vec<NoteRow>, Vec<NoteRow>) {
    let (mut first, mut further): (Vec<NoteRow>, Vec<NoteRow>) = (Vec::new(), Vec::new());
    for mut row in rows {
        if further.is_empty() && height(&row) <= room {
            room -= height(&row);
            first.push(row);
            continue;
        }
        let part = |count: usize| NoteRow { comments: row.comments[..count].to_vec(), ..row.clone() };
        let counts: Vec<usize> = (1..row.comments.len()).collect();
        let fitting = counts.partition_point(|count| further.is_empty() && height(&part(*count)) <= room);
        if fitting > 0 {
            let rest = row.comments.split_off(fitting);
            first.push(row.clone());
            row.comments = rest;
        }
        further.push(row);
    }
    (first, further)
}

/// Pixels for special notes on the first sheet, given one test and no marks.
const ROOM_OF_RUN: f64 = 215.0;

/// Height of an array member in the device block.
const MEMBER_PIXELS: f64 = 40.0;

/// Height of a test platform component.
const COMPONENT_PIXELS: f64 = 32.0;

/// Returns the special notes of the run: notes on the first page, and notes that continue in an annex.
pub(crate) fn notes_of_run(document: &Document) -> (Vec<NoteRow>, Vec<NoteRow>) {
    let marks = document.marks(None).len() as f64 * 27.0;
    let tests = (document.outcomes.len() + document.not_begun.len()).saturating_sub(1) as f64 * 32.0;
    let members = document.run.target.array.as_ref().map_or(0, |array| array.members.len());
    let members = if members > MOST_MEMBERS { 1 } else { members } as f64 * MEMBER_PIXELS;
    let stated = &document.run.stated;
    let components = [&stated.chassis, &stated.cooler, &stated.power_supply];
    // The available height was measured without platform components, when the platform block was as high as the
    // software block.
    let components = components.into_iter().flatten().count() as f64 * COMPONENT_PIXELS;
    let room = ROOM_OF_RUN - marks - tests - members - components;
    split(all_notes(document), room.max(0.0), height)
}

/// Returns all special notes of the run.
pub(crate) fn all_notes(document: &Document) -> Vec<NoteRow> {
    let mut rows = Vec::new();
    // This row is always on the first page, even if the run has many marks.
    if !document.invalidating.is_empty() {
        let mut comments = document.invalidating.clone();
        comments.push("found before the tests; results may reflect the host rather than the drive".into());
        rows.push(NoteRow { item: "Host".into(), notation: "CHECK FAILED".into(), comments });
    }
    // A limit that was not checked must not move to an annex.
    rows.extend(document.outcomes.iter().filter(|outcome| has_unchecked(outcome)).filter_map(notes_row));
    for mark in document.marks(None) {
        let comments = match mark.kind {
            MarkKind::Interrupted if !document.interruptions.is_empty() => {
                document.interruptions.iter().map(Interruption::describe).collect()
            }
            _ => mark.details,
        };
        rows.push(NoteRow { item: "Run".into(), notation: mark.title.into(), comments });
    }
    if let Some(origin) = &document.run.origin
        && !origin.remarks.is_empty()
    {
        let comments = origin.remarks.clone();
        rows.push(NoteRow { item: "Source".into(), notation: "NOTE".into(), comments });
    }
    if let Some(array) = &document.run.target.array
        && array.members.len() > MOST_MEMBERS
    {
        let comments = array.members.iter().map(MemberFacts::words).collect();
        rows.push(NoteRow { item: "Array".into(), notation: "MEMBERS".into(), comments });
    }
    for note in &document.publication.notes {
        rows.push(NoteRow { item: "Sponsor".into(), notation: "NOTE".into(), comments: vec![note.clone()] });
    }
    rows.extend(document.outcomes.iter().filter(|outcome| !has_unchecked(outcome)).filter_map(notes_row));
    if let Some(bytes) = document.torn_bytes {
        rows.push(NoteRow {
            item: "Journal".into(),
            notation: "NOTE".into(),
            comments: vec![format!("an incomplete last record of {bytes} B was ignored")],
        });
    }
    rows
}

fn has_unchecked(outcome: &Outcome) -> bool {
    outcome.acceptance.as_ref().is_some_and(|acceptance| !acceptance.unchecked.is_empty())
}

fn notes_row(outcome: &Outcome) -> Option<NoteRow> {
    let (item, comments) = (outcome.title.clone(), outcome.notes.clone());
    (!comments.is_empty()).then(|| NoteRow { item, notation: "NOTE".into(), comments })
}

/// Pixels for notes on the summary of a test without marks or tracking variables, followed by the heights of
/// one mark and one variable.
const ROOM_OF_TEST: f64 = 205.0;
const MARK_PIXELS: f64 = 27.0;
const VARIABLE_PIXELS: f64 = 21.0;

/// Returns the notes of one test, limited to those that should fit on its summary; page 1 and its annex contain
/// all of them.
pub(crate) fn notes_of_test(document: &Document, outcome: &Outcome) -> Vec<NoteRow> {
    let marks = document.marks(Some(outcome)).len() as f64 * MARK_PIXELS;
    let variables = outcome.window.len() as f64 * VARIABLE_PIXELS;
    notes_within(outcome, (ROOM_OF_TEST - marks - variables).max(0.0), height)
}

/// Returns the notes of one test that fit into `room`. If some notes do not fit, the last row refers to the notes of the
/// run.
pub(crate) fn notes_within(outcome: &Outcome, room: f64, height: impl Fn(&NoteRow) -> f64) -> Vec<NoteRow> {
    let row = |(notation, comments): (&str, &[String])| NoteRow {
        item: outcome.title.clone(),
        notation: notation.into(),
        comments: comments.to_vec(),
    };
    let modified = pts::texts(&outcome.modified);
    let kinds = [("MODIFIED", modified.as_slice()), ("NOTE", outcome.notes.as_slice())];
    let rows: Vec<NoteRow> = kinds.into_iter().filter(|(_, all)| !all.is_empty()).map(row).collect();
    let (whole, further) = split(rows.clone(), room, &height);
    if further.is_empty() {
        return whole;
    }
    let more = row(("MORE", &[ALL_NOTES.to_owned()]));
    let (mut first, _) = split(rows, (room - height(&more)).max(0.0), &height);
    first.push(more);
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row_of(comments: usize) -> NoteRow {
        let comments = (0..comments).map(|i| format!("comment {i}")).collect();
        NoteRow { item: "Run".into(), notation: "MODIFIED".into(), comments }
    }

    #[test]
    fn no_comment_is_lost_and_the_first_sheet_does_not_overflow() {
        for count in [1, 2, 7, 40, 300] {
            for room in [0.0, 30.0, 200.0] {
                let (first, further) = split(vec![row_of(count), row_of(3)], room, height);
                let all: Vec<&String> = first.iter().chain(&further).flat_map(|row| &row.comments).collect();
                let expected = [row_of(count).comments, row_of(3).comments].concat();
                assert_eq!(all, expected.iter().collect::<Vec<_>>());
                assert!(first.iter().map(height).sum::<f64>() <= room);
            }
        }
        assert_eq!(split(Vec::new(), 0.0, height), (Vec::new(), Vec::new()));
    }
}
