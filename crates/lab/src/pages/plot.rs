//! Small charts of a live page. Colours come from the style sheet, so that they suit light and dark themes; the content
//! of a chart is also available as a table or text.

use maud::{Markup, html};
use pts::forecast::continued;
use stdx::units::grouped;

use crate::live::Variable;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 250.0;
/// Wide enough for the larger labels of narrow windows.
const LEFT: f64 = 74.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 22.0;
const BOTTOM: f64 = 26.0;
/// Number of rounds shown.
const MOST_ROUNDS: u32 = 16;
/// Maximum number of rounds for which values are printed next to their points.
const MOST_LABELS: usize = 8;
/// Number of rounds shown after the latest round.
const AHEAD: u32 = 3;
/// Maximum number of rounds shown after the latest round.
const MOST_AHEAD: u32 = 8;
/// Maximum number of points in a per-second line.
const MOST_POINTS: usize = 600;

/// The plot area of a chart. It maps values to coordinates.
struct Area {
    x: (f64, f64),
    top: f64,
    height: f64,
}

impl Area {
    fn x(&self, value: f64) -> f64 {
        let (from, to) = self.x;
        LEFT + (WIDTH - LEFT - RIGHT) * (value - from) / (to - from).max(f64::MIN_POSITIVE)
    }

    fn y(&self, value: f64) -> f64 {
        self.height - BOTTOM - (self.height - TOP - BOTTOM) * (value / self.top).clamp(-0.05, 1.0)
    }

    fn place(&self, (x, y): (f64, f64)) -> String {
        format!("{:.1},{:.1}", self.x(x), self.y(y))
    }

    fn line(&self, points: &[(f64, f64)]) -> String {
        points.iter().map(|point| self.place(*point)).collect::<Vec<_>>().join(" ")
    }

    /// Returns horizontal grid lines, labelled with their values.
    fn grid(&self) -> Markup {
        let step = nice(self.top / 5.0);
        let lines = (0..=5).map(|index| step * f64::from(index)).take_while(|value| *value <= self.top);
        html! {
            @for value in lines {
                line.grid x1=(LEFT) x2=(WIDTH - RIGHT) y1=(number(self.y(value))) y2=(number(self.y(value))) {}
                text.axis x=(LEFT - 8.0) y=(number(self.y(value) + 4.0)) text-anchor="end" { (tick(value, step)) }
            }
        }
    }
}

/// The values of a tracking variable by round, as the specification draws them, with the forecast.
pub fn rounds(variable: &Variable, measuring: Option<u32>) -> Markup {
    let Some(&(last, latest)) = variable.values.last() else { return html! {} };
    let shown = recent(&variable.values);
    let measuring = measuring.filter(|round| (last..=last.saturating_add(MOST_AHEAD)).contains(round));
    let points: Vec<(f64, f64)> = shown.iter().map(|(round, value)| (f64::from(*round), *value)).collect();
    let window: Vec<(f64, f64)> =
        variable.window().iter().map(|(round, value)| (f64::from(*round), *value)).collect();
    let mean = window.iter().map(|(_, value)| value).sum::<f64>() / window.len().max(1) as f64;
    let until = variable.forecast.unwrap_or(last).clamp(last, last.saturating_add(MOST_AHEAD));
    let ahead =
        if variable.steady { Vec::new() } else { continued(&variable.values, (until - last).max(AHEAD)) };
    let mut future = vec![(f64::from(last), latest)];
    future.extend(ahead.iter().map(|(round, value)| (f64::from(*round), *value)));
    let highest = points.iter().map(|(_, value)| *value).fold(mean * 1.1, f64::max);
    let first = shown.first().map_or(1, |(round, _)| *round);
    let end = until.max(last.saturating_add(AHEAD)).max(measuring.unwrap_or(0)).max(first.saturating_add(5));
    let area =
        Area { x: (f64::from(first) - 0.6, f64::from(end) + 0.6), top: highest * 1.12, height: HEIGHT };
    let fitted = fitted(&window);
    let label = format!(
        "{} by round: {}",
        variable.name,
        shown
            .iter()
            .map(|(round, value)| format!("{round}: {}", short(*value)))
            .collect::<Vec<_>>()
            .join(", ")
    );
    let (from, to) = (window.first().map_or(0.0, |w| w.0) - 0.4, f64::from(last) + 0.4);
    html! {
        svg.plot viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(label) {
            @if let Some(round) = measuring.filter(|round| *round > last) {
                @let (left, right) = (area.x(f64::from(round) - 0.4), area.x(f64::from(round) + 0.4));
                rect.measuring x=(number(left)) width=(number(right - left)) y=(TOP) height=(HEIGHT - TOP - BOTTOM) {}
                text.axis x=(number(area.x(f64::from(round)))) y=(TOP - 6.0) text-anchor="middle" { "measuring" }
            }
            rect.band x=(number(area.x(from))) width=(number(area.x(to) - area.x(from))) y=(number(area.y(mean * 1.1)))
                height=(number(area.y(mean * 0.9) - area.y(mean * 1.1))) {}
            (area.grid())
            @for round in first..=end {
                text.axis x=(number(area.x(f64::from(round)))) y=(HEIGHT - 8.0) text-anchor="middle" { (round) }
            }
            polyline.future points=(area.line(&future)) {}
            @if let Some(ends) = fitted { polyline.fitted points=(area.line(&ends)) {} }
            polyline.values points=(area.line(&points)) {}
            @for (x, y) in &points {
                circle cx=(number(area.x(*x))) cy=(number(area.y(*y))) r="4" {}
                @if points.len() <= MOST_LABELS {
                    text.value x=(number(area.x(*x))) y=(number(area.y(*y) - 9.0)) text-anchor="middle" { (short(*y)) }
                }
            }
        }
    }
}

/// Returns the values of the most recent rounds. The numbers of rounds come from the journal, which another host may
/// have sent, so they may not be consecutive; what is drawn must not depend on the gaps between them.
fn recent(values: &[(u32, f64)]) -> &[(u32, f64)] {
    let Some(&(last, _)) = values.last() else { return values };
    let first = values.iter().rposition(|(round, _)| round.abs_diff(last) >= MOST_ROUNDS);
    &values[first.map_or(0, |before| before + 1)..]
}

/// Returns the ends of the line fitted to a window by least squares.
fn fitted(window: &[(f64, f64)]) -> Option<[(f64, f64); 2]> {
    let (first, last) = (window.first()?, window.last()?);
    let count = window.len() as f64;
    let middle = window.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean = window.iter().map(|(_, y)| y).sum::<f64>() / count;
    let spread = window.iter().map(|(x, _)| (x - middle).powi(2)).sum::<f64>();
    if spread <= 0.0 {
        return None;
    }
    let slope = window.iter().map(|(x, y)| (x - middle) * (y - mean)).sum::<f64>() / spread;
    Some([first.0, last.0].map(|x| (x, mean + slope * (x - middle))))
}

/// A per-second line. If there are more points than a screen can show, the highest of each group is drawn.
pub fn seconds(points: &[(f64, f64)]) -> Markup {
    const LOW: f64 = 150.0;
    let group = points.len().div_ceil(MOST_POINTS);
    let highest_of = |group: &[(f64, f64)]| (group[0].0, group.iter().map(|(_, y)| *y).fold(0.0, f64::max));
    let points: Vec<(f64, f64)> = points.chunks(group.max(1)).map(highest_of).collect();
    // Of a long load, only the latest seconds are known.
    let (begin, end) = (points.first().map_or(0.0, |(x, _)| *x), points.last().map_or(1.0, |(x, _)| *x));
    // Without I/Os, the axis ends at 1.
    let highest = points.iter().map(|(_, y)| *y).fold(1.0, f64::max);
    let lowest = points.iter().map(|(_, y)| *y).fold(f64::MAX, f64::min);
    let area = Area { x: (begin, end), top: highest * 1.1, height: LOW };
    let label = format!("IOPS by second, from {} to {}", short(lowest), short(highest));
    let step = nice((end - begin) / 5.0);
    let first = (begin / step).ceil();
    let times = (0..=5).map(|index| step * (first + f64::from(index))).take_while(|at| *at <= end);
    // The outer labels neither touch the vertical axis nor extend beyond the picture.
    let anchor = |at: f64| match (at - begin) / (end - begin) {
        ..0.05 => "start",
        ..0.95 => "middle",
        _ => "end",
    };
    html! {
        svg.plot viewBox=(format!("0 0 {WIDTH} {LOW}")) role="img" aria-label=(label) {
            (area.grid())
            text.axis x=(LEFT) y=(TOP - 8.0) { "IOPS" }
            @for at in times {
                text.axis x=(number(area.x(at))) y=(LOW - 8.0) text-anchor=(anchor(at)) { (tick(at, step)) " s" }
            }
            polyline.values points=(area.line(&points)) {}
        }
    }
}

/// A bar with a tick at its limit, which is at two thirds of the width.
pub fn bar(share: f64, class: &str) -> Markup {
    const WIDTH: f64 = 300.0;
    let limit = WIDTH * 2.0 / 3.0;
    let filled = (share * limit).clamp(0.0, WIDTH);
    html! {
        svg class={ "bar wide " (class) } viewBox="0 0 300 12" preserveAspectRatio="none" aria-hidden="true" {
            rect.whole y="3" width=(WIDTH) height="6" rx="3" {}
            rect.filled y="3" width=(number(filled)) height="6" rx="3" {}
            rect.limit x=(number(limit - 1.0)) width="2" height="12" {}
        }
    }
}

/// Returns a step of 1, 2 or 5 times a power of ten.
fn nice(step: f64) -> f64 {
    if step.is_nan() || step <= 0.0 {
        return 1.0;
    }
    let power = 10_f64.powf(step.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power);
    steps.into_iter().find(|nice| *nice >= step).unwrap_or(step)
}

/// Formats the value of a tick; all ticks of an axis with this step have the same decimals.
fn tick(value: f64, step: f64) -> String {
    match step {
        _ if value == 0.0 => "0".into(),
        1e6.. => format!("{} M", grouped(value / 1e6, 0)),
        1e4.. => format!("{} k", grouped(value / 1e3, 0)),
        1.0.. => grouped(value, 0),
        0.1.. => grouped(value, 1),
        _ => grouped(value, 3),
    }
}

/// Formats a value in as few characters as possible.
pub fn short(value: f64) -> String {
    match value.abs() {
        large if large >= 1e7 => format!("{} M", grouped(value / 1e6, 1)),
        large if large >= 1e5 => format!("{} k", grouped(value / 1e3, 0)),
        large if large >= 100.0 || value == 0.0 => grouped(value, 0),
        large if large >= 1.0 => grouped(value, 1),
        _ => grouped(value, 3),
    }
}

fn number(value: f64) -> String {
    format!("{value:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_the_grid_are_round_numbers() {
        assert_eq!([0.3, 1.0, 1400.0, 5100.0, 0.0].map(nice), [0.5, 1.0, 2000.0, 10000.0, 1.0]);
    }

    #[test]
    fn ticks_of_an_axis_have_the_same_decimals() {
        let axis = |step: f64| [0.0, step, 3.0 * step].map(|value| tick(value, step));
        assert_eq!(axis(20.0), ["0", "20", "60"]);
        assert_eq!(axis(0.5), ["0", "0.5", "1.5"]);
        assert_eq!(axis(5_000.0), ["0", "5,000", "15,000"]);
        assert_eq!(axis(50_000.0), ["0", "50 k", "150 k"]);
        let shown = seconds(&[(0.0, 40.0), (29.0, 87.0)]).into_string();
        for text in [">IOPS<", ">80<", ">0 s<", ">20 s<"] {
            assert!(shown.contains(text), "{text}: {shown}");
        }
        let late = seconds(&[(7_000.0, 40.0), (7_240.0, 87.0)]).into_string();
        assert!(
            late.contains(">7,000 s<") && late.contains(">7,200 s<") && late.contains("\"74.0,"),
            "{late}"
        );
        assert!(seconds(&[(0.0, 0.0), (0.0, 0.0)]).into_string().contains(">0 s<"), "no time and no I/Os");
    }

    #[test]
    fn gaps_between_rounds_do_not_enlarge_a_chart() {
        let axis = |rounds: &[u32], measuring| {
            let variable = Variable {
                name: "RND 4KiB W".into(),
                values: rounds.iter().map(|round| (*round, 100.0)).collect(),
                shares: None,
                steady: false,
                text: String::new(),
                forecast: Some(u32::MAX),
            };
            super::rounds(&variable, measuring).into_string().matches("class=\"axis\"").count()
        };
        let most = axis(&(10..=25).collect::<Vec<_>>(), Some(26));
        for rounds in [&[1, 100_000][..], &[1, 2, 3, u32::MAX], &[0, 0]] {
            for measuring in [None, Some(0), Some(200_000), Some(u32::MAX)] {
                let labels = axis(rounds, measuring);
                assert!((2..=most).contains(&labels), "{rounds:?} {measuring:?}: {labels} of {most}");
            }
        }
    }

    #[test]
    fn the_fitted_line_passes_through_collinear_values() {
        let ends = fitted(&[(2.0, 10.0), (3.0, 20.0), (4.0, 30.0)]).expect("a line");
        assert!((ends[0].1 - 10.0).abs() < 1e-9 && (ends[1].1 - 30.0).abs() < 1e-9, "{ends:?}");
        assert_eq!(fitted(&[(2.0, 10.0)]), None);
    }

    #[test]
    fn values_are_short() {
        assert_eq!(
            [4835.2, 113_100.0, 0.0, 12.34, 0.123].map(short),
            ["4,835", "113 k", "0", "12.3", "0.123"]
        );
    }
}
