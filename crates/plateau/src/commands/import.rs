//! `plateau import FILE`: imports results from another tool as a run in the library.

use std::path::Path;

use anyhow::Context as _;
use import::{ImportError, Source};
use record::{Library, Run};
use stdx::files::Links;

use crate::cli::{Cli, Import};
use crate::failure::{Done, Exit, Failure};
use crate::output::places;
use crate::output::printer;
use crate::output::summary::Summary;
use crate::output::version;
use crate::run::lifecycle::new_id;
use record::run_files::IMPORTED;

pub fn run(cli: &Cli, options: &Import) -> Done {
    let bytes = contents(&options.file)?;
    let name = options.file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let stem = options.file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let library = places::library(cli.library.as_deref())?;
    let stored = store(&library, &bytes, &name, new_id("import", &stem), options.format.as_deref())?;
    let summary = Summary::of(stored)?;
    if cli.json {
        return printer::print_json(&summary.json());
    }
    printer::print(&format!(
        "{}\n`plateau report {}` writes its pages",
        summary.text().trim_end(),
        summary.run.file.id
    ))
}

/// Reads the whole file, unless it is too large for every supported format.
fn contents(path: &Path) -> Done<Vec<u8>> {
    let bytes = stdx::files::read(path, Links::Followed, import::largest_bytes() as u64);
    let bytes = bytes.with_context(|| format!("cannot read {}", path.display()));
    bytes.map_err(|error| Failure::new(Exit::Usage, error))
}

/// Parses the whole file before creating a run.
pub fn store(library: &Library, bytes: &[u8], file: &str, id: String, format: Option<&str>) -> Done<Run> {
    let (format, imported) = import::read(bytes, format).map_err(|error| unreadable(file, error))?;
    let source = Source {
        file,
        bytes,
        id,
        created: record::wall_now(),
        version: version::NUMBER,
        commit: version::commit(),
        command: places::command_line(),
    };
    let (file, events) = import::run(imported, format, source);
    let (run, mut journal) = library.create_with(file, &[(IMPORTED, bytes)])?;
    for event in events {
        journal.append(event)?;
    }
    // Opening the imported run like any other run makes its names safe to print.
    Ok(Run::open(&run.dir)?)
}

/// Returns the failure for a file that cannot be imported.
fn unreadable(file: &str, error: ImportError) -> Failure {
    let is_unknown = error == ImportError::Unknown;
    let failure = anyhow::Error::new(error).context(format!("cannot import {file}"));
    if is_unknown {
        return Failure::text(Exit::Usage, format!("{failure:#}; specify one with --format"));
    }
    Failure::new(Exit::Usage, failure)
}
