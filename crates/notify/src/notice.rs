//! Notices as facts. `render` turns them into text.

use jiff::Timestamp;
use pts::Standing;
use record::RunFile;
use serde::{Deserialize, Serialize};
pub use stdx::text::short;

/// Maximum number of tests listed.
const MOST_TESTS: usize = 30;

/// Subjects of notices, used to select channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event {
    /// A run has completed.
    Finished,
    /// A run has failed.
    Failed,
    /// A run was interrupted and can be resumed without a decision.
    Interrupted,
    /// A run cannot continue until a person has decided how.
    NeedsPerson,
    /// A process is working on a run, but shows no activity.
    Stuck,
    /// A sample, sent on request.
    Test,
}

impl Event {
    /// The events that a configuration can select.
    pub const SELECTABLE: [Self; 5] =
        [Self::Finished, Self::Failed, Self::Interrupted, Self::NeedsPerson, Self::Stuck];

    /// Returns the event's name in configurations and in the JSON document.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
            Self::NeedsPerson => "needs-person",
            Self::Stuck => "stuck",
            Self::Test => "test",
        }
    }
}

/// Verdict on a complete run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// All tests that require steady state reached it.
    Steady,
    /// A test did not reach steady state.
    Unsteady,
    /// No test requires steady state.
    Complete,
}

impl Verdict {
    /// Returns the verdict on a complete run; `None` for any other state.
    #[must_use]
    pub const fn of(standing: Standing) -> Option<Self> {
        match standing {
            Standing::Steady => Some(Self::Steady),
            Standing::Unsteady => Some(Self::Unsteady),
            Standing::Complete => Some(Self::Complete),
            Standing::Running | Standing::Incomplete => None,
        }
    }
}

/// How a run failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "kebab-case")]
pub enum Failing {
    /// The drive failed during a workload.
    Drive {
        /// The test.
        test: Option<String>,
        /// What the run recorded when it stopped.
        reason: Option<String>,
    },
    /// All tests were attempted, but not all are complete.
    Incomplete {
        /// Why the first incomplete test is not complete.
        reason: String,
    },
    /// The run's files cannot be read or evaluated.
    Unreadable {
        /// The problem.
        problem: String,
    },
}

/// Why a person must decide how a run continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    /// The test's timeline is its result, and would have a gap.
    Timeline,
    /// The run's array does not survive an interruption.
    Array,
    /// The run was continued several times without completing anything.
    Fruitless,
    /// The scheduler holds the run's job.
    Held,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum About {
    /// The run is complete.
    Finished {
        /// Verdict on all tests.
        verdict: Verdict,
        /// Number of deviations from the profile; the run conforms if there are none.
        deviations: u64,
        /// Whether the drive is accepted, if a test determines that.
        accepted: Option<bool>,
    },
    /// The run failed.
    Failed(Failing),
    /// The run was interrupted.
    Interrupted {
        /// The interrupted test.
        test: Option<String>,
        /// What the run recorded; `None` if its process ended without writing a record, for example because it
        /// was killed or the power failed.
        reason: Option<String>,
    },
    /// A person must decide how the run continues.
    NeedsPerson {
        /// The interrupted test; `None` if unknown.
        test: Option<String>,
        /// Why.
        question: Question,
        /// As in `Interrupted`; if a job is held, why.
        reason: Option<String>,
        /// The scheduler's number of the job that is held.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        job: Option<u64>,
    },
    /// A process is working on the run, but shows no activity.
    Stuck {
        /// Seconds since the last sign of activity.
        quiet_seconds: u64,
        /// The run's current phase, if known.
        phase: Option<String>,
    },
    /// A sample.
    Test,
}

impl About {
    /// Returns the subject of this notice.
    #[must_use]
    pub const fn event(&self) -> Event {
        match self {
            Self::Finished { .. } => Event::Finished,
            Self::Failed(_) => Event::Failed,
            Self::Interrupted { .. } => Event::Interrupted,
            Self::NeedsPerson { .. } => Event::NeedsPerson,
            Self::Stuck { .. } => Event::Stuck,
            Self::Test => Event::Test,
        }
    }
}

/// The run that a notice is about. Texts are printable, on one line, and short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// Id of the run.
    pub id: String,
    /// Name given by the operator.
    pub name: Option<String>,
    /// Names of the tests.
    pub tests: Vec<String>,
    /// Name of the profile; empty if unknown.
    pub profile: String,
    /// The target as typed on the command line; empty if unknown.
    pub target: String,
    /// The drive's serial number or identity; empty if unknown.
    pub drive: String,
    /// The drive's model, if known.
    pub model: Option<String>,
    /// Whether the drive is simulated.
    pub simulated: bool,
    /// Time at which the run was started; `None` if unknown.
    pub created: Option<Timestamp>,
}

impl Subject {
    /// Describes a run.
    #[must_use]
    pub fn of(file: &RunFile) -> Self {
        let target = &file.target;
        Self {
            id: short(&file.id),
            name: file.labels.name.as_deref().map(short),
            tests: file.tests.iter().take(MOST_TESTS).map(|test| short(test)).collect(),
            profile: short(&file.profile),
            target: short(&target.path),
            drive: short(&target.drive()),
            model: target.model.as_deref().map(short),
            simulated: target.simulated.is_some(),
            created: Some(file.created),
        }
    }

    /// Describes a run that its job has not started yet, or not again.
    #[must_use]
    pub fn of_job(id: &str, tests: &str, target: &str, drive: &str) -> Self {
        Self {
            tests: tests.split(',').filter(|test| !test.is_empty()).take(MOST_TESTS).map(short).collect(),
            target: short(target),
            drive: short(drive),
            simulated: target.starts_with("sim:"),
            ..Self::unknown(id)
        }
    }

    /// Describes a run if only its id is known.
    #[must_use]
    pub fn unknown(id: &str) -> Self {
        Self {
            id: short(id),
            name: None,
            tests: Vec::new(),
            profile: String::new(),
            target: String::new(),
            drive: String::new(),
            model: None,
            simulated: false,
            created: None,
        }
    }
}

/// A notice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// Identifies the notice: a repeated delivery has the same id.
    pub id: String,
    /// Time of the observation.
    pub time: Timestamp,
    /// Name of the host that sends the notice.
    pub host: String,
    /// The run.
    pub run: Subject,
    /// What happened.
    #[serde(flatten)]
    pub about: About,
}

impl Notice {
    /// Returns the subject of this notice.
    #[must_use]
    pub const fn event(&self) -> Event {
        self.about.event()
    }

    /// Returns a sample.
    #[must_use]
    pub fn sample(host: &str, time: Timestamp) -> Self {
        let run = Subject { tests: vec!["iops".into()], ..Subject::unknown("sample") };
        Self {
            id: format!("sample:test:{}", time.as_second()),
            time,
            host: short(host),
            run,
            about: About::Test,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_notice_is_read_back_unchanged() {
        let abouts = [
            About::Finished { verdict: Verdict::Unsteady, deviations: 3, accepted: Some(false) },
            About::Failed(Failing::Drive { test: Some("iops".into()), reason: None }),
            About::Failed(Failing::Incomplete { reason: "r".into() }),
            About::Failed(Failing::Unreadable { problem: "p".into() }),
            About::Interrupted { test: None, reason: Some("Ctrl-C".into()) },
            About::NeedsPerson {
                test: Some("wsat".into()),
                question: Question::Timeline,
                reason: None,
                job: None,
            },
            About::NeedsPerson {
                test: None,
                question: Question::Held,
                reason: Some("r".into()),
                job: Some(7),
            },
            About::Stuck { quiet_seconds: u64::MAX, phase: None },
            About::Test,
        ];
        for about in abouts {
            let notice = Notice { about, ..Notice::sample("h", Timestamp::UNIX_EPOCH) };
            let json = serde_json::to_string(&notice).expect("JSON");
            assert_eq!(serde_json::from_str::<Notice>(&json).expect("a notice"), notice, "{json}");
            assert!(json.contains(&format!("\"event\":\"{}\"", notice.event().word())), "{json}");
        }
    }
}
