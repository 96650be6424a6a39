//! `plateau export RUN… --FORMAT PATH…`.

pub mod parquet;

use std::path::PathBuf;

use record::{Library, Run};
use report::formats::Format;
use serde_json::{Value, json};

use crate::cli::{Cli, Export, Publisher};
use crate::commands::runs;
use crate::failure::{Done, Exit, Failure};
use crate::output::file;
use crate::output::places;
use crate::output::printer;
use crate::output::publication;
use crate::output::report_file;

pub fn run(cli: &Cli, options: &Export) -> Done {
    if !options.runs.is_empty() && options.only.is_any() {
        let text = "run names and options that select runs, such as --model, cannot be combined";
        return Err(Failure::text(Exit::Usage, text));
    }
    if let Some(dir) = &options.parquet {
        return parquet::run(cli, options, dir);
    }
    let outputs = &options.outputs.0;
    if outputs.is_empty() {
        let text = match options
            .runs
            .iter()
            .find(|run| crate::output::extension::by_extension(run.as_ref()).is_ok())
        {
            Some(file) => format!("`plateau report RUN {file}` selects the format by its extension"),
            None => "specify a format and a path, such as --csv DIR or --json-file FILE; \
                     `plateau export --help` lists all formats"
                .into(),
        };
        return Err(Failure::text(Exit::Usage, text));
    }
    let library = places::library(cli.library.as_deref())?;
    let runs = chosen(&library, options)?;
    let is_one = runs.len() == 1 && !options.all;
    if !is_one && let Some((format, _)) = outputs.iter().find(|(_, path)| file::is_stdout(path)) {
        let text =
            format!("--{} writes several files if there are several runs; specify a directory", format.name);
        return Err(Failure::text(Exit::Usage, text));
    }
    if !is_one {
        outputs.iter().try_for_each(|(_, path)| file::check_folder_of_many(path))?;
    }
    let mut written = Vec::new();
    for run in &runs {
        let outputs = if is_one {
            report_file::once_each(outputs.iter().cloned())?
        } else {
            outputs.iter().map(|each| of_run(run, each)).collect()
        };
        let publication = publication::of(run, &Publisher::default())?;
        let files = report_file::write_all(run, &outputs, publication, cli.json)
            .map_err(|failure| failure.of_run(&run.file.id))?;
        if !cli.json {
            let lines: Vec<String> = files.iter().map(|(_, path)| path.display().to_string()).collect();
            lines.iter().try_for_each(|line| printer::print(line))?;
        }
        written.push(document(run, &files));
    }
    if cli.json { printer::print_json(&Value::Array(written)) } else { Ok(()) }
}

/// Returns the runs that are named or selected by options.
fn chosen(library: &Library, options: &Export) -> Done<Vec<Run>> {
    if !options.only.is_any() {
        return places::chosen(library, &options.runs, options.all);
    }
    let selected = runs::selected(library, &options.only)?;
    selected.iter().map(|run| Ok(library.find(&run.run.id)?)).collect()
}

/// Returns the output path of one of several runs.
fn of_run(run: &Run, (format, folder): &(&'static Format, PathBuf)) -> (&'static Format, PathBuf) {
    // The directory's name is unique in the library and always a valid file name.
    (format, folder.join(format.output_name(&run.name().to_string_lossy())))
}

fn document(run: &Run, files: &[(&'static str, PathBuf)]) -> Value {
    let files: serde_json::Map<_, _> =
        files.iter().map(|(name, path)| ((*name).to_owned(), json!(places::text_of(path)))).collect();
    json!({ "run": run.file.id, "files": files })
}
