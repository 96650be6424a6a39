//! Cell formats, and the label of a sheet.

use pts::host_limit::MARK;
use rust_xlsxwriter::{Color, Format, Worksheet, XlsxError};

use super::super::format::Source;

/// Headings and labels.
pub(super) fn bold() -> Format {
    Format::new().set_bold()
}

/// Returns a format with grouped digits and the given number of decimal places; the value itself is not
/// rounded.
pub(super) fn number(decimals: usize) -> Format {
    Format::new().set_num_format(digits(decimals))
}

/// Returns a format for a host-limited number: the cell shows the mark but still contains a number.
pub(super) fn limited(decimals: usize) -> Format {
    Format::new().set_num_format(format!("{}\"{MARK}\"", digits(decimals)))
}

/// Makes a format pale and italic, for a number that is not a valid result.
pub(super) fn doubtful(format: Format) -> Format {
    format.set_italic().set_font_color(Color::RGB(0x0055_606E))
}

/// Returns a format that shows a fraction in percent.
pub(super) fn percent() -> Format {
    Format::new().set_num_format("0.0%")
}

fn digits(decimals: usize) -> String {
    let places = if decimals > 0 { format!(".{}", "0".repeat(decimals)) } else { String::new() };
    format!("#,##0{places}")
}

/// Labels a sheet with simulated or imported results; returns the first free row.
pub(super) fn labelled(sheet: &mut Worksheet, source: Source<'_>) -> Result<u32, XlsxError> {
    let Some(label) = source.document.label() else { return Ok(0) };
    sheet.write_with_format(0, 0, label, &bold())?;
    Ok(2)
}
