//! Writes a run's report to files.

use std::path::PathBuf;

use record::Run;
use report::Publication;
use report::formats::{FORMATS, Files, Format, Make, Source};

use crate::cli::Publisher;
use crate::failure::{Done, Exit, Failure};
use crate::output::extension;
use crate::output::file;
use crate::output::publication;

/// Returns the default path of a run's HTML report: in the run's directory or, if the run is archived and its
/// files therefore cannot change, in the working directory.
pub fn path(run: &Run) -> PathBuf {
    if run.is_archived() { format!("{}.html", run.file.id).into() } else { run.dir.join("report.html") }
}

/// Writes the HTML report of `run` and returns its path.
pub fn write(run: &Run) -> Done<PathBuf> {
    let html = (&FORMATS[0], path(run));
    Ok(write_all(run, &[html], publication::of(run, &Publisher::default())?, false)?.swap_remove(0).1)
}

/// Selects the formats of files by their extensions.
///
/// # Errors
/// Returns an error if an extension is unknown.
pub fn named(files: &[PathBuf]) -> Done<Vec<(&'static Format, PathBuf)>> {
    let all = files.iter().map(|path| extension::by_extension(path)).collect::<Result<_, _>>();
    all.map_err(|text| Failure::text(Exit::Usage, text))
}

/// Removes duplicate outputs. Rejects one file for two formats, because the second would replace the first.
pub fn once_each(
    named: impl Iterator<Item = (&'static Format, PathBuf)>,
) -> Done<Vec<(&'static Format, PathBuf)>> {
    let mut outputs: Vec<(&'static Format, PathBuf)> = Vec::new();
    for (format, path) in named {
        // `d1` and `./d1` are the same file.
        let whole = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let is_known = |known: &PathBuf| whole(known) == whole(&path) && !file::is_stdout(known);
        match outputs.iter().find(|(_, known)| is_known(known)) {
            None => outputs.push((format, path)),
            Some((known, _)) if known.name == format.name => {}
            Some((known, _)) => {
                let (first, second) = (known.name, format.name);
                let text =
                    format!("{}: named for both {first} and {second}; choose two files", path.display());
                return Err(Failure::text(Exit::Usage, text));
            }
        }
    }
    Ok(outputs)
}

/// Rejects outputs that cannot be written.
fn check(requested: &[(&'static Format, PathBuf)], json: bool) -> Done {
    for (format, path) in requested {
        if matches!(format.make, Make::Folder(_)) && file::is_stdout(path) {
            let text = format!("--{} writes several files; specify a directory", format.name);
            return Err(Failure::text(Exit::Usage, text));
        }
    }
    let files = requested.iter().filter(|(format, _)| matches!(format.make, Make::File(_)));
    file::check(files.map(|(_, path)| path.as_path()), json)?;
    let folders = requested.iter().filter(|(format, _)| matches!(format.make, Make::Folder(_)));
    folders.map(|(_, path)| path.as_path()).try_for_each(file::check_folder_of_output)?;
    let fit = requested.iter().try_for_each(|(format, path)| extension::check(format, path));
    fit.map_err(|text| Failure::text(Exit::Usage, text))
}

/// Writes `run` in every requested format; returns the formats with the absolute paths of the files. `json` is set
/// if standard output is used for a JSON document.
pub fn write_all(
    run: &Run,
    requested: &[(&'static Format, PathBuf)],
    publication: Publication,
    json: bool,
) -> Done<Vec<(&'static str, PathBuf)>> {
    // The check inspects all processes on the host, which may take longer than reading the journal.
    let (checked, loaded) = stdx::parallel::both(|| check(requested, json), || run.load());
    checked?;
    let loaded = loaded?;
    let document = report::fold(&run.file, &loaded)
        .map_err(|text| Failure::text(Exit::Run, text))?
        .published(publication);
    let source = Source { document: &document, entries: &loaded.entries };
    let all = stdx::parallel::mapped(requested, |(format, _)| made(source, format));
    write_made(run, requested, all)?;
    let on_disk = requested.iter().filter(|(_, path)| !file::is_stdout(path));
    on_disk.map(|(format, path)| Ok((format.name, std::path::absolute(path)?))).collect()
}

/// Writes all outputs that precede the first output that could not be generated.
fn write_made(run: &Run, requested: &[(&Format, PathBuf)], all: Vec<Result<Made, String>>) -> Done {
    let mut files = Vec::new();
    let mut failure = Ok(());
    for ((_, path), made) in requested.iter().zip(all) {
        match made {
            Ok(Made::File(bytes)) if file::is_stdout(path) => file::file(path, &bytes)?,
            Ok(Made::File(bytes)) => files.push((path, bytes)),
            Ok(Made::Folder(all)) => file::folder(path, &all)?,
            Err(text) => {
                failure = Err(Failure::text(Exit::Run, text).of_run(&run.file.id));
                break;
            }
        }
    }
    let files: Vec<_> = files.iter().map(|(path, bytes)| (path.as_path(), bytes.as_slice())).collect();
    file::several(run, &files)?;
    failure
}

/// The output of one format.
enum Made {
    File(Vec<u8>),
    Folder(Files),
}

fn made(source: Source<'_>, format: &Format) -> Result<Made, String> {
    match format.make {
        Make::File(make) => make(source).map(Made::File),
        Make::Folder(make) => make(source).map(Made::Folder),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_written_once() {
        let named = |pairs: &[(usize, &str)]| {
            let pairs: Vec<_> = pairs.iter().map(|(at, path)| (&FORMATS[*at], PathBuf::from(path))).collect();
            once_each(pairs.into_iter()).map(|outputs| outputs.len())
        };
        assert_eq!(named(&[(0, "a"), (1, "b"), (0, "./a")]).ok(), Some(2));
        assert_eq!(
            named(&[(0, "-"), (0, "-")]).ok(),
            Some(2),
            "refused elsewhere: there is one standard output"
        );
        assert!(named(&[(0, "a"), (1, "./a")]).is_err_and(|failure| failure.message().contains("two files")));
    }
}
