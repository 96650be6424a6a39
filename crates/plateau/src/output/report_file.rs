//! Writes the report of a run to files.

use std::path::PathBuf;

use record::Run;
use report::Publication;
use report::formats::{FORMATS, Format, Make, Source};

use crate::cli::Publisher;
use crate::failure::{Done, Exit, Failure};
use crate::output::file;
use crate::output::options;
use crate::output::publication;

/// Returns the path of the HTML report of a run if none is specified: in its directory, or in the working directory if
/// the run is archived and its files cannot change.
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
    let all = files.iter().map(|path| options::by_extension(path)).collect::<Result<_, _>>();
    all.map_err(|text| Failure::text(Exit::Usage, text))
}

/// Removes duplicate outputs. Refuses the same file for two formats, because the second would replace the first.
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

/// Writes `run` in every requested format; returns the formats with the absolute paths of the files. `json` is set
/// if standard output is used for a JSON document.
pub fn write_all(
    run: &Run,
    requested: &[(&'static Format, PathBuf)],
    publication: Publication,
    json: bool,
) -> Done<Vec<(&'static str, PathBuf)>> {
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
    let fit = requested.iter().try_for_each(|(format, path)| options::check(format, path));
    fit.map_err(|text| Failure::text(Exit::Usage, text))?;
    let loaded = run.load()?;
    let document = report::fold(&run.file, &loaded)
        .map_err(|text| Failure::text(Exit::Run, text))?
        .published(publication);
    let source = Source { document: &document, entries: &loaded.entries };
    let mut written = Vec::new();
    for (format, path) in requested {
        let failed = |text: String| Failure::text(Exit::Run, text).of_run(&run.file.id);
        match format.make {
            Make::File(make) => {
                let bytes = make(source).map_err(failed)?;
                match path.file_name().filter(|_| path.parent() == Some(&run.dir)) {
                    Some(name) => file::of_run(run, name, &bytes)?,
                    None => file::file(path, &bytes)?,
                }
            }
            Make::Folder(make) => file::folder(path, &make(source).map_err(failed)?)?,
        }
        if !file::is_stdout(path) {
            written.push((format.name, std::path::absolute(path)?));
        }
    }
    Ok(written)
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
