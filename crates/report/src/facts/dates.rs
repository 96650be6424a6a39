//! Dates of the tests, and their print format.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use record::{Entry, Event, RunFile};

/// Start and end of a test; a test ends with its last record.
#[derive(Debug, Clone)]
pub(crate) struct TestDates {
    pub test: String,
    pub start: Timestamp,
    pub end: Timestamp,
}

/// Date of an imported test, as worded by its source.
#[derive(Debug, Clone)]
pub(crate) struct SourceDate {
    pub test: String,
    pub date: String,
}

/// Returns the dates of the started tests, in order.
pub(crate) fn test_dates(entries: &[Entry]) -> Vec<TestDates> {
    let mut all: Vec<TestDates> = Vec::new();
    let mut open = false;
    for entry in entries {
        match &entry.event {
            Event::TestStarted { test } => {
                all.push(TestDates { test: test.clone(), start: entry.wall, end: entry.wall });
                open = true;
            }
            // The test restarted at its purge, so only results from this record on count.
            Event::Restarted { test } => {
                if let Some(dates) = all.iter_mut().find(|dates| dates.test == *test) {
                    (dates.start, dates.end) = (entry.wall, entry.wall);
                }
                open = true;
            }
            event => {
                if let Some(dates) = all.last_mut().filter(|_| open) {
                    dates.end = entry.wall;
                }
                open = open && !matches!(event, Event::TestEnded { .. });
            }
        }
    }
    all
}

/// Returns the dates of imported tests; empty for runs measured by Plateau.
pub(crate) fn source_dates(run: &RunFile, entries: &[Entry]) -> Vec<SourceDate> {
    let Some(origin) = &run.origin else { return Vec::new() };
    let of = |entry: &Entry| match &entry.event {
        Event::Imported(test) => {
            let date = test.date.clone().or_else(|| origin.date.clone());
            Some(SourceDate { test: test.test.clone(), date: date.unwrap_or_else(|| pts::ABSENT.into()) })
        }
        _ => None,
    };
    entries.iter().filter_map(of).collect()
}

/// How a date is printed.
pub(crate) type Format = fn(Option<Timestamp>) -> String;

/// Returns a date in the format used everywhere except in PTS 1.0 page headers: `2026-11-21 06:09 UTC`.
pub(crate) fn printed(at: Option<Timestamp>) -> String {
    formatted(at, "%Y-%m-%d %H:%M UTC")
}

/// Returns a date in the format of PTS 1.0 page headers (MM/DD/YYYY HH:MM AM), with its time zone: `11/21/2026 06:09
/// AM UTC`. Later revisions name the header fields but specify no format.
pub(crate) fn in_header_1_0(at: Option<Timestamp>) -> String {
    formatted(at, "%m/%d/%Y %I:%M %p UTC")
}

fn formatted(at: Option<Timestamp>, format: &str) -> String {
    at.map_or_else(|| "n/a".to_owned(), |at| at.to_zoned(TimeZone::UTC).strftime(format).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_date_is_not_available() {
        assert_eq!(printed(None), "n/a");
        assert_eq!(in_header_1_0(None), "n/a");
    }

    #[test]
    fn only_the_page_header_of_pts_1_0_has_the_format_of_the_specification() {
        let at = Some("2026-11-05T18:09:59Z".parse().expect("a time"));
        assert_eq!(printed(at), "2026-11-05 18:09 UTC");
        assert_eq!(in_header_1_0(at), "11/05/2026 06:09 PM UTC");
    }
}
