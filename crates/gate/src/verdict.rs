//! The verdict of a gate, as printed with `--json`. Doc comments in this file are part of the schema.

use schemars::JsonSchema;
use serde::Serialize;

/// The verdict of a gate.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "Gate")]
pub struct Verdict {
    /// Version of the document's layout.
    pub schema_version: u32,
    /// Id of the run.
    pub run: String,
    /// Name of the run, its model or its path.
    pub name: String,
    /// Marks that accompany every number of the run, such as SIMULATED.
    pub marks: Vec<String>,
    /// Id of the run that it was compared with; null if no rule needs one and none was specified.
    pub baseline: Option<String>,
    /// Path with which the rules file was opened.
    pub rules_file: String,
    /// Whether every rule is met.
    pub passed: bool,
    /// Whether the rules file contains `spread-unknown = "warn"`.
    pub spread_unknown_is_met: bool,
    /// Every rule in the order of the file.
    pub rules: Vec<RuleVerdict>,
}

/// The verdict on one rule.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RuleVerdict {
    /// The rule as written.
    pub rule: String,
    /// The list that contains it.
    pub list: List,
    /// Line in the rules file.
    pub line: usize,
    /// Whether it is met.
    pub outcome: RuleOutcome,
    /// The findings. A rule that is met has one; a rule that is not met has one for each violating figure.
    pub reasons: Vec<Reason>,
}

/// The list of a rules file that contains the rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum List {
    /// Conditions that must hold.
    Require,
    /// Conditions that must not be met.
    FailIf,
}

impl List {
    /// As written in a rules file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Require => "require",
            Self::FailIf => "fail-if",
        }
    }
}

/// Whether a rule is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleOutcome {
    /// The rule is met.
    Passed,
    /// A difference exceeds its limit, but one of the figures has a single value, so it is unknown whether the
    /// difference is beyond noise.
    SpreadUnknown,
    /// The run does not contain the data that the rule refers to, so the rule cannot be checked.
    NoValue,
    /// The rule is violated.
    Failed,
}

impl RuleOutcome {
    /// Returns the outcome in one or two words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Passed => "pass",
            Self::SpreadUnknown => "spread unknown",
            Self::NoValue => "no value",
            Self::Failed => "fail",
        }
    }
}

/// One finding about a rule.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Reason {
    /// Key of the figure; null for conditions without a number.
    pub key: Option<String>,
    /// Value of the figure in the run.
    pub value: Option<f64>,
    /// Unit of the value; empty for counts.
    pub unit: Option<String>,
    /// Difference from the baseline in percent.
    pub difference_percent: Option<f64>,
    /// Its effect on the rule.
    pub outcome: RuleOutcome,
    /// The finding in words.
    pub text: String,
}

/// Version of the layout.
pub(crate) const SCHEMA_VERSION: u32 = 1;

impl Verdict {
    /// Returns the rules that are not met, and the rules whose spread is unknown.
    pub fn violated(&self) -> impl Iterator<Item = &RuleVerdict> {
        self.rules.iter().filter(|rule| rule.outcome != RuleOutcome::Passed)
    }

    /// Returns the number of rules with this outcome.
    #[must_use]
    pub fn count(&self, outcome: RuleOutcome) -> usize {
        self.rules.iter().filter(|rule| rule.outcome == outcome).count()
    }

    /// Returns the verdict in a few words: `6 rules are met`, `1 of 6 rules is not met`.
    #[must_use]
    pub fn in_short(&self) -> String {
        let tolerated = if self.spread_unknown_is_met { self.count(RuleOutcome::SpreadUnknown) } else { 0 };
        let (all, met) = (self.rules.len(), self.count(RuleOutcome::Passed) + tolerated);
        let warning = match tolerated {
            0 => String::new(),
            count => format!(", {count} of them with unknown spread"),
        };
        let rules = if all == 1 { "rule" } else { "rules" };
        match all - met {
            0 if all == 1 => format!("the rule is met{warning}"),
            0 => format!("all {all} rules are met{warning}"),
            1 => format!("1 of {all} {rules} is not met"),
            missed => format!("{missed} of {all} rules are not met"),
        }
    }
}

/// Returns the JSON schema of a verdict.
#[must_use]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Verdict)
}
