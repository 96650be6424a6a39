//! Draws 3D column charts with two category axes, seen from above and slightly from the right.
//!
//! The projection is parallel, so equal heights look equal everywhere, and the scale at the left edge is exact for the
//! first row. The nearest corner is at the front right. The columns for small blocks and for reads, which are usually
//! the tallest, are therefore farthest away and hide nothing.

use chartdata::exhibit::{Columns3d, Scale};

use crate::canvas::{Anchor, Canvas, Lettering, Point, Stroke, text_width, widest_text};
use crate::markup::shortened;
use crate::matrix::matrix;
use crate::reading::sentence;
use crate::ruler::Ruler;
use crate::style::{FRAME, GRID, INK, SOFT_INK, Size, hinted, ordered};

/// Projection of one step across and of one step away from the viewer, as (right, down) in the picture. The plane
/// is rotated by 25 degrees and seen from 27 degrees above. The values are constants because the last digits of
/// sines differ between machines.
const ACROSS: Point = (0.9063, 0.1919);
const AWAY: Point = (0.4226, -0.4115);
/// Cells are wider than they are deep, like the page.
const CELL: (f64, f64) = (1.9, 1.15);
/// Height of the tallest column, in the same units as the plane.
const HEIGHT: f64 = 5.2;
const GAP: (f64, f64) = (0.17, 0.15);
const LABEL: Lettering = Lettering::new(12.0, Anchor::Middle);
const TITLE: Lettering = Lettering::new(13.0, Anchor::Middle).bold();
const NAME_CHARACTERS: usize = 14;
/// Minimum distance between the baselines of two names along the depth axis.
const NAME_PITCH: f64 = 13.5;
/// Minimum width of a picture with a map next to the columns, and the columns' share of that width.
const WIDE_ENOUGH: f64 = 900.0;
const SHARE_OF_COLUMNS: f64 = 0.52;
/// Width in which the map below the columns is drawn, before it is scaled to the picture: its numbers are legible in
/// eight columns.
const MAP_WIDTH: f64 = 414.0;
/// Distances of names from the edges of the box: values from the left one, rows from the right one.
const VALUE_GAP: f64 = 9.0;
const ROW_GAP: f64 = 24.0;
/// Maximum width that is reserved for the label of the rows on a narrow screen.
const MOST_LABEL: f64 = 80.0;

/// Projects box coordinates (cells across, cells away, height from 0 to 1) to the picture.
struct View {
    origin: Point,
    scale: f64,
    across: usize,
    away: usize,
    /// Size of the picture.
    size: Size,
}

impl View {
    fn new(columns: &Columns3d, ruler: &Ruler, size: Size) -> Self {
        let (across, away) = (columns.x.len().max(1), columns.depth.len().max(1));
        let (x, y) = (across as f64 * CELL.0, away as f64 * CELL.1);
        let (width, rise) = (x * ACROSS.0 + y * AWAY.0, y * -AWAY.1);
        let fall = x * ACROSS.1;
        // Margins for labels: values on the left, names below and on the right.
        let (left, right) = if size.is_narrow() { narrow_margins(columns, ruler) } else { (90.0, 150.0) };
        let (top, bottom) = (26.0, 40.0);
        let room = (size.width - left - right, size.height - top - bottom);
        let scale = (room.0 / width).min(room.1 / (rise + fall + HEIGHT));
        let spare = (room.0 - width * scale) / 2.0;
        let down = top + (rise + HEIGHT) * scale + (room.1 - (rise + fall + HEIGHT) * scale) / 2.0;
        Self { origin: (left + spare, down), scale, across, away, size }
    }

    fn at(&self, x: f64, y: f64, height: f64) -> Point {
        let (x, y) = (x * CELL.0, y * CELL.1);
        (
            self.origin.0 + self.scale * (x * ACROSS.0 + y * AWAY.0),
            self.origin.1 + self.scale * (x * ACROSS.1 + y * AWAY.1 - height * HEIGHT),
        )
    }

    fn far(&self) -> (f64, f64) {
        (self.across as f64, self.away as f64)
    }
}

/// Returns the left and right margins of a picture for a narrow screen: no wider than the names need.
fn narrow_margins(columns: &Columns3d, ruler: &Ruler) -> (f64, f64) {
    let widest = |names: &mut dyn Iterator<Item = &str>| {
        names.map(|name| widest_text(&shortened(name, NAME_CHARACTERS), LABEL.size)).fold(24.0, f64::max)
    };
    let values = widest(&mut ruler.ticks.iter().map(|tick| tick.label.as_str()));
    let rows = widest(&mut columns.depth.iter().map(String::as_str));
    // A very long label extends to the left instead, above the box.
    let label = widest_text(&columns.depth_label, TITLE.size).min(MOST_LABEL);
    (VALUE_GAP + values + 2.0, (ROW_GAP + rows + 2.0).max(label + VALUE_GAP))
}

/// Renders `columns` as SVG with `title` as the accessible name.
#[must_use]
pub fn columns3d(columns: &Columns3d, title: &str, size: Size) -> String {
    columns3d_beside(columns, &[], title, size)
}

/// Renders the columns and, if the picture is wide enough, the same values as a map of cells next to them,
/// because the columns at the front hide the rear ones.
#[must_use]
pub fn columns3d_and_matrix(columns: &Columns3d, title: &str, size: Size) -> String {
    if size.width < WIDE_ENOUGH || is_empty(columns) {
        return columns3d(columns, title, size);
    }
    let left = Size { width: (size.width * SHARE_OF_COLUMNS).round(), ..size };
    let right = Size { width: size.width - left.width, ..size };
    let mut canvas = Canvas::new(size, title, &description_of_both(columns));
    canvas.inset(&columns3d(columns, title, left), (0.0, 0.0), left.width);
    canvas.inset(&matrix(columns, title, right), (left.width, 0.0), right.width);
    canvas.finish()
}

/// The columns with the same values as a map of cells below them, for a narrow screen.
#[must_use]
pub(crate) fn columns3d_over_matrix(columns: &Columns3d, title: &str, size: Size) -> String {
    if is_empty(columns) {
        return columns3d(columns, title, size);
    }
    let map = Size { width: MAP_WIDTH, height: 84.0 + 30.0 * columns.depth.len() as f64 };
    let scaled = Size { width: size.width, height: map.height * size.width / MAP_WIDTH };
    let whole = Size { height: size.height + scaled.height, ..size };
    let mut canvas = Canvas::new(whole, title, &description_of_both(columns));
    canvas.inset(&columns3d(columns, title, size), (0.0, 0.0), size.width);
    canvas.inset(&matrix(columns, title, map), (0.0, size.height), scaled.width);
    canvas.finish()
}

/// Without values, a map would add nothing to the columns.
fn is_empty(columns: &Columns3d) -> bool {
    columns.heights.iter().flatten().flatten().next().is_none()
}

fn description_of_both(columns: &Columns3d) -> String {
    format!("Columns, and the same values as numbers. {}", sentence(columns.reading))
}

/// Like [`columns3d()`], but scaled to include the heights of `others`, so that pictures side by side are comparable.
#[must_use]
pub fn columns3d_beside(columns: &Columns3d, others: &[&Columns3d], title: &str, size: Size) -> String {
    let heights = || columns.heights.iter().flatten().flatten().copied();
    let all = others.iter().flat_map(|other| other.heights.iter().flatten().flatten().copied());
    let ruler = Ruler::of(Scale::LinearFromZero, heights().chain(all), 5);
    let view = View::new(columns, &ruler, size);
    let description = format!(
        "{} over {} and {}. Largest value {}. {}",
        columns.height_label,
        columns.x_label,
        columns.depth_label,
        hinted(heights().filter(|h| h.is_finite()).fold(0.0, f64::max)),
        sentence(columns.reading)
    );
    let mut canvas = Canvas::new(size, title, &description);
    draw_box(&mut canvas, &view, &ruler);
    // Painter's algorithm: draw the farthest cells first.
    for depth in (0..columns.depth.len()).rev() {
        for x in 0..columns.x.len() {
            let height = columns.heights.get(depth).and_then(|row| row.get(x)).copied().flatten();
            draw_cell(&mut canvas, columns, &view, &ruler, (x, depth), height);
        }
    }
    draw_names(&mut canvas, columns, &view);
    if heights().next().is_none() {
        let lettering = Lettering::new(16.0, Anchor::Middle).colour(SOFT_INK);
        canvas.text((size.width / 2.0, size.height / 2.0), "No values", lettering);
    }
    canvas.finish()
}

fn draw_box(canvas: &mut Canvas, view: &View, ruler: &Ruler) {
    let (x, y) = view.far();
    let frame = Stroke::solid(FRAME, 0.8);
    let corners = |places: [(f64, f64, f64); 4]| places.map(|(x, y, h)| view.at(x, y, h));
    canvas.polygon(&corners([(0., 0., 0.), (x, 0., 0.), (x, y, 0.), (0., y, 0.)]), "#f1f3f6", frame);
    canvas.polygon(&corners([(0., 0., 0.), (0., y, 0.), (0., y, 1.), (0., 0., 1.)]), "#f7f8fa", frame);
    canvas.polygon(&corners([(0., y, 0.), (x, y, 0.), (x, y, 1.), (0., y, 1.)]), "#fbfcfd", frame);
    for tick in &ruler.ticks {
        let Some(height) = ruler.place(tick.value) else { continue };
        let (front, corner, back) = (view.at(0., 0., height), view.at(0., y, height), view.at(x, y, height));
        if height > 0.0 {
            canvas.polyline(&[front, corner, back], Stroke::solid(GRID, 1.0));
        }
        canvas.line((front.0 - 5.0, front.1), front, frame);
        let lettering = Lettering { anchor: Anchor::End, colour: SOFT_INK, ..LABEL };
        canvas.text((front.0 - VALUE_GAP, front.1 + 4.2), &tick.label, lettering);
    }
}

fn draw_cell(
    canvas: &mut Canvas,
    columns: &Columns3d,
    view: &View,
    ruler: &Ruler,
    (x, depth): (usize, usize),
    height: Option<f64>,
) {
    let (left, right) = (x as f64 + GAP.0, x as f64 + 1.0 - GAP.0);
    let (front, back) = (depth as f64 + GAP.1, depth as f64 + 1.0 - GAP.1);
    let place =
        format!("{} {}, {} {}", columns.x_label, columns.x[x], columns.depth_label, columns.depth[depth]);
    let base =
        |h: f64| [(left, front), (right, front), (right, back), (left, back)].map(|(x, y)| view.at(x, y, h));
    let Some((value, top)) = height.and_then(|value| Some((value, ruler.place(value)?))) else {
        let dashed = Stroke { colour: "#b6bec8", width: 0.8, dash: "3 3" };
        let hint = format!("{place}: not measured");
        canvas.hinted(&hint, |canvas| canvas.polygon(&base(0.0), "none", dashed));
        return;
    };
    let edge = Stroke::solid("#ffffff", 0.5);
    let colour = ordered(depth, columns.depth.len());
    let hint = format!("{place}: {} {}", hinted(value), columns.height_label);
    canvas.hinted(&hint, |canvas| {
        let (low, high) = (base(0.0), base(top));
        if top > 0.0 {
            canvas.polygon(&[low[1], low[2], high[2], high[1]], &shaded(colour, 0.68), edge);
            canvas.polygon(&[low[0], low[1], high[1], high[0]], &shaded(colour, 0.88), edge);
        }
        canvas.polygon(&high, &shaded(colour, 1.16), edge);
    });
}

/// Draws the category names along the two near edges, and the axis labels.
fn draw_names(canvas: &mut Canvas, columns: &Columns3d, view: &View) {
    let (x_far, y_far) = view.far();
    for (i, name) in columns.x.iter().enumerate() {
        let at = view.at(i as f64 + 0.5, 0.0, 0.0);
        canvas.text((at.0 - 4.0, at.1 + 18.0), &shortened(name, NAME_CHARACTERS), LABEL);
    }
    let mut widest = 0.0f64;
    let beside = view.at(x_far, y_far / 2.0, 0.0);
    // Rows can be closer together than names can; colours show which name belongs to which row.
    let pitch = (view.at(x_far, 0.0, 0.0).1 - view.at(x_far, 1.0, 0.0).1).max(NAME_PITCH);
    for (i, name) in columns.depth.iter().enumerate() {
        let row = i as f64 + 0.5;
        let at = (view.at(x_far, row, 0.0).0, beside.1 + (y_far / 2.0 - row) * pitch);
        let name = shortened(name, NAME_CHARACTERS);
        widest = widest.max(text_width(&name, LABEL.size));
        canvas.rect((at.0 + 10.0, at.1 - 2.5), 9.0, 9.0, ordered(i, columns.depth.len()));
        canvas.text((at.0 + ROW_GAP, at.1 + 6.5), &name, Lettering { anchor: Anchor::Start, ..LABEL });
    }
    let below = view.at(x_far / 2.0, 0.0, 0.0);
    canvas.text((below.0 - 34.0, below.1 + 40.0), &columns.x_label, TITLE.colour(INK));
    if view.size.is_narrow() {
        // There is no room beside the names, so the label is above them, and ends at the edge if it is long.
        let (from, edge) = (view.at(x_far, y_far, 0.0).0 + 10.0, view.size.width - 4.0);
        let fits = from + widest_text(&columns.depth_label, TITLE.size) < edge;
        let (x, anchor) = if fits { (from, Anchor::Start) } else { (edge, Anchor::End) };
        let top = beside.1 - y_far / 2.0 * pitch - 6.0;
        canvas.text((x, top), &columns.depth_label, Lettering { anchor, ..TITLE });
    } else {
        let lettering = Lettering { anchor: Anchor::Start, ..TITLE };
        canvas.text((beside.0 + 36.0 + widest, beside.1 + 8.0), &columns.depth_label, lettering);
    }
    let above = view.at(0.0, 0.0, 1.0);
    // A long label starts at the edge instead of being cut off there.
    let ends = above.0 - 4.0;
    let (x, anchor) = if widest_text(&columns.height_label, TITLE.size) < ends {
        (ends, Anchor::End)
    } else {
        (2.0, Anchor::Start)
    };
    canvas.text((x, above.1 - 12.0), &columns.height_label, Lettering { anchor, ..TITLE });
}

/// Returns the colour of a row, darkened or lightened.
fn shaded(colour: &str, factor: f64) -> String {
    let value = u32::from_str_radix(&colour[1..], 16).unwrap_or(0);
    let channel = |shift: u32| {
        let channel = f64::from(value >> shift & 0xff);
        let shaded =
            if factor > 1.0 { channel + (255.0 - channel) * (factor - 1.0) * 1.6 } else { channel * factor };
        shaded.round().min(255.0) as u32
    };
    format!("#{:02x}{:02x}{:02x}", channel(16), channel(8), channel(0))
}
