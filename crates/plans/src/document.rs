//! The content of a plan.

use std::collections::BTreeMap;

use record::{CustomRounds, CustomTest};
use stdx::units::count_of;

use crate::settings::Given;

/// A plan as written by its author.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// Name of the preset, or file name without directory.
    pub name: String,
    /// Title as printed; defaults to the name.
    pub title: String,
    /// One-line description.
    pub about: String,
    /// Reason why the results are not PTS results; printed on each page of the report.
    pub not_pts: Option<String>,
    /// Name of the profile.
    pub profile: Option<String>,
    /// Names of the tests in order: PTS tests and custom tests.
    pub tests: Vec<String>,
    /// Settings of the run, in file order.
    pub settings: Vec<Given>,
    /// Additions to the report.
    pub publisher: Publisher,
    /// Custom tests in file order.
    pub custom_tests: Vec<CustomTest>,
}

/// Additions to the report by its publisher.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Publisher {
    /// Sponsor of the test.
    pub sponsor: Option<String>,
    /// Auditor of the test.
    pub auditor: Option<String>,
    /// Special notes.
    pub notes: Vec<String>,
    /// Image for the summary pages: a path relative to the directory of the plan.
    pub logo: Option<String>,
}

impl Plan {
    /// Returns the settings by name, as written.
    #[must_use]
    pub fn settings_in_words(&self) -> BTreeMap<&'static str, String> {
        self.settings.iter().map(|given| (given.setting().name, given.value().to_string())).collect()
    }

    /// Describes the plan, one line per item.
    #[must_use]
    pub fn in_words(&self) -> String {
        let mut out = String::new();
        let mut line = |name: &str, text: &str| out.push_str(&format!("{name:<9} {text}\n"));
        line("plan", &self.title);
        line("about", if self.about.is_empty() { "n/a" } else { &self.about });
        if let Some(why) = &self.not_pts {
            line("not PTS", why);
        }
        line("profile", self.profile.as_deref().unwrap_or("from the command line"));
        let settings: Vec<String> =
            self.settings_in_words().iter().map(|(name, value)| format!("{name} {value}")).collect();
        if !settings.is_empty() {
            line("settings", &settings.join(", "));
        }
        line("tests", &self.tests.join(", "));
        for test in &self.custom_tests {
            let times = match test.rounds {
                CustomRounds::Fixed(1) => "1 round".into(),
                CustomRounds::Fixed(rounds) => format!("{rounds} rounds"),
                CustomRounds::UntilSteady => "rounds until steady state".into(),
            };
            let content = match test.steps.len() {
                0 => format!("{} in {times}", count_of(test.cells.len(), "cell")),
                steps => format!("{} of a trace", count_of(steps, "step")),
            };
            line("custom test", &format!("{}: {}, {content}", test.name, test.title));
        }
        out
    }

    /// Looks up the custom test called `name`.
    #[must_use]
    pub fn custom_test(&self, name: &str) -> Option<&CustomTest> {
        self.custom_tests.iter().find(|test| test.name == name)
    }
}
