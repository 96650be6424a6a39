//! Converts requests to command-line arguments.

use std::ffi::OsString;
use std::path::Path;

use crate::request::{Plan, Request, Start, Target};

/// Returns the arguments to estimate a plan for a target. `file` contains the text of the plan.
#[must_use]
pub fn plan_words(plan: &Plan, target: &Target, file: &Path) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec!["plan".into(), "--no-rehearsal".into()];
    words.extend(requested(plan, target, file));
    words
}

/// Returns the arguments to carry out a request; `None` for `stop`, which is a signal.
#[must_use]
pub fn words(request: &Request, file: &Path) -> Option<Vec<OsString>> {
    let resume = |run: &str, identity: &Option<String>, more: &[&str]| {
        let mut words: Vec<OsString> = vec!["resume".into()];
        words.extend(more.iter().map(OsString::from));
        words.extend(identity.iter().map(|identity| option("--erase", identity)));
        words.push(run.into());
        words
    };
    match request {
        Request::Start(Start { plan, target, identity }) => {
            let mut words: Vec<OsString> = vec!["run".into()];
            if !target.is_simulated() {
                words.push(option("--erase", identity));
            }
            words.extend(requested(plan, target, file));
            Some(words)
        }
        Request::Stop { .. } => None,
        Request::Resume { run, identity } => Some(resume(run, identity, &[])),
        Request::Restart { run, identity } => Some(resume(run, identity, &["--restart-test"])),
    }
}

fn requested(plan: &Plan, target: &Target, file: &Path) -> Vec<OsString> {
    let mut words: Vec<OsString> = Vec::new();
    words.extend(target.scale.iter().map(|scale| option("--scale", scale)));
    words.extend(target.size.iter().map(|size| option("--size", size)));
    let mut positional: Vec<OsString> = Vec::new();
    match plan {
        Plan::Tests { tests, profile } => {
            words.push(option("--profile", profile));
            positional.push(tests.join(",").into());
        }
        Plan::Preset(preset) => words.push(option("--preset", preset)),
        Plan::Text(_) => {
            words.push("--plan".into());
            words.push(file.into());
        }
    }
    positional.push((&target.path).into());
    words.extend(positional);
    words
}

/// Joins an option and its value with `=`, so that a value that begins with a hyphen is not parsed as an
/// option.
fn option(name: &str, value: &str) -> OsString {
    format!("{name}={value}").into()
}

/// Returns a command line as it would be typed in a shell.
#[must_use]
pub fn as_typed(words: &[OsString]) -> String {
    let words = words.iter().map(|word| quoted(&word.to_string_lossy()));
    std::iter::once("plateau".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    // Only an option's value may need quotes, not its name.
    match word.split_once('=').filter(|(name, _)| name.starts_with("--") && name.chars().all(is_plain)) {
        Some((name, value)) => format!("{name}={}", stdx::text::in_quotes(value)),
        None => stdx::text::in_quotes(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(request: &Request) -> String {
        as_typed(&words(request, Path::new("/state/plan.toml")).expect("words"))
    }

    #[test]
    fn requests_are_the_command_lines_of_their_documentation() {
        let target = Target { path: "/dev/nvme0n1".into(), ..Target::default() };
        let tests = Plan::Tests { tests: vec!["iops".into(), "lat".into()], profile: "pts-e-2.0".into() };
        let start = Start { plan: tests, target, identity: "it's -1".into() };
        assert_eq!(
            typed(&Request::Start(start.clone())),
            "plateau run --erase='it'\\''s -1' --profile=pts-e-2.0 iops,lat /dev/nvme0n1"
        );
        let simulated = Target { path: "sim:sas-slc-2011".into(), scale: Some("1/64".into()), size: None };
        let text = Start { plan: Plan::Text("tests".into()), target: simulated, identity: String::new() };
        assert_eq!(
            typed(&Request::Start(text)),
            "plateau run --scale=1/64 --plan /state/plan.toml sim:sas-slc-2011"
        );
        let restart = Request::Restart { run: "abc".into(), identity: None };
        assert_eq!(typed(&restart), "plateau resume --restart-test abc");
        assert_eq!(words(&Request::Stop { run: "abc".into() }, Path::new("")), None);
    }

    proptest::proptest! {
        #[test]
        fn a_shell_reads_back_what_was_typed(words in proptest::collection::vec("[^\0\r]{0,20}", 1..4)) {
            let typed = as_typed(&words.iter().map(OsString::from).collect::<Vec<_>>());
            let script = format!("plateau() {{ printf '%s\\0' \"$@\"; }}\n{typed}\n");
            let output = std::process::Command::new("sh").args(["-c", &script]).output().expect("a shell");
            let expected: String = words.iter().map(|word| format!("{word}\0")).collect();
            proptest::prop_assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
        }
    }
}
