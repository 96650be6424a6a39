//! Writes all of the commands' output files: regular files are replaced atomically, links are not followed, and
//! anything else is never overwritten.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use record::Run;
use stdx::files::Folder;

use crate::printer;
use failure::{Done, Exit, Failure};
use record::run_files::{IMPORTED, LOGO};

/// Paths that denote standard output. The last three are links, which are not followed elsewhere.
const STDOUT: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// Number of bytes to read to identify a file's type.
const BEGINNING_BYTES: u64 = 4096;

/// Returns whether an output is standard output.
pub fn is_stdout(path: &Path) -> bool {
    STDOUT.iter().any(|name| path == Path::new(name))
}

/// Refuses outputs that cannot be written, before any of them is created. `json` is set if standard output is used
/// for a JSON document.
pub fn check<'a>(files: impl IntoIterator<Item = &'a Path>, json: bool) -> Done {
    let mut streams = usize::from(json);
    let mut on_disk = Vec::new();
    for path in files {
        if is_stdout(path) {
            streams += 1;
        } else {
            path.parent().map_or(Ok(()), check_folder)?;
            let (folder, name) = Folder::around(path)?;
            check_name(&folder, name, path)?;
            on_disk.push(path);
        }
    }
    check_unused(on_disk)?;
    if streams < 2 {
        return Ok(());
    }
    let taken = if json { "--json prints its document there" } else { "only one output can be" };
    Err(Failure::text(Exit::Usage, format!("standard output is in use: {taken}; specify a file instead")))
}

/// Refuses a folder that does not exist, because its name is probably mistyped.
fn check_folder(folder: &Path) -> Done {
    let is_missing = |error: std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    let current = folder.as_os_str().is_empty();
    if current || !std::fs::metadata(folder).is_err_and(is_missing) {
        return Ok(());
    }
    let folder = folder.display();
    let text = format!("{folder}: no such folder; create it with `mkdir -p {folder}`, or choose another one");
    Err(Failure::text(Exit::Usage, text))
}

/// Checks and creates the folder for one format when several runs are exported; its parent must exist.
pub fn check_folder_of_many(path: &Path) -> Done {
    path.parent().map_or(Ok(()), check_folder)?;
    Folder::make(path, false).map(drop).map_err(Failure::from)
}

/// Checks that a name in a folder may be written; a run's files are never replaced.
fn check_name(folder: &Folder, name: &OsStr, path: &Path) -> Done {
    folder.check(name)?;
    let begin = folder.beginning(name, BEGINNING_BYTES).map_err(|source| {
        Failure::new(Exit::Run, anyhow::Error::new(source).context(format!("cannot read {}", path.display())))
    })?;
    let is_named_so = match name.to_str() {
        Some("run.json") => folder.has("journal"),
        Some("journal") => folder.has("run.json"),
        Some(name) => is_of_run(name) && (folder.has("run.json") || folder.has("journal")),
        None => false,
    };
    if is_named_so || record::begins_as_file_of_run(&begin) {
        return Err(never_overwritten(path, "is part of a run"));
    }
    if record::is_archive(path, &begin) {
        return Err(never_overwritten(path, "may be an archived run"));
    }
    Ok(())
}

/// Checks that no device is built on any of these files; for example, the image of a loop device is never
/// replaced.
fn check_unused<'p>(files: impl IntoIterator<Item = &'p Path>) -> Done {
    match device::built_on_files(files).first() {
        Some((path, use_of_it)) => Err(never_overwritten(path, &format!("is in use ({use_of_it})"))),
        None => Ok(()),
    }
}

fn never_overwritten(path: &Path, problem: &str) -> Failure {
    let text = format!("{} {problem}, which is never overwritten; choose another path", path.display());
    Failure::text(Exit::Usage, text)
}

/// Returns whether a run may store a file with this name next to its `run.json` and journal.
fn is_of_run(name: &str) -> bool {
    name.starts_with(record::RESCUED_JOURNAL) || [LOGO, IMPORTED, transfer::COPIED].contains(&name)
}

/// Writes a file, or writes to standard output if `path` stands for it.
pub fn file(path: &Path, bytes: &[u8]) -> Done {
    if is_stdout(path) {
        return printer::print_bytes(bytes);
    }
    let (folder, name) = Folder::around(path)?;
    check_name(&folder, name, path)?;
    check_unused([path])?;
    folder.replace(name, bytes).map_err(Failure::from)
}

/// Writes a file whose content is produced during writing, and replaces an existing file only at the end.
pub fn stream<T>(path: &Path, write: impl FnOnce(&mut std::fs::File) -> Done<T>) -> Done<T> {
    let (folder, name) = Folder::around(path)?;
    check_name(&folder, name, path)?;
    check_unused([path])?;
    folder.replace_with(name, write)
}

/// Writes a file into a run's directory. Does not create the directory, so that a run that has just been
/// removed is not recreated.
pub fn of_run(run: &Run, name: &OsStr, bytes: &[u8]) -> Done {
    several(run, &[(&run.dir.join(name), bytes)])
}

/// Writes several files of a run to any location. Files in the run's directory are written as [`of_run`] does.
pub fn several(run: &Run, files: &[(&Path, &[u8])]) -> Done {
    let mut open = Vec::new();
    for (path, bytes) in files {
        let (folder, name) = match path.file_name().filter(|_| path.parent() == Some(&run.dir)) {
            Some(name) => {
                run.check_changeable()?;
                (Folder::known(&run.dir, run.identity())?, name)
            }
            None => Folder::around(path)?,
        };
        check_name(&folder, name, path)?;
        open.push((folder, name, bytes));
    }
    // The check inspects all processes on the host, which may take longer than generating a report.
    check_unused(files.iter().map(|(path, _)| *path))?;
    let files: Vec<_> = open.iter().map(|(folder, name, bytes)| (folder, *name, **bytes)).collect();
    Folder::replace_each(&files).map_err(Failure::from)
}

/// Checks the folder for an output that consists of several files. Creates nothing.
pub fn check_folder_of_output(path: &Path) -> Done {
    path.parent().map_or(Ok(()), check_folder)?;
    if std::fs::metadata(path).is_ok_and(|found| found.is_file()) {
        let text = format!(
            "{} is a file, but this output consists of several files; specify a folder instead",
            path.display()
        );
        return Err(Failure::text(Exit::Usage, text));
    }
    Ok(())
}

/// Writes files into a folder, creating it if it is missing.
pub fn folder(path: &Path, files: &[(String, Vec<u8>)]) -> Done {
    if is_stdout(path) {
        let text =
            format!("{} is not a directory, and this output consists of several files", path.display());
        return Err(Failure::text(Exit::Usage, text));
    }
    check_folder_of_output(path)?;
    let folder = Folder::make(path, false)?;
    // Check all names first, so that either all files or none are written.
    let paths: Vec<PathBuf> = files.iter().map(|(name, _)| path.join(name)).collect();
    files.iter().zip(&paths).try_for_each(|((name, _), path)| check_name(&folder, OsStr::new(name), path))?;
    check_unused(paths.iter().map(PathBuf::as_path))?;
    let files: Vec<_> =
        files.iter().map(|(name, bytes)| (&folder, OsStr::new(name), bytes.as_slice())).collect();
    Folder::replace_each(&files).map_err(Failure::from)
}
