//! Tests the files of a release as a user would after downloading them. To add a trial, add a file to `tried/` and a
//! line to [`TRIALS`].

mod apt;
mod archive;
mod checksums;
mod deb;
mod ground;
mod image;
mod lintian;
mod rpm;

use std::time::Instant;

use anyhow::{Context as _, ensure};

pub use ground::Ground;
use ground::Trial;

/// All trials, fastest first.
const TRIALS: &[Trial] =
    &[checksums::TRIAL, archive::TRIAL, rpm::TRIAL, lintian::TRIAL, image::TRIAL, deb::TRIAL];

/// Environment variable with a space-separated list of programs. If one of them is missing, the trial fails
/// instead of being skipped.
const REQUIRED: &str = "PLATEAU_REQUIRED_PROGRAMS";
/// Runs the trials whose name contains `filter`.
pub fn run(ground: &Ground, filter: &str) -> anyhow::Result<()> {
    let chosen: Vec<&Trial> = TRIALS.iter().filter(|trial| trial.name.contains(filter)).collect();
    let names = || TRIALS.iter().map(|trial| trial.name).collect::<Vec<_>>().join(", ");
    ensure!(!chosen.is_empty(), "no trial has '{filter}' in its name; available: {}", names());
    let required = std::env::var(REQUIRED).unwrap_or_default();
    let is_root = rustix::process::geteuid().is_root();
    let mut skipped = Vec::new();
    for trial in &chosen {
        let begun = Instant::now();
        match trial.lacking(is_root, &required, is_installed)? {
            Some(reason) => {
                println!("try {}: SKIPPED: {reason}", trial.name);
                skipped.push(trial.name);
            }
            None => {
                (trial.run)(ground).with_context(|| format!("try {}", trial.name))?;
                println!("try {}: passed in {}", trial.name, seconds(begun));
            }
        }
    }
    println!("dist: {} of {} trials passed{}", chosen.len() - skipped.len(), chosen.len(), without(&skipped));
    Ok(())
}

/// Returns the time elapsed since `begun`.
pub fn seconds(begun: Instant) -> String {
    format!("{:.1} s", begun.elapsed().as_secs_f64())
}

fn without(skipped: &[&str]) -> String {
    if skipped.is_empty() { String::new() } else { format!(", without {}", skipped.join(", ")) }
}

impl Trial {
    /// Returns why the trial cannot run here; fails if a missing program is required.
    fn lacking(
        &self,
        is_root: bool,
        required: &str,
        has: fn(&str) -> bool,
    ) -> anyhow::Result<Option<String>> {
        if let Some((program, package)) = self.needs.iter().find(|(program, _)| !has(program)) {
            let reason = format!("{program} is not installed (apt-get install {package})");
            ensure!(
                !required.split_whitespace().any(|name| name == *program),
                "the trial {} must not be skipped, because {REQUIRED} lists a program that it needs: {reason}",
                self.name
            );
            return Ok(Some(reason));
        }
        Ok((self.root && !is_root).then(|| "only root can change the root file system of a process".into()))
    }
}

/// Returns whether a program is installed in one of the usual directories.
fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // The directories with root's programs are not in every user's PATH.
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    folders.into_iter().any(|folder| folder.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_is_skipped_if_a_program_is_missing_unless_that_is_required() {
        let trial = Trial { name: "x", needs: &[("here", "a"), ("gone", "b")], root: true, run: |_| Ok(()) };
        let all = |_: &str| true;
        let some = |program: &str| program == "here";
        assert_eq!(trial.lacking(true, "", all).unwrap(), None);
        assert!(trial.lacking(false, "", all).unwrap().unwrap().contains("root"));
        assert!(
            trial
                .lacking(true, "here goner", some)
                .unwrap()
                .unwrap()
                .contains("gone is not installed (apt-get install b)")
        );
        assert!(trial.lacking(true, "here gone", some).is_err());
    }

    #[test]
    fn programs_are_searched_for_in_the_usual_folders() {
        assert!(is_installed("sh") && !is_installed("no-such-program"));
    }
}
