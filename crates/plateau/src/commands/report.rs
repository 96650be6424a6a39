//! `plateau report RUN`.

use std::path::PathBuf;

use serde_json::{Map, json};

use crate::cli::{Cli, Report};
use crate::failure::{Done, Exit, Failure};
use crate::output::extension::by_extension;
use crate::output::file;
use crate::output::places;
use crate::output::printer;
use crate::output::publication;
use crate::output::report_file;
use crate::output::signature;

pub fn run(cli: &Cli, options: &Report) -> Done {
    let library = places::library(cli.library.as_deref())?;
    let found = library.find(&options.run);
    if found.is_err() && by_extension(options.run.as_ref()).is_ok() {
        return Err(Failure::text(Exit::Usage, not_first(options)));
    }
    let named = report_file::named(&options.files)?;
    let mut run = found?;
    if let Some(key) = &options.sign {
        signature::sign(&run, &run.load()?.digest.to_string(), key)?;
    }
    let marks = pts::marks(&options.wsat_mark).map_err(|text| Failure::text(Exit::Usage, text))?;
    if let Some(settings) = &mut run.file.settings {
        settings.wsat.marks = marks;
    }
    if !options.wsat_mark.is_empty() {
        let replayed =
            pts::replay(&run.file, &run.load()?.entries).map_err(|text| Failure::text(Exit::Usage, text))?;
        pts::check_marks(replayed.outcomes.iter().flat_map(|outcome| &outcome.marks))
            .map_err(|text| Failure::text(Exit::Usage, text))?;
    }
    let mut outputs = report_file::once_each(options.outputs.0.iter().cloned().chain(named))?;
    if outputs.is_empty() {
        outputs.push((&report::formats::FORMATS[0], report_file::path(&run)));
    }
    let written =
        report_file::write_all(&run, &outputs, publication::of(&run, &options.publisher)?, cli.json)?;
    if cli.json {
        let files: Map<_, _> =
            written.iter().map(|(name, path)| ((*name).to_owned(), json!(places::text_of(path)))).collect();
        return printer::print_json(
            &json!({ "run": run.file.id, "report": files.get("html"), "files": files }),
        );
    }
    let lines: Vec<String> = written.iter().map(|(_, path)| path.display().to_string()).collect();
    // A list of files must not be appended to a result on standard output.
    if outputs.iter().any(|(_, path)| file::is_stdout(path)) {
        Ok(())
    } else {
        printer::print(&lines.join("\n"))
    }
}

/// Returns what to type if a file was given instead of a run.
fn not_first(options: &Report) -> String {
    let file = &options.run;
    let is_other = |path: &&PathBuf| by_extension(path).is_err();
    let run = options.files.iter().find(is_other).map_or("latest".into(), |path| path.display().to_string());
    format!("{file} is not a run; RUN comes first: `plateau report {run} {file}`")
}
