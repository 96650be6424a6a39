//! Determines the git commit of the sources. Part of the build script, in a separate file so that a test can
//! include it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Environment variable that names the commit when building outside a git clone.
pub const VARIABLE: &str = "PLATEAU_COMMIT";
/// Suffix for sources that differ from the commit.
const DIRTY: &str = "-dirty";
/// The build's inputs, relative to the package's folder.
const SOURCES: [&str; 3] = ["..", "../../Cargo.toml", "../../Cargo.lock"];

/// Returns the commit of the package in `folder`, marked if the build's inputs were changed; `None` if `folder` is
/// not part of a git repository.
pub fn of(folder: &Path) -> Option<String> {
    // Sources unpacked inside an unrelated repository do not belong to that repository's commit.
    git(folder, &["ls-files", "--error-unmatch", "Cargo.toml"])?;
    let commit = git(folder, &["rev-parse", "HEAD"])?;
    let changed =
        git(folder, &[&["status", "--porcelain", "--untracked-files=no", "--"][..], &SOURCES].concat())?;
    Some(if changed.is_empty() { commit } else { commit + DIRTY })
}

/// Validates a commit given by the builder: hexadecimal digits, optionally followed by the suffix for changed
/// sources.
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

/// Returns the files and folders whose changes may affect the result of [`of`].
pub fn watched(folder: &Path) -> Vec<PathBuf> {
    let of_git = |name: &str| git(folder, &["rev-parse", "--git-path", name]).map(|path| folder.join(path));
    let branch = git(folder, &["symbolic-ref", "--quiet", "HEAD"]);
    let moved = ["HEAD", "logs/HEAD", "packed-refs"].into_iter().chain(branch.as_deref()).filter_map(of_git);
    let sources = SOURCES.iter().map(|path| folder.join(path));
    // Cargo treats a missing path as changed in every build.
    moved.chain(sources).filter(|path| path.exists()).collect()
}

fn git(folder: &Path, words: &[&str]) -> Option<String> {
    let mut git = Command::new("git");
    // Git hooks set these variables, which would select a different repository.
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        git.env_remove(name);
    }
    let output = git.arg("-C").arg(folder).args(words).env("GIT_OPTIONAL_LOCKS", "0").output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
