//! fio's options on the command line, derived from the table of job file options.

use std::sync::LazyLock;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use fio::{Form, Key, PROGRAM, ProgramOption, Standing, keys};

const HEADING: &str = "Options of fio, as in job files";
/// Options of this program that are defined elsewhere.
const ELSEWHERE: &[&str] = &["output-format", "minimal", "readonly", "section", "help", "version"];

/// Variants of the option names with hyphens, as in Plateau's own options.
static HYPHENED: LazyLock<Vec<Vec<String>>> = LazyLock::new(|| {
    let hyphened = |key: &Key| {
        key.names().filter(|name| name.contains('_')).map(|name| name.replace('_', "-")).collect()
    };
    keys().map(hyphened).collect()
});

/// The jobs on the command line: their options in order.
#[derive(Debug, Default)]
pub struct Words {
    given: Vec<(&'static str, String)>,
    ignored: Vec<&'static str>,
}

impl Words {
    /// Returns the specified options as job options.
    pub fn given(&self) -> &[(&'static str, String)] {
        &self.given
    }

    /// Returns the specified fio command-line options that have no effect.
    pub fn ignored(&self) -> &[&'static str] {
        &self.ignored
    }
}

impl Args for Words {
    fn augment_args(command: Command) -> Command {
        let jobs = keys().zip(HYPHENED.iter()).map(|(key, hyphened)| argument(key, hyphened));
        command.args(jobs).args(of_program().map(program_argument))
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
        let mut placed: Vec<(usize, &'static str, String)> = Vec::new();
        for key in keys() {
            let values = matches.try_get_many::<String>(key.name);
            let values = values.map_err(|error| clap::Error::raw(ErrorKind::InvalidValue, error))?;
            let indices = matches.indices_of(key.name);
            for (index, text) in indices.into_iter().flatten().zip(values.into_iter().flatten()) {
                placed.push((index, key.name, in_fios_words(key.form, text)));
            }
        }
        placed.sort_by_key(|(index, ..)| *index);
        self.given.extend(placed.into_iter().map(|(_, name, text)| (name, text)));
        let ignored = of_program().filter(|row| row.standing == Some(Standing::Ignored));
        let is_given = |name: &&str| matches.value_source(name) == Some(ValueSource::CommandLine);
        self.ignored.extend(ignored.map(|row| row.name).filter(is_given));
        self.given.split(|(name, _)| *name == "name").try_for_each(compatible)
    }
}

/// Returns the fio options that are accepted only on the command line.
fn of_program() -> impl Iterator<Item = &'static ProgramOption> {
    PROGRAM.iter().filter(|row| row.standing.is_some() && !ELSEWHERE.contains(&row.name))
}

/// Checks that the options of one job can be combined.
fn compatible(job: &[(&'static str, String)]) -> Result<(), clap::Error> {
    fio::conflict(job).map_or(Ok(()), |[one, other]| {
        let text = format!("--{one} and --{other} cannot be combined\n");
        Err(clap::Error::raw(ErrorKind::ArgumentConflict, text))
    })
}

fn program_argument(row: &'static ProgramOption) -> Arg {
    let argument =
        Arg::new(row.name).long(row.name).help(sentence(row.about)).help_heading(HEADING).hide(true);
    match row.value {
        None => argument.action(ArgAction::SetTrue),
        Some(value) if row.name == "terse-version" => argument.value_name(value).value_parser(["3"]),
        Some(value) => argument.value_name(value),
    }
}

/// As in fio, switches take a value only after an equals sign.
fn argument(key: &'static Key, hyphened: &'static [String]) -> Arg {
    let argument = Arg::new(key.name)
        .long(key.name)
        .action(ArgAction::Append)
        .visible_aliases(key.aliases.iter().copied())
        .aliases(hyphened.iter().map(String::as_str))
        .help(sentence(key.about))
        .help_heading(HEADING)
        .hide(key.standing == Standing::Ignored);
    match key.form {
        Form::Switch => {
            argument.value_name("0|1").num_args(0..=1).require_equals(true).default_missing_value("1")
        }
        Form::Size => argument.value_name("SIZE"),
        Form::Time => argument.value_name("TIME"),
        Form::Word(name) | Form::OptionalWord(name) => argument.value_name(name),
    }
}

/// Formats text in the style of other help texts. Text in backticks is a value and is not changed.
fn sentence(about: &str) -> String {
    let mut chars = about.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.chain(chars).filter(|letter| *letter != '`').collect()
}

/// Converts a value from Plateau's notation to fio's: fio writes KiB as k and has no fractions of a second, so
/// 0.5 is converted to microseconds.
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
        for key in keys() {
            for name in key.names() {
                for spelled in [name.to_owned(), name.replace('_', "-")] {
                    let words = given(&format!("--{spelled}=1")).expect(name);
                    assert!(words.contains(&(key.name, "1".into())), "{spelled}: {words:?}");
                }
            }
        }
    }

    #[test]
    fn options_stay_in_their_order_and_may_be_repeated() {
        let words = given("--bs=4k --name=a --time_based --rw=read --name b --rw write --bs=8k").unwrap();
        let words: Vec<String> = words.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(words, ["bs=4k", "name=a", "time_based=1", "rw=read", "name=b", "rw=write", "bs=8k"]);
    }

    #[test]
    fn options_of_the_program_without_effect_are_known() {
        let command = Words::augment_args(Command::new("load").no_binary_name(true));
        let matches = command.try_get_matches_from(["--eta=never", "--warnings-fatal", "--terse-version=3"]);
        assert_eq!(Words::from_arg_matches(&matches.unwrap()).unwrap().ignored(), ["eta", "warnings-fatal"]);
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
            ("--cgroup a", ErrorKind::UnknownArgument),
            ("--name a --bs 4k --name b --bssplit 4k --bs 8k", ErrorKind::ArgumentConflict),
        ] {
            let error = given(arguments).expect_err(arguments);
            assert_eq!(error.kind(), kind, "{arguments}: {error}");
        }
    }
}
