//! Response times over time: a column for each stretch, a row for each size, darker where more I/Os are.

use pts::exhibit::Scale;

use super::canvas::{Anchor, Canvas, Lettering, Stroke};
use super::ruler::Ruler;
use super::{FRAME, SOFT_INK, Size};

const TICK: Lettering = Lettering::new(12.0, Anchor::Middle).colour(SOFT_INK);
const TITLE: Lettering = Lettering::new(13.0, Anchor::Middle).bold();
/// Light to dark: less than 0.01 %, 0.1 %, 1 %, 10 % of the I/Os of a column, and more.
const SHADES: [&str; 5] = ["#dbe9f6", "#abcfe8", "#6aaed6", "#3282be", "#08488e"];
const NAMES: [&str; 5] = ["< 0.01 %", "< 0.1 %", "< 1 %", "< 10 %", "more"];
const LIMITS: [f64; 4] = [0.0001, 0.001, 0.01, 0.1];

/// What is drawn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HeatMap {
    /// From left to right, without overlap.
    pub columns: Vec<HeatColumn>,
}

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

/// `map` as an SVG; `title` is what assistive technology calls it.
#[must_use]
pub fn heat_map(map: &HeatMap, title: &str, size: Size) -> String {
    let (left, top, right, bottom) = (70.0, 14.0, size.width - 130.0, size.height - 52.0);
    let times = map.columns.iter().flat_map(|c| [c.from_minutes, c.to_minutes]);
    let x = Ruler::of(Scale::LinearFromZero, times, 12);
    let sizes = map.columns.iter().flat_map(|c| c.cells.iter().flat_map(|(low, high, _)| [*low, *high]));
    let y = Ruler::of(Scale::Log10, sizes, ((bottom - top) / 40.0) as usize);
    let mut canvas =
        Canvas::new(size, title, "Response times in ms over minutes; darker where more I/Os are.");
    let at_x = |value: f64| x.place(value).map(|place| left + place * (right - left));
    let at_y = |value: f64| y.place(value).map(|place| bottom - place * (bottom - top));
    for column in &map.columns {
        let (Some(a), Some(b)) = (at_x(column.from_minutes), at_x(column.to_minutes)) else { continue };
        for (low, high, share) in &column.cells {
            let (Some(base), Some(roof)) = (at_y(*low), at_y(*high)) else { continue };
            let shade = SHADES[LIMITS.iter().filter(|limit| share >= limit).count()];
            canvas.rect((a, roof), (b - a).max(0.6), (base - roof).max(0.6), shade);
        }
    }
    for tick in &y.ticks {
        if let Some(at) = at_y(tick.value) {
            canvas.line((left - 5.0, at), (left, at), Stroke::solid(FRAME, 1.0));
            canvas.text((left - 9.0, at + 4.2), &tick.label, Lettering { anchor: Anchor::End, ..TICK });
        }
    }
    for tick in &x.ticks {
        if let Some(at) = at_x(tick.value) {
            canvas.line((at, bottom), (at, bottom + 5.0), Stroke::solid(FRAME, 1.0));
            canvas.text((at, bottom + 19.0), &tick.label, TICK);
        }
    }
    let frame = Stroke::solid(FRAME, 1.2);
    canvas.polyline(&[(left, top), (left, bottom), (right, bottom)], frame);
    canvas.text(((left + right) / 2.0, bottom + 43.0), "Time (minutes)", TITLE);
    canvas.text((18.0, (top + bottom) / 2.0), "Response time (ms)", TITLE.turned(-90.0));
    for (row, (shade, name)) in SHADES.iter().zip(NAMES).enumerate() {
        let y = top + 10.0 + 20.0 * row as f64;
        canvas.rect((right + 20.0, y), 16.0, 12.0, shade);
        canvas.text((right + 44.0, y + 10.0), name, Lettering { anchor: Anchor::Start, ..TICK });
    }
    if map.columns.is_empty() {
        let lettering = Lettering::new(16.0, Anchor::Middle).colour(SOFT_INK);
        canvas.text(((left + right) / 2.0, (top + bottom) / 2.0), "Nothing measured", lettering);
    }
    canvas.finish()
}
