//! The report of a run as files.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use record::Run;
use report::Publication;
use report::export::{EXPORTS, Export, Make, Source};

use crate::cli::Publisher;
use crate::failure::{Done, Exit, Failure};
use crate::publication;

/// Writes the HTML report of `run` into its directory and says where it is.
pub fn write(run: &Run) -> Done<PathBuf> {
    let html = (&EXPORTS[0], run.dir.join("report.html"));
    Ok(write_all(run, &[html], publication::of(run, &Publisher::default())?)?.swap_remove(0).1)
}

/// Writes `run` in every format that is asked for; gives the formats with the absolute paths.
pub fn write_all(
    run: &Run,
    outputs: &[(&'static Export, PathBuf)],
    publication: Publication,
) -> Done<Vec<(&'static str, PathBuf)>> {
    let loaded = run.load()?;
    let document = report::fold(&run.file, &loaded)
        .map_err(|text| Failure::text(Exit::Run, text))?
        .published(publication);
    let source = Source { document: &document, entries: &loaded.entries };
    let mut written = Vec::new();
    for (export, path) in outputs {
        let failed = |text: String| Failure::text(Exit::Run, text).of_run(&run.file.id);
        match export.make {
            Make::File(make) => put(path, &make(source).map_err(failed)?)?,
            Make::Folder(make) => {
                let files = make(source).map_err(failed)?;
                std::fs::create_dir_all(path).map_err(|error| refused(error, path))?;
                for (name, content) in files {
                    put(&path.join(name), &content)?;
                }
            }
        }
        written.push((export.name, std::path::absolute(path)?));
    }
    Ok(written)
}

/// Writes a file, and makes the folders that it lies in; the reader of a failure learns which.
pub fn put(path: &Path, bytes: &[u8]) -> Done {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let made = folder.map_or(Ok(()), std::fs::create_dir_all);
    made.and_then(|()| write_whole(path, bytes)).map_err(|error| refused(error, path))
}

fn refused(error: std::io::Error, path: &Path) -> Failure {
    Failure::new(Exit::Run, anyhow::Error::new(error).context(format!("cannot write {}", path.display())))
}

/// A reader sees the old file or the new one, never half of one, and nothing is left of one that failed.
fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".tmp");
    let mut file = std::fs::File::create(&unfinished)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    let written = written.and_then(|()| std::fs::rename(&unfinished, path));
    if written.is_err() {
        // The failure to write is the one to tell.
        let _ = std::fs::remove_file(&unfinished);
    }
    written
}
