//! `plateau report RUN`.

use std::path::PathBuf;

use report::formats::Format;
use serde_json::{Map, json};

use crate::cli::{Cli, Report};
use crate::failure::{Done, Exit, Failure};
use crate::output::file;
use crate::output::places;
use crate::output::printer;
use crate::output::publication;
use crate::output::report_file;
use crate::output::signature;

pub fn run(cli: &Cli, options: &Report) -> Done {
    let named = report_file::named(&options.files)?;
    let library = places::library(cli.library.as_deref())?;
    let mut run = match library.find(&options.run) {
        Err(_) if crate::output::options::by_extension(options.run.as_ref()).is_ok() => {
            let file = &options.run;
            let text = format!("{file} is not a run; RUN comes first: `plateau report latest {file}`");
            return Err(Failure::text(Exit::Usage, text));
        }
        found => found?,
    };
    if let Some(key) = &options.sign {
        signature::sign(&run, &run.load()?.digest.to_string(), key)?;
    }
    run.file.settings.wsat.marks =
        pts::marks(&options.wsat_mark).map_err(|text| Failure::text(Exit::Usage, text))?;
    let mut outputs = once_each(options.outputs.0.iter().cloned().chain(named))?;
    if outputs.is_empty() {
        outputs.push((&report::formats::FORMATS[0], run.dir.join("report.html")));
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
    // Do not append a list of files to a result on standard output.
    if outputs.iter().any(|(_, path)| file::is_stdout(path)) {
        Ok(())
    } else {
        printer::print(&lines.join("\n"))
    }
}

/// Drops outputs that were named before. Refuses one file for two formats, of which the second would replace the first.
fn once_each(
    named: impl Iterator<Item = (&'static Format, PathBuf)>,
) -> Done<Vec<(&'static Format, PathBuf)>> {
    let mut outputs: Vec<(&'static Format, PathBuf)> = Vec::new();
    for (format, path) in named {
        match outputs.iter().find(|(_, known)| *known == path && !file::is_stdout(known)) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use report::formats::FORMATS;

    #[test]
    fn a_file_is_written_once() {
        let named = |pairs: &[(usize, &str)]| {
            let pairs: Vec<_> = pairs.iter().map(|(at, path)| (&FORMATS[*at], PathBuf::from(path))).collect();
            once_each(pairs.into_iter()).map(|outputs| outputs.len())
        };
        assert_eq!(named(&[(0, "a"), (1, "b"), (0, "a")]).ok(), Some(2));
        assert_eq!(
            named(&[(0, "-"), (0, "-")]).ok(),
            Some(2),
            "refused elsewhere: there is one standard output"
        );
        assert!(named(&[(0, "a"), (1, "a")]).is_err_and(|failure| failure.message().contains("two files")));
    }
}
