//! The options that request a run: tests or a plan, a target, and the settings that differ from the profile.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use pts::{PROFILES, Profile};

use super::settings::PlannedSettings;
use super::tests_argument::TestNames;
use crate::cli::completion;

/// The requested tests, their target, and how they are run.
#[derive(Debug, Clone, Args, Default)]
pub struct RequestOptions {
    /// In any order: tests (separated by commas; each begins with its own purge; `all` for every test in the profile)
    /// or a preset, and the target: a block device, a regular file, sim:MODEL, or array:FILE.toml. Further targets of
    /// `run` are tested concurrently, each in its own run
    #[arg(value_name = "TESTS|TARGET", value_parser = TestNames, add = completion::word())]
    pub words: Vec<String>,
    /// Run a preset: a plan that ships with Plateau (see `plateau plan --list`)
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = presets(), conflicts_with = "plan")]
    pub preset: Option<String>,
    /// Run a plan: a TOML file with tests and settings; the command line overrides it
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// Version of the specification [default: from the plan, or pts-e-2.0]
    #[arg(long, ignore_case = true, value_parser = profiles())]
    pub profile: Option<String>,
    #[command(flatten)]
    pub settings: PlannedSettings,
}

fn presets() -> impl TypedValueParser<Value = String> {
    in_lower_case(plans::PRESETS.iter().map(|preset| PossibleValue::new(preset.name)).collect())
}

/// Returns a parser that accepts the versions of the specification.
pub(super) fn profiles() -> impl TypedValueParser<Value = String> {
    let value = |profile: &Profile| PossibleValue::new(profile.name).help(profile.revision);
    in_lower_case(PROFILES.iter().map(value).collect())
}

/// Adds lower-case names, so that the argument can be typed in any case.
fn in_lower_case(values: Vec<PossibleValue>) -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::from(values).map(|typed| typed.to_lowercase())
}
