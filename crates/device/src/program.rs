//! External programs: where to look for them, and the environment in which they run.
//!
//! If the process has elevated privileges, the choice of program must not depend on the caller's environment,
//! so only system folders are searched.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use stdx::files::OwnedFolder;

/// Folders with administrative programs, including those of RAID controllers. `/usr/local` is excluded,
/// because on some systems a group may write to it.
const FOLDERS: &[&str] = &[
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
    "/run/current-system/sw/bin",
    "/opt/MegaRAID/storcli",
    "/opt/MegaRAID/perccli",
];
/// The `PATH` that is passed to these programs.
const PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin";
/// An additional folder to search first. A privileged process accepts only a folder that others cannot change.
const VARIABLE: &str = "PLATEAU_PROGRAMS";

/// Returns whether this process has more privileges than its caller, for example through a set-user-ID bit or
/// file capabilities. If so, its environment is not trusted.
#[must_use]
pub fn has_more_privileges_than_its_caller() -> bool {
    // SAFETY: getauxval reads a table that the kernel set up for this process, and has no other effect.
    let secure = unsafe { libc::getauxval(libc::AT_SECURE) };
    secure != 0
}

/// The parts of the caller's environment that determine where programs are found.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Caller {
    privileged: bool,
    /// Value of `PATH`.
    path: Option<OsString>,
    /// Value of `PLATEAU_PROGRAMS`.
    own: Option<PathBuf>,
}

impl Caller {
    fn of_this_process() -> Self {
        let secure = has_more_privileges_than_its_caller();
        Self {
            privileged: secure || rustix::process::geteuid().is_root(),
            path: std::env::var_os("PATH"),
            own: std::env::var_os(VARIABLE).map(PathBuf::from).filter(|_| !secure),
        }
    }

    /// Returns the folders to search, in search order.
    fn folders(&self) -> Vec<PathBuf> {
        let own = self.own.iter().filter(|own| !self.privileged || is_safe(own)).cloned();
        let typed = self.path.iter().filter(|_| !self.privileged).flat_map(std::env::split_paths);
        own.chain(typed.filter(|folder| folder.is_absolute()))
            .chain(FOLDERS.iter().map(PathBuf::from))
            .collect()
    }
}

/// Returns whether only root or the user could have placed a program in this folder.
fn is_safe(folder: &Path) -> bool {
    matches!(OwnedFolder::open(folder), Ok(Some(_)))
}

/// Returns a command that runs a program in a fixed environment.
///
/// # Errors
/// [`io::ErrorKind::NotFound`] if no folder contains the program.
pub(crate) fn command(name: &str) -> io::Result<Command> {
    let program = find(name, &Caller::of_this_process())?;
    let mut command = Command::new(program);
    command.env_clear().env("PATH", PATH).env("LC_ALL", "C");
    Ok(command)
}

fn find(name: &str, caller: &Caller) -> io::Result<PathBuf> {
    let is_program =
        |path: &PathBuf| path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok();
    let found = caller.folders().into_iter().map(|folder| folder.join(name)).find(is_program);
    found.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    fn folder_with(name: &str) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join(name), "#!/bin/sh\n").expect("a program");
        permit(&dir.path().join(name), 0o755);
        dir
    }

    fn permit(path: &Path, mode: u32) {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("our own");
    }

    fn caller(privileged: bool, path: Option<&Path>, own: Option<&Path>) -> Caller {
        Caller { privileged, path: path.map(Into::into), own: own.map(Into::into) }
    }

    #[test]
    fn the_callers_path_counts_only_without_more_rights() {
        let dir = folder_with("sh");
        let planted = dir.path().join("sh");
        assert_eq!(find("sh", &caller(false, Some(dir.path()), None)).expect("there"), planted);
        let found = find("sh", &caller(true, Some(dir.path()), None)).expect("a shell");
        assert!(FOLDERS.iter().any(|folder| found.starts_with(folder)), "{}", found.display());
        let gone = find("plateau-no-such-program", &caller(true, None, None)).expect_err("not there");
        assert_eq!(gone.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_named_folder_counts_when_nobody_else_can_write_to_it() {
        let dir = folder_with("sh");
        let planted = dir.path().join("sh");
        for privileged in [false, true] {
            assert_eq!(find("sh", &caller(privileged, None, Some(dir.path()))).expect("there"), planted);
        }
        permit(dir.path(), 0o777);
        assert_ne!(find("sh", &caller(true, None, Some(dir.path()))).expect("a shell"), planted);
        permit(&planted, 0o644);
        assert_ne!(find("sh", &caller(false, None, Some(dir.path()))).expect("a shell"), planted);
    }

    #[test]
    fn programs_do_not_inherit_our_environment() {
        let output = command("env").expect("it is there").output().expect("it runs");
        let mut names: Vec<String> = String::from_utf8_lossy(&output.stdout)
            .lines()
            .filter_map(|line| line.split_once('=').map(|(name, _)| name.to_owned()))
            .collect();
        names.sort();
        assert_eq!(names, ["LC_ALL", "PATH"]);
    }
}
