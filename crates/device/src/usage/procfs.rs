//! Files and directories in `/proc` and `/sys`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use record::errno::reason;
pub(super) use sysfs::unescape;

use sysfs::Roots;

/// Returns the paths in a folder; empty if it cannot be listed.
pub(super) fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// Returns the IDs and folders of all visible processes.
pub(super) fn processes(roots: &Roots) -> Vec<(u32, PathBuf)> {
    let number = |path: PathBuf| Some((path.file_name()?.to_str()?.parse().ok()?, path));
    entries(&roots.proc).into_iter().filter_map(number).collect()
}

/// Returns the text of a file in `/proc` or `/sys`; the error names the file.
pub(super) fn read(path: &Path) -> io::Result<String> {
    fs::read(path)
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .map_err(|e| io::Error::new(e.kind(), format!("{}: {}", path.display(), reason(&e))))
}
