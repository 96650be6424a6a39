//! The JSON document of a Plateau report. Everything in it is kept; data that only the run itself contains, such as the
//! histograms in the journal, is lost.

mod layout;
mod tests;

use record::{ExportedFileSystem, ExportedMeter, HostFacts, Settings, Stated};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::format::{Format, first_byte, text};
use crate::imported::{Device, Imported, Provenance};
use crate::measured;
use layout::{Report, Versioned};

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "json",
    title: "Plateau JSON",
    about: "JSON document of a Plateau report",
    largest_bytes: 256 << 20,
    is,
    read,
};

/// The version of the layout that this build reads.
const SCHEMA_VERSION: u32 = 2;
/// Limit on the number of tests in a report.
const MOST_TESTS: usize = 1000;

fn is(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(4 << 10)];
    first_byte(head) == Some(b'{') && String::from_utf8_lossy(head).contains("\"schema_version\"")
}

fn read(bytes: &[u8]) -> Result<Imported, String> {
    let report = report(text(bytes)?)?;
    if report.tests.len() > MOST_TESTS {
        return Err(format!("it has {} tests; at most {MOST_TESTS} are supported", report.tests.len()));
    }
    let origin = report.origin;
    let plateau = format!("Plateau {}", report.plateau_version);
    let run = report.run.clone();
    let tests = report.tests.into_iter().map(|test| tests::test(test, &run)).collect::<Result<_, _>>()?;
    let device = report.device;
    let marks = report.marks.into_iter().map(layout::Mark::stated).collect();
    let profile = match &origin {
        // The report of an imported run has no revision of its own.
        Some(origin) => origin.profile.clone(),
        None => Some(report.profile),
    };
    let power = known::<ExportedMeter>(report.power, "power")?;
    let file_system = known::<ExportedFileSystem>(report.file_system, "file_system")?;
    power.as_ref().map_or(Ok(()), measured::meter)?;
    file_system.as_ref().map_or(Ok(()), measured::file_system)?;
    Ok(Imported {
        tool: origin.as_ref().map_or(plateau, |origin| origin.tool.clone()),
        date: match &origin {
            Some(origin) => origin.date.clone(),
            None => Some(report.created),
        },
        transcribed: origin.as_ref().is_some_and(|origin| origin.transcribed),
        reports_mebibytes: false,
        remarks: origin.map(|origin| origin.remarks).unwrap_or_default(),
        exported: Provenance {
            run: Some(report.run),
            profile,
            simulated: device.simulated_label,
            marks,
            not_begun: report.not_begun,
            power,
            file_system,
        },
        settings: known::<Settings>(report.settings, "settings")?,
        stated: known::<Stated>(report.stated, "stated")?.unwrap_or_default(),
        device: Device {
            path: device.path,
            vendor: device.vendor,
            model: device.model,
            serial: device.serial,
            firmware: device.firmware,
            interface: device.interface,
            nand: device.nand,
            capacity_bytes: device.capacity_bytes,
            logical_block_bytes: device.logical_block_bytes,
            physical_block_bytes: device.physical_block_bytes,
        },
        host: known::<HostFacts>(report.host, "host")?.unwrap_or_default(),
        tests,
    })
}

/// Returns the report, which is parsed only after its version has been checked, because keys of other versions
/// may be missing or have different meanings.
fn report(text: &str) -> Result<Report, String> {
    let failed = |error: serde_json::Error| error.to_string();
    let Versioned { schema_version: version } = serde_json::from_str(text).map_err(failed)?;
    if version != SCHEMA_VERSION {
        return Err(format!(
            "its schema_version is {version}; this version of Plateau reads only version {SCHEMA_VERSION}"
        ));
    }
    serde_json::from_str(text).map_err(failed)
}

/// Reads an object that has the same keys in `run.json`.
fn known<T: DeserializeOwned>(value: Value, what: &str) -> Result<Option<T>, String> {
    serde_json::from_value(value).map_err(|error| format!("\"{what}\": {error}"))
}
