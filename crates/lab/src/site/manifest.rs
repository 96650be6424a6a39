//! The files of a site, and how they are recorded.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::pages::edition::files;

/// Files in the top folder of a site, apart from further pages of the run list.
pub const TOP_FILES: [&str; 5] = [files::HOME, files::DRIVES, files::COMPARISONS, files::STYLE, files::ICON];
/// Folders of a site.
pub const TOP_FOLDERS: [&str; 3] = ["runs", "drives", "compare"];
/// Version of the file list.
pub const MANIFEST_FORMAT: u32 = 1;

/// The list of a site's files. The next publication may replace and remove only these files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of this list.
    pub format: u32,
    /// The files that do not belong to a particular run.
    pub files: BTreeSet<String>,
    /// The published runs by id.
    pub runs: BTreeMap<String, PublishedRun>,
}

/// Returns whether a path in a manifest can belong to a site; anyone could have changed the manifest.
#[must_use]
pub fn is_path_of_site(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let is_plain = |part: &&str| {
        let is_known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        !part.is_empty() && !part.starts_with('.') && part.chars().all(is_known)
    };
    let is_list = |name: &str| name.starts_with("runs-") && name.ends_with(".html");
    parts.iter().all(is_plain)
        && match parts[..] {
            [name] => TOP_FILES.contains(&name) || is_list(name),
            [folder, _] => TOP_FOLDERS.contains(&folder),
            ["runs", _, _] => true,
            _ => false,
        }
}

/// The files of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedRun {
    /// SHA-256 of everything from which the files were generated.
    pub state_sha256: String,
    /// Their paths, relative to the site's folder.
    pub files: BTreeSet<String>,
}

impl Manifest {
    /// Returns the manifest as it is stored.
    pub fn text(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(self).unwrap_or_default()
    }

    /// Returns every file of the site.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.files.iter().chain(self.runs.values().flat_map(|run| &run.files)).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_outside_a_site_are_recognised() {
        for path in [
            "index.html",
            "runs-2.html",
            "runs/20261125-a.html",
            "runs/20261125-a/report.html",
            "runs/-a.html/report.html",
            "drives/x-1.html",
            "compare/y.html",
        ] {
            assert!(is_path_of_site(path), "{path}");
        }
        for path in [
            "",
            "/etc/passwd",
            "../index.html",
            "runs/../../x",
            "runs/./x",
            "runs//x",
            "notes.txt",
            "runs/a/b/c",
            "drives/a/b",
            ".git/config",
            "runs/.x",
        ] {
            assert!(!is_path_of_site(path), "{path}");
        }
    }
}
