//! The commit that the sources are of, as git reports it; a part of the build script, in a file of its own for its test.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Where a build outside of a clone takes the commit from.
pub const VARIABLE: &str = "PLATEAU_COMMIT";
/// Said of sources that differ from the commit.
const DIRTY: &str = "-dirty";
/// What the program is built from, seen from the folder of its package.
const SOURCES: [&str; 3] = ["..", "../../Cargo.toml", "../../Cargo.lock"];

/// The commit of the package in `folder`, if that is part of a git repository, and whether what it is built from was changed.
pub fn of(folder: &Path) -> Option<String> {
    // Sources that were unpacked inside of somebody's repository are not of its commit.
    git(folder, &["ls-files", "--error-unmatch", "Cargo.toml"])?;
    let commit = git(folder, &["rev-parse", "HEAD"])?;
    let changed =
        git(folder, &[&["status", "--porcelain", "--untracked-files=no", "--"][..], &SOURCES].concat())?;
    Some(if changed.is_empty() { commit } else { commit + DIRTY })
}

/// A commit that was named by whoever builds: hexadecimal digits, perhaps with the mark of changed sources.
pub fn checked(text: &str) -> Result<String, String> {
    let digits = text.strip_suffix(DIRTY).unwrap_or(text);
    let is_commit = (7..=64).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    if is_commit {
        Ok(text.into())
    } else {
        Err(format!(
            "{VARIABLE}={text} is not a git commit; set it to what `git rev-parse HEAD` prints, or unset it"
        ))
    }
}

/// Files and folders after whose change the answer of [`of`] may be another.
pub fn watched(folder: &Path) -> Vec<PathBuf> {
    let of_git = |name: &str| git(folder, &["rev-parse", "--git-path", name]).map(|path| folder.join(path));
    let branch = git(folder, &["symbolic-ref", "--quiet", "HEAD"]);
    let moved = ["HEAD", "logs/HEAD", "packed-refs"].into_iter().chain(branch.as_deref()).filter_map(of_git);
    let sources = SOURCES.iter().map(|path| folder.join(path));
    // One that does not exist would count as changed at every build.
    moved.chain(sources).filter(|path| path.exists()).collect()
}

fn git(folder: &Path, words: &[&str]) -> Option<String> {
    let mut git = Command::new("git");
    // Hooks set these, and they would name another repository.
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        git.env_remove(name);
    }
    let output = git.arg("-C").arg(folder).args(words).env("GIT_OPTIONAL_LOCKS", "0").output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
