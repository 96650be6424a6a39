//! Small multiples: one small chart per run, in which the run is drawn in front of the lines of all other runs. Also
//! arranges pictures in grids.

use chartdata::exhibit::Lines;

use crate::canvas::{Anchor, Canvas, Lettering, Point, Stroke};
use crate::markup::shortened;
use crate::ruler::Ruler;
use crate::style::{FRAME, GRID, NOT_VALID, PALETTE, SOFT_INK, Size};

const TITLE: Lettering = Lettering::new(12.5, Anchor::Start).bold();
const TICK: Lettering = Lettering::new(10.5, Anchor::Middle).colour(SOFT_INK);
/// Colour of the other runs' lines.
const CONTEXT: &str = "#cfd6de";
/// Edges of the plot area.
const LEFT: f64 = 46.0;
const TOP: f64 = 24.0;
const RIGHT: f64 = 10.0;
const BOTTOM: f64 = 22.0;

/// Renders series `own` of `lines` over all others, with axes that include all series. A series with a `caveat`, such
/// as `NOT STEADY`, is dashed, and its title contains the label.
#[must_use]
pub fn multiple(lines: &Lines, own: usize, caveat: Option<&str>, size: Size) -> String {
    let Some(series) = lines.series.get(own) else { return String::new() };
    let mut canvas =
        Canvas::new(size, &series.name, "One run, drawn in front of the lines of all other runs.");
    let room = ((size.width - 4.0) / (TITLE.size * 0.58)) as usize;
    let title = match caveat {
        // If necessary, the name is shortened, not the caveat.
        Some(caveat) => {
            let room = room.saturating_sub(caveat.chars().count() + 2);
            format!("{}: {caveat}", shortened(&series.name, room))
        }
        None => shortened(&series.name, room),
    };
    canvas.text((2.0, 14.0), &title, TITLE);
    let points = || lines.series.iter().flat_map(|series| series.points.iter().copied());
    let (right, bottom) = (size.width - RIGHT, size.height - BOTTOM);
    let x = Ruler::of(lines.x.scale, points().map(|p| p.0), ((right - LEFT) / 60.0) as usize);
    let y = Ruler::of(lines.y.scale, points().map(|p| p.1), 3);
    let at_x = |value: f64| x.place(value).map(|share| LEFT + share * (right - LEFT));
    let at_y = |value: f64| y.place(value).map(|share| bottom - share * (bottom - TOP));
    for tick in &y.ticks {
        let Some(at) = at_y(tick.value) else { continue };
        canvas.line((LEFT, at), (right, at), Stroke::solid(GRID, 1.0));
        canvas.text((LEFT - 5.0, at + 3.6), &tick.label, Lettering { anchor: Anchor::End, ..TICK });
    }
    let mut free_from = f64::NEG_INFINITY;
    for tick in &x.ticks {
        let Some(at) = at_x(tick.value) else { continue };
        let half = tick.label.chars().count() as f64 * 3.2;
        if at - half > free_from && at + half < size.width {
            canvas.text((at, bottom + 14.0), &tick.label, TICK);
            free_from = at + half + 4.0;
        }
    }
    let path = |points: &[(f64, f64)]| -> Vec<Point> {
        points.iter().filter_map(|p| Some((at_x(p.0)?, at_y(p.1)?))).collect()
    };
    let others = lines.series.iter().enumerate().filter(|(index, _)| *index != own);
    let others: Vec<Vec<Point>> = others.map(|(_, other)| path(&other.points)).collect();
    canvas.coarse_polylines(&others, Stroke::solid(CONTEXT, 1.0));
    let dash = if caveat.is_some() { NOT_VALID } else { "" };
    canvas.polyline(&path(&series.points), Stroke { colour: PALETTE[0], width: 2.2, dash });
    canvas.line((LEFT, TOP), (LEFT, bottom), Stroke::solid(FRAME, 1.0));
    canvas.line((LEFT, bottom), (right, bottom), Stroke::solid(FRAME, 1.0));
    canvas.finish()
}

/// Arranges pictures of one size in rows of `columns`; returns the picture and its size.
#[must_use]
pub fn grid(pictures: &[String], each: Size, columns: usize, label: &str) -> (String, Size) {
    const GAP: f64 = 14.0;
    let columns = columns.max(1);
    let rows = pictures.len().div_ceil(columns) as f64;
    let width = columns as f64 * (each.width + GAP) - GAP;
    let size = Size { width, height: (rows * (each.height + GAP) - GAP).max(1.0) };
    let mut canvas = Canvas::new(size, label, label);
    for (index, picture) in pictures.iter().enumerate() {
        let (row, column) = ((index / columns) as f64, (index % columns) as f64);
        canvas.inset(picture, (column * (each.width + GAP), row * (each.height + GAP)), each.width);
    }
    (canvas.finish(), size)
}

#[cfg(test)]
mod tests {
    use chartdata::ReadingHint;
    use chartdata::exhibit::{Axis, Scale, Series};

    use super::*;

    #[test]
    fn context_keeps_its_extremes_in_fewer_points() {
        let size = Size { width: 240.0, height: 140.0 };
        let mut canvas = Canvas::new(size, "", "");
        let noisy =
            (0..10_000).map(|i| (f64::from(i) / 100.0, if i == 5_001 { 99.0 } else { 10.0 })).collect();
        canvas.coarse_polylines(&[noisy, vec![(1.0, 1.0)]], Stroke::solid(CONTEXT, 1.0));
        let svg = canvas.finish();
        assert_eq!(svg.matches('M').count(), 1, "a single point is not a line: {svg}");
        assert!(svg.contains("L50 99L50 10"), "{svg}");
        assert!(svg.matches('L').count() <= 103, "{svg}");
    }

    #[test]
    fn each_run_is_drawn_over_the_others_with_the_same_axes() {
        let axis = |label: &str| Axis { label: label.into(), scale: Scale::LinearFromZero };
        let series =
            |name: &str, high: f64| Series { name: name.into(), points: vec![(0.0, 1.0), (9.0, high)] };
        let lines = Lines {
            reading: ReadingHint::Runs,
            x: axis("Minutes"),
            y: axis("IOPS"),
            series: vec![series("A", 10.0), series("B", 90.0)],
            guides: Vec::new(),
            marked: None,
            bands: Vec::new(),
        };
        let size = Size { width: 240.0, height: 140.0 };
        let both = [multiple(&lines, 0, None, size), multiple(&lines, 1, None, size)];
        for svg in &both {
            assert_eq!((svg.matches("<polyline").count(), svg.matches(CONTEXT).count()), (1, 1), "{svg}");
            assert!(svg.contains(">100</text>"), "the axis includes the other run: {svg}");
        }
        let (svg, whole) = grid(&both, size, 2, "Both");
        assert_eq!((svg.matches("<polyline").count(), whole.width), (2, 494.0));
        assert!(multiple(&lines, 2, None, size).is_empty());
        let narrow = multiple(&lines, 0, Some("NOT COMPLETE"), Size { width: 120.0, height: 140.0 });
        assert!(narrow.contains(": NOT COMPLETE</text>") && narrow.contains("stroke-dasharray"), "{narrow}");
    }
}
