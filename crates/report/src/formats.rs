//! The formats of a report: HTML, PDF, and data for other programs, one module and one entry in [`FORMATS`] each.
//! In every format, the same journal yields the same bytes.
//!
//! Data use base units (bytes, nanoseconds, I/Os per second), and every key names its unit. Tables and charts match
//! those of the report.

pub(crate) mod card;
mod csv;
mod fio;
mod format;
pub(crate) mod html;
mod json;
mod openmetrics;
pub(crate) mod pdf;
mod png;
mod svg;
pub(crate) mod text;
mod tkperf;
mod xlsx;

pub use format::{Files, Format, Make, Source};
pub use json::{SCHEMA_VERSION, schema};

/// All formats, in the order of the help text.
pub const FORMATS: &[Format] = &[
    html::FORMAT,
    pdf::FORMAT,
    csv::FORMAT,
    json::FORMAT,
    xlsx::FORMAT,
    svg::FORMAT,
    png::FORMAT,
    card::FORMAT,
    openmetrics::FORMAT,
    fio::FORMAT,
    tkperf::FORMAT,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_have_different_names_and_extensions() {
        let extensions: Vec<_> = FORMATS.iter().flat_map(|format| format.extensions).collect();
        for (i, extension) in extensions.iter().enumerate() {
            assert!(!extensions[..i].contains(extension), "{extension}");
        }
        for (i, format) in FORMATS.iter().enumerate() {
            assert!(FORMATS[..i].iter().all(|other| other.name != format.name), "{}", format.name);
        }
    }

    #[test]
    fn names_of_outputs_differ_and_have_known_extensions() {
        let files = FORMATS.iter().filter(|format| matches!(format.make, Make::File(_)));
        let names: Vec<String> = files.map(|format| format.output_name("a.b")).collect();
        assert!(names.contains(&"a.b.fio.json".to_owned()), "{names:?}");
        for (i, name) in names.iter().enumerate() {
            assert!(!names[..i].contains(name), "{name}");
            let end = name.rsplit('.').next().unwrap_or_default();
            assert!(FORMATS.iter().any(|format| format.extensions.contains(&end)), "{name}");
        }
    }
}
