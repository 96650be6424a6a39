//! Tables and lists of labelled values.

use krilla::tagging::{TableHeaderScope, Tag, TagKind};

use charts::markup::bound;

use crate::fonts::{Fonts, Style, ink, soft};
use crate::sheet::{Align, Area, LINE, PALE, Sheet, leading};

/// Padding beside, and above and below, the text of a cell.
pub const PAD: (f64, f64) = (6.0, 3.0);

/// A printed value in a table whose columns may continue in another table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnCell {
    /// The value as printed.
    pub text: String,
    /// Whether the value is grey, because it is not a valid result.
    pub pale: bool,
}

impl<T: Into<String>> From<T> for ColumnCell {
    fn from(text: T) -> Self {
        Self { text: text.into(), pale: false }
    }
}

/// A cell in a table.
#[derive(Debug, Clone)]
pub struct TableCell {
    /// The text, which wraps.
    pub text: String,
    /// Alignment of each line of the text.
    pub align: Align,
    /// Whether the text is bold.
    pub bold: bool,
    /// Whether the cell is styled as a heading, on a pale background.
    pub heading: bool,
    /// Whether the text is grey, like values that are not valid results.
    pub pale: bool,
    /// Number of columns that the cell spans.
    pub columns: usize,
}

impl TableCell {
    /// Creates a cell with left-aligned text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), align: Align::Left, bold: false, heading: false, pale: false, columns: 1 }
    }

    /// Creates a heading.
    pub fn heading(text: impl Into<String>) -> Self {
        Self { bold: true, heading: true, ..Self::new(text) }
    }

    /// The same cell with another alignment.
    #[must_use]
    pub fn align(self, align: Align) -> Self {
        Self { align, ..self }
    }

    /// The same cell over several columns.
    #[must_use]
    pub fn over(self, columns: usize) -> Self {
        Self { columns, ..self }
    }
}

/// Draws `rows` downwards from `(x, y)` with the given column `widths`. Rows are at least `row_height` high, and higher
/// if a text wraps. Returns the total height.
pub fn table(
    sheet: &mut Sheet<'_>,
    (x, y): (f64, f64),
    widths: &[f64],
    rows: &[Vec<TableCell>],
    (style, row_height): (Style, f64),
) -> f64 {
    sheet.within(Tag::Table, |sheet| {
        let mut top = y;
        for row in rows {
            let height = height_of(sheet.fonts, widths, row, (style, row_height));
            sheet.within(Tag::TR, |sheet| {
                for (left, width, cell) in placed(x, widths, row) {
                    let area = Area::new(left, top, width, height);
                    if cell.heading {
                        sheet.fill(area, PALE);
                    }
                    sheet.frame(area, LINE);
                    sheet.within(tag_of(row, cell), |sheet| draw_cell(sheet, area, cell, of(style, cell)));
                }
            });
            top += height;
        }
        top - y
    })
}

/// Returns the height of a row.
pub fn height_of(fonts: &Fonts, widths: &[f64], row: &[TableCell], (style, row_height): (Style, f64)) -> f64 {
    let lines = |(_, width, cell): (f64, f64, &TableCell)| {
        let style = of(style, cell);
        fonts.wrap(&bound(&cell.text), style, width - 2.0 * PAD.0).len() as f64 * leading(style)
    };
    let text_height = placed(0.0, widths, row).into_iter().map(lines).fold(0.0, f64::max);
    (text_height + 2.0 * PAD.1).max(row_height)
}

/// Returns a cell's tag; a heading among ordinary cells is a row heading.
fn tag_of(row: &[TableCell], cell: &TableCell) -> TagKind {
    match (cell.heading, row.iter().all(|cell| cell.heading)) {
        (false, _) => Tag::TD.into(),
        (true, true) => Tag::TH(TableHeaderScope::Column).into(),
        (true, false) => Tag::TH(TableHeaderScope::Row).into(),
    }
}

fn of(style: Style, cell: &TableCell) -> Style {
    let style = if cell.pale { style.colour(soft(style.size).colour) } else { style };
    if cell.bold { style.bold() } else { style }
}

fn placed<'f>(x: f64, widths: &[f64], row: &'f [TableCell]) -> Vec<(f64, f64, &'f TableCell)> {
    let (mut left, mut column) = (x, 0);
    row.iter()
        .map(|cell| {
            let width: f64 = widths.iter().skip(column).take(cell.columns).sum();
            let found = (left, width, cell);
            left += width;
            column += cell.columns;
            found
        })
        .collect()
}

fn draw_cell(sheet: &mut Sheet<'_>, area: Area, cell: &TableCell, style: Style) {
    let room = area.width - 2.0 * PAD.0;
    let lines = sheet.fonts.wrap(&bound(&cell.text), style, room);
    let height = lines.len() as f64 * leading(style);
    let top = area.y + (area.height - height) / 2.0;
    for (index, line) in lines.iter().enumerate() {
        // Shifts the baseline so that letters appear vertically centred in their line.
        let baseline = top + index as f64 * leading(style) + style.size * 1.02;
        sheet.text((area.x + PAD.0, baseline), room, line, style, cell.align);
    }
}

/// Draws labelled values one below the other, with labels `label_width` pixels wide; returns the height.
pub fn facts(
    sheet: &mut Sheet<'_>,
    (x, y): (f64, f64),
    width: f64,
    label_width: f64,
    items: &[(&str, String)],
    size: f64,
) -> f64 {
    let mut top = y;
    for (label, value) in items {
        sheet.text((x, top + size), label_width - 6.0, label, soft(size), Align::Left);
        top += sheet.paragraph((x + label_width, top), width - label_width, &bound(value), ink(size).bold());
    }
    top - y
}

/// Returns the width of the widest label plus a gap, at most `limit`.
pub fn label_width(sheet: &Sheet<'_>, items: &[(&str, String)], size: f64, limit: f64) -> f64 {
    let widest = items.iter().map(|(label, _)| sheet.fonts.width(label, soft(size))).fold(0.0, f64::max);
    (widest + 14.0).min(limit)
}
