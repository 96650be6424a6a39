//! Response times over the course of a test: one column per time interval, one row per range of response times; darker
//! cells contain more I/Os.

use crate::canvas::{Anchor, Canvas, Lettering, text_width};
use crate::panel_area::{LEFT, PanelArea};
use crate::ruler::Ruler;
use crate::style::{INK, SOFT_INK};

const KEY: Lettering = Lettering::new(11.0, Anchor::Start).colour(SOFT_INK);
const KEY_ROW: f64 = 16.0;
const SWATCH: f64 = 16.0;
/// Height of the legend above a panel.
pub(crate) const KEYS_ABOVE: f64 = 36.0;
const SEAM: f64 = 0.3;
/// From light to dark: less than 0.01 %, 0.1 %, 1 % and 10 % of a column's I/Os, then 10 % or more.
const SHADES: [&str; 5] = ["#dbe9f6", "#abcfe8", "#6aaed6", "#3282be", "#08488e"];
const NAMES: [&str; 5] = ["< 0.01 %", "< 0.1 %", "< 1 %", "< 10 %", "more"];
const LIMITS: [f64; 4] = [0.0001, 0.001, 0.01, 0.1];

/// One time interval.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatColumn {
    /// Start in minutes.
    pub from_minutes: f64,
    /// End in minutes.
    pub to_minutes: f64,
    /// Lower and upper response time in ms, and the fraction of the I/Os in this interval.
    pub cells: Vec<(f64, f64, f64)>,
}

/// Returns the response times that the vertical axis must include.
pub(crate) fn sizes(columns: &[HeatColumn]) -> impl Iterator<Item = f64> {
    columns.iter().flat_map(|column| column.cells.iter().flat_map(|(low, high, _)| [*low, *high]))
}

/// Returns the index of the shade for a fraction of a column's I/Os.
fn shade(share: f64) -> usize {
    LIMITS.iter().filter(|limit| share >= **limit).count()
}

/// Draws the cells of all columns, and a legend for the shades.
pub(crate) fn draw(canvas: &mut Canvas, columns: &[HeatColumn], area: &PanelArea<'_>, y: &Ruler) {
    let fields = fields(columns);
    for (shade, colour) in SHADES.iter().enumerate() {
        let place = |field: &Field| {
            let (a, b) = (area.at_x(field.from_minutes)?, area.at_x(field.to_minutes)?);
            let (base, roof) = (area.at_y(y, field.low)?, area.at_y(y, field.high)?);
            // Overlap neighbours slightly so that the background does not show between them.
            Some(((a, roof), (b - a).max(0.6) + SEAM, (base - roof).max(0.6) + SEAM))
        };
        let of_shade = fields.iter().filter(|field| field.shade == shade);
        canvas.rects(&of_shade.filter_map(place).collect::<Vec<_>>(), colour);
    }
    draw_keys(canvas, area);
}

/// Draws the legend: a column beside the panel, or a row above it.
fn draw_keys(canvas: &mut Canvas, area: &PanelArea<'_>) {
    let is_above = area.keys_above.is_some();
    let (mut left, mut y) =
        if is_above { (LEFT, area.top - KEYS_ABOVE) } else { (area.right + 20.0, area.top - 2.0) };
    canvas.text((left, y + 10.0), "Share of the I/Os", KEY.colour(INK));
    y += KEY_ROW + 2.0;
    for (shade, name) in SHADES.iter().zip(NAMES) {
        canvas.rect((left, y), SWATCH, 10.0, shade);
        canvas.text((left + SWATCH + if is_above { 4.0 } else { 8.0 }, y + 9.0), name, KEY);
        if is_above {
            left += SWATCH + 12.0 + text_width(name, KEY.size);
        } else {
            y += KEY_ROW;
        }
    }
}

/// A rectangle of one shade.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Field {
    from_minutes: f64,
    to_minutes: f64,
    low: f64,
    high: f64,
    shade: usize,
}

/// Merges adjacent cells of equal shade into rectangles, first within a column and then across columns; otherwise, a
/// page would have too many rectangles.
fn fields(columns: &[HeatColumn]) -> Vec<Field> {
    let (mut complete, mut open): (Vec<Field>, Vec<Field>) = (Vec::new(), Vec::new());
    for column in columns {
        let mut reached = Vec::new();
        for rows in column.cells.chunk_by(|a, b| a.1 == b.0 && shade(a.2) == shade(b.2)) {
            let (low, high, shade) = (rows[0].0, rows[rows.len() - 1].1, shade(rows[0].2));
            let is_same = |field: &Field| {
                (field.to_minutes, field.low, field.high, field.shade)
                    == (column.from_minutes, low, high, shade)
            };
            let known = open.iter().position(is_same).map(|at| open.swap_remove(at));
            let from_minutes = known.map_or(column.from_minutes, |field| field.from_minutes);
            reached.push(Field { from_minutes, to_minutes: column.to_minutes, low, high, shade });
        }
        complete.extend(std::mem::replace(&mut open, reached));
    }
    complete.extend(open);
    complete
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_of_one_shade_are_merged_across_columns_without_a_gap() {
        let column = |from_minutes: f64, cells: &[(f64, f64, f64)]| HeatColumn {
            from_minutes,
            to_minutes: from_minutes + 1.0,
            cells: cells.to_vec(),
        };
        let field = |from_minutes, to_minutes, (low, high), shade| Field {
            from_minutes,
            to_minutes,
            low,
            high,
            shade,
        };
        let columns = [
            column(0.0, &[(1.0, 2.0, 0.5), (2.0, 3.0, 0.4), (3.0, 4.0, 0.001)]),
            column(1.0, &[(1.0, 3.0, 0.9), (3.0, 4.0, 0.05)]),
            column(2.0, &[(1.0, 2.0, 0.9), (3.0, 4.0, 0.06)]),
            column(4.0, &[(1.0, 2.0, 0.9)]),
        ];
        let mut found = fields(&columns);
        found.sort_by(|a, b| (a.from_minutes, a.low).partial_cmp(&(b.from_minutes, b.low)).expect("numbers"));
        let expected = [
            field(0.0, 2.0, (1.0, 3.0), 4),
            field(0.0, 1.0, (3.0, 4.0), 2),
            field(1.0, 3.0, (3.0, 4.0), 3),
            field(2.0, 3.0, (1.0, 2.0), 4),
            field(4.0, 5.0, (1.0, 2.0), 4),
        ];
        assert_eq!(found, expected);
    }
}
