//! Sizes, rates and times in human-readable form.
//!
//! Transfer sizes are base 2 (KiB, GiB), rates and totals base 10 (MB/s, GB), as in the PTS.

use std::fmt::Display;

/// One KiB in bytes.
pub const KIB: u64 = 1 << 10;
/// One MiB in bytes.
pub const MIB: u64 = 1 << 20;
/// One GiB in bytes.
pub const GIB: u64 = 1 << 30;
/// One second in nanoseconds.
pub const SECOND_NS: u64 = 1_000_000_000;

/// Unit of temperatures. ASCII output shows it as `C`.
pub const CELSIUS: &str = "\u{b0}C";

const SUFFIXES: &[(&str, u64)] = &[
    ("KiB", KIB),
    ("MiB", MIB),
    ("GiB", GIB),
    ("TiB", 1 << 40),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("K", KIB),
    ("M", MIB),
    ("G", GIB),
    ("T", 1 << 40),
    ("B", 1),
    ("", 1),
];

/// Parses a size such as `4096`, `4KiB`, `1.5 GiB`, `100GB` into bytes. A bare K, M, G or T is base 2, as in fio.
///
/// # Errors
/// Returns an error that names the expected format if the text is not a size or not a whole number of bytes.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at(digits);
    let not_a_size = || format!("'{text}' is not a size; write a number and a unit, such as 512MiB");
    if number.is_empty() {
        return Err(not_a_size());
    }
    let suffix = suffix.trim();
    let unit = SUFFIXES
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(suffix))
        .map(|&(_, bytes)| bytes)
        .ok_or_else(|| {
        format!("unknown unit '{suffix}' in '{text}'; use KiB, MiB, GiB, TiB, KB, MB, GB or TB")
    })?;
    let bytes = match number.parse::<u64>() {
        Ok(whole) => whole.checked_mul(unit).ok_or_else(|| format!("'{text}' is too large"))?,
        Err(_) => fraction_of(number, unit).ok_or_else(not_a_size)?,
    };
    if bytes == 0 { Err(format!("'{text}' is zero bytes")) } else { Ok(bytes) }
}

fn fraction_of(number: &str, unit: u64) -> Option<u64> {
    let bytes = number.parse::<f64>().ok()? * unit as f64;
    (bytes.is_finite() && bytes.fract() == 0.0 && bytes < 9e15).then_some(bytes as u64)
}

/// Formats a transfer size in base 2: `0.5KiB`, `4KiB`, `1024KiB` (the PTS never writes 1 MiB); `100B` if it is
/// not a multiple of 0.5 KiB.
#[must_use]
pub fn block_size(bytes: u64) -> String {
    if bytes.is_multiple_of(KIB / 2) { format!("{}KiB", kib(bytes)) } else { format!("{bytes}B") }
}

/// Formats a transfer size in KiB without the unit: `0.5`, `4`, `1024`.
#[must_use]
pub fn kib(bytes: u64) -> String {
    if bytes.is_multiple_of(KIB) {
        (bytes / KIB).to_string()
    } else {
        format!("{}", bytes as f64 / KIB as f64)
    }
}

/// Formats an amount in base 2 with at most one decimal: `16 GiB`, `1.5 MiB`.
#[must_use]
pub fn amount_base2(bytes: u64) -> String {
    scaled(bytes as f64, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB", "PiB"])
}

/// Formats an amount in base 10 with at most one decimal: `100 GB`, `1.9 TB`.
#[must_use]
pub fn amount_base10(bytes: u64) -> String {
    scaled(bytes as f64, 1000.0, &["B", "kB", "MB", "GB", "TB", "PB"])
}

fn scaled(mut value: f64, step: f64, units: &[&str]) -> String {
    let mut unit = 0;
    while value >= step && unit + 1 < units.len() {
        value /= step;
        unit += 1;
    }
    let rounded = (value * 10.0).round() / 10.0;
    format!("{rounded} {}", units[unit])
}

/// Formats a duration: `0 s`, `850 ms`, `42 s`, `3 min 05 s`, `2 h 03 min`, `1 d 04 h`.
#[must_use]
pub fn span(nanoseconds: u64) -> String {
    let seconds = (nanoseconds as f64 / SECOND_NS as f64).round() as u64;
    match seconds {
        0..=1 if nanoseconds < 1_000_000 => "0 s".to_owned(),
        0..=1 if nanoseconds < SECOND_NS => format!("{} ms", nanoseconds / 1_000_000),
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{} h {:02} min", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{} d {:02} h", seconds / 86_400, seconds % 86_400 / 3_600),
    }
}

/// Returns the number of decimal places, at least `least`, that show a digit of a small value, which would otherwise be
/// printed as zero.
#[must_use]
pub fn places(value: f64, least: usize) -> usize {
    const MOST: usize = 6;
    let is_shown = |places: &usize| value.abs() * 10f64.powi(*places as i32) >= 1.0;
    (least..=MOST).find(is_shown).unwrap_or(least)
}

/// Formats a number with `decimals` decimals, rounded half away from zero, and commas as thousands separators: `65,345.3`.
#[must_use]
pub fn grouped(value: f64, decimals: usize) -> String {
    let factor = 10f64.powi(decimals as i32);
    let rounded = (value * factor).round() / factor;
    let plain = format!("{:.decimals$}", rounded.abs());
    let (whole, fraction) = plain.split_once('.').map_or((plain.as_str(), None), |(w, f)| (w, Some(f)));
    let mut out = String::from(if rounded < 0.0 { "-" } else { "" });
    out.push_str(&counted(whole));
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// Formats a count with commas as thousands separators: `1,063`.
#[must_use]
pub fn counted(count: impl Display) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats a count with its noun, which is passed in the singular: `1 round`, `5 rounds`, `1,000 rounds`.
#[must_use]
pub fn count_of(count: impl Display + PartialEq + From<u8>, one: &str) -> String {
    format!("{} {one}{}", counted(&count), if count == 1.into() { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_written() {
        for (text, bytes) in [
            ("512", 512),
            ("4k", 4096),
            ("4KiB", 4096),
            ("1.5 GiB", 1_610_612_736),
            ("100GB", 100_000_000_000),
            ("1GiB", GIB),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for wrong in ["", "GiB", "4 parsecs", "-1", "0", "1.0001", "99999999999T"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_are_written_as_the_pts_does() {
        assert_eq!(block_size(512), "0.5KiB");
        assert_eq!(block_size(1 << 20), "1024KiB");
        assert_eq!((block_size(100), block_size(1536)), ("100B".into(), "1.5KiB".into()));
        assert_eq!(amount_base10(1_900_000_000_000), "1.9 TB");
        assert_eq!(amount_base2(16 * GIB), "16 GiB");
    }

    #[test]
    fn numbers_are_grouped_and_rounded_half_up() {
        assert_eq!(grouped(65_345.25, 1), "65,345.3");
        assert_eq!(grouped(-1_234_567.0, 0), "-1,234,567");
        assert_eq!(grouped(0.5, 0), "1");
        assert_eq!(grouped(999.96, 1), "1,000.0");
    }

    #[test]
    fn one_is_not_several() {
        assert_eq!([0, 1, 2].map(|count| count_of(count, "round")), ["0 rounds", "1 round", "2 rounds"]);
        assert_eq!(count_of(1_063_u32, "cell"), "1,063 cells");
        assert_eq!([999, 1_152, 1_000_000].map(counted), ["999", "1,152", "1,000,000"]);
    }

    #[test]
    fn spans_read_like_speech() {
        assert_eq!(span(850_000_000), "850 ms");
        assert_eq!(span(42 * SECOND_NS), "42 s");
        assert_eq!(span(185 * SECOND_NS), "3 min 05 s");
        assert_eq!(span(7_380 * SECOND_NS), "2 h 03 min");
        assert_eq!(span(100_800 * SECOND_NS), "1 d 04 h");
    }
}
