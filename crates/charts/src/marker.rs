//! Markers that make lines distinguishable without colour.

use std::f64::consts::PI;

use crate::canvas::{Canvas, Point, Stroke};

const WHITE: &str = "#ffffff";
/// Maximum number of points of which each has a marker; if there are more points, only some have one, because
/// more markers would obscure the line.
const MOST: usize = 60;
/// Smallest mean distance of the markers if only some points have one: a line on a short stretch of the axis has fewer.
const APART: f64 = 10.0;

/// Returns the number of points from one marker to the next on the line through `points`.
pub(crate) fn step(points: &[Point], is_narrow: bool) -> usize {
    let most = if is_narrow { MOST / 3 } else { MOST };
    if points.len() < most {
        return 1;
    }
    let x = || points.iter().map(|point| point.0);
    let width = x().fold(f64::MIN, f64::max) - x().fold(f64::MAX, f64::min);
    points.len() / ((width / APART) as usize).clamp(1, most) + 1
}

/// Draws the marker of series `index` in the colour of its line. Each series gets the next shape. Once all colours
/// are used, the shapes shift, so that a repeated colour has a different shape.
pub(crate) fn draw(canvas: &mut Canvas, index: usize, fill: &'static str, at: Point, radius: f64) {
    let edge = Stroke::solid(WHITE, 0.8);
    let thick = Stroke::solid(fill, 2.0);
    let cross = |canvas: &mut Canvas, turn: f64| {
        for arm in [turn, turn + PI / 2.0] {
            let (dx, dy) = (radius * arm.cos(), radius * arm.sin());
            canvas.line((at.0 - dx, at.1 - dy), (at.0 + dx, at.1 + dy), thick);
        }
    };
    match (index + index / 8) % 8 {
        0 => canvas.circle(at, radius, fill, edge),
        1 => canvas.polygon(&regular(at, radius * 1.25, 4, PI / 4.0), fill, edge),
        2 => canvas.polygon(&regular(at, radius * 1.35, 3, -PI / 2.0), fill, edge),
        3 => canvas.polygon(&regular(at, radius * 1.3, 4, 0.0), fill, edge),
        4 => canvas.polygon(&regular(at, radius * 1.35, 3, PI / 2.0), fill, edge),
        5 => cross(canvas, PI / 4.0),
        6 => canvas.circle(at, radius * 0.9, WHITE, thick),
        _ => cross(canvas, 0.0),
    }
}

fn regular(centre: Point, radius: f64, corners: u32, first: f64) -> Vec<Point> {
    let corner = |i: u32| {
        let angle = first + 2.0 * PI * f64::from(i) / f64::from(corners);
        (centre.0 + radius * angle.cos(), centre.1 + radius * angle.sin())
    };
    (0..corners).map(corner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_do_not_obscure_a_line_on_a_short_stretch() {
        let line = |width: f64| (0..360).map(|i| (f64::from(i) * width / 360.0, 0.0)).collect::<Vec<Point>>();
        assert_eq!(step(&line(700.0), false), 7, "60 markers");
        assert_eq!(step(&line(90.0), false), 46, "8 markers");
        assert_eq!(step(&line(300.0), true), 19, "20 markers");
        assert_eq!(step(&line(90.0)[..30], false), 1, "each point");
    }
}
