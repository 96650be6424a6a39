//! A line chart as high as a line of text.

use maud::{Markup, html};

const WIDTH: f64 = 96.0;
const HEIGHT: f64 = 22.0;
const INSET: f64 = 3.0;

/// Draws values in order, on an axis that starts at zero; `label` describes them in words.
pub fn sparkline(values: &[f64], label: &str) -> Markup {
    let highest = values.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let step = (WIDTH - 2.0 * INSET) / (values.len().max(2) - 1) as f64;
    let place = |(index, value): (usize, &f64)| {
        let x = INSET + step * index as f64;
        let y = HEIGHT - INSET - (HEIGHT - 2.0 * INSET) * (value / highest).clamp(0.0, 1.0);
        (x, y)
    };
    let places: Vec<(f64, f64)> = values.iter().enumerate().map(place).collect();
    let line: String = places.iter().map(|(x, y)| format!("{x:.1},{y:.1} ")).collect();
    html! {
        svg.sparkline viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) width=(WIDTH) height=(HEIGHT) role="img"
            aria-label=(label) {
            title { (label) }
            polyline points=(line.trim_end()) {}
            @if let Some((x, y)) = places.last() { circle cx=(format!("{x:.1}")) cy=(format!("{y:.1}")) r="2.5" {} }
        }
    }
}
