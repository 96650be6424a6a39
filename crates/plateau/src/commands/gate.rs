//! `plateau gate RUN --rules FILE`: checks a run against the rules in a file.

use std::path::Path;

use ::gate::formats::{self, Forge};
use ::gate::{Refused, Rules, Subject, Verdict, judge};
use anyhow::Context as _;
use record::{Library, LibraryError, Run};
use stdx::files::Links;

use crate::cli::{Cli, Gate};
use crate::failure::{Done, Exit, Failure};
use crate::output::extension;
use crate::output::file;
use crate::output::places;
use crate::output::printer;

/// Maximum size of a rules file.
const MOST_BYTES: u64 = 1 << 20;

type Format = fn(&Verdict) -> String;

pub fn run(cli: &Cli, options: &Gate) -> Done {
    let outputs = outputs(options)?;
    file::check(outputs.iter().map(|(path, _)| *path), cli.json)?;
    let verdict = verdict(cli, options)?;
    outputs.iter().try_for_each(|(path, format)| file::file(path, format(&verdict).as_bytes()))?;
    let is_streamed = outputs.iter().any(|(path, _)| file::is_stdout(path));
    if !cli.json && !is_streamed {
        let is_annotated = options.annotations.iter().any(|annotations| annotations.file.is_none());
        let annotations = if is_annotated { formats::github(&verdict) } else { String::new() };
        printer::print(&(formats::text(&verdict) + &annotations))?;
    }
    let document = serde_json::to_value(&verdict).map_err(|error| Failure::new(Exit::Internal, error))?;
    if verdict.passed {
        return if cli.json { printer::print_json(&document) } else { Ok(()) };
    }
    let problem = format!("run {} does not pass the gate: {}", verdict.run, verdict.in_short());
    Err(Failure::text(Exit::Regressed, problem).of_run(&verdict.run).with_document(document))
}

/// Returns the files to write, with their formats.
fn outputs(options: &Gate) -> Done<Vec<(&Path, Format)>> {
    let named: [(&str, &Option<_>, Format); 3] = [
        ("xml", &options.junit, formats::junit),
        ("md", &options.markdown, formats::markdown),
        ("svg", &options.badge, formats::badge),
    ];
    let mut all: Vec<(&Path, Format)> = Vec::new();
    for (extension, path, format) in named {
        let Some(path) = path else { continue };
        extension::check_name(extension, &[extension], path)
            .map_err(|text| Failure::text(Exit::Usage, text))?;
        all.push((path, format));
    }
    let annotations = options.annotations.iter().filter_map(|each| Some((each.forge, each.file.as_deref()?)));
    all.extend(annotations.map(|(forge, path)| match forge {
        Forge::Github => (path, formats::github as Format),
        Forge::Gitlab => (path, formats::gitlab as Format),
    }));
    Ok(all)
}

fn verdict(cli: &Cli, options: &Gate) -> Done<Verdict> {
    let path = &options.rules;
    let text = stdx::files::read_text(path, Links::Followed, MOST_BYTES)
        .with_context(|| format!("cannot read the rules {}", path.display()))
        .map_err(|error| Failure::new(Exit::Usage, error))?;
    let (rules, mistakes) = Rules::read(&path.display().to_string(), &text);
    let library = places::library(cli.library.as_deref())?;
    let run = match subject(library.find(&options.run)) {
        // Errors in the file are reported even if there is no run yet.
        Err(_) if !mistakes.is_empty() => return Err(refused(Refused::Mistakes(mistakes))),
        found => found?,
    };
    let baseline = options.baseline.as_ref().or(rules.baseline.as_ref());
    let baseline = baseline.map(|name| subject(named_baseline(&library, name))).transpose()?;
    judge(&rules, mistakes, run, baseline).map_err(refused)
}

/// Finds the library's baseline with this name or, if there is none, the run with this name.
fn named_baseline(library: &Library, name: &str) -> Result<Run, LibraryError> {
    let annotations = library.annotations()?;
    library.find(annotations.baseline(name).map_or(name, |baseline| baseline.run.as_str()))
}

fn subject(found: Result<Run, LibraryError>) -> Done<Subject> {
    let run = found?;
    let id = &run.file.id;
    if run.is_in_progress().unwrap_or(false) {
        let text = format!(
            "run {id} is in progress, so it cannot be evaluated yet; wait until `plateau status` no longer lists it"
        );
        return Err(Failure::text(Exit::InProgress, text).of_run(id));
    }
    let subject = Subject::of(&run.file, &run.load()?);
    subject.map_err(|text| Failure::text(Exit::Run, text).of_run(id))
}

fn refused(why: Refused) -> Failure {
    let exit = match why {
        Refused::Mistakes(_) => Exit::Usage,
        Refused::EmptyBaseline { .. } => Exit::Run,
    };
    Failure::new(exit, why)
}
