//! Imports results of other tools and published figures as ordinary runs.
//!
//! A parser is a pure function from bytes to [`Imported`]: one module under `formats` and one entry in
//! [`FORMATS`]. Files are untrusted: each format has a maximum size, entities are not expanded, every number must
//! be finite, not negative and possible, and every list has a limit. Derived values in a file (averages, verdicts)
//! are recomputed, and differences are reported.
#![forbid(unsafe_code)]

pub mod examples;

mod formats;
mod imported;
mod number;

use record::{Digest, Event, Origin, RUN_FILE_VERSION, RunFile, TargetFacts, TargetKind};

pub use formats::{FORMATS, Format};
pub use imported::{Device, Imported};

/// Limit on the readings of one test: more than any tool produces.
const MOST_READINGS: usize = 200_000;

/// Why a file cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// No format matches the file.
    #[error("the file has no known format; specify one with --format: {}", names())]
    Unknown,
    /// There is no format of this name.
    #[error("no format '{name}'; available formats: {}", names())]
    NoSuchFormat {
        /// The requested format.
        name: String,
    },
    /// The file is larger than any of its format.
    #[error("the file has {bytes} bytes; a {format} file has at most {limit}")]
    TooLarge {
        /// Size of the file.
        bytes: usize,
        /// The format.
        format: &'static str,
        /// The maximum size.
        limit: usize,
    },
    /// The file is not valid.
    #[error("not a usable {format} file: {problem}")]
    Refused {
        /// The format.
        format: &'static str,
        /// What is wrong, and where.
        problem: String,
    },
}

fn names() -> String {
    FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ")
}

/// Returns the largest maximum size of all formats.
#[must_use]
pub fn largest_bytes() -> usize {
    FORMATS.iter().map(|format| format.largest_bytes).max().unwrap_or(0)
}

/// Parses a file in the format `name`, or in the first format that matches.
///
/// # Errors
/// If no format matches or the file is not valid.
pub fn read(bytes: &[u8], name: Option<&str>) -> Result<(&'static Format, Imported), ImportError> {
    let format = match name {
        Some(name) => FORMATS
            .iter()
            .find(|format| format.name == name)
            .ok_or_else(|| ImportError::NoSuchFormat { name: name.into() })?,
        None => FORMATS.iter().find(|format| (format.is)(bytes)).ok_or(ImportError::Unknown)?,
    };
    let limit = format.largest_bytes;
    if bytes.len() > limit {
        return Err(ImportError::TooLarge { bytes: bytes.len(), format: format.title, limit });
    }
    let refused = |problem| ImportError::Refused { format: format.title, problem };
    let imported = (format.read)(bytes).map_err(refused)?;
    if imported.tests.is_empty() {
        return Err(refused("it contains no results".into()));
    }
    if let Some(test) = imported.tests.iter().find(|test| test.readings.len() > MOST_READINGS) {
        return Err(refused(format!("{} has {} values", test.test, test.readings.len())));
    }
    Ok((format, imported))
}

/// Origin of the bytes, and identity of the run.
#[derive(Debug, Clone)]
pub struct Source<'a> {
    /// Name of the file.
    pub file: &'a str,
    /// Its content.
    pub bytes: &'a [u8],
    /// Id of the run.
    pub id: String,
    /// Time of the import.
    pub created: jiff::Timestamp,
    /// Version of Plateau that imported it.
    pub version: &'a str,
    /// Git commit of that version, if known.
    pub commit: Option<&'a str>,
    /// Command line as given.
    pub command: Vec<String>,
}

/// Converts an imported file into a run: its `run.json`, and the events of its journal after the first.
#[must_use]
pub fn run(imported: Imported, format: &Format, source: Source<'_>) -> (RunFile, Vec<Event>) {
    let Device { path, vendor, model, serial, firmware, interface, nand, capacity_bytes } = imported.device;
    let file = RunFile {
        version: RUN_FILE_VERSION,
        id: source.id,
        created: source.created,
        plateau_version: source.version.into(),
        plateau_commit: source.commit.map(Into::into),
        command: source.command,
        tests: imported.tests.iter().map(|test| test.test.clone()).collect(),
        profile: "imported".into(),
        settings: pts::Profile::imported_settings(),
        target: TargetFacts {
            kind: TargetKind::Imported,
            identity: "none: imported".into(),
            path,
            attachment: None,
            vendor,
            model,
            serial,
            firmware,
            interface,
            nand,
            capacity_bytes,
            logical_block_bytes: 0,
            physical_block_bytes: 0,
            rotational: None,
            simulated: None,
            array: None,
        },
        host: imported.host,
        ceiling: None,
        placement: None,
        plan: None,
        driving: None,
        beside: None,
        labels: record::Labels::default(),
        origin: Some(Origin {
            format: format.title.into(),
            tool: imported.tool,
            file: source.file.into(),
            sha256: Digest::of(source.bytes).to_string(),
            date: imported.date,
            transcribed: imported.transcribed,
            reports_mebibytes: imported.reports_mebibytes,
            remarks: imported.remarks,
        }),
        handling: record::Handling::default(),
    };
    let mut events = Vec::new();
    for test in imported.tests {
        let (name, converged) = (test.test.clone(), test.steady);
        events.push(Event::TestStarted { test: name.clone() });
        events.push(Event::Imported(test));
        events.push(Event::TestEnded { test: name, converged });
    }
    events.push(Event::Closed);
    (file, events)
}
