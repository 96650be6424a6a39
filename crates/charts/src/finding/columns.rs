//! Findings about columns and bars: the largest and the smallest value.

use chartdata::exhibit::{Bars, Columns3d};

use super::amounts::{FACTOR, MILLISECONDS, amount, at, pair, percent, quantity};

/// None if there are fewer than two values.
pub(super) fn finding(columns: &Columns3d) -> Option<String> {
    let mut all: Vec<(f64, String)> = Vec::new();
    for (depth, row) in columns.depth.iter().zip(&columns.heights) {
        for (x, value) in columns.x.iter().zip(row) {
            let name = || format!("{}, {}", at(&columns.depth_label, depth), at(&columns.x_label, x));
            all.extend(value.filter(|value| value.is_finite()).map(|value| (value, name())));
        }
    }
    extremes(&columns.height_label, &all)
}

/// None if there are fewer than two values.
pub(super) fn of_bars(bars: &Bars) -> Option<String> {
    let known = bars.bars.iter().filter_map(|(name, value)| Some((*value.as_ref()?, name.clone())));
    let known: Vec<(f64, String)> = known.filter(|(value, _)| value.is_finite()).collect();
    extremes(&bars.value_label, &known)
}

/// Returns the largest and the smallest of several named values.
pub(super) fn extremes(label: &str, all: &[(f64, String)]) -> Option<String> {
    let highest = all.iter().reduce(|best, other| if other.0 > best.0 { other } else { best })?;
    let lowest = all.iter().reduce(|best, other| if other.0 < best.0 { other } else { best })?;
    if all.len() < 2 {
        return None;
    }
    let (name, unit) = match quantity(label) {
        // The names of the values say which response time it is.
        (MILLISECONDS, _) => ("Response times", " ms".to_owned()),
        found => found,
    };
    let (most, least) = pair(highest.0, lowest.0);
    Some(format!(
        "{name}: highest {most}{unit} ({}), lowest {least}{unit} ({}){}",
        highest.1,
        lowest.1,
        apart(highest.0, lowest.0)
    ))
}

/// Returns the difference between two values, as a percentage or as a factor; empty if there is nothing to
/// compare with.
fn apart(highest: f64, lowest: f64) -> String {
    match highest / lowest {
        factor if lowest <= 0.0 || !factor.is_finite() || factor <= 1.0 => String::new(),
        factor if factor < FACTOR => format!(", {} apart", percent(factor - 1.0)),
        factor => format!(", a factor of {}", amount(factor)),
    }
}
