//! Values and differences as printed, the same in all formats.

use pts::exhibit::Table;
use pts::host_limit::{legend, marked};
use stdx::units::grouped;

use crate::comparison::Line;
use crate::noise::{Difference, Finding, MOST_DECIMALS};
use report::parts::{Figure, printed};

/// Returns the letter of a run: A to Z, then AA, AB.
pub(crate) fn letter(index: usize) -> String {
    let last = char::from(b'A' + (index % 26) as u8).to_string();
    if index < 26 { last } else { letter(index / 26 - 1) + &last }
}

/// Letters of several runs in ascending order, with ranges: `A, C-F`.
pub(crate) fn letters(runs: &[usize]) -> String {
    let parts: Vec<String> = runs
        .chunk_by(|a, b| *b == *a + 1)
        .map(|range| match range {
            [only] => letter(*only),
            [first, second] => format!("{}, {}", letter(*first), letter(*second)),
            [first, .., last] => format!("{}-{}", letter(*first), letter(*last)),
            [] => String::new(),
        })
        .collect();
    parts.join(", ")
}

/// Returns the number of decimal places of all values of a figure: milliseconds are small, IOPS are large.
pub(crate) fn decimals(line: &Line) -> usize {
    decimals_of(line.figures.iter().flatten().filter_map(Figure::mean))
}

/// One decimal place suits large values, unless one of them is so small that it would be printed as 0.1 or 0.0.
fn decimals_of(values: impl Iterator<Item = f64>) -> usize {
    let (smallest, largest) = values
        .filter(|value| *value > 0.0)
        .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    if smallest < 1.0 || largest < 10.0 { 3 } else { 1 }
}

/// Returns the mean of a figure, with its uncertainty if known, and marked if the figure is host-limited; None if
/// not measured.
pub(crate) fn mean(figure: &Figure, decimals: usize) -> Option<String> {
    let mean = figure.mean()?;
    let text = match figure.uncertainty {
        Some(uncertainty) => printed(mean, Some(uncertainty)),
        None => grouped(mean, decimals),
    };
    Some(marked(text, figure.host_limited))
}

/// Returns the mean and, if it is known, the standard deviation over the rounds: `22,070.2 ± 1.2 %`.
pub(crate) fn mean_and_spread(figure: Option<&Figure>, decimals: usize) -> String {
    let Some((text, figure)) = figure.and_then(|figure| Some((mean(figure, decimals)?, figure))) else {
        return "n/a".into();
    };
    match figure.spread_share() {
        Some(share) => format!("{text} ± {:.1} %", share * 100.0),
        None => text,
    }
}

/// Returns the heading of a table and, if it has one, the heading above its columns.
pub(crate) fn caption(table: &Table) -> String {
    match table.column_heading.as_str() {
        "" => table.heading.clone(),
        columns => format!("{}, {columns}", table.heading),
    }
}

/// Explains the mark for host-limited figures if any of `lines` has it.
pub(crate) fn marks<'a>(mut lines: impl Iterator<Item = &'a Line>) -> Option<String> {
    let has_mark = |figure: &Figure| figure.host_limited && !figure.values.is_empty();
    lines.any(|line| line.figures.iter().flatten().any(has_mark)).then(legend)
}

/// Returns a difference in parts that must not be broken: `-12.3 %`, `(-15.0 to -9.6):`, `worse`.
pub(crate) fn parts(difference: &Difference) -> Vec<String> {
    let signed = |percent| signed(percent, decimals_of_percent(difference));
    let percent = percent(difference);
    let word = difference.finding.word().to_owned();
    match difference.interval_percent {
        Some((low, high)) => vec![percent, format!("({} to {}):", signed(low), signed(high)), word],
        None => vec![percent + ":", word],
    }
}

/// Returns the difference alone: `-12.3 %`.
pub(crate) fn percent(difference: &Difference) -> String {
    format!("{} %", signed(difference.percent, decimals_of_percent(difference)))
}

/// Returns the number of decimal places with which the printed bounds support the finding: one, or more if a
/// bound other than zero would be printed as zero.
fn decimals_of_percent(difference: &Difference) -> usize {
    let nearest = match (difference.finding, difference.interval_percent) {
        (Finding::Better | Finding::Worse, Some((low, high))) => low.abs().min(high.abs()),
        _ => return 1,
    };
    (1..MOST_DECIMALS).find(|decimals| !is_zero(&grouped(nearest, *decimals))).unwrap_or(MOST_DECIMALS)
}

/// Formats a difference as `-12.3 % (-15.0 to -9.6): worse`.
#[must_use]
pub fn difference(difference: &Difference) -> String {
    parts(difference).join(" ")
}

/// Replaces spaces so that layouts keep `text` on one line.
pub(crate) fn unbroken(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// Formats a percentage, with a sign unless the printed value is zero.
pub(crate) fn signed(percent: f64, decimals: usize) -> String {
    let text = grouped(percent, decimals);
    let is_positive = !text.starts_with('-') && !is_zero(&text);
    if is_positive { format!("+{text}") } else { text }
}

fn is_zero(printed: &str) -> bool {
    printed.chars().all(|c| matches!(c, '0' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_values_keep_their_digits_beside_large_ones() {
        let decimals = |values: &[f64]| decimals_of(values.iter().copied());
        assert_eq!((decimals(&[0.08, 14.7]), decimals(&[2.0, 9.9]), decimals(&[])), (3, 3, 3));
        assert_eq!((decimals(&[0.0, 22_070.2]), decimals(&[1.5, 22_070.2])), (1, 1));
    }

    #[test]
    fn percentages_have_a_sign_and_grouped_digits() {
        let all = [3271.34, -1200.06, 12.25, -0.04, 0.0].map(|percent| signed(percent, 1));
        assert_eq!(all, ["+3,271.3", "-1,200.1", "+12.3", "0.0", "0.0"]);
    }

    #[test]
    fn printed_bounds_support_the_finding() {
        let of = |percent, low, high, finding| {
            difference(&Difference { percent, interval_percent: Some((low, high)), finding })
        };
        assert_eq!(of(0.03, 0.02, 0.04, Finding::Better), "+0.03 % (+0.02 to +0.04): better");
        assert_eq!(of(-1.5, -3.0, -0.0006, Finding::Worse), "-1.500 % (-3.000 to -0.001): worse");
        assert_eq!(of(-6.0, -8.3, -3.7, Finding::Worse), "-6.0 % (-8.3 to -3.7): worse");
        assert_eq!(of(0.02, -0.04, 0.04, Finding::WithinNoise), "0.0 % (0.0 to 0.0): within noise");
        let found =
            Difference { percent: 0.03, interval_percent: Some((0.02, 0.04)), finding: Finding::Better };
        assert_eq!(percent(&found), "+0.03 %");
    }

    #[test]
    fn runs_have_letters_beyond_z() {
        let all: Vec<String> = [0, 25, 26, 27, 51, 52].into_iter().map(letter).collect();
        assert_eq!(all, ["A", "Z", "AA", "AB", "AZ", "BA"]);
        assert_eq!(letters(&[0, 2, 3, 4, 6, 7]), "A, C-E, G, H");
    }
}
