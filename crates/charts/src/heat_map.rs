//! Response times over the course of a test: one column per time interval, one row per range of response times; darker
//! cells contain more I/Os.

use crate::canvas::{Anchor, Canvas, Lettering};
use crate::panel_area::PanelArea;
use crate::ruler::Ruler;
use crate::style::{INK, SOFT_INK};

const KEY: Lettering = Lettering::new(11.0, Anchor::Start).colour(SOFT_INK);
const KEY_ROW: f64 = 16.0;
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

fn shade(share: f64) -> &'static str {
    SHADES[LIMITS.iter().filter(|limit| share >= **limit).count()]
}

/// Draws the cells of all columns, and a legend for the shades.
pub(crate) fn draw(canvas: &mut Canvas, columns: &[HeatColumn], area: &PanelArea<'_>, y: &Ruler) {
    for column in columns {
        let (Some(a), Some(b)) = (area.at_x(column.from_minutes), area.at_x(column.to_minutes)) else {
            continue;
        };
        // Merge vertically adjacent rows of equal shade into one rectangle; otherwise, a page would have too
        // many rectangles.
        for rows in column.cells.chunk_by(|a, b| a.1 == b.0 && shade(a.2) == shade(b.2)) {
            let (low, high, shade) = (rows[0].0, rows[rows.len() - 1].1, shade(rows[0].2));
            let (Some(base), Some(roof)) = (area.at_y(y, low), area.at_y(y, high)) else { continue };
            // Overlap neighbours slightly so that the background does not show between them.
            let (width, height) = ((b - a).max(0.6) + SEAM, (base - roof).max(0.6) + SEAM);
            canvas.rect((a, roof), width, height, shade);
        }
    }
    let left = area.right + 20.0;
    canvas.text((left, area.top + 8.0), "Share of the I/Os", KEY.colour(INK));
    for (row, (shade, name)) in SHADES.iter().zip(NAMES).enumerate() {
        let y = area.top + KEY_ROW * (row as f64 + 1.0);
        canvas.rect((left, y), 16.0, 10.0, shade);
        canvas.text((left + 24.0, y + 9.0), name, KEY);
    }
}
