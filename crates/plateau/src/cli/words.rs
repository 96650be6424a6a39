//! fio's options on the command line, derived from the table of job file options.

use std::sync::LazyLock;

use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use fio::{Form, KEYS, Key};

const HEADING: &str = "Options of fio, as in job files";
/// Options that exclude each other.
const ONE_OF: &[[&str; 2]] = &[
    ["bs", "bssplit"],
    ["rwmixread", "rwmixwrite"],
    ["cpus_allowed", "numa_cpu_nodes"],
    ["hipri", "sqthread_poll"],
];
/// Options that have no effect without another one.
const NEEDED: &[[&str; 2]] = &[["rate_process", "rate_iops"], ["cmd_type", "ioengine"]];

/// Variants of the option names with hyphens, as in Plateau's own options.
static HYPHENED: LazyLock<Vec<Vec<String>>> = LazyLock::new(|| {
    let names = |key: &'static Key| [&key.name].into_iter().chain(key.aliases);
    let hyphened = |key| names(key).filter(|name| name.contains('_')).map(|name| name.replace('_', "-"));
    KEYS.iter().map(|key| hyphened(key).collect()).collect()
});

/// A job on the command line: its options in the order of the table.
#[derive(Debug, Default)]
pub struct Words {
    given: Vec<(&'static str, String)>,
}

impl Words {
    /// Returns the specified options as options of a job.
    pub fn given(&self) -> &[(&'static str, String)] {
        &self.given
    }
}

impl Args for Words {
    fn augment_args(command: Command) -> Command {
        command.args(KEYS.iter().zip(HYPHENED.iter()).map(|(key, hyphened)| argument(key, hyphened)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Words {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut words = Self::default();
        words.update_from_arg_matches(matches)?;
        Ok(words)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for key in KEYS {
            let value = matches.try_get_one::<String>(key.name);
            let value = value.map_err(|error| clap::Error::raw(ErrorKind::InvalidValue, error))?;
            self.given.extend(value.map(|text| (key.name, in_fios_words(key.form, text))));
        }
        Ok(())
    }
}

/// As in fio, switches take a value only after an equals sign.
fn argument(key: &'static Key, hyphened: &'static [String]) -> Arg {
    let argument = Arg::new(key.name)
        .long(key.name)
        .visible_aliases(key.aliases.iter().copied())
        .aliases(hyphened.iter().map(String::as_str))
        .help(sentence(key.about))
        .help_heading(HEADING)
        .conflicts_with_all(partners(ONE_OF, key.name))
        .requires_all(partners_of_first(NEEDED, key.name));
    match key.form {
        Form::Switch => {
            argument.value_name("0|1").num_args(0..=1).require_equals(true).default_missing_value("1")
        }
        Form::Size => argument.value_name("SIZE"),
        Form::Time => argument.value_name("TIME"),
        Form::Word(name) => argument.value_name(name),
    }
}

/// Formats a text in the style of other help texts. Text in backticks is a value and is not changed.
fn sentence(about: &str) -> String {
    let mut chars = about.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.chain(chars).filter(|letter| *letter != '`').collect()
}

fn partners(pairs: &'static [[&str; 2]], name: &str) -> Vec<&'static str> {
    let of = |[one, other]: &[&'static str; 2]| match name {
        _ if name == *one => Some(*other),
        _ if name == *other => Some(*one),
        _ => None,
    };
    pairs.iter().filter_map(of).collect()
}

fn partners_of_first(pairs: &'static [[&str; 2]], name: &str) -> Vec<&'static str> {
    pairs.iter().filter(|pair| pair[0] == name).map(|pair| pair[1]).collect()
}

/// On Plateau's command lines, KiB is 1024 bytes, which fio writes as k, and 0.5 is 500 ms, because fio has no
/// fractions of a second.
fn in_fios_words(form: Form, text: &str) -> String {
    match (form, text.parse::<f64>()) {
        (Form::Size, _) => text.replace("iB", ""),
        (Form::Time, Ok(seconds)) if text.contains('.') && (0.0..1e9).contains(&seconds) => {
            format!("{}us", (seconds * 1e6) as u64)
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(arguments: &str) -> Result<Vec<(&'static str, String)>, clap::Error> {
        let command = Words::augment_args(Command::new("load").no_binary_name(true));
        let matches = command.try_get_matches_from(arguments.split_whitespace())?;
        Ok(Words::from_arg_matches(&matches)?.given)
    }

    #[test]
    fn every_option_of_a_job_file_is_one_of_the_command_line() {
        for key in KEYS {
            for name in [&key.name].into_iter().chain(key.aliases) {
                for spelled in [(*name).to_owned(), name.replace('_', "-")] {
                    let more = partners_of_first(NEEDED, key.name);
                    let more: String = more.iter().map(|needed| format!(" --{needed}=x")).collect();
                    let words = given(&format!("--{spelled}=1{more}")).expect(name);
                    assert!(words.contains(&(key.name, "1".into())), "{spelled}: {words:?}");
                }
            }
        }
    }

    #[test]
    fn values_are_those_of_fio() {
        let words = given("--bs 4KiB --runtime 0.5 --size=1GiB --time_based --direct 1 --hipri=0").unwrap();
        let expected =
            [("bs", "4K"), ("size", "1G"), ("runtime", "500000us"), ("time_based", "1"), ("direct", "1")];
        for (name, value) in expected.into_iter().chain([("hipri", "0")]) {
            assert!(words.contains(&(name, value.to_owned())), "{name}: {words:?}");
        }
        assert_eq!(given("").unwrap(), []);
    }

    #[test]
    fn values_keep_their_letters_in_the_help() {
        assert_eq!(sentence("times [1]; `0` for none"), "Times [1]; 0 for none");
        assert_eq!(sentence("`read` or `write`"), "read or write");
    }

    #[test]
    fn incompatible_options_are_refused() {
        for (arguments, kind) in [
            ("--bs 4k --bssplit 4k/50:8k/50", ErrorKind::ArgumentConflict),
            ("--hipri --sqthread_poll", ErrorKind::ArgumentConflict),
            ("--rate_process poisson", ErrorKind::MissingRequiredArgument),
            ("--startdelay 5", ErrorKind::UnknownArgument),
            ("--name a --name b", ErrorKind::ArgumentConflict),
        ] {
            let error = given(arguments).expect_err(arguments);
            assert_eq!(error.kind(), kind, "{arguments}: {error}");
        }
    }
}
