//! Makes a fresh clone at a fixed path. Files with the same content as in the previous clone keep their modification
//! times, so that cargo compiles only crates that have changed since then.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

/// A clone, locked so that no other process replaces it.
pub struct Fresh {
    pub folder: PathBuf,
    _lock: File,
}

impl Fresh {
    /// Replaces the clone in `place` with a new clone of the repository `root`.
    pub fn new(root: &Path, place: &Path) -> anyhow::Result<Self> {
        fs::create_dir_all(place)?;
        let lock = File::create(place.join("lock"))?;
        lock.lock().context("cannot lock the folder with the clone")?;
        let (folder, new) = (place.join("plateau"), place.join("new"));
        remove(&new)?;
        // The reflog would differ in each clone, and the build script watches it.
        let arguments = ["-c", "core.logAllRefUpdates=false", "clone", "--quiet"];
        let status = Command::new("git").args(arguments).arg(root).arg(&new).status();
        if !status.is_ok_and(|status| status.success()) {
            println!(
                "{} is not a repository that git can clone; its files are copied instead",
                root.display()
            );
            copy(root, &new)?;
        }
        keep_times(&folder, &new)?;
        remove(&folder)?;
        fs::rename(&new, &folder)?;
        Ok(Self { folder, _lock: lock })
    }
}

fn remove(folder: &Path) -> anyhow::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    Ok(())
}

/// Copies a tree without its build directory.
fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let (entry, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
        if name == "target" || name == ".git" {
            continue;
        }
        if entry.is_dir() {
            copy(&entry, &to.join(name))?;
        } else {
            fs::copy(&entry, to.join(name)).with_context(|| entry.display().to_string())?;
        }
    }
    Ok(())
}

/// Copies modification times from `old` to all files in `new` with the same content and all folders with the same
/// entries. Everything else keeps its new time.
fn keep_times(old: &Path, new: &Path) -> anyhow::Result<()> {
    // The objects in a local clone are hard links to the repository's objects, which must not be changed.
    if new.ends_with(".git/objects") || !fs::symlink_metadata(old).is_ok_and(|old| old.is_dir()) {
        return Ok(());
    }
    let names = entries(new)?;
    for name in &names {
        let (old, new) = (old.join(name), new.join(name));
        let kind = fs::symlink_metadata(&new)?.file_type();
        if kind.is_dir() {
            keep_times(&old, &new)?;
        } else if kind.is_file() && is_same_file(&old, &new) {
            keep_time(&old, &new)?;
        }
    }
    if names == entries(old)? {
        keep_time(old, new)?;
    }
    Ok(())
}

fn entries(folder: &Path) -> anyhow::Result<BTreeSet<OsString>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    Ok(entries.map(|entry| entry.map(|entry| entry.file_name())).collect::<Result<_, _>>()?)
}

fn is_same_file(old: &Path, new: &Path) -> bool {
    let sizes = (fs::symlink_metadata(old), fs::symlink_metadata(new));
    let (Ok(found), Ok(made)) = sizes else { return false };
    found.is_file()
        && found.len() == made.len()
        && found.permissions() == made.permissions()
        && fs::read(old).is_ok_and(|old| fs::read(new).is_ok_and(|new| old == new))
}

fn keep_time(old: &Path, new: &Path) -> anyhow::Result<()> {
    let time = fs::metadata(old)?.modified()?;
    File::open(new)?.set_modified(time).with_context(|| new.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    fn git(folder: &Path, arguments: &[&str]) {
        let identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-C"];
        let status = Command::new("git").args(identity).arg(folder).args(arguments).status().unwrap();
        assert!(status.success(), "{arguments:?}");
    }

    /// Sets the times of everything in the folder, so that a test can distinguish kept times from new times.
    fn age(path: &Path, time: SystemTime) {
        if path.ends_with(".git/objects") {
            return;
        }
        if path.is_dir() {
            entries(path).unwrap().iter().for_each(|name| age(&path.join(name), time));
        }
        File::open(path).unwrap().set_modified(time).unwrap();
    }

    #[test]
    fn only_what_changed_is_newer_than_the_last_clone() {
        let temporary = tempfile::tempdir().unwrap();
        let (root, place) = (temporary.path().join("root"), temporary.path().join("place"));
        for name in ["same/a", "edited/a", "edited/b", "grown/a", "shrunk/a", "shrunk/b"] {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), "old").unwrap();
        }
        git(temporary.path(), &["init", "--quiet", "root"]);
        git(&root, &["add", "."]);
        git(&root, &["commit", "--quiet", "--message", "1"]);
        let fresh = Fresh::new(&root, &place).unwrap();
        let folder = fresh.folder.clone();
        drop(fresh);
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        let is_kept = |name: &str| fs::metadata(folder.join(name)).unwrap().modified().unwrap() == time;
        assert!(!is_kept("same/a"));

        // The clone itself is new: it contains nothing that was left in the old clone.
        fs::write(folder.join("left-behind"), "").unwrap();
        fs::write(folder.join("same/a"), "changed by a command").unwrap();
        age(&folder, time);
        drop(Fresh::new(&root, &place).unwrap());
        assert!(!folder.join("left-behind").exists());
        assert_eq!(fs::read_to_string(folder.join("same/a")).unwrap(), "old");
        assert!(!is_kept("same/a") && is_kept("edited/a"));
        // The build script watches these.
        assert!(is_kept(".git/HEAD") && is_kept(".git/packed-refs"));

        fs::write(root.join("edited/a"), "new").unwrap();
        fs::write(root.join("grown/b"), "new").unwrap();
        fs::remove_file(root.join("shrunk/b")).unwrap();
        git(&root, &["add", "--all"]);
        git(&root, &["commit", "--quiet", "--message", "2"]);
        age(&folder, time);
        drop(Fresh::new(&root, &place).unwrap());
        for name in ["same", "same/a", "edited", "edited/b", "grown/a", "shrunk/a"] {
            assert!(is_kept(name), "{name}");
        }
        for name in ["edited/a", "grown", "grown/b", "shrunk", ".git/packed-refs"] {
            assert!(!is_kept(name), "{name}");
        }
        assert!(!folder.join("shrunk/b").exists());
    }

    #[test]
    fn a_tree_outside_of_git_is_copied() {
        let temporary = tempfile::tempdir().unwrap();
        let (root, place) = (temporary.path().join("root"), temporary.path().join("place"));
        fs::create_dir_all(root.join("target")).unwrap();
        fs::write(root.join("a"), "a").unwrap();
        let fresh = Fresh::new(&root, &place).unwrap();
        assert_eq!(entries(&fresh.folder).unwrap(), BTreeSet::from(["a".into()]));
    }
}
