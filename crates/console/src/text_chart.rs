//! A curve as a few lines of text for a terminal.

use stdx::units::grouped;

/// Height of the chart in lines.
const ROWS: usize = 5;
/// Maximum width of the chart in columns.
const COLUMNS: usize = 60;
/// Bars by height in eighths of a line.
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Number of columns for a bar and the gap after it, if there is room.
const WIDE: usize = 4;

/// Draws bars from zero, with the highest value printed on the left and the ends of the horizontal axis below.
/// `points` ascend in x. Returns nothing if there are no points or all values are zero.
pub fn bars(points: &[(f64, f64)], decimals: usize) -> Vec<String> {
    let values = columns(points);
    let highest = values.iter().copied().fold(0.0, f64::max);
    let (Some(first), Some(last), true) = (points.first(), points.last(), highest > 0.0) else {
        return Vec::new();
    };
    let wide = if values.len() * WIDE <= COLUMNS { WIDE } else { 1 };
    let eighths = |value: f64| (value / highest * (ROWS * 8) as f64).round() as usize;
    let label = grouped(highest, decimals);
    let margin = label.chars().count();
    let row = |index: usize| {
        let below = (ROWS - 1 - index) * 8;
        let bar = |value: &f64| {
            let letter = EIGHTHS[eighths(*value).saturating_sub(below).min(8)];
            let body: String = std::iter::repeat_n(letter, if wide > 1 { wide - 1 } else { 1 }).collect();
            if wide > 1 { format!("{body} ") } else { body }
        };
        let name = if index == 0 { label.as_str() } else { "" };
        let picture: String = values.iter().map(bar).collect();
        format!("{name:>margin$} |{}", picture.trim_end())
    };
    let mut lines: Vec<String> = (0..ROWS).map(row).collect();
    let width = values.len() * wide;
    lines.push(format!("{:>margin$} +{}", "0", "-".repeat(width)));
    let (from, to) = (grouped(first.0, 0), grouped(last.0, 0));
    let gap = width.saturating_sub(from.chars().count() + to.chars().count());
    let to = if values.len() > 1 { format!("{}{to}", " ".repeat(gap.max(1))) } else { String::new() };
    lines.push(format!("{:>margin$}  {from}{to}", ""));
    lines
}

/// Returns the values, or the means of adjacent values if there are more values than columns.
fn columns(points: &[(f64, f64)]) -> Vec<f64> {
    let count = points.len().min(COLUMNS);
    let mean = |column: usize| {
        let part = &points[column * points.len() / count..(column + 1) * points.len() / count];
        part.iter().map(|point| point.1).sum::<f64>() / part.len() as f64
    };
    (0..count).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_are_wide_bars() {
        let points = [(1.0, 100.0), (2.0, 50.0), (3.0, 25.0)];
        assert_eq!(
            bars(&points, 0),
            [
                "100 |███",
                "    |███",
                "    |███ ▄▄▄",
                "    |███ ███ ▂▂▂",
                "    |███ ███ ███",
                "  0 +------------",
                "     1          3"
            ]
        );
    }

    #[test]
    fn many_values_are_means_of_neighbours() {
        let points: Vec<(f64, f64)> = (1..=600).map(|i| (f64::from(i), f64::from(i / 301))).collect();
        let lines = bars(&points, 0);
        assert_eq!(lines.len(), ROWS + 2);
        assert_eq!(lines[0].chars().filter(|c| *c == '█').count(), 30);
        assert!(lines.iter().all(|line| line.chars().count() <= COLUMNS + 4), "{lines:#?}");
        assert_eq!(lines[6].trim(), format!("1{}600", " ".repeat(COLUMNS - 4)));
    }

    #[test]
    fn without_values_there_is_no_chart() {
        assert!(bars(&[], 0).is_empty());
        assert!(bars(&[(1.0, 0.0)], 0).is_empty());
        assert_eq!(bars(&[(1.0, 2.0)], 0).len(), ROWS + 2);
    }
}
