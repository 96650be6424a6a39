//! The names of tests on a command line. Help and completion list them; they are checked when the profile is known.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use pts::TESTS;

use crate::cli::positional::{ALIASES, ALL};

/// Accepts any text, because if there is a plan, the first word is the target.
#[derive(Debug, Clone, Copy)]
pub struct TestNames;

impl TypedValueParser for TestNames {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(names().into_iter()))
    }
}

fn names() -> Vec<PossibleValue> {
    let aliases = |family: &str| -> Vec<&'static str> {
        ALIASES.iter().filter(|(_, name)| *name == family).map(|(alias, _)| *alias).collect()
    };
    let named = |name: &'static str, about: &str| match &aliases(name)[..] {
        [] => PossibleValue::new(name).help(about.to_owned()),
        others => PossibleValue::new(name).help(format!("{about} (or: {})", others.join(", "))),
    };
    let families = TESTS.iter().filter(|test| test.family != test.name).map(|test| test.family);
    let mut names = vec![PossibleValue::new(ALL).help("every test of the profile")];
    for family in families {
        if names.iter().all(|known| known.get_name() != family) {
            names.push(named(family, "every block size in the profile"));
        }
    }
    names
        .push(PossibleValue::new("map").help("not a PTS test: maps demand intensity and suggests TC and QD"));
    names.extend(TESTS.iter().map(|test| named(test.name, test.about)));
    names
}
