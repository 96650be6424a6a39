//! Markers that make lines distinguishable without colour.

use std::f64::consts::PI;

use crate::canvas::{Canvas, Point, Stroke};

const WHITE: &str = "#ffffff";

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
