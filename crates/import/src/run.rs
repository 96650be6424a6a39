//! Converts an imported file into a run.

use record::{Digest, Event, Origin, RUN_FILE_VERSION, RunFile, TargetFacts, TargetKind};

use crate::formats::Format;
use crate::imported::{Device, Imported};

/// Origin of the imported bytes, and identity of the run.
#[derive(Debug, Clone)]
pub struct Source<'a> {
    /// Name of the file.
    pub file: &'a str,
    /// Content of the imported file.
    pub bytes: &'a [u8],
    /// Id of the run.
    pub id: String,
    /// Time of the import.
    pub created: jiff::Timestamp,
    /// Plateau version that imported the file.
    pub version: &'a str,
    /// Git commit of that version, if known.
    pub commit: Option<&'a str>,
    /// Command line as typed.
    pub command: Vec<String>,
}

/// Converts an imported file into a run: its `run.json`, and the events of its journal after the first event.
#[must_use]
pub fn run(imported: Imported, format: &Format, source: Source<'_>) -> (RunFile, Vec<Event>) {
    let tests = imported.tests.iter().map(|test| test.test.clone()).collect();
    let file = RunFile {
        version: RUN_FILE_VERSION,
        id: source.id,
        created: source.created,
        plateau_version: source.version.into(),
        plateau_commit: source.commit.map(Into::into),
        command: source.command,
        tests,
        profile: "imported".into(),
        settings: imported.settings,
        target: target(imported.device),
        host: imported.host,
        ceiling: None,
        placement: None,
        plan: None,
        driving: None,
        concurrent: None,
        file_system: None,
        power: None,
        labels: record::Labels::default(),
        stated: imported.stated,
        origin: Some(Origin {
            format: format.title.into(),
            tool: imported.tool,
            file: source.file.into(),
            sha256: Digest::of(source.bytes).to_string(),
            date: imported.date,
            transcribed: imported.transcribed,
            reports_mebibytes: imported.reports_mebibytes,
            exported_run: imported.exported.run,
            profile: imported.exported.profile,
            simulated: imported.exported.simulated,
            marks: imported.exported.marks,
            not_begun: imported.exported.not_begun,
            power: imported.exported.power,
            file_system: imported.exported.file_system,
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

/// Returns the drive, as far as the file describes it.
fn target(device: Device) -> TargetFacts {
    let Device {
        path,
        vendor,
        model,
        serial,
        firmware,
        interface,
        nand,
        capacity_bytes,
        logical_block_bytes,
        physical_block_bytes,
    } = device;
    TargetFacts {
        kind: TargetKind::Imported,
        identity: String::new(),
        path: path.unwrap_or_default(),
        attachment: None,
        vendor,
        model,
        serial,
        firmware,
        interface,
        nand,
        capacity_bytes: capacity_bytes.unwrap_or(0),
        logical_block_bytes: logical_block_bytes.unwrap_or(0),
        physical_block_bytes: physical_block_bytes.unwrap_or(0),
        rotational: None,
        simulated: None,
        array: None,
    }
}
