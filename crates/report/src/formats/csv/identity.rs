//! The tested device, and how the tests ended: one row for the run, and one for each test.

use pts::Outcome;

use super::super::format::Source;
use super::writer::{self, NAMED, Record, optional};
use crate::facts::conformance::Verdict;

const RUN: &[&str] = &[
    "vendor",
    "model",
    "serial",
    "firmware",
    "interface",
    "capacity_bytes",
    "profile",
    "conformance",
    "steady",
    "complete",
    "created",
    "started",
    "ended",
    "source_date",
    "plateau_version",
    "journal_sha256",
];

/// Returns a table with one row, so that tables of several runs can be joined by the `run` column.
pub(super) fn run(source: Source<'_>) -> Result<Vec<u8>, String> {
    let (document, run) = (source.document, &source.document.run);
    let target = &run.target;
    let judged: Vec<bool> = document.outcomes.iter().filter_map(|outcome| outcome.converged).collect();
    let origin = run.origin.as_ref();
    let row = vec![
        optional(target.vendor.as_deref()),
        optional(target.model.as_deref()),
        optional(target.serial.as_deref()),
        optional(target.firmware.as_deref()),
        optional(target.interface.as_deref()),
        optional(Some(target.capacity_bytes).filter(|bytes| *bytes > 0)),
        document.profile.revision.to_owned(),
        optional(origin.is_none().then(|| document.verdict(None)).map(Verdict::words)),
        optional((!judged.is_empty()).then(|| judged.iter().all(|steady| *steady))),
        (document.closed && document.not_begun.is_empty()).to_string(),
        run.created.to_string(),
        optional(document.test_run_date.filter(|_| origin.is_none())),
        optional(document.report_run_date.filter(|_| origin.is_none())),
        optional(origin.and_then(|origin| origin.date.as_deref())),
        run.plateau_version.clone(),
        document.digest.clone(),
    ];
    writer::table(source, [(row, NAMED.to_owned())], RUN)
}

const TESTS: &[&str] = &[
    "test",
    "title",
    "threads",
    "queue_depth",
    "rounds",
    "steady",
    "complete",
    "stopped",
    "conformance",
    "acceptance",
    "started",
    "ended",
    "source_date",
];

pub(super) fn tests(source: Source<'_>) -> Result<Vec<u8>, String> {
    let document = source.document;
    let row = |outcome: &Outcome| -> Record {
        let dates = document.test_dates.iter().find(|dates| dates.test == outcome.test);
        let reported = document.source_dates.iter().find(|dates| dates.test == outcome.test);
        let stated = document.conformance.iter().find(|conformance| conformance.test == outcome.test);
        let row = vec![
            outcome.test.clone(),
            outcome.title.clone(),
            optional(outcome.header.threads),
            optional(outcome.header.queue_depth),
            outcome.rounds.to_string(),
            optional(outcome.converged),
            outcome.stop.is_none().to_string(),
            optional(outcome.stop.as_ref()),
            optional(stated.map(|conformance| conformance.verdict.words())),
            optional(outcome.acceptance.as_ref().map(pts::Acceptance::word)),
            optional(dates.map(|dates| dates.start)),
            optional(dates.map(|dates| dates.end)),
            optional(reported.map(|reported| reported.date.as_str())),
        ];
        (row, NAMED.to_owned())
    };
    writer::table(source, document.outcomes.iter().map(row), TESTS)
}
