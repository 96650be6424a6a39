//! Numbers in findings, with at least three significant digits, and changes in words.

use stdx::units::grouped;

/// Changes by at least this factor are expressed as factors instead of percentages.
pub(super) const FACTOR: f64 = 3.0;

/// A value with at least three significant digits, without trailing zeros.
pub(super) fn amount(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 100.0 || size == 0.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        size if size >= 0.01 => 3,
        _ => 5,
    };
    let text = grouped(value, decimals);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Returns a percentage; one decimal place below ten.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let decimals = if percent.abs() < 9.95 { 1 } else { 0 };
    format!("{} %", grouped(percent, decimals))
}

/// Returns a factor: `3.2 times as much`.
pub(super) fn times(factor: f64) -> String {
    format!("{} times as much", amount(factor))
}

/// Returns the change from one value to another in parentheses: `(-84 %)`; empty if the first value is not
/// positive.
pub(super) fn change(from: f64, to: f64) -> String {
    if from <= 0.0 || !(to / from).is_finite() {
        return String::new();
    }
    match to / from {
        factor if factor >= FACTOR => format!(" ({})", times(factor)),
        factor => {
            let sign = if factor > 1.0 { "+" } else { "" };
            format!(" ({sign}{})", percent(factor - 1.0))
        }
    }
}

/// `fell from 61,200 to 9,800 (-84 %)`.
pub(super) fn moved(from: f64, to: f64) -> String {
    let verb = if to < from { "fell" } else { "rose" };
    format!("{verb} from {} to {}{}", amount(from), amount(to), change(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_three_digits() {
        let texts = [61_234.4, 482.46, 17.96, 2.695, 0.2081, 0.0, 0.001_27].map(amount);
        assert_eq!(texts, ["61,234", "482", "18", "2.7", "0.208", "0", "0.00127"]);
    }

    #[test]
    fn changes_are_percentages_or_factors() {
        assert_eq!(moved(61_200.0, 9_800.0), "fell from 61,200 to 9,800 (-84 %)");
        assert_eq!(moved(2.0, 2.04), "rose from 2 to 2.04 (+2.0 %)");
        assert_eq!(moved(0.5, 6.0), "rose from 0.5 to 6 (12 times as much)");
        assert_eq!(moved(0.0, 6.0), "rose from 0 to 6");
    }
}
