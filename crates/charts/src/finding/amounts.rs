//! Numbers in findings, with at least three significant digits, and changes in words.

use stdx::units::grouped;

/// Changes by at least this factor are expressed as factors instead of percentages.
pub(super) const FACTOR: f64 = 3.0;

/// The label of an axis for several kinds of response times, which the names of the series distinguish.
pub(super) const MILLISECONDS: &str = "ms";

/// The label of an axis of throughputs, which is only their unit.
const MEGABYTES_PER_SECOND: &str = "MB/s";

/// The decimal places that give a value at least three significant digits.
fn decimals(value: f64) -> usize {
    match value.abs() {
        size if size >= 100.0 || size == 0.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        size if size >= 0.01 => 3,
        _ => 5,
    }
}

/// A value with at least three significant digits, without trailing zeros.
pub(super) fn amount(value: f64) -> String {
    let text = grouped(value, decimals(value));
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Two values to compare: zeros at the end of one remain if the other needs its decimal places, as in `0.030 to 0.031`.
pub(super) fn pair(one: f64, other: f64) -> (String, String) {
    let (first, second) = (amount(one), amount(other));
    let places = |text: &str| text.split_once('.').map_or(0, |(_, places)| places.len());
    if decimals(one) != decimals(other) || places(&first) == places(&second) {
        return (first, second);
    }
    let most = places(&first).max(places(&second));
    (grouped(one, most), grouped(other, most))
}

/// The smallest share that a percentage shows.
pub(super) const SMALLEST: f64 = 0.001;

/// Returns a percentage; one decimal place below ten.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if share > 0.0 && percent < 0.05 {
        return "less than 0.1 %".into();
    }
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

/// Returns whether the difference of two values, or its share, is too small to be printed.
pub(super) fn is_unchanged(from: f64, to: f64) -> bool {
    let (first, last) = pair(from, to);
    first == last || (from > 0.0 && (to / from - 1.0).abs() < 0.0005)
}

/// `fell from 61,200 to 9,800 (-84 %)`, or `stayed at 61,200`.
pub(super) fn moved(from: f64, to: f64, unit: &str) -> String {
    let (first, last) = pair(from, to);
    if is_unchanged(from, to) {
        return format!("stayed at {last}{unit}");
    }
    let verb = if to < from { "fell" } else { "rose" };
    format!("{verb} from {first} to {last}{unit}{}", change(from, to))
}

/// An axis label as a quantity and its unit: `Average latency (ms)` is `Average latency` in ` ms`. A label without
/// parentheses names both, and so does one whose parentheses do not contain a unit; `MB/s` is that of a throughput.
pub(super) fn quantity(label: &str) -> (&str, String) {
    let split = label.strip_suffix(')').and_then(|label| label.split_once(" ("));
    match split {
        _ if label == MEGABYTES_PER_SECOND => ("Throughput", format!(" {label}")),
        Some((name, unit)) if !unit.contains(' ') && !unit.contains(char::is_numeric) => {
            (name, format!(" {unit}"))
        }
        _ => (label, String::new()),
    }
}

/// The unit of values on an axis with this label, such as ` ms`; empty if the label names none.
pub(super) fn unit_of(label: &str) -> String {
    match label {
        "IOPS" | MILLISECONDS => format!(" {label}"),
        _ => quantity(label).1,
    }
}

/// A name within a sentence: `average latency`, but `IOPS`.
pub(super) fn within(name: &str) -> String {
    let mut all = name.chars();
    match (all.next(), all.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => first.to_lowercase().chain(all).collect(),
        _ => name.to_owned(),
    }
}

/// A value on an axis with this label: `Block Size 128 KiB`.
pub(super) fn at(label: &str, value: &str) -> String {
    let (name, unit) = quantity(label);
    format!("{name} {value}{unit}")
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
        assert_eq!(moved(61_200.0, 9_800.0, ""), "fell from 61,200 to 9,800 (-84 %)");
        assert_eq!(moved(2.0, 2.04, " ms"), "rose from 2.00 to 2.04 ms (+2.0 %)");
        assert_eq!(moved(0.5, 6.0, ""), "rose from 0.5 to 6 (12 times as much)");
        assert_eq!(moved(0.0, 6.0, ""), "rose from 0 to 6");
        assert_eq!(moved(0.03, 0.031, " ms"), "rose from 0.030 to 0.031 ms (+3.3 %)");
        assert_eq!(moved(212.6, 212.7, " MB/s"), "stayed at 213 MB/s");
        assert_eq!(moved(426.6, 426.4, " MB/s"), "stayed at 426 MB/s");
    }

    #[test]
    fn units_in_parentheses_follow_the_value() {
        assert_eq!(at("Block Size (KiB)", "128"), "Block Size 128 KiB");
        assert_eq!(at("QD", "4"), "QD 4");
        assert_eq!(at("Total OIO (TC x QD)", "4"), "Total OIO (TC x QD) 4");
        assert_eq!(quantity("IOPS (R/W 0/100)"), ("IOPS (R/W 0/100)", String::new()));
        assert_eq!(quantity("Response time (ms)"), ("Response time", " ms".to_owned()));
        assert_eq!(quantity("MB/s"), ("Throughput", " MB/s".to_owned()));
        assert_eq!(["IOPS", "MB/s", "ART (ms)", "QD"].map(unit_of), [" IOPS", " MB/s", " ms", ""]);
    }

    #[test]
    fn only_words_are_written_in_small_letters_within_a_sentence() {
        assert_eq!(["Throughput", "IOPS", "4KiB", "A"].map(within), ["throughput", "IOPS", "4KiB", "A"]);
    }
}
