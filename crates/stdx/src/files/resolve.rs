//! Resolves the symbolic links in paths.

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, Stat};

/// Returns the path, without symbolic links, of the file or folder that the kernel finds at `path`.
///
/// The links in `/proc` (`/proc/PID/root`, `/proc/PID/cwd`, `/proc/PID/fd/N`, and thus `/dev/fd/N`) refer
/// directly to a file or folder, not to the path that they show. If the file was deleted or mounted over, or
/// belongs to another mount namespace, that path may not exist, or may belong to a different file. The path is
/// therefore returned only if it refers to the same file or folder.
///
/// # Errors
/// Returns an error if nothing exists at `path`, if only a link refers to the file or folder, or if a system
/// call fails.
pub fn resolve(path: &Path) -> io::Result<PathBuf> {
    let found = stat(path, OFlags::empty())?;
    let resolved = std::fs::canonicalize(path);
    let is_same = |resolved: &PathBuf| {
        stat(resolved, OFlags::NOFOLLOW).is_ok_and(|there| identity(&there) == identity(&found))
    };
    match resolved {
        Ok(resolved) if is_same(&resolved) => Ok(resolved),
        Ok(resolved) => Err(io::Error::other(format!(
            "it leads to a file that is not {}; specify the path of the file itself",
            resolved.display()
        ))),
        Err(_) => {
            Err(io::Error::other("it leads to a file that has no path (deleted, or outside this root)"))
        }
    }
}

fn stat(path: &Path, more: OFlags) -> io::Result<Stat> {
    let fd = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC | more, Mode::empty())?;
    Ok(rustix::fs::fstat(&fd)?)
}

fn identity(stat: &Stat) -> (u64, u64, u64, u32) {
    (stat.st_dev, stat.st_ino, stat.st_rdev, stat.st_mode)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};
    use std::os::fd::AsRawFd as _;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_to_what_the_kernel_finds() {
        let dir = tempfile::tempdir().expect("a folder");
        let dir = dir.path().canonicalize().expect("a path");
        fs::write(dir.join("file"), "x").expect("a file");
        symlink("file", dir.join("link")).expect("a link");
        for name in ["file", "link", "./link", "../link"] {
            let path = if name == "../link" { dir.join("a/../link") } else { dir.join(name) };
            fs::create_dir_all(dir.join("a")).expect("a folder");
            assert_eq!(resolve(&path).expect(name), dir.join("file"));
        }
        assert_eq!(resolve(&dir.join("gone")).expect_err("nothing").kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_proc_link_whose_path_names_another_file_is_an_error() {
        let dir = tempfile::tempdir().expect("a folder");
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "meant").expect("a file");
        let held = File::open(at("file")).expect("a file");
        let link = PathBuf::from(format!("/proc/self/fd/{}", held.as_raw_fd()));
        assert_eq!(resolve(&link).expect("still there"), at("file").canonicalize().expect("a path"));
        fs::remove_file(at("file")).expect("our own");
        assert!(resolve(&link).is_err(), "deleted");
        // The kernel shows deleted files under this name.
        fs::write(at("file (deleted)"), "another").expect("a file");
        let error = resolve(&link).expect_err("another file");
        assert!(error.to_string().contains("is not"), "{error}");
    }
}
