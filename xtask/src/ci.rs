//! Everything a change must pass, cheapest first; stops at the first failure.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

/// One thing that must pass.
struct Step {
    /// Its name.
    name: &'static str,
    /// Arguments for cargo; none for what runs inside this process.
    cargo: &'static [&'static str],
    /// Environment on top of ours.
    environment: &'static [(&'static str, &'static str)],
}

/// Every step, in order.
const STEPS: &[Step] = &[
    Step { name: "fmt", cargo: &["fmt", "--all", "--check"], environment: &[] },
    Step { name: "tidy", cargo: &[], environment: &[] },
    Step {
        name: "clippy",
        cargo: &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"],
        environment: &[],
    },
    Step { name: "test", cargo: &["test", "--workspace", "--locked"], environment: &[] },
    Step {
        name: "doc",
        cargo: &["doc", "--workspace", "--no-deps", "--locked"],
        environment: &[("RUSTDOCFLAGS", "-D warnings")],
    },
    Step { name: "newcomer", cargo: &[], environment: &[] },
];

/// Runs all steps.
pub fn run(root: &Path, arguments: &[String]) -> anyhow::Result<()> {
    if let Some(unknown) = arguments.first() {
        bail!("ci takes no arguments, so not '{unknown}'");
    }
    let begun = Instant::now();
    for (i, step) in STEPS.iter().enumerate() {
        println!("[{}/{}] {}", i + 1, STEPS.len(), step.line());
        let step_begun = Instant::now();
        let result = step.run(root);
        let took = seconds(step_begun.elapsed());
        result
            .with_context(|| format!("{} failed after {took}; the steps behind it did not run", step.name))?;
        println!("[{}/{}] {} passed in {took}", i + 1, STEPS.len(), step.name);
    }
    println!("ci passed in {}", seconds(begun.elapsed()));
    Ok(())
}

impl Step {
    /// The step as one could type it.
    fn line(&self) -> String {
        let environment = self.environment.iter().map(|(name, value)| format!("{name}='{value}'"));
        let command: Vec<_> = match self.cargo {
            [] => vec!["xtask", self.name],
            cargo => cargo.to_vec(),
        };
        let words = ["cargo".to_owned()].into_iter().chain(command.iter().map(ToString::to_string));
        environment.chain(words).collect::<Vec<_>>().join(" ")
    }

    fn run(&self, root: &Path) -> anyhow::Result<()> {
        if self.cargo.is_empty() {
            let chore = crate::COMMANDS.iter().find(|command| command.name == self.name);
            return (chore.with_context(|| format!("no chore '{}'", self.name))?.run)(root, &[]);
        }
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(cargo)
            .args(self.cargo)
            .envs(self.environment.iter().copied())
            .current_dir(root)
            .status()
            .context("cannot start cargo")?;
        if status.success() { Ok(()) } else { bail!("`{}` ended with {status}", self.line()) }
    }
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_printed_as_one_would_type_them() {
        let lines: Vec<_> = STEPS.iter().map(Step::line).collect();
        assert_eq!(lines[1], "cargo xtask tidy");
        assert_eq!(lines[4], "RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --locked");
    }

    #[test]
    fn every_build_is_locked() {
        let builds = STEPS.iter().filter(|s| !s.cargo.is_empty() && s.name != "fmt");
        assert!(builds.into_iter().all(|s| s.cargo.contains(&"--locked")));
    }

    #[test]
    fn arguments_are_refused() {
        assert!(run(Path::new("."), &["--fast".into()]).is_err());
    }
}
