//! Determines which files in a folder belong to a site. The folder is untrusted: no part of a path below it may be a
//! symbolic link, and only files that a site can have are removed.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use stdx::files::{Folder, Links, ReadError, WriteError, read_text, remove_in};

use super::manifest::{MANIFEST_FORMAT, Manifest, TOP_FILES, TOP_FOLDERS, is_path_of_site};

/// Name of the file that lists a site's files.
pub const MANIFEST: &str = "plateau-site.json";
/// Size limit of that file: enough for 100,000 runs.
const MOST_BYTES: u64 = 128 << 20;

/// Why a folder cannot hold a site.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// Files that a site would replace, but that are not part of a site.
    #[error(
        "{} contains {name}, but no {MANIFEST}, so it is not a site that Plateau has published; choose an empty folder",
        dir.display()
    )]
    NotASite {
        /// The folder.
        dir: PathBuf,
        /// One of the files.
        name: &'static str,
    },
    /// The list of the files cannot be read.
    #[error("{}; remove it together with the site, or choose another folder", path.display())]
    Unreadable {
        /// The list.
        path: PathBuf,
        /// The cause.
        #[source]
        source: ReadError,
    },
    /// The list of the files is not valid.
    #[error("{}: {problem}; remove it together with the site, or choose another folder", path.display())]
    Invalid {
        /// The list.
        path: PathBuf,
        /// The problem.
        problem: String,
    },
    /// A system call failed.
    #[error("cannot read {}", path.display())]
    System {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// A folder of the site cannot be used.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Returns the manifest of the site in a folder; `None` if it contains neither a site nor anything that a site
/// would replace. Runs whose files are missing count as changed.
///
/// # Errors
/// Returns an error if the folder contains something else, or its manifest is not usable.
pub fn site_in(dir: &Path) -> Result<Option<Manifest>, FolderError> {
    let path = dir.join(MANIFEST);
    if !is_there(&path)? {
        for name in TOP_FILES.into_iter().chain(TOP_FOLDERS) {
            if is_there(&dir.join(name))? {
                return Err(FolderError::NotASite { dir: dir.into(), name });
            }
        }
        return Ok(None);
    }
    let text = read_text(&path, Links::Refused, MOST_BYTES)
        .map_err(|source| FolderError::Unreadable { path: path.clone(), source })?;
    let invalid = |problem: String| FolderError::Invalid { path: path.clone(), problem };
    let mut manifest: Manifest = serde_json::from_str(&text).map_err(|error| invalid(error.to_string()))?;
    if manifest.format > MANIFEST_FORMAT {
        return Err(invalid("it was written by a newer version of Plateau".into()));
    }
    if let Some(path) = manifest.all().find(|path| !is_path_of_site(path)) {
        return Err(invalid(format!("'{}' cannot be a file of a site", path.escape_debug())));
    }
    let is_file =
        |path: &String| std::fs::symlink_metadata(dir.join(path)).is_ok_and(|found| found.is_file());
    for run in manifest.runs.values_mut().filter(|run| !run.files.iter().all(is_file)) {
        // An empty text does not equal any hash, so the files are written again or removed.
        run.state_sha256.clear();
    }
    Ok(Some(manifest))
}

fn is_there(path: &Path) -> Result<bool, FolderError> {
    match std::fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(false),
        Err(source) => Err(FolderError::System { path: path.into(), source }),
    }
}

/// Creates the folder for a site's file; returns the folder and the file's name.
///
/// # Errors
/// Returns an error if a part of the path is a symbolic link or cannot be created.
pub fn folder_of<'p>(dir: &Path, path: &'p str) -> Result<(PathBuf, &'p str), WriteError> {
    let (below, name) = path.rsplit_once('/').unwrap_or(("", path));
    let mut folder = dir.to_owned();
    Folder::make(&folder, false)?;
    for part in below.split('/').filter(|part| !part.is_empty()) {
        folder.push(part);
        Folder::make(&folder, false)?;
    }
    Ok((folder, name))
}

/// Removes the files that are no longer part of the site, what a killed publication left unfinished, and folders that
/// become empty.
///
/// # Errors
/// Returns an error if a file cannot be removed.
pub fn remove_stale(dir: &Path, previous: &Manifest, current: &Manifest) -> Result<(), WriteError> {
    let folders: BTreeSet<&str> =
        previous.all().map(|path| path.rsplit_once('/').map_or("", |(folder, _)| folder)).collect();
    for path in folders.into_iter().map(|folder| dir.join(folder)).filter(|path| path.exists()) {
        Folder::make(&path, false)?
            .remove_unfinished()
            .map_err(|source| WriteError::System { path: path.clone(), source })?;
    }
    let kept: BTreeSet<&str> = current.all().collect();
    for path in previous.all().filter(|path| !kept.contains(path)) {
        let (folder, name) = folder_of(dir, path)?;
        let open = Folder::make(&folder, false)?.into_file();
        match remove_in(&open, name.as_ref()) {
            Err(source) if source.kind() != ErrorKind::NotFound => {
                return Err(WriteError::System { path: dir.join(path), source });
            }
            _ => {}
        }
        // This fails if the folder contains anything else, so such a folder remains.
        let _ = (folder != dir).then(|| std::fs::remove_dir(&folder));
    }
    Ok(())
}
