//! The contents of a report, and values derived from them without the journal.

use pts::profile::WriteCache;
use pts::{Deviation, KeyFigure, Outcome, Profile};
use record::{Entry, ExportedFileSystem, ExportedMeter, IMPORTED_FROM, RunFile};

use super::findings::worst;
use super::per_watt::comparable;
use super::publication::Publication;
use crate::facts::conformance::{Conformance, Verdict};
use crate::facts::dates::{self, SourceDate, TestDates};
use crate::facts::drive_and_host::TextTable;
use crate::facts::efficiency;
use crate::facts::figures::{Figure, family};
use crate::facts::interruptions::Interruption;
use crate::facts::judged::JudgedRun;
use crate::facts::supplement::Supplement;
use crate::facts::supplement::per_workload::PerWorkload;
use crate::facts::supplement::workload_table::WorkloadTable;

/// The contents of a report.
#[derive(Debug, Clone)]
pub struct Document {
    /// The requested tests, the device and the host.
    pub run: RunFile,
    /// The version of the specification.
    pub profile: &'static Profile,
    /// Results of the tests, in order.
    pub outcomes: Vec<Outcome>,
    /// Titles of the requested tests that were never started.
    pub(crate) not_begun: Vec<String>,
    /// Comparable figures, each with the values of the rounds.
    pub(crate) figures: Vec<Figure>,
    pub(crate) modified: Vec<Deviation>,
    pub(crate) interruptions: Vec<Interruption>,
    /// True if the journal records that all tests completed.
    pub(crate) closed: bool,
    /// Size of a truncated last record, which was ignored.
    pub(crate) torn_bytes: Option<u64>,
    pub(crate) test_run_date: Option<jiff::Timestamp>,
    pub(crate) test_dates: Vec<TestDates>,
    pub(crate) source_dates: Vec<SourceDate>,
    pub(crate) report_run_date: Option<jiff::Timestamp>,
    /// Distinct load engines, in order of first use.
    pub engines: Vec<String>,
    /// SHA-256 of the journal.
    pub digest: String,
    pub(crate) publication: Publication,
    pub(crate) conformance: Vec<Conformance>,
    pub(crate) supplements: Vec<Supplement>,
    /// For each test, the efficiency of its workloads and the I/O overhead of the file system.
    pub(crate) per_workload: Vec<PerWorkload>,
    /// The power source and the idle power; None if there is no source.
    pub meter: Option<ExportedMeter>,
    /// Describes the power source and the idle power.
    pub(crate) power: String,
    /// The file system of the target, and its I/O overhead; None if the target is not a file on a known file
    /// system.
    pub file_system: Option<ExportedFileSystem>,
    /// Describes the file system and its I/O overhead.
    pub(crate) on_file: Option<String>,
    /// Test platform, host checks, settings and health.
    pub(crate) drive_and_host: Vec<TextTable>,
    /// Problems found by host checks that would invalidate results.
    pub(crate) invalidating: Vec<String>,
    /// States of the drive's volatile write cache during the tests, in order of their first use; empty if it was neither
    /// set nor queried.
    pub(crate) write_cache: Vec<bool>,
}

impl Document {
    /// Adds the publisher's data.
    #[must_use]
    pub fn published(self, publication: Publication) -> Self {
        Self { publication, ..self }
    }

    /// Returns the conclusions of the started tests.
    #[must_use]
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// Returns all deviations from the profile.
    #[must_use]
    pub fn modified(&self) -> &[Deviation] {
        &self.modified
    }

    /// Returns the conformance of the whole run; None for results from other tools, because the specification
    /// does not apply to them.
    #[must_use]
    pub fn run_verdict(&self) -> Option<Verdict> {
        self.run.origin.is_none().then(|| self.verdict(None))
    }

    /// Returns all figures that can be compared with other runs, including figures per watt. `entries` are those of the
    /// run.
    #[must_use]
    pub fn comparable_figures(&self, entries: &[Entry]) -> Vec<Figure> {
        let judged = JudgedRun { run: &self.run, profile: self.profile, outcomes: &self.outcomes, entries };
        comparable(judged, self.meter.as_ref(), &self.figures)
    }

    /// Returns the conformance of each test to the specification, clause by clause.
    #[must_use]
    pub fn conformance(&self) -> &[Conformance] {
        &self.conformance
    }

    /// Returns the worst verdict of the run, or the verdict of one test. A run in which a test is missing is not
    /// a result as defined by the specification.
    pub(crate) fn verdict(&self, outcome: Option<&Outcome>) -> Verdict {
        let lacks_tests = outcome.is_none()
            && self.run.origin.is_none()
            && (self.outcomes.is_empty() || !self.not_begun.is_empty());
        let concerned = |c: &&Conformance| outcome.is_none_or(|outcome| outcome.test == c.test);
        worst(lacks_tests, self.conformance.iter().filter(concerned))
    }

    /// Returns the tables of a test's workloads: one with their efficiency, one with the I/O overhead of the
    /// file system.
    pub(crate) fn workload_tables(&self, test: &str) -> Vec<WorkloadTable> {
        let is_bound = self.meter.as_ref().is_some_and(efficiency::is_bound);
        let of_test = self.per_workload.iter().filter(|one| one.test == test);
        of_test.flat_map(|one| one.tables(is_bound)).collect()
    }

    /// Returns whether an imported run's file contains power values or the I/O overhead of a file system.
    pub(crate) fn has_stated_measurements(&self) -> bool {
        let states = |one: &PerWorkload| !(one.efficiency.is_empty() && one.file_share.is_empty());
        self.run.origin.is_some()
            && (self.meter.is_some() || self.file_system.is_some() || self.per_workload.iter().any(states))
    }

    /// Returns the watermark for exhibits whose values Plateau did not measure on a real drive.
    pub(crate) fn watermark(&self) -> Option<&'static str> {
        let simulated = (!self.simulated().is_empty()).then_some("SIMULATED");
        simulated.or(self.run.origin.as_ref().map(|_| "IMPORTED"))
    }

    /// Returns the watermark with its source, for content used outside the report: pictures, data, other pages.
    #[must_use]
    pub fn label(&self) -> Option<String> {
        let labels = [self.imported(), self.simulated()].into_iter().filter(|label| !label.is_empty());
        let labels: Vec<String> = labels.collect();
        (!labels.is_empty()).then(|| labels.join(", "))
    }

    /// Returns the label that must accompany every number of a simulated drive; empty for a real drive.
    #[must_use]
    pub fn simulated(&self) -> String {
        let stated = self.run.origin.as_ref().and_then(|origin| origin.simulated.clone());
        let own = self.run.target.simulated.as_ref().map(record::SimulatedFacts::label);
        own.or(stated).unwrap_or_default()
    }

    /// Returns the keys of all marks of the run, strongest first: `imported;simulated`. Empty without marks.
    pub(crate) fn mark_keys(&self) -> String {
        self.marks(None).iter().map(|mark| mark.kind.key()).collect::<Vec<_>>().join(";")
    }

    /// Returns the label that must accompany every number of an imported run; empty for others.
    pub(crate) fn imported(&self) -> String {
        let origin = self.run.origin.as_ref();
        origin.map(|origin| format!("{IMPORTED_FROM}{}", origin.tool)).unwrap_or_default()
    }

    /// Returns the start and end of a test, or of the whole run, as text.
    pub(crate) fn dates_of(&self, outcome: Option<&Outcome>) -> (String, String) {
        self.dates_in(dates::printed, outcome)
    }

    /// Returns the start and end of a test, or of the whole run, in the given format.
    pub(crate) fn dates_in(&self, format: dates::Format, outcome: Option<&Outcome>) -> (String, String) {
        let name = outcome.map(|outcome| outcome.test.as_str());
        if let Some(origin) = &self.run.origin {
            let of_test = self.source_dates.iter().find(|dates| Some(dates.test.as_str()) == name);
            let of_run = || origin.date.clone().unwrap_or_else(|| pts::ABSENT.into());
            let date = of_test.map_or_else(of_run, |dates| dates.date.clone());
            return (date.clone(), date);
        }
        let of_test = self.test_dates.iter().find(|dates| Some(dates.test.as_str()) == name);
        let (start, end) = match of_test {
            Some(dates) => (Some(dates.start), Some(dates.end)),
            None => (self.test_run_date, self.report_run_date),
        };
        (format(start), format(end))
    }

    /// Returns the standard deviation of a key figure's rounds as a fraction of its mean; None if the figure is
    /// not a mean of rounds.
    pub(crate) fn spread(&self, outcome: &Outcome, figure: &KeyFigure) -> Option<f64> {
        let prefix = format!("{}.", family(outcome));
        let of_test = self.figures.iter().filter(|found| found.key.starts_with(&prefix));
        of_test.into_iter().find(|found| found.is_mean_of(figure))?.spread_share()
    }

    /// Returns the states of the drive's write cache during a test or the whole run, or the state required by
    /// the profile.
    #[must_use]
    pub fn write_cache(&self) -> String {
        let word = |is_on: &bool| if *is_on { "WCE" } else { "WCD" };
        if self.run.origin.is_some() {
            return pts::ABSENT.into();
        }
        let states: Vec<&str> = self.write_cache.iter().map(word).collect();
        match (states.is_empty(), self.profile.write_cache) {
            (false, _) => states.join(", then "),
            (true, WriteCache::Enabled) => "WCE requested, not set".into(),
            (true, WriteCache::Disabled) => "WCD requested, not set".into(),
        }
    }
}
