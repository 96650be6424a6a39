//! Only the program may name its options in messages, because other programs can use the crates that it depends on.

use super::check::{Check, Complaint};
use super::tree::Tree;

/// The rule.
pub const CHECK: Check = Check { name: "option_names", run, bless: None };

const CRATES: &str = "crates/";
/// Code that defines options: the beginning of its path, and the reason.
const OWNERS: &[(&str, &str)] = &[
    ("crates/plateau/", "the program itself"),
    ("crates/output/", "messages of the program about its files"),
    ("crates/prepare/", "messages of the program about the settings of a run"),
    ("crates/failure/", "the messages of the program"),
    ("crates/cluster/", "the messages of the program about campaigns"),
    ("crates/host/", "what the program prints about its host"),
    ("crates/fleet/src/contention.rs", "a message of the program"),
    ("crates/notify/src/render.rs", "notices name the command that a person types next"),
    ("crates/plans/", "its tables define the settings of a run, each of which is an option"),
    ("crates/pts/", "its tests refer to settings, each of which is an option"),
    ("crates/fio/", "its table defines the options of `load`"),
    ("crates/report/src/formats/", "its table defines the formats, each of which is an option of `export`"),
];
/// Other programs, whose options may follow their names.
const PROGRAMS: &[&str] = &["blockdev", "fio", "hdparm", "losetup", "mdadm"];

const REMEDY: &str = "a message names an option: return an error with data, and name the option where the \
  program formats the error (crates/failure/src/message.rs)";

fn run(tree: &Tree) -> Vec<Complaint> {
    let owned = |path: &str| OWNERS.iter().any(|(begin, _)| path.starts_with(begin));
    let all = tree.sources().filter(|(path, _)| path.starts_with(CRATES) && path.contains("/src/"));
    let lower = all.filter(|(path, _)| !owned(path) && !tree.is_test(path));
    let lines = lower.flat_map(|(path, source)| {
        let named = source.texts().into_iter().filter(|(_, text)| names_option(text));
        named.map(move |(place, _)| Complaint::line(path, source.line_of(place), REMEDY))
    });
    lines.collect()
}

/// Returns whether a string is a message that names an option. A string without white space is an argument for
/// another program.
fn names_option(text: &str) -> bool {
    let is_option = |place: usize| {
        let before = text[..place].chars().next_back();
        let after = text[place + 2..].chars().next();
        let begins = before.is_none_or(|c| !c.is_alphanumeric() && c != '-');
        let of_other = PROGRAMS.iter().any(|program| text[..place].contains(program));
        begins && !of_other && after.is_some_and(|c| c.is_ascii_lowercase() || c == '{')
    };
    text.contains(char::is_whitespace) && text.match_indices("--").any(|(place, _)| is_option(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, code: &str) -> Vec<Option<usize>> {
        run(&Tree::of(&[(path, code)])).into_iter().map(|complaint| complaint.line).collect()
    }

    #[test]
    fn messages_that_name_an_option_are_found() {
        for text in [
            "add --erase 'S1'",
            "--size applies only to files",
            "run it (with `--tune`)",
            "no such file; \\\n         --size creates it",
            "--{name} requires a run",
        ] {
            let code = format!("\nfn f() {{ g(\"{text}\") }}");
            assert_eq!(lines("crates/device/src/a.rs", &code), [Some(2)], "{text}");
        }
    }

    #[test]
    fn arguments_and_options_of_other_programs_pass() {
        for text in [
            "--create",
            "--uuid={}",
            "unlock it with hdparm --security-disable",
            "a -- b",
            "a--b c",
            "x --- y",
        ] {
            let code = format!("fn f() {{ g(\"{text}\") }}");
            assert_eq!(lines("crates/device/src/a.rs", &code), [], "{text}");
        }
    }

    #[test]
    fn the_program_and_tests_may_name_options() {
        let code = "fn f() { g(\"add --erase\") }";
        assert_eq!(lines("crates/device/src/a.rs", code), [Some(1)]);
        for path in ["crates/plateau/src/a.rs", "crates/device/tests/a.rs", "xtask/src/a.rs"] {
            assert_eq!(lines(path, code), [], "{path}");
        }
        let test = format!("#[cfg(test)]\nmod tests {{ {code} }}");
        assert_eq!(lines("crates/device/src/a.rs", &test), []);
    }
}
