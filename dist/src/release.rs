//! The release: version, commit, time and maintainer. All of them are derived from the commit, so that the files
//! of a release can be reproduced from it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail, ensure};
use jiff::Timestamp;

/// Suffix for a tree that differs from its commit.
const DIRTY: &str = "-dirty";

/// Identifies a release.
#[derive(Debug, Clone)]
pub struct Release {
    /// The workspace root.
    pub root: PathBuf,
    /// Version of the `plateau` package.
    pub version: String,
    /// The commit hash, with a suffix if the tree differs from the commit.
    pub commit: String,
    /// Commit time, used for all timestamps (SOURCE_DATE_EPOCH).
    pub time: Timestamp,
    /// Name and address of the committer.
    pub maintainer: String,
}

impl Release {
    /// Returns the release of the commit checked out at `root`;
    /// a tree that differs from the commit is an error, unless allowed.
    pub fn of(root: &Path, version: &str, allow_dirty: bool) -> anyhow::Result<Self> {
        let changed = git(root, &["status", "--porcelain"])?;
        if !allow_dirty {
            check_clean(&changed)?;
        }
        let [commit, seconds, maintainer] =
            &git(root, &["show", "--no-patch", "--format=%H%n%ct%n%cn <%ce>"])?
                .lines()
                .map(str::to_owned)
                .collect::<Vec<_>>()[..]
        else {
            bail!("the output of git show has an unexpected format")
        };
        Ok(Self {
            root: root.into(),
            version: version.into(),
            commit: if changed.is_empty() { commit.clone() } else { format!("{commit}{DIRTY}") },
            time: Timestamp::from_second(seconds.parse().context("the commit time is invalid")?)?,
            maintainer: maintainer.clone(),
        })
    }

    /// Returns the commit time in seconds since 1970.
    pub fn seconds(&self) -> u32 {
        u32::try_from(self.time.as_second()).unwrap_or(0)
    }

    /// Returns the directory of this release's files, relative to `target/dist`.
    pub fn folder(&self) -> String {
        let mark = if self.commit.ends_with(DIRTY) { DIRTY } else { "" };
        format!("plateau-{}{mark}", self.version)
    }
}

/// Fails if `changed`, the output of `git status --porcelain`, lists any change.
fn check_clean(changed: &str) -> anyhow::Result<()> {
    let first = changed.lines().next().unwrap_or_default();
    let more = changed.lines().count().saturating_sub(1);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    ensure!(
        changed.is_empty(),
        "the tree differs from its commit ({first}{more}), so nobody else could reproduce the files; commit the \
         changes or stash them with `git stash --include-untracked`, or add --allow-dirty for a test build"
    );
    Ok(())
}

fn git(root: &Path, words: &[&str]) -> anyhow::Result<String> {
    let output = Command::new("git").arg("-C").arg(root).args(words).output().context("cannot start git")?;
    let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    ensure!(output.status.success(), "a release is made from a git commit, but git reports: {message}");
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Returns a fake release.
    pub fn example() -> Release {
        Release {
            root: "/nowhere".into(),
            version: "0.1.0".into(),
            commit: "0123456789012345678901234567890123456789".into(),
            time: "2026-03-01T09:00:00Z".parse().expect("a time"),
            maintainer: "A. Maintainer <a@example.org>".into(),
        }
    }

    fn commit(folder: &Path, file: &str) {
        std::fs::write(folder.join(file), "one").expect("a file");
        for words in [&["add", "."][..], &["commit", "--quiet", "--message", "One"]] {
            let mut git = Command::new("git");
            git.args([
                "-c",
                "user.name=A",
                "-c",
                "user.email=a@example.org",
                "-c",
                "commit.gpgsign=false",
                "-C",
            ]);
            git.arg(folder).args(words).env("GIT_COMMITTER_DATE", "1772355600 +0200");
            assert!(git.status().expect("git starts").success());
        }
    }

    #[test]
    fn a_release_is_derived_from_its_commit() {
        let folder = tempfile::tempdir().expect("a folder");
        git(folder.path(), &["init", "--quiet"]).expect("a repository");
        commit(folder.path(), "a");
        let release = Release::of(folder.path(), "1.2.3", false).expect("a clean tree");
        assert_eq!(release.maintainer, "A <a@example.org>");
        assert_eq!(
            (release.seconds(), release.time.to_string().as_str()),
            (1_772_355_600, "2026-03-01T09:00:00Z")
        );
        assert_eq!(release.folder(), "plateau-1.2.3");
        std::fs::write(folder.path().join("a"), "two").expect("a file");
        std::fs::write(folder.path().join("b"), "two").expect("a file");
        let refusal = Release::of(folder.path(), "1.2.3", false).unwrap_err().to_string();
        assert!(refusal.contains("M a and 1 more") && refusal.contains("--allow-dirty"), "{refusal}");
        let dirty = Release::of(folder.path(), "1.2.3", true).expect("allowed");
        assert_eq!(dirty.commit, release.commit + "-dirty");
        assert_eq!(dirty.folder(), "plateau-1.2.3-dirty");
    }

    #[test]
    fn without_a_repository_there_is_no_release() {
        let folder = tempfile::tempdir().expect("a folder");
        let refusal = Release::of(folder.path(), "1.2.3", true).unwrap_err().to_string();
        assert!(refusal.contains("made from a git commit"), "{refusal}");
    }
}
