//! Everything a report needs, folded from a run and its journal.

use pts::profile::WriteCache;
use pts::{Deviation, Outcome, Profile};
use record::{Entry, Event, Loaded, RunFile};
use stdx::units::{count_of, span};

use crate::beyond::{self, Beyond};
use crate::care::{self, TextTable};
use crate::conformance::{self, Conformance, Verdict};
use crate::publication::Publication;

/// The contents of a report.
#[derive(Debug, Clone)]
pub struct Document {
    pub(crate) run: RunFile,
    pub(crate) profile: &'static Profile,
    pub(crate) outcomes: Vec<Outcome>,
    /// Titles of the requested tests that were never started.
    pub(crate) not_begun: Vec<String>,
    pub(crate) modified: Vec<Deviation>,
    pub(crate) interruptions: Vec<Interruption>,
    /// True if the journal records that all tests completed.
    pub(crate) closed: bool,
    /// Size of a truncated last record, which was ignored.
    pub(crate) torn_bytes: Option<u64>,
    pub(crate) test_run_date: Option<jiff::Timestamp>,
    /// Start and end of each test by name; the end is that of its last record.
    pub(crate) test_dates: Vec<(String, jiff::Timestamp, jiff::Timestamp)>,
    /// Dates of imported tests as stated by the source, by name.
    pub(crate) told_dates: Vec<(String, String)>,
    pub(crate) report_run_date: Option<jiff::Timestamp>,
    /// Distinct load engines, in order of first use.
    pub(crate) engines: Vec<String>,
    pub(crate) digest: String,
    pub(crate) publication: Publication,
    pub(crate) conformance: Vec<Conformance>,
    pub(crate) beyond: Vec<Beyond>,
    /// Host checks, settings and health.
    pub(crate) care: Vec<TextTable>,
    /// Whether the drive's volatile write cache was on during the tests; None if it was neither set nor queried.
    pub(crate) write_cache_on: Option<bool>,
}

/// One interruption of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Interruption {
    pub at: jiff::Timestamp,
    /// Reason in words; None if the host stopped without recording one.
    pub reason: Option<String>,
    /// Time until the run continued; None if it did not.
    pub gap_ns: Option<u64>,
    /// Name of a test that restarted after the interruption.
    pub restarted: Option<String>,
}

/// Folds a run and its journal into a document, judged by this build.
///
/// # Errors
/// If this build does not know the profile or a test, or the journal does not match this version of a test.
pub fn fold(run: &RunFile, loaded: &Loaded) -> Result<Document, String> {
    let replayed = pts::replay(run, &loaded.entries)?;
    let own: &[String] = if run.origin.is_some() { &[] } else { &run.tests };
    let not_begun = own
        .iter()
        .filter(|name| !replayed.outcomes.iter().any(|outcome| outcome.test == name.as_str()))
        .map(|name| pts::Task::named(run, name).map(|task| task.title().to_owned()))
        .collect::<Result<_, _>>()?;
    let first_test = loaded.entries.iter().find(|e| matches!(e.event, Event::TestStarted { .. }));
    let mut document = Document {
        run: run.clone(),
        profile: Profile::of(run)?,
        outcomes: replayed.outcomes,
        not_begun,
        modified: replayed.modified,
        interruptions: interruptions(&loaded.entries),
        closed: loaded.entries.iter().any(|e| e.event == Event::Closed),
        torn_bytes: loaded.torn.map(|torn| torn.bytes),
        test_run_date: first_test.map(|e| e.wall),
        test_dates: test_dates(&loaded.entries),
        told_dates: told_dates(run, &loaded.entries),
        report_run_date: loaded.entries.last().map(|e| e.wall),
        engines: engines(&loaded.entries),
        digest: loaded.digest.to_string(),
        publication: Publication::default(),
        conformance: Vec::new(),
        beyond: Vec::new(),
        care: care::tables(&loaded.entries, run.scale_divisor()),
        write_cache_on: write_cache_on(&loaded.entries),
    };
    // The specification does not apply to results of other tools, and the journal has no I/Os for them.
    if run.origin.is_none() {
        document.conformance = conformance::statement(&document, &loaded.entries);
        document.beyond = beyond::beyond(&document, &loaded.entries);
    }
    Ok(document)
}

fn test_dates(entries: &[Entry]) -> Vec<(String, jiff::Timestamp, jiff::Timestamp)> {
    let mut all: Vec<(String, jiff::Timestamp, jiff::Timestamp)> = Vec::new();
    let mut open = false;
    for entry in entries {
        match &entry.event {
            Event::TestStarted { test } => {
                all.push((test.clone(), entry.wall, entry.wall));
                open = true;
            }
            // The test restarted at its purge, so the results that count begin here.
            Event::Restarted { test } => {
                if let Some(dates) = all.iter_mut().find(|(name, ..)| name == test) {
                    (dates.1, dates.2) = (entry.wall, entry.wall);
                }
                open = true;
            }
            event => {
                if let Some(dates) = all.last_mut().filter(|_| open) {
                    dates.2 = entry.wall;
                }
                open = open && !matches!(event, Event::TestEnded { .. });
            }
        }
    }
    all
}

fn told_dates(run: &RunFile, entries: &[Entry]) -> Vec<(String, String)> {
    let Some(origin) = &run.origin else { return Vec::new() };
    let of = |entry: &Entry| match &entry.event {
        Event::Imported(test) => {
            let date = test.date.clone().or_else(|| origin.date.clone());
            Some((test.test.clone(), date.unwrap_or_else(|| "n/a".into())))
        }
        _ => None,
    };
    entries.iter().filter_map(of).collect()
}

fn interruptions(entries: &[Entry]) -> Vec<Interruption> {
    let mut all: Vec<Interruption> = Vec::new();
    for (i, entry) in entries.iter().enumerate() {
        match &entry.event {
            Event::Interrupted { reason } => all.push(Interruption {
                at: entry.wall,
                reason: Some(reason.clone()),
                gap_ns: None,
                restarted: None,
            }),
            Event::Resumed { gap_ns } => match all.last_mut().filter(|last| last.gap_ns.is_none()) {
                Some(last) => last.gap_ns = Some(*gap_ns),
                None => all.push(Interruption {
                    at: entries[i.saturating_sub(1)].wall,
                    reason: None,
                    gap_ns: Some(*gap_ns),
                    restarted: None,
                }),
            },
            Event::Restarted { test } => {
                if let Some(last) = all.last_mut() {
                    last.restarted = Some(test.clone());
                }
            }
            _ => {}
        }
    }
    all
}

fn write_cache_on(entries: &[Entry]) -> Option<bool> {
    entries.iter().rev().find_map(|entry| match entry.event {
        Event::WriteCache { is_on, restored: false, .. } => is_on,
        _ => None,
    })
}

fn engines(entries: &[Entry]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for entry in entries {
        if let Event::Measured(segment) | Event::Preconditioned(segment) = &entry.event {
            let engine = segment.io_path.to_string();
            if !all.contains(&engine) {
                all.push(engine);
            }
        }
    }
    all
}

impl Interruption {
    pub fn describe(&self) -> String {
        let reason = self.reason.as_deref().unwrap_or("the run ended without a recorded reason");
        let end = match (self.gap_ns, &self.restarted) {
            (Some(gap), Some(test)) => {
                format!("resumed after {}; the {test} test was restarted at its purge", span(gap))
            }
            (Some(gap), None) => format!("resumed after {}", span(gap)),
            (None, _) => "not resumed".to_owned(),
        };
        format!("{}: {reason}; {end}", date(Some(self.at)))
    }
}

/// A date in the format of the PTS, with its time zone: `11/21/2026 06:09 AM UTC`.
pub(crate) fn date(at: Option<jiff::Timestamp>) -> String {
    at.map_or_else(
        || "n/a".to_owned(),
        |at| at.to_zoned(jiff::tz::TimeZone::UTC).strftime("%m/%d/%Y %I:%M %p UTC").to_string(),
    )
}

/// A caveat that must accompany every number; the strongest comes first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    pub kind: MarkKind,
    /// Banner text, in capitals.
    pub title: String,
    /// One text each; only modifications have several.
    pub details: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkKind {
    Imported,
    Simulated,
    NotAchieved,
    NotComplete,
    Interrupted,
    Modified,
}

impl Document {
    /// Marks of the pages of `outcome`, or of the whole run.
    pub(crate) fn marks(&self, outcome: Option<&Outcome>) -> Vec<Mark> {
        let mut marks = Vec::new();
        let mut mark = |kind, title: &str, details: Vec<String>| {
            marks.push(Mark { kind, title: title.to_owned(), details });
        };
        if let Some(origin) = &self.run.origin {
            let (how, typed) =
                if origin.transcribed { ("published figures", ", transcribed") } else { ("result file", "") };
            let text = format!(
                "not measured by Plateau and not a PTS run: {how} of {}{typed} ({})",
                origin.tool, origin.file
            );
            mark(MarkKind::Imported, "IMPORTED", vec![text]);
        }
        if let Some(sim) = &self.run.target.simulated {
            let text = format!(
                "not a real device: model {} version {}, scale 1/{}, seed {}",
                sim.model, sim.model_version, sim.scale_divisor, sim.seed
            );
            mark(MarkKind::Simulated, "SIMULATED", vec![text]);
        }
        let concerned: Vec<&Outcome> =
            outcome.map_or_else(|| self.outcomes.iter().collect(), |one| vec![one]);
        let name =
            |o: &Outcome, text: String| if outcome.is_some() { text } else { format!("{}: {text}", o.title) };
        let not_achieved: Vec<String> = concerned
            .iter()
            .filter(|o| o.converged == Some(false))
            .map(|o| name(o, format!("no steady state in {}", count_of(o.rounds, "round"))))
            .collect();
        if !not_achieved.is_empty() {
            mark(MarkKind::NotAchieved, "SS NOT ACHIEVED", not_achieved);
        }
        let mut cut: Vec<String> = concerned
            .iter()
            .filter_map(|o| Some((o, o.stop.as_ref()?)))
            .map(|(o, stop)| name(o, format!("{stop} after {} completed {}", o.rounds, rounds(o.rounds))))
            .collect();
        if outcome.is_none() {
            cut.extend(self.not_begun.iter().map(|title| format!("{title}: not started")));
            if cut.is_empty() && !self.closed {
                cut.push("the journal is still open".to_owned());
            }
        }
        if !cut.is_empty() {
            mark(MarkKind::NotComplete, "NOT COMPLETE", cut);
        }
        if !self.interruptions.is_empty() {
            mark(MarkKind::Interrupted, "INTERRUPTED", vec![self.interrupted_in_short()]);
        }
        if !self.modified.is_empty() {
            mark(MarkKind::Modified, "MODIFIED", pts::texts(&self.modified));
        }
        marks
    }

    /// Adds the data of the publisher.
    #[must_use]
    pub fn published(self, publication: Publication) -> Self {
        Self { publication, ..self }
    }

    /// Conformance of each test to the specification, clause by clause.
    #[must_use]
    pub fn conformance(&self) -> &[Conformance] {
        &self.conformance
    }

    /// The worst verdict of the run, or the verdict of one test.
    pub(crate) fn verdict(&self, outcome: Option<&Outcome>) -> Verdict {
        let concerned = |c: &&Conformance| outcome.is_none_or(|outcome| outcome.test == c.test);
        let verdicts = self.conformance.iter().filter(concerned).map(|c| c.verdict);
        verdicts.max().unwrap_or(Verdict::Conforms)
    }

    /// Watermark across exhibits that are not Plateau measurements of a drive.
    pub(crate) fn watermark(&self) -> Option<&'static str> {
        let simulated = self.run.target.simulated.as_ref().map(|_| "SIMULATED");
        simulated.or(self.run.origin.as_ref().map(|_| "IMPORTED"))
    }

    /// The watermark with its source, for material that leaves the report: pictures, data, other pages.
    pub(crate) fn label(&self) -> Option<String> {
        let simulated = self.run.target.simulated.as_ref().map(record::SimulatedFacts::label);
        simulated.or_else(|| self.run.origin.as_ref().map(|origin| format!("IMPORTED from {}", origin.tool)))
    }

    /// Label that must accompany every number of a simulated drive; empty for a real one.
    pub(crate) fn simulated(&self) -> String {
        self.run.target.simulated.as_ref().map(record::SimulatedFacts::label).unwrap_or_default()
    }

    /// Start and end of a test, or of the whole run, as printed.
    pub(crate) fn dates_of(&self, outcome: Option<&Outcome>) -> (String, String) {
        let name = outcome.map(|outcome| outcome.test.as_str());
        if let Some(origin) = &self.run.origin {
            let told = self.told_dates.iter().find(|(test, _)| Some(test.as_str()) == name);
            let run = || origin.date.clone().unwrap_or_else(|| "n/a".into());
            let told = told.map_or_else(run, |(_, date)| date.clone());
            return (told.clone(), told);
        }
        let of_test = self.test_dates.iter().find(|(test, ..)| Some(test.as_str()) == name);
        let (begin, end) = match of_test {
            Some((_, begin, end)) => (Some(*begin), Some(*end)),
            None => (self.test_run_date, self.report_run_date),
        };
        (date(begin), date(end))
    }

    /// State of the drive's write cache, or the state required by the profile.
    pub(crate) fn write_cache(&self) -> String {
        match (self.write_cache_on, self.profile.write_cache) {
            (Some(true), _) => "WCE",
            (Some(false), _) => "WCD",
            (None, WriteCache::Enabled) => "WCE requested, not set",
            (None, WriteCache::Disabled) => "WCD requested, not set",
        }
        .into()
    }

    /// Whether the results of `test` include `round`.
    pub(crate) fn in_window(&self, test: &str, round: Option<u32>) -> bool {
        let outcome = self.outcomes.iter().find(|outcome| outcome.test == test);
        let window = outcome.and_then(|outcome| Some(&outcome.window.first()?.1));
        window.zip(round).is_some_and(|(s, round)| (s.first_round..=s.last_round).contains(&round))
    }

    fn interrupted_in_short(&self) -> String {
        let resumed: Vec<u64> = self.interruptions.iter().filter_map(|i| i.gap_ns).collect();
        match (self.interruptions.len(), resumed.as_slice()) {
            (1, []) => "once, not resumed".to_owned(),
            (1, [gap]) => format!("once, for {}", span(*gap)),
            (times, gaps) => format!("{times} times, for {} in total", span(gaps.iter().sum())),
        }
    }
}

fn rounds(count: u32) -> &'static str {
    if count == 1 { "round" } else { "rounds" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(events: Vec<Event>) -> Vec<Entry> {
        let at = |i: i64| jiff::Timestamp::from_second(1_795_241_366 + 60 * i).unwrap();
        let entry = |(i, event): (usize, Event)| Entry { seq: i as u64, wall: at(i as i64), event };
        events.into_iter().enumerate().map(entry).collect()
    }

    #[test]
    fn interruptions_are_told_with_their_end() {
        let test = || "iops".to_owned();
        let told: Vec<String> = interruptions(&entries(vec![
            Event::TestStarted { test: test() },
            Event::Resumed { gap_ns: 90_000_000_000 },
            Event::Interrupted { reason: "Ctrl-C".into() },
            Event::Resumed { gap_ns: 5_000_000_000 },
            Event::Restarted { test: test() },
            Event::Interrupted { reason: "the device is gone".into() },
        ]))
        .iter()
        .map(Interruption::describe)
        .collect();
        assert_eq!(
            told,
            [
                "11/21/2026 06:09 AM UTC: the run ended without a recorded reason; resumed after 1 min 30 s",
                "11/21/2026 06:11 AM UTC: Ctrl-C; resumed after 5 s; the iops test was restarted at its \
                 purge",
                "11/21/2026 06:14 AM UTC: the device is gone; not resumed",
            ]
        );
    }

    #[test]
    fn a_missing_date_is_not_available() {
        assert_eq!(date(None), "n/a");
    }
}
