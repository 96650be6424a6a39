//! A line chart as high as a line of text.

use maud::{Markup, html};

const WIDTH: f64 = 96.0;
const HEIGHT: f64 = 22.0;
const INSET: f64 = 3.0;
/// Limit on the points: more could not be told apart, and a drive may have thousands of runs.
const MOST_POINTS: usize = 96;

/// Draws values in order, on an axis that starts at zero; `label` describes them in words. If there are more values than
/// points, each point is the mean of consecutive values.
pub fn sparkline(values: &[f64], label: &str) -> Markup {
    let mean = |group: &[f64]| group.iter().sum::<f64>() / group.len() as f64;
    let values: Vec<f64> = values.chunks(values.len().div_ceil(MOST_POINTS).max(1)).map(mean).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_as_many_points_as_can_be_seen() {
        let points = |values: &[f64]| {
            let markup = sparkline(values, "values").into_string();
            let (_, line) = markup.split_once("points=\"").expect("a line");
            let (line, _) = line.split_once('"').expect("the end of the line");
            line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(points(&[]).len(), 0);
        assert_eq!(points(&[1.0, 2.0]).len(), 2);
        assert_eq!(points(&[1.0; MOST_POINTS]).len(), MOST_POINTS);
        // Each point is the mean of eleven values.
        let rising: Vec<f64> = (0..1_000).map(f64::from).collect();
        let of_rising = points(&rising);
        assert_eq!(of_rising.len(), 91);
        assert_eq!((of_rising[0].as_str(), of_rising[90].as_str()), ("3.0,18.9", "93.0,3.0"));
    }
}
