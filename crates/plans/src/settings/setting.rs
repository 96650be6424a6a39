//! The definition of a run setting, and the application of settings to a run. Settings in the plan are
//! applied first, then settings on the command line, which therefore take precedence. The value of a
//! [`Given`] is always valid, because it was checked when it was read.

use std::collections::BTreeSet;

use record::{Driving, Handling, Placement, Settings, Stated};
use stdx::units::MIB;

use super::literal::Literal;
use crate::limits::Limit;
use pts::PROFILES;

/// A setting of a run. Options, plan keys, help and documentation are derived from it.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Name of the option and of the key in plans.
    pub name: &'static str,
    /// Other names of the option. A name that differs from `name` only in hyphens is not documented.
    pub aliases: &'static [&'static str],
    /// Syntax of the value.
    pub form: Form,
    /// Meaning of the setting, as a sentence without a full stop. `{limits}` stands for the valid values.
    pub about: &'static str,
    /// Description of the valid values, such as `5 to 25`.
    pub limits: Option<fn() -> String>,
    /// Where the setting can be used.
    pub scope: Scope,
    /// Settings that cannot be combined with this one.
    pub excludes: &'static [&'static str],
    /// Why the option is refused for a simulated drive; `None` if it is accepted.
    pub no_meaning_simulated: Option<&'static str>,
    /// Applies a value to a run.
    ///
    /// An error gives the valid values; its text is printed after the name.
    pub set: fn(&mut RunSettings, &Literal) -> Result<(), String>,
}

/// Syntax of a value.
#[derive(Debug, Clone, Copy)]
pub enum Form {
    /// An option without a value; true or false in a plan.
    Flag,
    /// A number, with its placeholder in the help.
    Number(&'static str),
    /// A string, with its placeholder in the help.
    Text(&'static str),
    /// A repeatable option; a string or an array of strings in a plan.
    List(&'static str),
    /// One of several words, each with its meaning.
    Word(&'static str, fn() -> Vec<(&'static str, &'static str)>),
}

/// Where a setting can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Options of `run` and `plan`, and plans.
    Plan,
    /// Options of `run` and `plan` only.
    CommandLine,
    /// Options of `run`, plan keys, and options of `resume`, which override the values with which the run was
    /// started.
    Resume,
    /// Options of `run` and `resume` only, because the author of a plan must not set them.
    Operator,
}

impl Setting {
    /// Default fields for entries in the table: a flag in plans and on the command line.
    pub(super) const BASE: Self = Self {
        name: "",
        aliases: &[],
        form: Form::Flag,
        about: "",
        limits: None,
        scope: Scope::Plan,
        excludes: &[],
        no_meaning_simulated: None,
        set: |_, _| Ok(()),
    };

    /// Returns the meaning of the setting, with its limits.
    #[must_use]
    pub fn about(&self) -> String {
        self.about.replace("{limits}", &self.limits.map(|limits| limits()).unwrap_or_default())
    }

    /// Returns whether plans may contain the setting.
    #[must_use]
    pub const fn is_in_plans(&self) -> bool {
        !matches!(self.scope, Scope::CommandLine | Scope::Operator)
    }

    /// Describes the valid values in a plan, for the manual.
    #[must_use]
    pub fn values(&self) -> String {
        match self.form {
            Form::Flag => "`true` or `false`".into(),
            Form::Number(_) => self.limits.map_or_else(|| "number".into(), |limits| limits()),
            Form::Text(_) => "string".into(),
            Form::List(_) => "string or array of strings".into(),
            Form::Word(_, words) => {
                words().iter().map(|(word, _)| format!("`\"{word}\"`")).collect::<Vec<_>>().join(", ")
            }
        }
    }
}

/// Formats the range of valid values, such as `5 to 25`.
pub(super) fn limits<T: std::fmt::Display>(limit: &Limit<T>) -> String {
    format!("{} to {}", limit.range.start(), limit.range.end())
}

/// A setting with a valid value.
#[derive(Debug, Clone)]
pub struct Given {
    setting: &'static Setting,
    value: Literal,
}

impl PartialEq for Given {
    fn eq(&self, other: &Self) -> bool {
        self.setting.name == other.setting.name && self.value == other.value
    }
}

impl Given {
    /// Checks that `value` is valid for `setting`.
    ///
    /// # Errors
    /// Returns an error that gives the valid values.
    pub fn new(setting: &'static Setting, value: Literal) -> Result<Self, String> {
        (setting.set)(&mut RunSettings::of(PROFILES[0].settings(1)), &value)?;
        Ok(Self { setting, value })
    }

    /// Returns the setting.
    #[must_use]
    pub const fn setting(&self) -> &'static Setting {
        self.setting
    }

    /// Returns the value as written.
    #[must_use]
    pub const fn value(&self) -> &Literal {
        &self.value
    }

    /// Returns whether the setting has an effect: a flag that is false has none.
    #[must_use]
    pub fn is_effective(&self) -> bool {
        self.value != Literal::Flag(false)
    }
}

/// The settings of a run, after they have been applied to the settings of the profile.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSettings {
    /// Settings of the tests.
    pub settings: Settings,
    /// Treatment of the drive.
    pub handling: Handling,
    /// Placement of the load threads.
    pub placement: Option<Placement>,
    /// The I/O path into the kernel.
    pub driving: Driving,
    /// Size of the target if it is a regular file.
    pub size_bytes: Option<u64>,
    /// Scale of a simulated drive, as written.
    pub scale: Option<String>,
    /// Faults of a simulated drive that replace the faults in its model.
    pub sim_faults: Option<Vec<String>>,
    /// Information about the tester and the test platform.
    pub stated: Stated,
    /// Power source, as written.
    pub power: Option<String>,
    /// Duration of the idle power measurement in seconds.
    pub power_idle_seconds: Option<f64>,
    /// Names of the settings that were applied.
    pub given: BTreeSet<&'static str>,
}

impl RunSettings {
    /// Starts with the settings of a profile.
    #[must_use]
    pub fn of(settings: Settings) -> Self {
        Self {
            settings,
            handling: Handling::default(),
            placement: None,
            driving: Driving::default(),
            size_bytes: None,
            scale: None,
            sim_faults: None,
            stated: Stated::default(),
            power: None,
            power_idle_seconds: None,
            given: BTreeSet::new(),
        }
    }

    /// Applies settings, which override earlier ones.
    ///
    /// # Errors
    /// Returns an error that names the setting and its valid values.
    pub fn apply<'a>(&mut self, all: impl IntoIterator<Item = &'a Given>) -> Result<(), String> {
        for given in all {
            let name = given.setting.name;
            (given.setting.set)(self, &given.value).map_err(|text| format!("--{name}: {text}"))?;
            self.given.insert(name);
        }
        Ok(())
    }

    /// Stores the value of a setting that has no field of its own, for the test that reads it.
    pub fn keep(&mut self, name: &str, value: &impl ToString) {
        self.settings.further.insert(name.into(), value.to_string());
    }

    /// Checks settings whose valid values depend on others.
    ///
    /// # Errors
    /// Returns an error with the setting, the reason, and the nearest valid value.
    pub fn check(&self) -> Result<(), String> {
        if !self.given.contains("ar-segments") {
            return Ok(());
        }
        let segments = self.settings.active_range_segments;
        let amount = self.settings.active_range_amount_bytes;
        let amount =
            amount.ok_or_else(|| format!("--ar-segments {segments} requires --ar-amount, such as 16GiB"))?;
        let most = u32::try_from(amount / MIB).unwrap_or(u32::MAX).max(1);
        let limit = Limit { range: 1..=most, why: "each segment contains at least one block of 1 MiB" };
        limit.check(segments).map(drop).map_err(|text| format!("--ar-segments {text}"))
    }
}
