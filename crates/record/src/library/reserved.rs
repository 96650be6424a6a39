//! Names in a library that do not refer to a run with that id.

use std::ffi::OsStr;

use super::archive;
use crate::library_journal::LIBRARY_JOURNAL;

/// Name of a library's index, which the `store` crate writes.
const INDEX: &str = "index.sqlite";

/// Name of the file that contains a library's name in shared stores, which the `store` crate writes.
const LIBRARY_ID: &str = "library.id";

/// Returns N if `name` is `latest~N` or `last~N`, and 0 if it is `latest` or `last`: the number of newer
/// runs.
pub(super) fn runs_back(name: &str) -> Option<usize> {
    let lower = name.to_lowercase();
    let rest = lower.strip_prefix("latest").or_else(|| lower.strip_prefix("last"))?;
    if rest.is_empty() { Some(0) } else { rest.strip_prefix('~')?.parse().ok() }
}

/// Returns whether a run with this id would be mistaken for something else in a library: for one of its own files, for
/// the archive of another run, or for the newest run. A run from another library must not have such an id.
#[must_use]
pub fn is_reserved_id(id: &str) -> bool {
    let lower = id.to_ascii_lowercase();
    // The names of files created next to them begin with these names.
    let is_own = [LIBRARY_JOURNAL, INDEX].iter().any(|name| lower.starts_with(name));
    is_own
        || lower == LIBRARY_ID
        || archive::run_in(OsStr::new(&lower)).is_some()
        || runs_back(&lower).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_things_in_a_library_are_reserved() {
        for id in [
            "library.journal",
            "library.id",
            "index.sqlite",
            "index.sqlite-journal",
            "Index.SQLite",
            "s474ey-iops.tar.zst",
            "latest",
            "LAST",
            "latest~1",
        ] {
            assert!(is_reserved_id(id), "{id}");
        }
        for id in
            ["s474ey-iops-sas-slc-2011", "latest-iops", "library.idle", "my.index.sqlite", "tar.zst", "a.zst"]
        {
            assert!(!is_reserved_id(id), "{id}");
        }
    }
}
