//! Values and differences as printed, the same in all formats.

use pts::host_limit::{legend, marked};
use stdx::units::grouped;

use crate::comparison::Line;
use crate::noise::Difference;
use report::parts::{Figure, printed};

/// Letter of a run: A, B, C.
pub(crate) fn letter(index: usize) -> String {
    char::from(b'A' + index as u8).to_string()
}

/// Formats a value for display: milliseconds are small, IOPS are large.
pub(crate) fn value(value: f64) -> String {
    grouped(value, if value.abs() < 10.0 { 3 } else { 1 })
}

/// Mean of a figure with its uncertainty if it is known, marked if it is host-limited; None if not measured.
pub(crate) fn mean(figure: &Figure) -> Option<String> {
    let mean = figure.mean()?;
    let text = match figure.uncertainty {
        Some(uncertainty) => printed(mean, Some(uncertainty)),
        None => value(mean),
    };
    Some(marked(text, figure.host_limited))
}

/// Explains the mark if any of `lines` has it.
pub(crate) fn marks<'a>(mut lines: impl Iterator<Item = &'a Line>) -> Option<String> {
    let has_mark = |figure: &Figure| figure.host_limited && !figure.values.is_empty();
    lines.any(|line| line.figures.iter().flatten().any(has_mark)).then(legend)
}

/// Formats as `-12.3 % (-15.0 to -9.6): worse`.
pub(crate) fn difference(difference: &Difference) -> String {
    let interval = difference
        .interval_percent
        .map_or_else(String::new, |(low, high)| format!(" ({} to {})", signed(low), signed(high)));
    format!("{} %{interval}: {}", signed(difference.percent), difference.finding.word())
}

/// One decimal place, with a sign unless the result is zero.
fn signed(percent: f64) -> String {
    let rounded = (percent * 10.0).round() / 10.0;
    if rounded == 0.0 { "0.0".to_owned() } else { format!("{rounded:+.1}") }
}
