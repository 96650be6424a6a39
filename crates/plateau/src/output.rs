//! Every file that a command writes goes through here: regular files are replaced as a whole, nothing is followed, and
//! what is not a regular file is not written over.

use std::ffi::OsStr;
use std::path::Path;

use record::Run;
use stdx::files::{Folder, WriteError};

use crate::failure::{Done, Exit, Failure};
use crate::printer;

/// Names of standard output that are written as such. The last three are links, which no output follows.
const STDOUT: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// Whether an output is standard output.
pub fn is_stdout(path: &Path) -> bool {
    STDOUT.iter().any(|name| path == Path::new(name))
}

/// Refuses outputs that cannot be written, before anything is made for them. `json` says that standard output is
/// taken by a document.
pub fn check<'a>(files: impl IntoIterator<Item = &'a Path>, json: bool) -> Done {
    let mut streams = usize::from(json);
    for path in files {
        if is_stdout(path) {
            streams += 1;
        } else {
            check_file(path)?;
        }
    }
    if streams < 2 {
        return Ok(());
    }
    let taken = if json { "--json prints its document there" } else { "only one output can be" };
    Err(Failure::text(Exit::Usage, format!("standard output is taken: {taken}; name a file instead")))
}

/// The same of one file, whose folder may be missing.
fn check_file(path: &Path) -> Done {
    let kind = std::fs::symlink_metadata(path).map(|meta| meta.is_file());
    if kind.unwrap_or(true) {
        return Ok(());
    }
    let found = Folder::around(path).and_then(|(folder, name)| folder.check(name));
    found.map_err(refused)
}

/// Writes a file, and makes the folders that it lies in; or writes to standard output where that is meant.
pub fn file(path: &Path, bytes: &[u8]) -> Done {
    if is_stdout(path) {
        return printer::print_bytes(bytes);
    }
    Folder::around(path).and_then(|(folder, name)| folder.replace(name, bytes)).map_err(refused)
}

/// Writes a file into the directory of a run. It is not made: a run that was removed meanwhile stays removed.
pub fn of_run(run: &Run, name: &OsStr, bytes: &[u8]) -> Done {
    Folder::with(&run.dir, &["run.json", "journal"])
        .and_then(|folder| folder.replace(name, bytes))
        .map_err(refused)
}

/// Writes files into a folder, which is made where it is missing.
pub fn folder(path: &Path, files: &[(String, Vec<u8>)]) -> Done {
    if is_stdout(path) {
        let text =
            format!("{} is not a directory, and this output consists of several files", path.display());
        return Err(Failure::text(Exit::Usage, text));
    }
    let folder = Folder::make(path, false).map_err(refused)?;
    // All or none, as far as that can be known beforehand.
    files.iter().try_for_each(|(name, _)| folder.check(OsStr::new(name)).map_err(refused))?;
    files.iter().try_for_each(|(name, bytes)| folder.replace(OsStr::new(name), bytes).map_err(refused))
}

fn refused(error: WriteError) -> Failure {
    match error {
        WriteError::System { path, source } => {
            let context = format!("cannot write {}", path.display());
            Failure::new(Exit::Run, anyhow::Error::new(source).context(context))
        }
        WriteError::InTheWay { .. } => Failure::text(
            Exit::Usage,
            format!("cannot write: {error}; only regular files are replaced, choose another path"),
        ),
        WriteError::NoName { .. } => Failure::text(Exit::Usage, format!("cannot write: {error}")),
    }
}
