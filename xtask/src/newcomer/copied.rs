//! Copies a folder with changes to some files. Files whose content does not change keep their modification time, so
//! that they are not compiled again.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// Makes `to` a copy of `from`, except for the files in `changed`, which are new or have different contents.
pub fn copy_folder(from: &Path, to: &Path, changed: &BTreeMap<PathBuf, String>) -> anyhow::Result<()> {
    fs::create_dir_all(to)?;
    let mut kept: BTreeSet<OsString> = BTreeSet::new();
    for entry in fs::read_dir(from).with_context(|| from.display().to_string())? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target, changed)?;
        } else if !changed.contains_key(&target) {
            write(&target, &fs::read(entry.path())?)?;
        }
        kept.insert(entry.file_name());
    }
    for (target, text) in changed.iter().filter(|(target, _)| target.parent() == Some(to)) {
        write(target, text.as_bytes())?;
        kept.extend(target.file_name().map(Into::into));
    }
    for entry in fs::read_dir(to)? {
        let entry = entry?;
        if kept.contains(&entry.file_name()) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn write(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    fs::write(path, content).with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_changed_files_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("a")).unwrap();
        fs::create_dir_all(to.join("old")).unwrap();
        fs::write(from.join("a/x"), "x").unwrap();
        fs::write(from.join("y"), "y").unwrap();
        let changed = BTreeMap::from([(to.join("y"), "z".into()), (to.join("a/new"), "new".into())]);
        for _ in 0..2 {
            copy_folder(&from, &to, &changed).unwrap();
            let text = |name: &str| fs::read_to_string(to.join(name)).unwrap();
            assert_eq!((text("y"), text("a/x"), text("a/new")), ("z".into(), "x".into(), "new".into()));
            assert!(!to.join("old").exists());
        }
    }
}
