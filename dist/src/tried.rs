//! Tests the files of a release the way a user would after downloading them. To add a trial, add a file to `tried/`
//! and a line to [`TRIALS`].

mod apt;
mod archive;
mod checksums;
mod deb;
mod image;
mod lintian;
mod rpm;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};

use crate::program::TARGET;
use crate::release::Release;

/// The release under test.
pub struct Ground {
    /// Directory of the release files.
    pub folder: PathBuf,
    pub release: Release,
}

/// A test of one file.
struct Trial {
    /// Name that `--try FILTER` matches.
    name: &'static str,
    /// Required programs, and the Debian packages that provide them.
    needs: &'static [(&'static str, &'static str)],
    /// Whether it requires root.
    root: bool,
    run: fn(&Ground) -> anyhow::Result<()>,
}

/// Every trial, fastest first.
const TRIALS: &[Trial] =
    &[checksums::TRIAL, archive::TRIAL, rpm::TRIAL, lintian::TRIAL, image::TRIAL, deb::TRIAL];

/// Environment variable: programs, separated by spaces, whose absence fails a trial instead of skipping it.
const REQUIRED: &str = "PLATEAU_REQUIRED_PROGRAMS";
/// Timeout for any program that a trial starts.
const LONGEST_SECONDS: &str = "900";
/// Reports whether io_uring is disabled; absent in kernels without this setting.
const URING_DISABLED: &str = "/proc/sys/kernel/io_uring_disabled";

/// Runs the trials whose name contains `filter`.
pub fn run(ground: &Ground, filter: &str) -> anyhow::Result<()> {
    let chosen: Vec<&Trial> = TRIALS.iter().filter(|trial| trial.name.contains(filter)).collect();
    let names = || TRIALS.iter().map(|trial| trial.name).collect::<Vec<_>>().join(", ");
    ensure!(!chosen.is_empty(), "no trial has '{filter}' in its name; there are {}", names());
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
                println!("try {}: passed in {}", trial.name, crate::seconds(begun));
            }
        }
    }
    println!("dist: {} of {} trials passed{}", chosen.len() - skipped.len(), chosen.len(), without(&skipped));
    Ok(())
}

fn without(skipped: &[&str]) -> String {
    if skipped.is_empty() { String::new() } else { format!(", without {}", skipped.join(", ")) }
}

impl Trial {
    /// Returns why the trial cannot run here; an error if a missing program was required.
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
                "the trial {} was skipped, and {REQUIRED} requires what it needs: {reason}",
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
    // The directories for root's programs are not in every user's PATH.
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    folders.into_iter().any(|folder| folder.join(program).is_file())
}

/// Returns a command that is killed after [`LONGEST_SECONDS`].
fn program(name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=10", LONGEST_SECONDS]).arg(name).stdin(Stdio::null());
    command
}

/// Runs a command and returns its standard output; an error if it fails.
fn output(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!("{command:?} ended with {}\n{out}{errors}", output.status);
    }
    Ok(out)
}

/// Clears the environment of the command, except for fixed PATH and HOME.
fn bare(command: &mut Command) -> &mut Command {
    command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("HOME", "/tmp")
}

/// Returns a command that runs `name` in a chroot at `root`, in its own mount and PID namespaces, with `/proc` and
/// `/sys` mounted as in a container.
fn inside(root: &Path, name: &str) -> Command {
    let mut command = program("unshare");
    command.args(["--mount", "--pid", "--fork", "--kill-child"]);
    command.arg(format!("--mount-proc={}", root.join("proc").display()));
    command
        .args(["sh", "-c", "mount --rbind /sys \"$1/sys\" && exec chroot \"$@\"", "sh"])
        .arg(root)
        .arg(name);
    bare(&mut command);
    command
}

/// Uses the program as a new user would. `start` returns a
/// command that runs it; `scratch` is a file that it may create.
fn use_program(ground: &Ground, start: &dyn Fn() -> Command, scratch: &str) -> anyhow::Result<()> {
    let version = output(start().arg("--version"))?;
    check_version(&version, &ground.release)?;
    let demo = output(start().arg("demo"))?;
    ensure!(demo.contains("steady state in rounds"), "plateau demo printed no verdict:\n{demo}");
    let words = ["load", scratch, "--size", "16MiB", "--rw", "randwrite", "--iodepth", "8"];
    let load = output(start().args(words).args(["--ioengine", "io_uring", "--runtime", "1", "--time_based"]));
    match std::fs::read_to_string(URING_DISABLED).unwrap_or_default().trim() {
        "" | "0" => {
            ensure!(load.as_ref().is_ok_and(|text| text.contains("engine io_uring")), "io_uring: {load:?}")
        }
        value => println!(
            "  io_uring was not tried: this kernel has it switched off ({URING_DISABLED} is {value})"
        ),
    }
    Ok(())
}

fn check_version(said: &str, release: &Release) -> anyhow::Result<()> {
    let expected = format!("plateau {}\ncommit: {}\ntarget: {TARGET}\n", release.version, release.commit);
    ensure!(said == expected, "plateau --version printed\n{said}and not\n{expected}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_is_skipped_by_the_name_of_what_is_missing_but_not_if_that_is_required() {
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
    fn programs_of_other_commits_and_failing_programs_are_found() {
        let release = crate::release::tests::example();
        let said = format!("plateau 0.1.0\ncommit: {}\ntarget: {TARGET}\n", release.commit);
        assert!(check_version(&said, &release).is_ok());
        assert!(check_version(&said.replace("commit: 0", "commit: 1"), &release).is_err());
        assert!(check_version(&said.replace("musl", "gnu"), &release).is_err());
        assert!(
            output(program("sh").args(["-c", "echo why >&2; exit 3"]))
                .unwrap_err()
                .to_string()
                .contains("why")
        );
        assert!(is_installed("sh") && !is_installed("no-such-program"));
    }
}
