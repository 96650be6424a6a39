//! Where things are kept.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use record::Library;

use crate::failure::{Done, Exit, Failure};

/// The library of runs: the option or PLATEAU_LIBRARY, else the system's place for root, else the user's.
pub fn library(option: Option<&Path>) -> Done<Library> {
    let root = match option {
        Some(path) => path.to_path_buf(),
        None if is_root() => PathBuf::from("/var/lib/plateau/runs"),
        None => data_home()?.join("plateau/runs"),
    };
    Ok(Library::at(std::path::absolute(root)?))
}

/// The folders whose files must not become targets; none where this user has no library.
pub fn libraries(option: Option<&Path>) -> Vec<PathBuf> {
    library(option).map(|library| library.root().to_owned()).into_iter().collect()
}

/// A path as text, for documents: names need not be text, and what is none of it is replaced.
pub fn text_of(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// What was typed, for the run to remember.
pub fn command_line() -> Vec<String> {
    let typed = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    std::iter::once("plateau".to_owned()).chain(typed).collect()
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

fn data_home() -> Done<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    set("XDG_DATA_HOME").or_else(|| set("HOME").map(|home| home.join(".local/share"))).ok_or_else(|| {
        Failure::text(Exit::Usage, "neither XDG_DATA_HOME nor HOME is set; name a folder with --library DIR")
    })
}
