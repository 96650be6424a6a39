//! Locations of stored files.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use record::{Library, Run};
use stdx::files::{OwnedFolder, Unowned};

use failure::{Done, Exit, Failure};

/// Returns the library of runs: the option, PLATEAU_LIBRARY, the system's (for root) or the user's library.
pub fn library(option: Option<&Path>) -> Done<Library> {
    let set = || std::env::var_os("PLATEAU_LIBRARY").filter(|set| !set.is_empty()).map(PathBuf::from);
    let root = match option.map(Path::to_path_buf).or_else(set) {
        Some(path) => path,
        None if is_root() => PathBuf::from("/var/lib/plateau/runs"),
        None => user_folder("XDG_DATA_HOME", ".local/share", "--library")?.join("runs"),
    };
    let whole = std::path::absolute(&root).map_err(|error| {
        let text = format!(
            "the library {} cannot be found ({error}): was the working directory removed? Change to another one, or \
             specify the library's absolute path with --library",
            root.display()
        );
        Failure::text(Exit::Run, text)
    });
    Ok(Library::at(whole?))
}

/// Returns the named runs of a library, or all of them.
pub fn chosen(library: &Library, names: &[String], is_all: bool) -> Done<Vec<Run>> {
    if !is_all {
        return Ok(names.iter().map(|name| library.find(name)).collect::<Result<_, _>>()?);
    }
    let (runs, unreadable) = library.list()?;
    // If unreadable runs were omitted, the result could be mistaken for the whole library.
    unreadable.into_iter().next().map_or(Ok(()), |error| Err(Failure::from(error)))?;
    match runs.is_empty() {
        true => Err(Failure::text(Exit::Run, format!("no runs in {}", library.root().display()))),
        false => Ok(runs),
    }
}

/// Refuses a folder inside the library, whose folders are runs.
pub fn check_outside(dir: &Path, library: &Library) -> Done {
    let identity = |found: Metadata| (found.dev(), found.ino());
    let Ok(root) = std::fs::metadata(library.root()).map(identity) else { return Ok(()) };
    let is_root = |path: &Path| std::fs::metadata(path).map(identity).is_ok_and(|found| found == root);
    // The deepest existing folder, first as given and then with links and `..` resolved.
    let Some((existing, real)) = dir.ancestors().find_map(|path| Some((path, path.canonicalize().ok()?)))
    else {
        return Ok(());
    };
    if real.ancestors().any(is_root) {
        let text = format!("{} is in the library; choose a folder outside it", dir.display());
        return Err(Failure::text(Exit::Usage, text));
    }
    // Until the folder before `..` exists, it is unknown where `..` leads.
    let missing = dir.strip_prefix(existing).unwrap_or(dir);
    if missing.components().any(|part| part == Component::ParentDir) {
        let text = format!(
            "{}: there is a `..` after a folder that does not exist; specify the folder without it",
            dir.display()
        );
        return Err(Failure::text(Exit::Usage, text));
    }
    Ok(())
}

/// Returns the folders whose files must not be used as targets; empty if this user has no library.
pub fn libraries(option: Option<&Path>) -> Vec<PathBuf> {
    library(option).map(|library| library.root().to_owned()).into_iter().collect()
}

/// Returns the folder for restore records, which are applied after a crash: PLATEAU_STATE, the system's (for
/// root) or the user's folder. Code that opens it must check that no other user could have written to it.
pub fn state() -> Done<PathBuf> {
    let set = std::env::var_os("PLATEAU_STATE").filter(|_| !device::has_more_privileges_than_its_caller());
    match set {
        Some(path) => Ok(std::path::absolute(path)?),
        None if is_root() => Ok(PathBuf::from("/var/lib/plateau/state")),
        // If there is no home folder, there is nothing to restore; a missing folder is reported when a record
        // has to be written.
        None => Ok(user_folder("XDG_STATE_HOME", ".local/state", "PLATEAU_STATE")
            .unwrap_or_else(|_| PathBuf::from("/var/lib/plateau/state"))),
    }
}

/// Returns the folder for configurations: the system's (for root) or the user's.
pub fn config() -> Done<PathBuf> {
    if is_root() { Ok("/etc/plateau".into()) } else { user_folder("XDG_CONFIG_HOME", ".config", "--config") }
}

/// Returns the folders that a journal's records are copied to if the journal was removed or changed and its
/// library is not writable.
pub fn refuges() -> Vec<PathBuf> {
    state().into_iter().chain(std::iter::once(std::env::temp_dir())).collect()
}

/// Converts a path to text for documents; bytes that are not UTF-8 are replaced.
pub fn text_of(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Checks that only this user (or root, for the folders above it) could have written a run; otherwise returns the
/// reason. If this succeeds, no other user can replace the run either, so content read from `dir` afterwards was
/// written by this user.
pub fn is_own_run(dir: &Path) -> Result<(), String> {
    let dir = std::path::absolute(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    let chain = |error: Unowned| format!("{:#}", anyhow::Error::new(error));
    let folder = OwnedFolder::open(&dir).map_err(chain)?;
    let folder = folder.ok_or_else(|| format!("{} no longer exists", dir.display()))?;
    for name in ["run.json", "journal"] {
        if folder.file(name).map_err(chain)?.is_none() {
            return Err(format!("{} has no {name}", dir.display()));
        }
    }
    Ok(())
}

/// Returns the kernel's id for this boot; `None` if the kernel does not report it.
pub fn boot_id() -> Option<String> {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok().map(|text| text.trim().to_owned())
}

/// Returns the command line as typed, to be stored in the run.
pub fn command_line() -> Vec<String> {
    let typed = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    std::iter::once("plateau".to_owned()).chain(typed).collect()
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

fn user_folder(variable: &str, below_home: &str, instead: &str) -> Done<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = set(variable).or_else(|| set("HOME").map(|home| home.join(below_home)));
    folder.map(|folder| folder.join("plateau")).ok_or_else(|| {
        let text = format!("neither {variable} nor HOME is set; specify a directory with {instead}");
        Failure::text(Exit::Usage, text)
    })
}
