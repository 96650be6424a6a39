//! All checks that a change must pass, cheapest first; stops at the first failure.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use crate::chore::{Chore, PROFILE, checking};
use crate::test::SKIPS;

/// Environment variable with a space-separated list of programs. A test must not be skipped because one of
/// them is missing.
const REQUIRED: &str = "PLATEAU_REQUIRED_PROGRAMS";

/// One check.
struct Step {
    /// Name of the step.
    name: &'static str,
    how: How,
    /// Additional environment variables.
    environment: &'static [(&'static str, &'static str)],
}

/// How to run the step.
enum How {
    /// Runs cargo with these arguments.
    Cargo(&'static [&'static str]),
    /// Runs the chore with the same name in this process; the function returns the reason if the check was
    /// skipped. The strings are the arguments of the equivalent command.
    Part(&'static [&'static str], fn(&Path) -> anyhow::Result<Option<String>>),
}

/// All steps, in order.
const STEPS: &[Step] = &[
    Step { name: "fmt", how: How::Cargo(&["fmt", "--all", "--check"]), environment: &[] },
    Step { name: "tidy", how: How::Part(&[], crate::tidy::ci), environment: &[] },
    Step { name: "deny", how: How::Part(&["--offline"], crate::deny::ci), environment: &[] },
    Step {
        name: "clippy",
        how: How::Cargo(&[
            "clippy",
            PROFILE,
            "--workspace",
            "--all-targets",
            "--locked",
            "--",
            "-D",
            "warnings",
        ]),
        environment: &[],
    },
    Step { name: "test", how: How::Part(&[], crate::test::ci), environment: &[] },
    // This step follows `test`, because it uses the program that is built there.
    Step { name: "vm-test", how: How::Part(&["--ci"], crate::vm_test::ci), environment: &[] },
    Step { name: "lab-demo", how: How::Part(&["--ci"], crate::lab_demo::ci), environment: &[] },
    Step { name: "recompute", how: How::Part(&["--ci"], crate::recompute::ci), environment: &[] },
    Step { name: "swarm", how: How::Part(&["--minutes", "0.5"], crate::swarm::ci), environment: &[] },
    Step { name: "kills", how: How::Part(&["--ci"], crate::kills::ci), environment: &[] },
    Step {
        name: "doc",
        how: How::Cargo(&["doc", PROFILE, "--workspace", "--no-deps", "--locked"]),
        environment: &[("RUSTDOCFLAGS", "-D warnings")],
    },
    Step { name: "newcomer", how: How::Part(&[], crate::newcomer::ci), environment: &[] },
    Step { name: "readme", how: How::Part(&[], crate::readme::ci), environment: &[] },
];

/// Run all checks that a change must pass, cheapest first
#[derive(clap::Args)]
pub struct Ci {}

impl Chore for Ci {
    fn run(self, root: &Path) -> anyhow::Result<()> {
        all_steps(root)
    }
}

/// Runs all steps.
fn all_steps(root: &Path) -> anyhow::Result<()> {
    let begun = Instant::now();
    let mut skipped = Vec::new();
    for (i, step) in STEPS.iter().enumerate() {
        println!("[{}/{}] {}", i + 1, STEPS.len(), step.line());
        let step_begun = Instant::now();
        let result = step.run(root);
        let took = seconds(step_begun.elapsed());
        let skip = result
            .with_context(|| format!("{} failed after {took}; the remaining steps did not run", step.name))?;
        match skip {
            None => println!("[{}/{}] {} passed in {took}", i + 1, STEPS.len(), step.name),
            Some(reason) => {
                println!("[{}/{}] {} SKIPPED: {reason}", i + 1, STEPS.len(), step.name);
                skipped.push(step.name);
            }
        }
    }
    let without =
        if skipped.is_empty() { String::new() } else { format!(", without {}", skipped.join(", ")) };
    let left_out = std::fs::read_to_string(root.join(SKIPS)).unwrap_or_default();
    let left_out: BTreeSet<skips::Skip> = skips::parse(&left_out).into_iter().collect();
    left_out.iter().for_each(|skip| println!("skipped: {}: {}", skip.test, skip.reason));
    check_required(&left_out, &std::env::var(REQUIRED).unwrap_or_default())?;
    println!("ci passed in {}{without}; {} tests skipped", seconds(begun.elapsed()), left_out.len());
    Ok(())
}

/// Fails if a test was skipped because a required program is missing.
fn check_required(left_out: &BTreeSet<skips::Skip>, required: &str) -> anyhow::Result<()> {
    let is_required = |program: &str| required.split_whitespace().any(|name| name == program);
    let missing = left_out.iter().find(|skip| skip.program.as_deref().is_some_and(is_required));
    match missing {
        Some(skip) => {
            bail!("{} was skipped, although {REQUIRED} lists the missing program: {}", skip.test, skip.reason)
        }
        None => Ok(()),
    }
}

impl Step {
    /// Returns the equivalent command line.
    fn line(&self) -> String {
        let environment = self.environment.iter().map(|(name, value)| format!("{name}='{value}'"));
        let command = match self.how {
            How::Cargo(words) => words.to_vec(),
            How::Part(words, _) => [&["xtask", self.name], words].concat(),
        };
        let words = ["cargo".to_owned()].into_iter().chain(command.iter().map(ToString::to_string));
        environment.chain(words).collect::<Vec<_>>().join(" ")
    }

    /// Runs the step; returns the reason if it was skipped.
    fn run(&self, root: &Path) -> anyhow::Result<Option<String>> {
        let words = match self.how {
            How::Part(_, function) => return function(root),
            How::Cargo(words) => words,
        };
        let mut command = checking(root);
        command.args(words).envs(self.environment.iter().copied());
        let status = command.status().context("cannot start cargo")?;
        if status.success() { Ok(None) } else { bail!("`{}` ended with {status}", self.line()) }
    }
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_printed_as_typed() {
        let lines: Vec<_> = STEPS.iter().map(Step::line).collect();
        assert_eq!(lines[1], "cargo xtask tidy");
        assert_eq!(lines[2], "cargo xtask deny --offline");
        assert_eq!(lines[4], "cargo xtask test");
        assert_eq!(lines[5], "cargo xtask vm-test --ci");
        assert_eq!(lines[6], "cargo xtask lab-demo --ci");
        assert_eq!(lines[7], "cargo xtask recompute --ci");
        assert_eq!(
            lines[10],
            "RUSTDOCFLAGS='-D warnings' cargo doc --profile=bench --workspace --no-deps --locked"
        );
    }

    #[test]
    fn every_build_is_locked() {
        for step in STEPS.iter().filter(|step| step.name != "fmt") {
            assert!(!matches!(step.how, How::Cargo(words) if !words.contains(&"--locked")), "{}", step.name);
        }
    }

    #[test]
    fn tests_of_required_programs_may_not_be_skipped() {
        let left_out: BTreeSet<_> =
            skips::parse("a\tfio\tfio is not installed\nb\t\tno loop device\n").into_iter().collect();
        assert!(check_required(&left_out, "").is_ok());
        assert!(check_required(&left_out, "fiona chromium").is_ok());
        let error = check_required(&left_out, "chromium fio").unwrap_err().to_string();
        assert!(error.contains("a was skipped") && error.contains("fio is not installed"), "{error}");
    }
}
