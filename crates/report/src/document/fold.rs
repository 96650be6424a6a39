//! Builds a document from a run and its journal.

use record::{Entry, Event, Loaded, RunFile};

use super::contents::Document;
use super::findings::{Findings, findings};
use super::publication::Publication;
use crate::facts::drive_and_host::TextTable;
use crate::facts::judged::JudgedRun;
use crate::facts::scaled_clock::ScaledClock;
use crate::facts::{dates, drive_and_host, file_share, interruptions, platform, supplement};

/// Builds a document from a run and its journal, using the criteria of this version of Plateau.
///
/// # Errors
/// Returns an error if this version does not support the profile or a test, or if the journal does not match
/// the way in which this version runs a test.
pub fn fold(run: &RunFile, loaded: &Loaded) -> Result<Document, String> {
    let entries: &[Entry] = &loaded.entries;
    // The specification does not apply to results from other tools, and the journal contains no I/Os for them.
    let timelines = || run.origin.is_none().then(|| supplement::timelines(run, entries));
    let (findings, timelines) = stdx::parallel::both(|| findings(run, loaded), timelines);
    let Findings { profile, outcomes, not_begun, modified, conformance, figures, meter, power, .. } =
        findings?;
    let first_test = entries.iter().find(|e| matches!(e.event, Event::TestStarted { .. }));
    let judged = JudgedRun { run, profile, outcomes: &outcomes, entries };
    let supplements =
        timelines.map(|timelines| supplement::supplements(judged, timelines)).unwrap_or_default();
    let mut tables: Vec<TextTable> = platform::table(run).into_iter().collect();
    tables.extend(drive_and_host::tables(entries, &ScaledClock::of(entries, run.scale_divisor())));
    Ok(Document {
        run: run.clone(),
        profile,
        not_begun,
        figures,
        modified,
        interruptions: interruptions::interruptions(entries),
        closed: entries.iter().any(|e| e.event == Event::Closed),
        torn_bytes: loaded.torn.map(|torn| torn.bytes),
        test_run_date: first_test.map(|e| e.wall),
        test_dates: dates::test_dates(entries),
        source_dates: dates::source_dates(run, entries),
        report_run_date: entries.last().map(|e| e.wall),
        engines: drive_and_host::engines(entries),
        digest: loaded.digest.to_string(),
        publication: Publication::default(),
        conformance,
        supplements,
        per_workload: supplement::per_workload::all(judged),
        power,
        meter,
        file_system: file_share::of_run(run, entries),
        on_file: file_share::statement(run, entries),
        drive_and_host: tables,
        invalidating: drive_and_host::invalidating(entries),
        write_cache: drive_and_host::write_cache(&outcomes, entries),
        outcomes,
    })
}
