//! A run's settings as options, derived from the settings table: [`plans::settings::SETTINGS`].

use std::marker::PhantomData;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser as _};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use plans::settings::{Form, Given, Literal, SETTINGS, Scope, Setting};

/// Settings that are options of `run` and `plan`.
pub type PlannedSettings = SettingOptions<Planned>;
/// Settings that are options of `run` and `resume`.
pub type ResumableSettings = SettingOptions<Resumable>;
/// Settings that are also options of `load`.
pub type SimFaultSettings = SettingOptions<SimFaults>;

/// A subset of the table.
pub trait Part {
    fn includes(setting: &Setting) -> bool;
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Planned;

impl Part for Planned {
    fn includes(setting: &Setting) -> bool {
        !matches!(setting.scope, Scope::Resume | Scope::Operator)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Resumable;

impl Part for Resumable {
    fn includes(setting: &Setting) -> bool {
        matches!(setting.scope, Scope::Resume | Scope::Operator)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SimFaults;

impl Part for SimFaults {
    fn includes(setting: &Setting) -> bool {
        ["sim-fault", "no-sim-faults"].contains(&setting.name)
    }
}

/// Settings on a command line, in the order of the settings table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SettingOptions<P> {
    given: Vec<Given>,
    part: PhantomData<P>,
}

impl<P: Part> SettingOptions<P> {
    /// Returns settings that the program has chosen.
    pub fn of(given: Vec<Given>) -> Self {
        Self { given, part: PhantomData }
    }

    /// Returns the settings that the user specified.
    pub fn given(&self) -> &[Given] {
        &self.given
    }

    fn settings() -> impl Iterator<Item = &'static Setting> {
        SETTINGS.iter().filter(|setting| P::includes(setting))
    }
}

impl<P: Part> Args for SettingOptions<P> {
    fn augment_args(command: Command) -> Command {
        command.args(Self::settings().map(argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<P: Part> FromArgMatches for SettingOptions<P> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut options = Self::of(Vec::new());
        options.update_from_arg_matches(matches)?;
        Ok(options)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for setting in Self::settings() {
            let given =
                given(setting, matches).map_err(|text| clap::Error::raw(ErrorKind::InvalidValue, text))?;
            self.given.extend(given);
        }
        Ok(())
    }
}

fn argument(setting: &'static Setting) -> Arg {
    let is_respelled = |alias: &&str| alias.replace('-', "_") == setting.name;
    let (hidden, visible): (Vec<&str>, Vec<&str>) = setting.aliases.iter().copied().partition(is_respelled);
    let argument = Arg::new(setting.name)
        .long(setting.name)
        .aliases(hidden)
        .visible_aliases(visible)
        .help(setting.about())
        .conflicts_with_all(setting.excludes);
    let parser = move |text: &str| Given::new(setting, Literal::Typed(text.into()));
    match setting.form {
        Form::Flag => argument.action(ArgAction::SetTrue),
        Form::Number(name) | Form::Text(name) => argument.value_name(name).value_parser(parser),
        Form::List(name) => argument.value_name(name).action(ArgAction::Append).value_parser(parser),
        Form::Word(name, words) => {
            let values = words().into_iter().map(|(word, about)| PossibleValue::new(word).help(about));
            let parser = PossibleValuesParser::new(values).try_map(move |word: String| parser(&word));
            argument.value_name(name).value_parser(parser)
        }
    }
}

fn given(setting: &'static Setting, matches: &ArgMatches) -> Result<Option<Given>, String> {
    let unexpected = |error: clap::parser::MatchesError| error.to_string();
    if let Form::Flag = setting.form {
        let is_set = matches.try_get_one::<bool>(setting.name).map_err(unexpected)?;
        return is_set
            .filter(|is_set| **is_set)
            .map(|_| Given::new(setting, Literal::Flag(true)))
            .transpose();
    }
    let Some(all) = matches.try_get_many::<Given>(setting.name).map_err(unexpected)? else { return Ok(None) };
    let mut all: Vec<Given> = all.cloned().collect();
    if let Form::List(_) = setting.form {
        let texts = all.iter().map(|given| given.value().text()).collect::<Result<_, _>>()?;
        return Given::new(setting, Literal::List(texts)).map(Some);
    }
    Ok(all.pop())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(arguments: &str) -> Result<Vec<Given>, clap::Error> {
        let command = PlannedSettings::augment_args(Command::new("run").no_binary_name(true));
        let matches = command.try_get_matches_from(arguments.split_whitespace())?;
        Ok(PlannedSettings::from_arg_matches(&matches)?.given)
    }

    #[test]
    fn every_setting_is_an_option_of_one_group() {
        let count = PlannedSettings::settings().count() + ResumableSettings::settings().count();
        assert_eq!(count, SETTINGS.len());
        PlannedSettings::augment_args(Command::new("run")).debug_assert();
        ResumableSettings::augment_args(Command::new("resume")).debug_assert();
    }

    #[test]
    fn a_repeated_option_is_one_setting() {
        let given = planned("--sim-fault a --tc 2 --sim-fault b --cpus-allowed 0-1").unwrap();
        let names: Vec<_> = given.iter().map(|given| given.setting().name).collect();
        assert_eq!(names, ["cpus_allowed", "sim-fault", "tc"]);
        assert_eq!(given[1].value(), &Literal::List(vec!["a".into(), "b".into()]));
    }

    #[test]
    fn settings_that_exclude_each_other_are_refused() {
        for arguments in ["--hipri --sqthread_poll", "--max-rounds 5 --keep-going", "--tc 2 --tc 3"] {
            assert_eq!(planned(arguments).expect_err(arguments).kind(), ErrorKind::ArgumentConflict);
        }
        assert_eq!(planned("--tc 0").expect_err("too few").kind(), ErrorKind::ValueValidation);
    }
}
