//! The definition of a trial, and helpers that trials share: running programs with a time limit, and using
//! Plateau as a new user would.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail, ensure};

use crate::program::TARGET;
use crate::release::Release;

/// The release under test.
pub struct Ground {
    /// Directory of the release files.
    pub folder: PathBuf,
    pub release: Release,
}

/// A test of one release file.
pub struct Trial {
    /// Name of the trial, for `--try FILTER`.
    pub name: &'static str,
    /// Required programs, and the Debian packages that provide them.
    pub needs: &'static [(&'static str, &'static str)],
    /// Whether the trial requires root.
    pub root: bool,
    pub run: fn(&Ground) -> anyhow::Result<()>,
}

/// Timeout for any program that a trial starts.
const LONGEST_SECONDS: &str = "900";
/// File that shows whether io_uring is disabled; it does not exist in kernels without this setting.
const URING_DISABLED: &str = "/proc/sys/kernel/io_uring_disabled";

/// Returns a command that is killed after [`LONGEST_SECONDS`].
pub fn program(name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=10", LONGEST_SECONDS]).arg(name).stdin(Stdio::null());
    command
}

/// Runs a command and returns its standard output; an error if it fails.
pub fn output(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!("{command:?} ended with {}\n{out}{errors}", output.status);
    }
    Ok(out)
}

/// Clears the command's environment, except for a fixed PATH and HOME.
pub fn bare(command: &mut Command) -> &mut Command {
    command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("HOME", "/tmp")
}

/// Returns a command that runs `name` in a chroot at `root`, in its own mount and PID namespaces, with `/proc` and
/// `/sys` mounted as in a container.
pub fn inside(root: &Path, name: &str) -> Command {
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

/// Uses the program as a new user would. `start` returns a command that runs the program; `scratch` is a file
/// that the program may create.
pub fn use_program(ground: &Ground, start: &dyn Fn() -> Command, scratch: &str) -> anyhow::Result<()> {
    let version = output(start().arg("--version"))?;
    check_version(&version, &ground.release)?;
    let demo = output(start().arg("demo"))?;
    ensure!(demo.contains("steady state in rounds"), "plateau demo did not print a verdict:\n{demo}");
    let words = ["load", scratch, "--size", "16MiB", "--rw", "randwrite", "--iodepth", "8"];
    let load = output(start().args(words).args(["--ioengine", "io_uring", "--runtime", "1", "--time_based"]));
    match std::fs::read_to_string(URING_DISABLED).unwrap_or_default().trim() {
        "" | "0" => {
            ensure!(load.as_ref().is_ok_and(|text| text.contains("engine io_uring")), "io_uring: {load:?}")
        }
        value => println!(
            "  io_uring was not tried, because it is disabled in this kernel ({URING_DISABLED} is {value})"
        ),
    }
    Ok(())
}

pub fn check_version(printed: &str, release: &Release) -> anyhow::Result<()> {
    let expected = format!("plateau {}\ncommit: {}\ntarget: {TARGET}\n", release.version, release.commit);
    ensure!(printed == expected, "plateau --version printed\n{printed}instead of\n{expected}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_other_commits_and_failing_programs_are_detected() {
        let release = crate::release::tests::example();
        let printed = format!("plateau 0.1.0\ncommit: {}\ntarget: {TARGET}\n", release.commit);
        assert!(check_version(&printed, &release).is_ok());
        assert!(check_version(&printed.replace("commit: 0", "commit: 1"), &release).is_err());
        assert!(check_version(&printed.replace("musl", "gnu"), &release).is_err());
        assert!(
            output(program("sh").args(["-c", "echo why >&2; exit 3"]))
                .unwrap_err()
                .to_string()
                .contains("why")
        );
    }
}
