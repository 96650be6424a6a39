//! Summary pages: all tests, one test, and notes that did not fit.

use std::num::NonZeroU16;

use krilla::tagging::Tag;
use pts::Outcome;

use crate::document::contents::Document;
use crate::document::marks::MarkKind;
use crate::pages::banners::{Strip, strips};
use crate::pages::list::PageNumber;
use crate::pages::notes::{NoteRow, all_notes, notes_within, split};
use crate::pages::remarks::figures_legend;
use crate::pages::test_summary::{self, SET_UP_HEADINGS, STEADY_HEADINGS};
use crate::pages::values::{Fact, company, model, or_na};
use crate::pages::{annexes, front, titles};
use print::fonts::{Fonts, Style, ink, soft};
use print::grid::{TableCell, facts, height_of, label_width, table};
use print::sheet::{ACCENT, Align, Area, BOTTOM, Colour, LINE, PALE, ROOM, SIDE, Sheet, TOP, WHITE};

const TEXT: f64 = 11.5;
const ROW: f64 = 21.0;
/// Height of a strip, including the space below it.
pub(super) const STRIP: f64 = 24.0;
/// Heights on page 1: the run's origin at the foot, the heading of the notes, and the reference to the annex.
const ORIGIN: f64 = 40.0;
const NOTES_HEADING: f64 = 28.0;
const REFERENCE: f64 = 23.0;

/// Layout of the test table.
struct SetUpLayout {
    /// Relative widths of the columns.
    shares: [f64; 12],
    text: f64,
    row: f64,
}

/// The usual layout, and a dense layout for many tests in which each row fits on one line.
const SET_UP_LAYOUTS: [SetUpLayout; 2] = [
    SetUpLayout {
        shares: [5.5, 19.0, 12.0, 4.5, 9.5, 6.0, 7.5, 7.0, 9.0, 12.5, 8.0, 12.5],
        text: 10.5,
        row: ROW,
    },
    SetUpLayout {
        shares: [4.5, 21.0, 15.0, 4.0, 9.0, 5.5, 6.5, 6.5, 8.0, 11.5, 11.0, 10.5],
        text: 8.8,
        row: 17.0,
    },
];

/// Draws the banners and the footer; returns the upper edge of the area between them.
pub(super) fn surround(
    sheet: &mut Sheet<'_>,
    document: &Document,
    outcome: Option<&Outcome>,
    number: PageNumber,
) -> f64 {
    let baseline = BOTTOM + 16.0;
    let page = format!("Page {} of {}", number.current, number.total);
    sheet.aside(|sheet| {
        sheet.line((SIDE, BOTTOM + 2.0), (SIDE + ROOM, BOTTOM + 2.0), LINE);
        sheet.text((SIDE, baseline), ROOM * 0.85, &titles::footer(document), soft(9.5), Align::Left);
        sheet.text((SIDE + ROOM * 0.85, baseline), ROOM * 0.15, &page, soft(9.5), Align::Right);
    });
    banners(sheet, document, outcome)
}

/// Draws a strip for each mark; returns the upper edge of the area below.
pub(super) fn banners(sheet: &mut Sheet<'_>, document: &Document, outcome: Option<&Outcome>) -> f64 {
    let mut top = TOP;
    for Strip { kind, label, text } in strips(document, outcome) {
        let (ground, edge, colour): (Colour, Colour, Colour) = match kind {
            MarkKind::Simulated | MarkKind::Imported => {
                ([0xff, 0xe9, 0xb8], [0xb2, 0x6a, 0x00], [0x4c, 0x2d, 0x00])
            }
            MarkKind::NotAchieved | MarkKind::NotComplete => {
                ([0xfd, 0xec, 0xec], [0xb3, 0x20, 0x2c], [0x7c, 0x12, 0x1b])
            }
            MarkKind::Interrupted => ([0xfd, 0xf3, 0xe6], [0xa8, 0x67, 0x1a], [0x6b, 0x3f, 0x0b]),
            MarkKind::Modified => (PALE, [0x8b, 0x95, 0xa1], [0x33, 0x3d, 0x49]),
        };
        let area = Area::new(SIDE, top, ROOM, 21.0);
        sheet.fill(area, ground);
        sheet.fill(Area { width: 6.0, ..area }, edge);
        sheet.frame(area, edge);
        let style = ink(11.0).colour(colour);
        let width = sheet.fonts.width(label, style.bold());
        sheet.text((SIDE + 14.0, top + 14.5), width + 2.0, label, style.bold(), Align::Left);
        sheet.text((SIDE + 20.0 + width, top + 14.5), ROOM - width - 30.0, &text, style, Align::Left);
        top += STRIP;
    }
    top + 4.0
}

/// Marks `area` if the results are not measurements of a drive by Plateau.
pub(super) fn watermark(sheet: &mut Sheet<'_>, document: &Document, area: Area) {
    if let Some(word) = document.watermark() {
        sheet.watermark(word, area, ink(100.0).bold().colour([0xb2, 0x6a, 0x00]));
    }
}

fn heading(sheet: &mut Sheet<'_>, y: f64, text: &str) -> f64 {
    sheet.within(Tag::Hn(NonZeroU16::MIN.saturating_add(1), None), |sheet| {
        sheet.text((SIDE, y + 13.0), ROOM, text, ink(13.0).bold().colour(ACCENT), Align::Left);
    });
    y + 20.0
}

/// Draws the blue bar with the name of the specification, the revision and the page number.
pub(super) fn bar(sheet: &mut Sheet<'_>, y: f64, text: [&str; 3]) -> f64 {
    sheet.fill(Area::new(SIDE, y, ROOM, 24.0), ACCENT);
    let style = ink(12.0).bold().colour(WHITE);
    sheet.text((SIDE + 10.0, y + 16.5), ROOM * 0.66, text[0], style, Align::Left);
    sheet.text((SIDE + ROOM * 0.68, y + 16.5), ROOM * 0.15, text[1], style, Align::Left);
    sheet.text((SIDE + ROOM * 0.84, y + 16.5), ROOM * 0.16 - 10.0, text[2], style, Align::Right);
    y + 24.0
}

fn top(sheet: &mut Sheet<'_>, document: &Document, y: f64, number: PageNumber, kind: &str) -> f64 {
    let page = format!("Page {} of {}", number.current, number.total);
    let name = titles::specification_short(document);
    let y = bar(sheet, y, [name, &titles::revision(document), &page]);
    sheet.frame(Area::new(SIDE, y, ROOM, 44.0), LINE);
    let side = ROOM * 0.23 - 10.0;
    // The vendor and the tester together are as wide as the device at the opposite end.
    let (tester, vendor) = (ROOM * 0.14, ROOM * 0.1);
    sheet.text((SIDE + 10.0, y + 16.0), side, "Device Under Test (DUT)", soft(10.0), Align::Left);
    device(sheet, (SIDE + 10.0, y), side, model(document));
    sheet.within(Tag::Hn(NonZeroU16::MIN, None), |sheet| {
        title(sheet, Area::new(SIDE + ROOM * 0.24, y, ROOM * 0.42, 44.0), kind);
    });
    let fact = |sheet: &mut Sheet<'_>, x: f64, width: f64, label: &str, value: &str| {
        sheet.text((x, y + 16.0), width, label, soft(10.0), Align::Right);
        sheet.text((x, y + 33.0), width, value, ink(13.0).bold(), Align::Right);
    };
    let right = SIDE + ROOM - tester - 10.0;
    fact(sheet, right, tester, "Tested by", &company(document));
    let left = right - vendor - 12.0;
    fact(sheet, left, vendor, "Vendor", &or_na(document.run.target.vendor.as_deref()));
    if let Some(logo) = &document.publication.logo {
        sheet.logo(logo.bytes(), logo.is_png(), Area::new(SIDE + ROOM * 0.665, y + 5.0, ROOM * 0.07, 34.0));
    }
    y + 54.0
}

/// Draws the name of the device, on two lines in smaller letters if it is much too long for one line.
fn device(sheet: &mut Sheet<'_>, (x, y): (f64, f64), width: f64, name: &str) {
    /// Fraction of the usual size at which a name on one line is still in proportion to its label.
    const SMALLEST: f64 = 0.85;
    let (large, small) = (ink(13.0).bold(), ink(10.0).bold());
    if sheet.fonts.width(name, large) * SMALLEST <= width {
        sheet.text((x, y + 33.0), width, name, large, Align::Left);
    } else {
        let name = sheet.fonts.shortened(name, small, width, 2);
        sheet.paragraph((x, y + 17.5), width, &name, small);
    }
}

/// Draws a title, on two lines of similar length in smaller letters if it is too long for one line.
fn title(sheet: &mut Sheet<'_>, area: Area, text: &str) {
    const SIZES: [f64; 2] = [17.0, 14.0];
    let wrap = |size: f64, width| sheet.fonts.wrap(text, ink(size).bold(), width);
    let lines = [wrap(SIZES[0], area.width), wrap(SIZES[1], 0.75 * area.width)];
    match lines.each_ref().map(Vec::as_slice) {
        [[line], _] => {
            sheet.text((area.x, area.y + 28.0), area.width, line, ink(SIZES[0]).bold(), Align::Middle);
        }
        [_, [first, rest @ ..]] => {
            // A second line that is too long is shrunk or truncated.
            let second = rest.join(" ");
            for (baseline, line) in [(19.0, first), (37.0, &second)] {
                let at = (area.x, area.y + baseline);
                sheet.text(at, area.width, line, ink(SIZES[1]).bold(), Align::Middle);
            }
        }
        [_, []] => {}
    }
}

/// Draws the summary of all tests; returns the notes that do not fit.
pub(super) fn first(sheet: &mut Sheet<'_>, document: &Document, number: PageNumber) -> Vec<NoteRow> {
    let y = surround(sheet, document, None, number);
    let y = top(sheet, document, y, number, titles::summary_kind(document));
    let y = blocks(sheet, &front::blocks(document), y) + 8.0;
    let y = heading(sheet, y, "Testing Summary: Tests Run");
    let room = BOTTOM - ORIGIN - NOTES_HEADING - NOTE_ROW - REFERENCE - y;
    let y = y + set_up(sheet, document, (&document.outcomes, &document.not_begun), y, room) + 8.0;
    let y = heading(sheet, y, "Test Sponsor - Special Notes");
    let (notes, further) = notes_below(sheet.fonts, document, y);
    let y = if notes.is_empty() && !further.is_empty() { y } else { y + notes_table(sheet, y, &notes) + 6.0 };
    if !further.is_empty() {
        let text = annexes::continuation(notes.is_empty());
        sheet.text((SIDE, y + 11.0), ROOM, text, soft(11.0), Align::Middle);
    }
    origin(sheet, document);
    further
}

/// Splits the notes into those that fit below `y` and those that continue in an annex.
fn notes_below(fonts: &Fonts, document: &Document, y: f64) -> (Vec<NoteRow>, Vec<NoteRow>) {
    let room = (BOTTOM - ORIGIN - y - NOTE_ROW).max(0.0);
    let height = |row: &NoteRow| note_height(fonts, row);
    let whole = split(all_notes(document), room, height);
    if whole.1.is_empty() { whole } else { split(all_notes(document), (room - REFERENCE).max(0.0), height) }
}

fn blocks(sheet: &mut Sheet<'_>, blocks: &[(&str, Vec<Fact>)], y: f64) -> f64 {
    let width = ROOM / 4.0;
    let mut lowest = y;
    for (index, (heading, items)) in blocks.iter().enumerate() {
        let x = SIDE + width * index as f64;
        sheet.fill(Area::new(x, y, width, 20.0), PALE);
        sheet.text((x + 10.0, y + 14.0), width - 20.0, heading, ink(10.5).bold(), Align::Left);
        let label = label_width(sheet, items, 10.0, width * 0.48);
        let height = facts(sheet, (x + 10.0, y + 25.0), width - 20.0, label, items, 10.5);
        lowest = lowest.max(y + 30.0 + height);
    }
    for index in 0..blocks.len() {
        sheet.frame(Area::new(SIDE + width * index as f64, y, width, lowest - y), LINE);
    }
    lowest
}

/// Draws the table of tests, in the dense layout if the usual one is higher than `room`; returns its height.
fn set_up(
    sheet: &mut Sheet<'_>,
    document: &Document,
    (outcomes, not_begun): (&[Outcome], &[String]),
    y: f64,
    room: f64,
) -> f64 {
    let series = titles::series(document);
    let mut above = Vec::new();
    let mut below = Vec::new();
    for (title, inner) in SET_UP_HEADINGS {
        let title = if title.is_empty() { series } else { title };
        let head = |text: &str| TableCell::heading(text).align(Align::Middle);
        if inner.is_empty() {
            above.push(head(""));
            below.push(head(title));
        } else {
            above.push(head(title).over(inner.len()));
            below.extend(inner.iter().map(|text| head(text)));
        }
    }
    let mut rows = vec![above, below];
    let row = |cells: [String; 12]| -> Vec<TableCell> {
        let align = |index: usize| if index == 1 { Align::Left } else { Align::Middle };
        cells.into_iter().enumerate().map(|(i, text)| TableCell::new(text).align(align(i))).collect()
    };
    rows.extend(outcomes.iter().map(|outcome| row(test_summary::set_up_row(outcome))));
    for title in not_begun {
        let mut cells = [(); 12].map(|()| "-".to_owned());
        cells[1] = format!("{title} - not started");
        rows.push(row(cells));
    }
    let [usual, dense] = SET_UP_LAYOUTS.map(|SetUpLayout { shares, text, row }| {
        let all: f64 = shares.iter().sum();
        (shares.map(|share| share / all * ROOM), (ink(text), row))
    });
    let height: f64 = rows.iter().map(|row| height_of(sheet.fonts, &usual.0, row, usual.1)).sum();
    let (widths, style) = if height <= room { usual } else { dense };
    table(sheet, (SIDE, y), &widths, &rows, style)
}

/// Fractions of the width for the item, which may be the title of a test, the notation and the comments.
pub(super) const NOTE_SHARES: [f64; 3] = [0.17, 0.15, 0.68];
const NOTE_WIDTHS: [f64; 4] =
    [ROOM * NOTE_SHARES[0], ROOM * NOTE_SHARES[1], ROOM * NOTE_SHARES[2] / 2.0, ROOM * NOTE_SHARES[2] / 2.0];
const NOTE_ROW: f64 = 17.0;
const NOTE_STYLE: (Style, f64) = (ink(10.5), NOTE_ROW);

fn note_height(fonts: &Fonts, row: &NoteRow) -> f64 {
    note_fields(row).iter().map(|row| height_of(fonts, &NOTE_WIDTHS, row, NOTE_STYLE)).sum()
}

fn notes_table(sheet: &mut Sheet<'_>, y: f64, notes: &[NoteRow]) -> f64 {
    let mut rows = vec![vec![
        TableCell::heading("ITEM"),
        TableCell::heading("NOTATION"),
        TableCell::heading("COMMENTS").over(2),
    ]];
    if notes.is_empty() {
        rows.push(vec![TableCell::new("-"), TableCell::new("None"), TableCell::new("-").over(2)]);
    }
    rows.extend(notes.iter().flat_map(note_fields));
    table(sheet, (SIDE, y), &NOTE_WIDTHS, &rows, NOTE_STYLE)
}

/// Returns the rows of one note; if it has several comments, they are in two columns.
fn note_fields(NoteRow { item, notation, comments }: &NoteRow) -> Vec<Vec<TableCell>> {
    let notation = TableCell { bold: true, ..TableCell::new(notation.clone()) };
    let item = TableCell::new(item.clone());
    let [one] = comments.as_slice() else {
        let (left, right) = comments.split_at(comments.len().div_ceil(2));
        let pairs = left.iter().zip(right.iter().map(Some).chain([None]));
        let cell = |text: Option<&String>| TableCell::new(text.cloned().unwrap_or_default());
        let row = |(index, (left, right))| {
            let (item, notation) = match index {
                0 => (item.clone(), notation.clone()),
                _ => (TableCell::new(""), TableCell::new("")),
            };
            vec![item, notation, cell(Some(left)), cell(right)]
        };
        return pairs.enumerate().map(row).collect();
    };
    vec![vec![item, notation, TableCell::new(one.clone()).over(2)]]
}

fn origin(sheet: &mut Sheet<'_>, document: &Document) {
    let half = ROOM / 2.0;
    for (index, (label, value)) in front::origin(document).iter().enumerate() {
        let x = SIDE + half * (index % 2) as f64;
        let y = BOTTOM - 22.0 + 15.0 * (index / 2) as f64;
        sheet.text((x, y), 90.0, label, soft(9.5), Align::Left);
        sheet.text((x + 92.0, y), half - 100.0, value, ink(9.5), Align::Left);
    }
}

/// Draws the summary of one test.
pub(super) fn of_test(sheet: &mut Sheet<'_>, document: &Document, outcome: &Outcome, number: PageNumber) {
    let y = surround(sheet, document, Some(outcome), number);
    let y = top(sheet, document, y, number, &titles::title_line(document, outcome, "Summary Page"));
    let y = blocks(sheet, &front::blocks_of_test(document, outcome), y) + 6.0;
    let gap = if outcome.window.len() > 2 { 3.0 } else { 8.0 };
    let y = heading(sheet, y, "Test Description");
    let y = y + facts_wide(sheet, y, &test_summary::description(outcome)) + gap;
    let y = heading(sheet, y, "Test Set Up");
    let y = y + set_up(sheet, document, (std::slice::from_ref(outcome), &[]), y, f64::INFINITY) + gap;
    let y = heading(sheet, y, "Select Performance Data");
    let y = figures(sheet, outcome, y) + gap + 2.0;
    let y = steady(sheet, outcome, y);
    let y = heading(sheet, y, "Special Notes");
    let room = (BOTTOM - y - NOTE_ROW).max(0.0);
    let notes = notes_within(outcome, room, |row| note_height(sheet.fonts, row));
    notes_table(sheet, y, &notes);
}

fn facts_wide(sheet: &mut Sheet<'_>, y: f64, items: &[(&str, String)]) -> f64 {
    let mut at = y;
    for (label, value) in items {
        sheet.text((SIDE, at + TEXT), 110.0, label, soft(TEXT), Align::Left);
        at += sheet.paragraph((SIDE + 116.0, at), ROOM - 116.0, value, ink(TEXT)) + 2.0;
    }
    at - y
}

/// Draws key figures in rows of up to six; returns the lower edge. Several rows are lower, and so is a row above many
/// tracking variables, so that the notes below them remain on the page.
fn figures(sheet: &mut Sheet<'_>, outcome: &Outcome, y: f64) -> f64 {
    const IN_ROW: usize = 6;
    const GAP: f64 = 12.0;
    let is_dense = outcome.key_figures.len() > IN_ROW || outcome.window.len() > 2;
    let (height, baselines, size) =
        if is_dense { (62.0, [16.0, 39.0, 55.0], 22.0) } else { (82.0, [21.0, 53.0, 72.0], 31.0) };
    let count = outcome.key_figures.len();
    let columns = count.div_ceil(count.div_ceil(IN_ROW).max(1)).max(1);
    let width = (ROOM - GAP * (columns - 1) as f64) / columns as f64;
    for (index, figure) in outcome.key_figures.iter().enumerate() {
        let x = SIDE + (width + GAP) * (index % columns) as f64;
        let top = y + (height + 10.0) * (index / columns) as f64;
        let is_valid = test_summary::is_valid(outcome, figure);
        sheet.frame(Area::new(x, top, width, height), LINE);
        if is_valid {
            sheet.fill(Area::new(x, top, width, 3.0), ACCENT);
        }
        let line = |sheet: &mut Sheet<'_>, down: f64, text: &str, style: Style| {
            sheet.text((x + 14.0, top + down), width - 28.0, text, style, Align::Left);
        };
        line(sheet, baselines[0], &or_na(Some(&figure.name)), soft(12.0));
        let style = if is_valid { ink(size).bold() } else { soft(size) };
        line(sheet, baselines[1], &test_summary::figure_value(figure), style);
        line(sheet, baselines[2], &or_na(Some(figure.unit.symbol())), soft(12.0));
    }
    let below = y + (height + 10.0) * count.div_ceil(columns) as f64;
    let Some(legend) = figures_legend(outcome) else { return below };
    sheet.text((SIDE, below + 5.0), ROOM, &legend, soft(11.0), Align::Middle);
    below + 12.0
}

fn steady(sheet: &mut Sheet<'_>, outcome: &Outcome, y: f64) -> f64 {
    let found = test_summary::steady_rows(outcome);
    if found.is_empty() {
        return y;
    }
    let widths = [0.19, 0.08, 0.12, 0.18, 0.18, 0.17, 0.08].map(|share| share * ROOM);
    let align = |column: usize| if (2..5).contains(&column) { Align::Right } else { Align::Left };
    let mut rows: Vec<Vec<TableCell>> = vec![
        STEADY_HEADINGS
            .iter()
            .enumerate()
            .map(|(i, text)| TableCell::heading(*text).align(align(i)))
            .collect(),
    ];
    for cells in found {
        rows.push(
            cells.into_iter().enumerate().map(|(i, text)| TableCell::new(text).align(align(i))).collect(),
        );
    }
    y + table(sheet, (SIDE, y), &widths, &rows, (ink(10.5), ROW)) + 8.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use print::grid::PAD;

    #[test]
    fn the_title_of_a_test_takes_at_most_two_lines_beside_its_notes() {
        let fonts = Fonts::load().unwrap();
        let titles = pts::TESTS.iter().map(|test| test.title).chain(["Sequential write by queue depth"]);
        for title in titles {
            let lines = fonts.wrap(title, NOTE_STYLE.0.bold(), NOTE_WIDTHS[0] - 2.0 * PAD.0);
            assert!(lines.len() <= 2, "{lines:?}");
        }
    }
}
