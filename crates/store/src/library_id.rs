//! The name of a library in shared stores.

use std::io::{Read as _, Write as _};
use std::path::Path;

use stdx::files::{OwnedFolder, Unowned};

use crate::error::StoreError;

/// Name of the file in the library that contains the library's name.
pub const LIBRARY_ID: &str = "library.id";
const RANDOM: &str = "/proc/sys/kernel/random/uuid";
/// Limits on the parts of a name.
const MOST_HOST_LETTERS: usize = 32;
const RANDOM_LETTERS: usize = 8;
const MOST_BYTES: u64 = 100;

/// Returns the name of a library; None if it has never been in a shared store.
///
/// # Errors
/// Returns an error if others could have written it, or it cannot be read.
pub fn known(root: &Path) -> Result<Option<String>, StoreError> {
    let Some(folder) = OwnedFolder::open(root)? else { return Ok(None) };
    let Some(file) = folder.file_to_read(LIBRARY_ID)? else { return Ok(None) };
    let failed = |source| StoreError::Library { path: root.join(LIBRARY_ID), source };
    let mut text = String::new();
    file.take(MOST_BYTES).read_to_string(&mut text).map_err(failed)?;
    parsed(&text, root)
}

/// Returns the name of a library; if it has none, it receives one.
///
/// # Errors
/// Returns an error if others can write to the library, or the name cannot be read or written.
pub fn made(root: &Path) -> Result<String, StoreError> {
    let path = root.join(LIBRARY_ID);
    let missing = || Unowned::System { path: root.into(), source: std::io::ErrorKind::NotFound.into() };
    let folder = OwnedFolder::open(root).and_then(|folder| folder.ok_or_else(missing));
    let folder = folder?;
    let failed = |source| StoreError::Library { path: path.clone(), source };
    let mut file = folder.make_file(LIBRARY_ID)?;
    // Of several processes that index the library for the first time, one chooses the name.
    file.lock().map_err(failed)?;
    let mut text = String::new();
    (&file).take(MOST_BYTES).read_to_string(&mut text).map_err(failed)?;
    if let Some(id) = parsed(&text, root)? {
        return Ok(id);
    }
    let id = name(&stdx::host_name(), &std::fs::read_to_string(RANDOM).map_err(failed)?);
    file.write_all(format!("{id}\n").as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
    folder.sync()?;
    Ok(id)
}

/// Returns the name in the file; None if the file is empty because it is being written or its writer was
/// killed.
fn parsed(text: &str, root: &Path) -> Result<Option<String>, StoreError> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    match text.strip_suffix('\n') {
        None if text.is_empty() => Ok(None),
        Some(id) if !id.is_empty() && id.chars().all(is_letter) => Ok(Some(id.to_owned())),
        _ => Err(StoreError::LibraryId { path: root.join(LIBRARY_ID) }),
    }
}

fn name(host: &str, random: &str) -> String {
    let host: String =
        host.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '-').collect();
    let host =
        host.get(..MOST_HOST_LETTERS.min(host.len())).filter(|host| !host.is_empty()).unwrap_or("library");
    let random: String = random.chars().filter(char::is_ascii_hexdigit).take(RANDOM_LETTERS).collect();
    format!("{}-{random}", host.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_keeps_its_name() {
        let dir = tempfile::tempdir().expect("a folder");
        assert_eq!(known(dir.path()).expect("readable"), None);
        let id = made(dir.path()).expect("a name");
        assert_eq!(
            (made(dir.path()).expect("a name"), known(dir.path()).expect("a name")),
            (id.clone(), Some(id))
        );
        let path = dir.path().join(LIBRARY_ID);
        std::fs::write(&path, "").expect("truncated");
        assert_eq!(known(dir.path()).expect("readable"), None);
        made(dir.path()).expect("a new name");
        for bad in ["a/b\n", "a b\n", "unfinished", "\n"] {
            std::fs::write(&path, bad).expect("damage");
            assert!(matches!(made(dir.path()), Err(StoreError::LibraryId { .. })), "{bad:?}");
        }
    }

    #[test]
    fn names_begin_with_the_host() {
        assert_eq!(name("Lab-7.example", "3f9a0c12-77aa-4bcd-8eef-001122334455\n"), "lab-7example-3f9a0c12");
        assert_eq!(name("", "3f9a0c12-77aa"), "library-3f9a0c12");
        assert_eq!(name(&"x".repeat(200), "00000000").len(), 41);
    }
}
