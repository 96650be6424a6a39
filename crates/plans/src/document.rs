//! What a plan says.

use record::CustomTest;

use crate::settings::Given;

/// A plan as written.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// Name of the preset, or file name without directory.
    pub name: String,
    /// Title as printed; defaults to the name.
    pub title: String,
    /// One-line description.
    pub about: String,
    /// Why none of its results are PTS results; printed on each page.
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
    /// Looks up the custom test called `name`.
    #[must_use]
    pub fn custom_test(&self, name: &str) -> Option<&CustomTest> {
        self.custom_tests.iter().find(|test| test.name == name)
    }
}
