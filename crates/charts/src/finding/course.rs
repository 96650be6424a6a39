//! Describes the course of a curve: its start, its end, and the point after which it stays close to its final
//! value.

use super::amounts::{amount, moved, pair, percent, quantity};

/// Minimum number of points for a description.
const FEWEST: usize = 4;
/// Changes below this are ignored, and variations below this count as level.
const SMALL: f64 = 0.05;
/// A curve that varies by more than this at its end does not level off.
const LEVEL: f64 = 0.25;

/// Describes the course of `points` of the quantity `label` over `unit`; None if there are too few.
pub(super) fn sentence(label: &str, points: &[(f64, f64)], unit: &str) -> Option<String> {
    let (label, own_unit) = quantity(label);
    let points: Vec<(f64, f64)> =
        points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
    if points.len() < FEWEST {
        return None;
    }
    let tail = &points[points.len() - (points.len() / 5).max(2)..];
    let level = median(tail.iter().map(|point| point.1).collect());
    if level <= 0.0 {
        return None;
    }
    let away = |point: &(f64, f64)| (point.1 - level).abs() / level;
    let spread = |points: &[(f64, f64)]| points.iter().map(away).fold(0.0, f64::max);
    let start = points[0].1;
    let all = || points.iter().map(|point| point.1);
    let (lowest, highest) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
    let between = pair(lowest, highest);
    if between.0 == between.1 {
        return Some(format!("{label} stayed at {}{own_unit}", amount(level)));
    }
    if spread(&points) <= SMALL {
        return Some(format!(
            "{label} stayed within {} of {}{own_unit}, between {} and {}{own_unit}",
            percent(spread(&points)),
            amount(level),
            between.0,
            between.1
        ));
    }
    let end = spread(tail);
    let change = if (start - level).abs() / level > SMALL {
        moved(start, level, &own_unit)
    } else {
        format!(
            "started and ended near {}{own_unit}, between {} and {}{own_unit}",
            amount(level),
            between.0,
            between.1
        )
    };
    if end > LEVEL {
        return Some(format!("{label} {change}, and still varied by up to {} at the end", percent(end)));
    }
    let limit = end.max(SMALL);
    let settled = points.iter().rposition(|point| away(point) > limit).map_or(0, |last| last + 1);
    Some(format!(
        "{label} {change} within {} {unit}, then stayed within {}",
        amount(points[settled.min(points.len() - 1)].0),
        percent(spread(&points[settled..]))
    ))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(values: &[f64]) -> Vec<(f64, f64)> {
        (1..).map(|x| f64::from(x) / 10.0).zip(values.iter().copied()).collect()
    }

    #[test]
    fn a_fall_is_dated_where_the_level_end_begins() {
        let values =
            [61_200.0, 60_000.0, 20_000.0, 9_900.0, 9_800.0, 9_700.0, 9_800.0, 9_900.0, 9_800.0, 9_850.0];
        assert_eq!(
            sentence("IOPS", &curve(&values), "drive fills").unwrap(),
            "IOPS fell from 61,200 to 9,850 (-84 %) within 0.4 drive fills, then stayed within 1.5 %"
        );
    }

    #[test]
    fn a_level_curve_and_a_restless_one_are_not_called_a_fall() {
        let level = sentence("IOPS", &curve(&[100.0, 102.0, 99.0, 101.0, 100.0]), "minutes").unwrap();
        assert!(level.starts_with("IOPS stayed within") && level.ends_with("between 99 and 102"), "{level}");
        let restless = sentence("IOPS", &curve(&[100.0, 10.0, 150.0, 20.0, 150.0, 10.0]), "minutes").unwrap();
        assert!(restless.contains("still varied by up to"), "{restless}");
        assert_eq!(sentence("IOPS", &curve(&[1.0, 2.0, 3.0]), "minutes"), None);
        assert_eq!(sentence("IOPS", &curve(&[0.0; 6]), "minutes"), None);
        assert_eq!(sentence("IOPS", &curve(&[f64::NAN; 6]), "minutes"), None);
    }
}
