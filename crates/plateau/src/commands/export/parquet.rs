//! `plateau export --parquet DIR`: writes the index's tables as Parquet files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use record::Library;
use serde_json::json;
use stdx::units::count_of;
use store::{ExportError, Index, Part, StoredRun, Updated};

use crate::cli::{Cli, Export};
use crate::commands::runs;
use crate::failure::{Done, Exit, Failure};
use crate::output::catalogue;
use crate::output::extension;
use crate::output::file;
use crate::output::places;
use crate::output::printer;

/// A written file.
struct Written {
    table: &'static str,
    path: PathBuf,
    rows: u64,
}

pub fn run(cli: &Cli, requested: &Export, dir: &Path) -> Done {
    if !requested.outputs.0.is_empty() {
        let text = "--parquet writes tables of all runs together; use a second command for other formats";
        return Err(Failure::text(Exit::Usage, text));
    }
    if file::is_stdout(dir) {
        return Err(Failure::text(Exit::Usage, "--parquet writes several files; specify a directory"));
    }
    extension::check_name("parquet", &[], dir).map_err(|text| Failure::text(Exit::Usage, text))?;
    file::check_folder_of_output(dir)?;
    let library = places::library(cli.library.as_deref())?;
    let dir = std::path::absolute(dir)?;
    places::check_outside(&dir, &library)?;
    let (mut index, updated) = catalogue::current_after(&library)?;
    let ids = chosen(&library, requested)?;
    let (runs, written) = index.reading(|index| {
        let runs = stored(index, ids, &updated, &library)?;
        let parts = parts(index, &dir, &runs)?;
        check(&dir, &parts)?;
        let written = parts.iter().map(|part| write(index, &dir, part)).collect::<Done<Vec<_>>>()?;
        Ok::<_, Failure>((runs, written))
    })?;
    report(cli, &dir, &runs, &written)
}

/// Returns the ids of the requested runs; `None` if all runs in the library are requested.
fn chosen(library: &Library, requested: &Export) -> Done<Option<BTreeSet<String>>> {
    if !requested.runs.is_empty() {
        let runs = places::chosen(library, &requested.runs, false)?;
        return Ok(Some(runs.into_iter().map(|run| run.file.id).collect()));
    }
    if !requested.only.is_any() {
        return Ok(None);
    }
    let runs = runs::selected(library, &requested.only)?;
    Ok(Some(runs.into_iter().map(|run| run.run.id().to_owned()).collect()))
}

/// Returns the requested runs. Returns an error if a run has no rows, because an incomplete result must not
/// look complete.
fn stored(
    index: &mut Index,
    ids: Option<BTreeSet<String>>,
    updated: &Updated,
    library: &Library,
) -> Done<Vec<StoredRun>> {
    let mut runs = index.stored_runs()?;
    let missing = match &ids {
        None => updated.unreadable.first().cloned(),
        Some(ids) => {
            runs.retain(|run| ids.contains(&run.run_id));
            let has_rows = |id: &&String| runs.iter().any(|run| run.run_id == **id);
            let of_id = |id: &String| updated.unreadable.iter().find(|(folder, _)| folder == id).cloned();
            let missing = ids.iter().find(|id| !has_rows(id));
            missing.map(|id| {
                of_id(id).unwrap_or_else(|| (id.clone(), "it was changed or removed in the meantime".into()))
            })
        }
    };
    if let Some((run, why)) = missing {
        let text = format!(
            "{run} is not in the index: {why}; `plateau doctor` shows what to do, or select other runs, for \
             example with --since or --state"
        );
        return Err(Failure::text(Exit::Run, text));
    }
    if runs.is_empty() {
        return Err(Failure::text(Exit::Run, format!("no runs in {}", library.root().display())));
    }
    Ok(runs)
}

/// Returns the files to write: the runs' tables, and empty tables to replace those of an earlier export.
fn parts(index: &mut Index, dir: &Path, runs: &[StoredRun]) -> Done<Vec<Part>> {
    let mut parts = index.parts(runs)?;
    let paths: BTreeSet<String> = parts.iter().map(Part::path).collect();
    for table in store::tables_by_test() {
        let Ok(folders) = std::fs::read_dir(dir.join(table)) else { continue };
        let emptied = |entry: std::fs::DirEntry| store::emptied(table, entry.file_name().to_str()?);
        let earlier = folders.flatten().filter_map(emptied).filter(|part| !paths.contains(&part.path()));
        parts.extend(earlier.filter(|part| dir.join(part.path()).exists()));
    }
    Ok(parts)
}

/// Creates the folders and checks all names, so that either all files or none are written.
fn check(dir: &Path, parts: &[Part]) -> Done {
    let mut paths = Vec::new();
    for part in parts {
        let path = part.path();
        let (folder, name) = lab::folder_of(dir, &path)?;
        paths.push(folder.join(name));
    }
    file::check(paths.iter().map(PathBuf::as_path), false)
}

fn write(index: &mut Index, dir: &Path, part: &Part) -> Done<Written> {
    let path = dir.join(part.path());
    let write = |out: &mut std::fs::File| index.write_part(part, out).map_err(|error| failed(error, &path));
    let rows = file::stream(&path, write)?;
    Ok(Written { table: part.table(), rows, path })
}

/// Explains why a file was not written.
pub fn failed(error: ExportError, path: &Path) -> Failure {
    match error {
        ExportError::Store(error) => error.into(),
        ExportError::SameName(_) => Failure::new(Exit::Usage, error),
        ExportError::Write(source) => {
            let context = format!("cannot write {}", path.display());
            Failure::new(Exit::Run, anyhow::Error::new(source).context(context))
        }
    }
}

fn report(cli: &Cli, dir: &Path, runs: &[StoredRun], written: &[Written]) -> Done {
    let simulated = runs.iter().filter(|run| run.is_simulated).count();
    if cli.json {
        let file = |file: &Written| json!({ "table": file.table, "path": places::text_of(&file.path), "rows": file.rows });
        return printer::print_json(&json!({
            "folder": places::text_of(dir),
            "runs": runs.len(),
            "simulated_runs": simulated,
            "files": written.iter().map(file).collect::<Vec<_>>(),
        }));
    }
    let labelled = if simulated > 0 { format!(" ({simulated} simulated)") } else { String::new() };
    let (runs, files) = (count_of(runs.len(), "run"), count_of(written.len(), "file"));
    printer::print(&format!("{runs}{labelled} in {files}: {}", dir.display()))
}
