//! Builds a document from a run and its journal.

use pts::Profile;
use record::{Entry, Event, ExportedMeter, Loaded, RunFile};

use super::contents::Document;
use super::publication::Publication;
use crate::facts::drive_and_host::TextTable;
use crate::facts::efficiency::{self, Meter};
use crate::facts::judged::JudgedRun;
use crate::facts::scaled_clock::ScaledClock;
use crate::facts::{
    conformance, dates, drive_and_host, figures, file_share, interruptions, platform, supplement,
};

/// Builds a document from a run and its journal, using the criteria of this version of Plateau.
///
/// # Errors
/// Returns an error if this version does not support the profile or a test, or if the journal does not match
/// the way in which this version runs a test.
pub fn fold(run: &RunFile, loaded: &Loaded) -> Result<Document, String> {
    let entries: &[Entry] = &loaded.entries;
    // The specification does not apply to results from other tools, and the journal contains no I/Os for them.
    let timelines = || run.origin.is_none().then(|| supplement::timelines(run, entries));
    let (replayed, timelines) = stdx::parallel::both(|| pts::replay(run, entries), timelines);
    let replayed = replayed?;
    let not_begun = match &run.origin {
        Some(origin) => origin.not_begun.clone(),
        None => run
            .tests
            .iter()
            .filter(|name| !replayed.outcomes.iter().any(|outcome| outcome.test == name.as_str()))
            .map(|name| pts::Task::named(run, name).map(|task| task.title().to_owned()))
            .collect::<Result<_, _>>()?,
    };
    let first_test = entries.iter().find(|e| matches!(e.event, Event::TestStarted { .. }));
    let (meter, power) = power(run, entries);
    let judged = JudgedRun { run, profile: Profile::of(run)?, outcomes: &replayed.outcomes, entries };
    let (conformance, supplements) = match timelines {
        Some(timelines) => (conformance::statement(judged), supplement::supplements(judged, timelines)),
        None => (Vec::new(), Vec::new()),
    };
    let mut tables: Vec<TextTable> = platform::table(run).into_iter().collect();
    tables.extend(drive_and_host::tables(entries, &ScaledClock::of(entries, run.scale_divisor())));
    Ok(Document {
        run: run.clone(),
        profile: judged.profile,
        not_begun,
        figures: figures::figures(judged),
        modified: replayed.modified,
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
        write_cache: drive_and_host::write_cache(&replayed.outcomes, entries),
        outcomes: replayed.outcomes,
    })
}

/// Returns the power meter used in a run, and its description.
fn power(run: &RunFile, entries: &[Entry]) -> (Option<ExportedMeter>, String) {
    let Some(origin) = &run.origin else {
        let meter = Meter::of(run, entries);
        return (meter.stated(), meter.statement());
    };
    let stated = origin.power.clone();
    let text = match &stated {
        Some(meter) => efficiency::statement(meter, None),
        None => format!("Power and efficiency: {}.", pts::ABSENT),
    };
    (stated, text)
}
