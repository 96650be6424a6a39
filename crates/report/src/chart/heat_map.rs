//! Response times over time: a column for each stretch, a row for each size, darker where more I/Os are.

use super::canvas::{Anchor, Canvas, Lettering};
use super::ruler::Ruler;
use super::timeline::Field;
use super::{INK, SOFT_INK};

const KEY: Lettering = Lettering::new(11.0, Anchor::Start).colour(SOFT_INK);
const KEY_ROW: f64 = 16.0;
const SEAM: f64 = 0.3;
/// Light to dark: less than 0.01 %, 0.1 %, 1 %, 10 % of the I/Os of a column, and more.
const SHADES: [&str; 5] = ["#dbe9f6", "#abcfe8", "#6aaed6", "#3282be", "#08488e"];
const NAMES: [&str; 5] = ["< 0.01 %", "< 0.1 %", "< 1 %", "< 10 %", "more"];
const LIMITS: [f64; 4] = [0.0001, 0.001, 0.01, 0.1];

/// One stretch of time.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatColumn {
    /// First minute.
    pub from_minutes: f64,
    /// Last minute.
    pub to_minutes: f64,
    /// Lower and upper response time in ms, and the share of the stretch's I/Os.
    pub cells: Vec<(f64, f64, f64)>,
}

/// What a vertical axis must have room for.
pub(super) fn sizes(columns: &[HeatColumn]) -> impl Iterator<Item = f64> {
    columns.iter().flat_map(|column| column.cells.iter().flat_map(|(low, high, _)| [*low, *high]))
}

fn shade(share: f64) -> &'static str {
    SHADES[LIMITS.iter().filter(|limit| share >= **limit).count()]
}

/// The cells of all columns, and the shades with their names beside them.
pub(super) fn draw(canvas: &mut Canvas, columns: &[HeatColumn], field: &Field<'_>, y: &Ruler) {
    for column in columns {
        let (Some(a), Some(b)) = (field.at_x(column.from_minutes), field.at_x(column.to_minutes)) else {
            continue;
        };
        // Rows above each other of one shade are one rectangle, or a page has too many.
        for rows in column.cells.chunk_by(|a, b| a.1 == b.0 && shade(a.2) == shade(b.2)) {
            let (low, high, shade) = (rows[0].0, rows[rows.len() - 1].1, shade(rows[0].2));
            let (Some(base), Some(roof)) = (field.at_y(y, low), field.at_y(y, high)) else { continue };
            // A little under its neighbours, or the ground shines through between them.
            let (width, height) = ((b - a).max(0.6) + SEAM, (base - roof).max(0.6) + SEAM);
            canvas.rect((a, roof), width, height, shade);
        }
    }
    let left = field.right + 20.0;
    canvas.text((left, field.top + 8.0), "Share of the I/Os", KEY.colour(INK));
    for (row, (shade, name)) in SHADES.iter().zip(NAMES).enumerate() {
        let y = field.top + KEY_ROW * (row as f64 + 1.0);
        canvas.rect((left, y), 16.0, 10.0, shade);
        canvas.text((left + 24.0, y + 9.0), name, KEY);
    }
}
